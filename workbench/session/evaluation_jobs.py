"""Report of an evaluation, and comparison of two runs, in a thread with progress and cancellation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.core.runs.run_comparison import RunComparison, compare_runs
from workbench.session.jobs import Job
from workbench.session.tasks import Task

if TYPE_CHECKING:
    from workbench.core.documents.document import Document, DocumentImage
    from workbench.core.documents.report_images import ReportImages
    from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
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

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

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
        from workbench.core.documents.report_images import ReportImages

        if self.running:
            return
        self.begin(
            lambda _: write(make(ReportImages(project))),
            lambda _: self.saved.emit(path),
            as_problem=lambda error: CannotWrite(path=str(path), why=str(error)),
        )


class EvaluationComparisonJob(Job):
    """Evaluation of two runs on the same images. Predictions are cached, so that a second comparison is fast."""

    progressed = Signal(int, int)
    compared = Signal(object)  # ComparedEvaluations, None if canceled

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

    def start(self, project: Project, first: Run, second: Run, split: str = "") -> None:
        """Compare; `compared` follows, or `failed`. split: of the first run; by default test, or else validation."""

        from workbench.core.adoption.adopted_run import refresh_dataset
        from workbench.core.documents.comparison_report import compare_evaluations
        from workbench.core.documents.report_images import ReportImages
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
