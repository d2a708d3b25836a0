"""Jobs of the open project: reports, export of labels, packing, merge of another project, adoption of a network.

Report of an evaluation, comparison of two runs, search for parts to label, and gauge study, each in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import Signal

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, ModelFileRefused, NotPacked
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.core.runs.run_series import RunComparison, compare_runs
from workbench.session.session import Session
from workbench.session.tasks import Job, Task, ThinnedProgress

if TYPE_CHECKING:
    from workbench.core.adoption.network_file import AdoptionOptions
    from workbench.core.documents.document import Document, DocumentImage
    from workbench.core.documents.report_content import ReportImages
    from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
    from workbench.core.evaluation.gauge_study import GaugeStudy
    from workbench.core.evaluation.part_plan import NextParts
    from workbench.core.evaluation.split_evaluation import SplitEvaluation
    from workbench.core.project.formats.label_export import LabelExportOptions
    from workbench.core.project_check import Finding
    from workbench.core.project_statistics import ProjectStatistics

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
            chosen = split or data.measured_split
            options: dict[str, Any] = {"progress": task.report, "cancelled": task.cancelled}
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
        from workbench.core.label_next.image_features import AT_ONCE

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


Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # (done, total)
Cancelled = Callable[[], bool]
Compute = Callable[[Project, Progress, Cancelled], Result]


def check_project(project: Project, progress: Progress, cancelled: Cancelled) -> list[Finding]:
    """Return the findings of `core.project_check.check`."""
    from workbench.core.project_check import check

    return check(project, progress, cancelled)


def compute_statistics(project: Project, progress: Progress, cancelled: Cancelled) -> ProjectStatistics:
    """Return the statistics of `core.project_statistics.project_statistics`."""
    from workbench.core.project_statistics import project_statistics

    return project_statistics(project, progress, cancelled)


class ReportJob(Job, Generic[Result]):
    """Computation of a report: the project check, or its statistics.

    result: the last complete report, None if there is none. outdated: labels, classes or images have changed since.
    """

    changed = Signal()  # `result` or `outdated`

    def __init__(self, session: Session, compute: Compute[Result]) -> None:
        super().__init__()
        self._session, self._compute = session, compute
        self.result: Result | None = None
        self.outdated = False
        self._keys: list[str] = []
        session.project_closed.connect(self._forget)
        session.image_list.listed.connect(self._listed)
        for signal in (
            session.label_saved,
            session.classes.changed,
            session.verdict_steps.stepped,
            session.class_merge.written,
            session.sources_changed,
        ):
            signal.connect(self._outdate)

    def start(self) -> None:
        """Save unsaved labels and compute the report; `changed` follows, or `failed`."""
        project = self._session.project
        if project is None or self.running:
            return
        self._session.flush()
        self._session.verdict_steps.finish()
        self.outdated, self._keys = False, list(self._session.keys)

        def work(task: Task) -> Result | None:
            result = self._compute(project, ThinnedProgress(task.report), task.cancelled)
            return None if task.cancelled() else result

        self.begin(work, self._finish, on_progress=self.progressed.emit)

    def _finish(self, result: Result | None) -> None:
        if result is not None:
            self.result = result
        self.changed.emit()

    def _outdate(self, *_: object) -> None:
        if (self.result is not None or self.running) and not self.outdated:
            self.outdated = True
            self.changed.emit()

    def _listed(self, keys: list[str]) -> None:
        if keys != self._keys:
            self._outdate()

    def _forget(self) -> None:
        self.close()
        self.result, self.outdated = None, False
        self.changed.emit()


@dataclass(frozen=True)
class LabelExportRequest:
    """Request for an export. keys: images to export, None for all."""

    format: str
    out: Path
    keys: Sequence[str] | None = None
    options: LabelExportOptions | None = None


class LabelExportJob(Job):
    """One export of labels at a time. Files that were written remain after a cancellation."""

    ended = Signal(object)  # LabelExportReport

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, request: LabelExportRequest) -> bool:
        """Export; `ended` or `failed` follows. Return False if unsaved labels cannot be saved."""
        from workbench.core.project.exporting import export_labels

        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return False
        self.begin(
            lambda task: export_labels(
                project,
                request.out,
                format=request.format,
                options=request.options,
                keys=request.keys,
                progress=ThinnedProgress(task.report),
                cancelled=task.cancelled,
            ),
            self.ended.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: CannotWrite(path=str(request.out), why=str(error) or type(error).__name__),
        )
        return True


class PackingJob(Job):
    """Packing or unpacking, one at a time. A canceled one leaves nothing behind."""

    packed = Signal(object)  # PackReport, None if canceled
    unpacked = Signal(object)  # path of the project, None if canceled

    def pack(self, project: Project, path: Path, *, runs: bool) -> None:
        """Write the project to `path`; its labels have to be saved before. `packed` follows, or `failed`."""
        from workbench.core.project.packing import pack

        self.begin(
            lambda task: pack(project, path, runs=runs, progress=task.report, stopped=task.cancelled),
            self.packed.emit,
            on_progress=self.progressed.emit,
        )

    def unpack(self, path: Path, folder: Path) -> None:
        """Unpack a project into a new folder below `folder`. `unpacked` follows, or `failed`."""
        from workbench.core.project.packing import unpack

        self.begin(
            lambda task: unpack(path, folder, progress=task.report, stopped=task.cancelled),
            self.unpacked.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: NotPacked(path=str(path), why=str(error)),
        )


class AdoptionJob(Job):
    """Adoption of a network that was trained elsewhere, one at a time. A canceled one leaves nothing behind."""

    adopted = Signal(object)  # Run, None if canceled

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, path: Path, options: AdoptionOptions) -> None:
        """Add the network in a file to the open project; `adopted` follows, or `failed`."""
        from workbench.core.adoption.adopted_run import AdoptionCancelled, adopt

        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return

        def work(task: Task) -> Run | None:
            try:
                return adopt(project, path, options, cancelled=task.cancelled)
            except AdoptionCancelled:
                return None

        self.begin(work, self._finish, as_problem=lambda error: ModelFileRefused(path=str(path), why=Message.of(error)))

    def _finish(self, run: Run | None) -> None:
        if run is not None:
            self._session.classes.changed.emit()
        self.adopted.emit(run)
