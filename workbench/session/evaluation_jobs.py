"""Report of an evaluation, comparison of two runs, search for parts to label, and gauge study, each in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.core.runs.run_comparison import RunComparison, compare_runs
from workbench.session.tasks import Job, Task

if TYPE_CHECKING:
    from workbench.core.documents.document import Document, DocumentImage
    from workbench.core.documents.report_content import ReportImages
    from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
    from workbench.core.evaluation.gauge_study import GaugeStudy
    from workbench.core.evaluation.part_plan import NextParts
    from workbench.core.evaluation.split_evaluation import SplitEvaluation

MOST_PAIRS = 30  # images of a comparison that are shown

Write = Callable[["Document"], object]  # writes a finished document; called in the worker thread


@dataclass(frozen=True)
class ComparedEvaluations:
    """Two evaluated runs. runs: differences of their data and settings. images: of the pairs, (key, first, second)."""

    first: SplitEvaluation
    second: SplitEvaluation
    runs: RunComparison
    comparison: EvaluationComparison
    images: Sequence[tuple[str, DocumentImage, DocumentImage]]


class EvaluationReportJob(Job):
    """Writer of one report at a time."""

    saved = Signal(object)  # Path

    def start(self, project: Project, evaluation: SplitEvaluation, path: Path, write: Write) -> None:
        """Write the report of an evaluation to `path`; `saved` follows, or `failed`."""

        from workbench.core.documents.report_content import evaluation_report
        from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation, find_data_leaks

        def make(images: ReportImages) -> Document:
            found = evaluation
            if isinstance(found, VerdictSplitEvaluation):
                splits = found.split.split("+")
                leaks = [leak for split in splits for leak in find_data_leaks(project, found.dataset, split)]
                found = replace(found, leaks=leaks)
            return evaluation_report(project, found, images, datetime.now())

        self._start(project, make, path, write)

    def start_comparison(self, project: Project, compared: ComparedEvaluations, path: Path, write: Write) -> None:
        """Write the comparison of two runs to `path`; `saved` follows, or `failed`."""
        from workbench.core.documents.comparison_report import comparison_report

        parts = (compared.first, compared.second, compared.comparison)
        self._start(project, lambda images: comparison_report(project, *parts, images, datetime.now()), path, write)

    def _start(self, project: Project, make: Callable[[ReportImages], Document], path: Path, write: Write) -> None:
        from workbench.core.documents.report_content import ReportImages

        if self.running:
            return
        self.begin(
            lambda _: write(make(ReportImages(project))),
            lambda _: self.saved.emit(path),
            as_problem=lambda error: CannotWrite(path=str(path), why=str(error)),
        )


class EvaluationComparisonJob(Job):
    """Evaluation of two runs on the same images. Predictions are cached, so that a second comparison is fast."""

    compared = Signal(object)  # ComparedEvaluations, None if canceled

    def start(self, project: Project, first: Run, second: Run, split: str = "") -> None:
        """Compare; `compared` follows, or `failed`. split: of the first run; by default test, or else validation."""

        from workbench.core.adoption.adopted_run import refresh_dataset
        from workbench.core.documents.comparison_report import compare_evaluations
        from workbench.core.documents.report_content import ReportImages
        from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_like, evaluate_run

        def work(task: Task) -> ComparedEvaluations | None:
            data = refresh_dataset(project, first)
            chosen = split or ("test" if data.of("test") else "val")
            options = {"progress": task.report, "cancelled": task.cancelled}
            shown = evaluate_run(project, first, chosen, options=FIGURES_ONLY, **options)
            other = evaluate_like(project, second, shown, **options) if shown is not None else None
            if shown is None or other is None:
                return None
            comparison = compare_evaluations(shown, other)
            images, pairs = ReportImages(project), []
            for pair in comparison.pairs[:MOST_PAIRS]:
                if task.cancelled():
                    return None
                sides = images.pair(pair, shown, other)
                if sides is not None:
                    pairs.append((pair.key, *sides))
            return ComparedEvaluations(shown, other, compare_runs(first, second), comparison, pairs)

        self.begin(work, self.compared.emit, on_progress=self.progressed.emit)


class NextPartsJob(Job):
    """Search for images of parts of which none is labeled, in the order in which to label them."""

    ranked = Signal(object)  # NextParts

    def start(self, project: Project, rows: dict[str, ImageRow]) -> None:
        """Rank the images; `ranked` follows, or `failed`. rows: of all images of the project."""
        from workbench.core.evaluation.part_plan import next_parts
        from workbench.core.label_next.image_scan import AT_ONCE

        def work(task: Task) -> NextParts:
            return next_parts(project, rows, most=AT_ONCE, progress=task.report, cancelled=task.cancelled)

        self.begin(work, self.ranked.emit, on_progress=self.progressed.emit)


class GaugeJob(Job):
    """Gauge study of a run, which is stored with it."""

    studied = Signal(object, object)  # GaugeStudy, None if canceled; sentences on what limits it

    def start(self, project: Project, run: Run, **options: Any) -> None:
        """Study; `studied` follows, or `failed`. options: as of `gauge_study.run_study`."""
        from workbench.core.evaluation import gauge_study, operating_point

        def work(task: Task) -> tuple[GaugeStudy | None, list[str]]:
            steps = {"progress": task.report, "cancelled": task.cancelled}
            study = gauge_study.run_study(project, run, **options, **steps)
            if study is None:
                return None, []
            notes = gauge_study.cautions(study, run, operating_point.settings_of(run))
            try:
                gauge_study.store(run, study)
            except CannotWrite as problem:
                notes.append(Message.of(problem))
            return study, notes

        self.begin(work, lambda found: self.studied.emit(*found), on_progress=self.progressed.emit)
