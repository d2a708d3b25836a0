"""Workflow of the open project, kept up to date: its stage and the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import DONT_CARE
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine, count_good_images
from workbench.core.runs.training_settings import Model
from workbench.session.next_step import RunFacts, Workflow, WorkflowState, workflow
from workbench.session.session import Session
from workbench.session.training.shown_runs import RunList
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.training.training_control import TrainingControl

_DELAY = 100  # ms from a change to the next update: changes come in groups


@dataclass
class LabelCounts:
    """Numbers of labeled images, updated row by row: a project may have 100,000 images."""

    examples: int = 0  # usable to train a UNet
    with_defects: int = 0
    done: int = 0
    to_paint: int = 0  # marked as defective, and not painted yet
    decided: int = 0  # painted, marked as defective, or done
    verdicts: Counter[str] = field(default_factory=Counter)
    _known: dict[str, tuple[bool, bool, bool, bool, str | None]] = field(default_factory=dict)

    def replace(self, rows: Iterable[ImageRow]) -> None:
        """Count these rows only."""
        self.examples = self.with_defects = self.done = self.to_paint = self.decided = 0
        self.verdicts.clear()
        self._known.clear()
        self.update(rows)

    @property
    def images(self) -> int:
        """Number of images that were counted."""
        return len(self._known)

    @property
    def good(self) -> int:
        """Number of images without a painted class that are marked as done."""
        return self.examples - self.with_defects

    def update(self, rows: Iterable[ImageRow]) -> None:
        """Count new and changed rows."""
        for row in rows:
            painted, done = is_painted(row), row.status == "done"
            to_paint = row.status == "started" and not painted and not row.broken
            new = painted or (done and row.masked), painted, done, to_paint, row.verdict
            old = self._known.get(row.key)
            if old == new:
                continue
            if old is not None:
                self._add(old, -1)
            self._known[row.key] = new
            self._add(new, 1)

    def _add(self, facts: tuple[bool, bool, bool, bool, str | None], sign: int) -> None:
        self.examples += sign * facts[0]
        self.with_defects += sign * facts[1]
        self.done += sign * facts[2]
        self.to_paint += sign * facts[3]
        self.decided += sign * any(facts[1:4])
        if facts[4]:
            self.verdicts[facts[4]] += sign


class WorkflowMonitor(QObject):
    """Workflow of a session's project. `workflow` is None without a project."""

    changed = Signal()

    def __init__(self, session: Session, training: TrainingControl, run_list: RunList, export_job: ExportJob) -> None:
        super().__init__(run_list)
        self.workflow: Workflow | None = None
        self._session, self._training, self._run_list, self._export_job = session, training, run_list, export_job
        self._counts = LabelCounts()
        self._evaluated: set[str] = set()  # names of runs
        self._model: Model = "unet"
        self._minutes = 5.0
        self._timer = QTimer(self, singleShot=True, interval=_DELAY)
        self._timer.timeout.connect(self._update)
        session.image_list.listed.connect(self._recount)
        session.image_list.rows_changed.connect(self._rows_changed)
        session.project_closed.connect(self._project_closed)
        for signal in (
            session.project_opened,
            session.current.opened,
            session.note_changed,
            session.classes.changed,
            training.state_changed,
            training.recalled,
            run_list.listed,
            export_job.state_changed,
        ):
            signal.connect(self._schedule)
        export_job.finished.connect(self._schedule)
        self._recount()

    def set_plan(self, model: Model, minutes: float) -> None:
        """Set the kind of model and the minutes of the next training."""
        self._model, self._minutes = model, minutes
        self._schedule()

    def set_no_good_images(self, on: bool) -> None:
        """Answer once for the project whether there are no good images, so that none are requested."""
        if self._session.writable and self._session.set_project_field("no_good_images", on):
            self._schedule()

    @property
    def no_good_images(self) -> bool:
        project = self._session.project
        return project is not None and project.file.no_good_images

    def mark_evaluated(self, run: Run | None) -> None:
        """Record that the evaluation of a run was opened."""
        if run is not None:
            self._evaluated.add(run.name)
            self._schedule()

    def update_now(self) -> None:
        """Apply pending changes at once."""
        self._timer.stop()
        self._update()

    def state(self) -> WorkflowState:
        """Return the facts about the open project."""
        session, counts = self._session, self._counts
        project = session.project
        verdicts = +counts.verdicts
        return WorkflowState(
            model=self._model,
            minutes=self._minutes,
            writable=session.writable,
            images=len(session.keys),
            classes=len(project.classes) if project is not None else 0,
            verdicts=len(project.file.verdicts) if project is not None else 0,
            examples=counts.examples if self._model == "unet" else verdicts.total(),
            with_defects=counts.with_defects,
            good=counts.good,
            to_paint=counts.to_paint,
            no_good_images=self.no_good_images,
            used_verdicts=sum(number > 1 for number in verdicts.values()),  # a verdict of a single image is not trained
            open_images=len(session.keys) - counts.done,
            current=self._current(),
            training=self._training.busy,
            exporting=self._export_job.running,
            reading=bool(session.keys) and not counts.images,
            run=self._run_facts(),
        )

    def _current(self) -> Literal["none", "open", "painted", "done"]:
        row = self._session.rows.get(self._session.key or "")
        if row is None:
            return "none"
        if row.status == "done":
            return "done"
        return "painted" if is_painted(row) else "open"

    def _run_facts(self) -> RunFacts | None:
        """Return the facts about the run in use."""
        line = self._run_list.line_of(self._run_list.in_use)
        return (
            None if line is None else run_facts(line, evaluated=self._is_evaluated(line), exported=self._exported(line))
        )

    def _is_evaluated(self, line: RunLine) -> bool:
        cache = line.run.project_root / ".cache"
        cached = cache / "review" / line.run.name, cache / "verdicts" / f"{line.run.name}.json"
        return line.run.name in self._evaluated or any(path.exists() for path in cached)

    def _exported(self, line: RunLine) -> bool:
        return bool(self._run_list.exports_of(line.run))

    def _recount(self, _: object = None) -> None:
        self._counts.replace(self._session.rows.values())
        self._schedule()

    def _rows_changed(self, rows: list[ImageRow]) -> None:
        self._counts.update(rows)
        self._schedule()

    def _project_closed(self) -> None:
        self._counts.replace(())
        self._evaluated.clear()
        self.update_now()

    def _schedule(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _update(self) -> None:
        before = self.workflow
        self.workflow = workflow(self.state()) if self._session.project is not None else None
        if self.workflow != before:
            self.changed.emit()


def is_painted(row: ImageRow) -> bool:
    """Return whether an image has pixels of a class."""
    return any(pixels and id < DONT_CARE for id, pixels in row.counts)


def run_facts(line: RunLine, *, evaluated: bool, exported: bool) -> RunFacts:
    """Return the facts about a run from its line in the list."""
    numbers = _verdict_numbers(line.metrics) if line.model == "resnet" else _region_numbers(line.metrics)
    if line.model == "resnet":  # images of a single verdict measure nothing
        rows = line.metrics.get("per_class")
        shown = 2 if rows is None else sum(bool(row.get("pictures")) for row in rows.values())
        measured = line.score is not None and shown > 1
    else:
        measured = line.score is not None or numbers["defects"] > 0
    adopted = line.run.adopted
    if adopted:  # all labeled images are its test images
        measured = line.labeled > 0
    if line.model != "resnet":
        tested = _region_numbers(line.tested)
        numbers |= {"test_good": tested["good"], "test_alarms": tested["good_alarms"]}
    return RunFacts(
        model=line.model,
        labeled=line.labeled,
        measured=measured,
        cross_fitted=line.metrics.get("chosen_on") == "cross_fitted",
        adopted=adopted,
        evaluated=evaluated,
        exported=exported,
        **numbers,
    )


def _region_numbers(metrics: dict[str, Any]) -> dict[str, int]:
    regions = metrics.get("regions") or {}
    defects = regions.get("defects") or 0
    found, false = regions.get("found") or 0, regions.get("false") or 0
    good, alarms = count_good_images(metrics)
    numbers = {"defects": defects, "missed": max(0, defects - found), "false_alarms": false}
    return numbers | {"good": good, "good_alarms": alarms}


def _verdict_numbers(metrics: dict[str, Any]) -> dict[str, int]:
    total, accuracy = metrics.get("pictures") or 0, metrics.get("accuracy")
    return {"defects": total, "missed": 0 if accuracy is None else total - round(accuracy * total)}
