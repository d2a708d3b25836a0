"""Instant overlay: prediction for the open image by a head on pretrained features, which learns from every stroke."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, QTimer, Signal

from workbench.core.problems import ImageBroken, Problem
from workbench.core.project.image_row import ImageRow
from workbench.core.runs.events import Evaluated, Event, overall_dice
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import release_free_memory
from workbench.session.predictions import RELEASE, lower_priority
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end, ignore_failure
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.session.workflow_monitor import is_painted

if TYPE_CHECKING:
    from workbench.core.instant_learner import InstantLearner, InstantPrediction

PAUSE = 200  # ms after a stroke before its label is used
MOST_LABELED = 100  # images that are used, those changed last


class InstantOverlay(QObject):
    """Predictions of the instant overlay for the open image, made by one thread of low priority between strokes.

    leads: its prediction is shown, as there is no trained model, or one that is worse on labels that both have not
    seen. Once a run was better, it stays so, and nothing more is computed.
    """

    changed = Signal()  # the prediction, or `leads`

    def __init__(self, session: Session, training: TrainingControl, runs: RunList, preferences: Preferences) -> None:
        super().__init__()
        self.prediction: InstantPrediction | None = None  # for the open image
        self.leads = False
        self._session, self._training, self._runs, self._preferences = session, training, runs, preferences
        self._labeled: dict[str, ImageRow] = {}  # the image that was changed last is the last one
        self._learner: InstantLearner | None = None  # used by the worker thread only
        self._ready = self._painted = False  # there was a prediction, a stroke in this session
        self._dice: float | None = None
        self._better: set[str] = set()  # names of runs that were better
        self._next_key: str | None = None
        self._tasks = TaskRunner(parent=self, priority=QThread.Priority.LowPriority)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._update)
        self._release = QTimer(self, singleShot=True, interval=RELEASE)
        self._release.timeout.connect(lambda: self._tasks.submit(lambda _: release_free_memory()))
        session.editor.committed.connect(self._stroke_ended)
        session.note_changed.connect(self._label_changed)
        session.current.opened.connect(self._image_opened)
        session.current.failed.connect(self._image_opened)
        session.image_list.listed.connect(self._images_listed)
        session.image_list.rows_changed.connect(self._rows_changed)
        session.project_closed.connect(self._project_closed)
        training.reported.connect(self._event_reported)
        training.ended.connect(self._compare)
        runs.listed.connect(self._compare)
        call_at_end(self.close)

    @property
    def on(self) -> bool:
        return self._preferences.instant_overlay

    def switch(self, on: bool) -> None:
        """Turn the overlay on or off, also for the next start."""
        self._preferences.instant_overlay = on
        self._preferences.save()
        if not on:
            self._forget()
        self._compare()
        self._pause.start()

    def expect(self, key: str | None) -> None:
        """Set the image that will be opened next, which is prepared."""
        self._next_key = key

    def trained_dice(self) -> float | None:
        """Return the Dice of the trained model on validation images; None without one."""
        if self._training.running:
            return self._training.previews.validation
        return overall_dice(self._runs.metrics_of(self._runs.in_use))

    def close(self) -> None:
        self._forget()

    # --- events -----------------------------------------------------------------------------------

    def _stroke_ended(self, *_: object) -> None:
        self._painted = True
        self._pause.start()

    def _label_changed(self, _: str) -> None:
        self._pause.start()

    def _image_opened(self, *_: object) -> None:
        self._tasks.cancel()
        self.prediction = None
        self._update()

    def _images_listed(self, _: object) -> None:
        rows = self._session.rows
        for key in self._labeled.keys() - rows.keys():
            del self._labeled[key]
        self._rows_changed(rows.values())

    def _rows_changed(self, rows: Iterable[ImageRow]) -> None:
        changed = False
        for row in rows:
            before = self._labeled.get(row.key)
            after = row if is_painted(row) or (row.status == "done" and row.masked) else None
            if before is after or (before and after and (before.status, before.counts) == (after.status, after.counts)):
                continue
            changed = True
            self._labeled.pop(row.key, None)
            if after is not None:
                self._labeled[row.key] = after
        if changed:
            self._pause.start()

    def _event_reported(self, event: Event) -> None:
        if isinstance(event, Evaluated):
            self._compare()

    def _project_closed(self) -> None:
        self._forget()
        self._labeled.clear()
        self._better.clear()
        self._painted, self._next_key = False, None
        self._compare()

    def _forget(self) -> None:
        self._pause.stop()
        self._tasks.stop()
        self._learner = self.prediction = self._dice = None
        self._ready = False
        self._release.start()

    # --- computation ------------------------------------------------------------------------------

    def _update(self) -> None:
        """Learn the present labels and predict the open image, in the worker thread."""
        session, label = self._session, self._session.current.label
        project, image, key = session.project, session.image, session.key
        if project is None or image is None or key is None or label is None or not self._needed():
            return
        if session.editor.painting:
            self._pause.start()
            return
        from workbench.core.instant_learner import InstantLearner, ShownImage

        learner = self._learner = self._learner or InstantLearner(project)
        shown = ShownImage(key, image, label.mask, label.edits, label.note.status == "done", self._next_key)
        labeled = dict(islice(reversed(self._labeled.items()), MOST_LABELED))
        run = self._trained_run()

        def work(task: Task) -> None:
            lower_priority()
            measured = [] if run is None else _validation_keys(run)
            stopped = lambda: task.cancelled() or session.editor.painting  # noqa: E731
            learner.update(shown, labeled, measured, lambda prediction: task.report(key, prediction), stopped)

        self._tasks.submit(
            work,
            lambda _: self._release.start(),
            ignore_failure,
            on_progress=self._show,
            as_problem=lambda error: ImageBroken(path=key, why=str(error)),
            key="update",
        )

    def _needed(self) -> bool:
        run = self._trained_run()
        if not self.on or self._runs.refreshing or (run is not None and run.name in self._better):
            return False
        return self._painted or (run is None and bool(self._labeled))

    def _show(self, key: str, prediction: InstantPrediction) -> None:
        if key == self._session.key and not self._session.editor.painting:  # else a newer one follows
            self.prediction, self._dice, self._ready = prediction, prediction.dice, True
            self._compare()

    # --- comparison with the trained model --------------------------------------------------------

    def _trained_run(self) -> Run | None:
        """Return the run whose model is shown otherwise; None without one, or before its first validation."""
        if self._training.running:
            return self._training.run if self._training.previews.validation is not None else None
        return self._runs.in_use

    def _compare(self, *_: object) -> None:
        """Find out which model is better."""
        run, trained = self._trained_run(), self.trained_dice()
        if run is not None and trained is not None and self._dice is not None and trained >= self._dice:
            self._better.add(run.name)
        unseen = run is None or (trained is not None and self._dice is not None and run.name not in self._better)
        self.leads = self.on and self._ready and unseen
        self.changed.emit()


def _validation_keys(run: Run) -> list[str]:
    try:
        return [item.key for item in run.dataset().of("val")]
    except Problem:
        return []
