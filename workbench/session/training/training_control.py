"""Training controller: one training at a time, or the replay of one, with its newest previews."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs import child_process
from workbench.core.runs.events import BestKept, Evaluated, Event, Failed, Finished, Preview, Progress, Started, Step
from workbench.core.runs.run import Run, create_run, list_runs
from workbench.core.runs.run_history import PastRun
from workbench.core.runs.training_settings import request
from workbench.inference.io.file_access import discard_tree
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end, ignore_failure
from workbench.session.training.preview_reader import PreviewReader
from workbench.session.training.trainer_thread import TrainerThread, find_live_process


class EventReceiver(QObject):
    """Receiver of one trainer's signals, in the thread of `parent`. After `close`, pending signals are dropped."""

    def __init__(
        self,
        thread: TrainerThread,
        on_event: Callable[[Event], None],
        on_recalled: Callable[[PastRun], None],
        on_ended: Callable[[Finished | Failed], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._on_event: Callable[[Event], object] = on_event
        self._on_recalled: Callable[[PastRun], object] = on_recalled
        self._on_ended: Callable[[Finished | Failed], object] = on_ended
        thread.reported.connect(self._reported)
        thread.recalled.connect(self._recalled)
        thread.ended.connect(self._ended)

    def close(self) -> None:
        # The owner must not be kept by an object that waits for its deletion.
        self._on_event = self._on_recalled = self._on_ended = _ignore
        self.deleteLater()

    @Slot(object)
    def _reported(self, event: Event) -> None:
        self._on_event(event)

    @Slot(object)
    def _recalled(self, past: PastRun) -> None:
        self._on_recalled(past)

    @Slot(object)
    def _ended(self, ending: Finished | Failed) -> None:
        self._on_ended(ending)


def _ignore(_: object) -> None:
    """Do nothing."""


class RunProgress:
    """Progress of one run.

    steps: share of the steps that are done, 0..1. seconds: duration of the run without pauses, as of its newest event.
    planned_seconds: of the whole run; None if it is limited by epochs. kept_open_event: set in continuous training once
    the time is up.
    """

    def __init__(self) -> None:
        self.steps = self.seconds = 0.0
        self.planned_seconds: float | None = None
        self.kept_open_event: BestKept | None = None
        self._has_steps = True

    def add(self, event: Event) -> None:
        """Follow an event of the run."""
        self.seconds = event.time
        if isinstance(event, Started):
            self.planned_seconds = event.seconds_planned
            self._has_steps = event.model != "good"
        elif isinstance(event, Step):
            self._set_steps(event)
        elif isinstance(event, Progress) and not self._has_steps and event.total:
            self.steps = max(self.steps, min(1.0, event.done / event.total))
        elif isinstance(event, BestKept):
            self.kept_open_event = event

    def recall(self, past: PastRun) -> None:
        """Continue from the history of the run."""
        self.seconds = past.series.last
        if past.state.step is not None:
            self._set_steps(past.state.step)

    def _set_steps(self, step: Step) -> None:
        self.steps = min(1.0, max(0.0, step.progress))

    @property
    def remaining_seconds(self) -> float | None:
        """Estimated seconds until the run is done; None if unknown."""
        if self.planned_seconds is not None:
            return max(0.0, self.planned_seconds - self.seconds)
        if self.steps < 0.01:
            return None
        return self.seconds * (1 - self.steps) / self.steps

    @property
    def share(self) -> float:
        """Progress of the whole run, including the work after the last step, 0..1."""
        if self.kept_open_event is not None:
            return 1.0
        return min(1.0, self.seconds / self.planned_seconds) if self.planned_seconds else self.steps


Command = Callable[[Run, bool], Sequence[str]]  # (run, resume) -> the child's whole command
NEWEST = 20  # number of newest runs checked for a live trainer


class TrainingControl(QObject):
    """Starts, follows and stops runs of the session's project. command: replacement of the training command."""

    started = Signal(object)  # Run
    reported = Signal(object)  # Event
    recalled = Signal(object)  # PastRun: the full history of a followed run, after its notable events were reported
    ended = Signal(object)  # Finished | Failed: end of `run`
    not_started = Signal(object)  # Failed | None: no run was begun or resumed; None: stopped during the preparation
    preview_arrived = Signal(str)
    state_changed = Signal()

    def __init__(self, session: Session, *, command: Command | None = None) -> None:
        super().__init__()
        self.run: Run | None = None
        self.preparing = False
        self.stopping = False
        self.paused = False  # a pause was requested
        self.progress = RunProgress()
        self._session = session
        self._command = command
        self._thread: TrainerThread | None = None
        self._receiver: EventReceiver | None = None
        self._tasks = TaskRunner(parent=self)
        self._previews = PreviewReader(session, self)
        self._previews.arrived.connect(self.preview_arrived)
        session.project_opened.connect(self._attach_to_live_run)
        session.project_closed.connect(self.close)
        session.current.opened.connect(self.watch)
        session.label_saved.connect(self._label_saved)
        call_at_end(self.close)

    # --- state ------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """True while a training process runs; False during a replay."""
        return self._thread is not None and self._thread.live

    @property
    def busy(self) -> bool:
        """True if no other run can be started now."""
        return self.preparing or self.running

    @property
    def controllable(self) -> bool:
        """True if there is a training that this window may stop or pause; that of a read-only project is another's."""
        return self.busy and self._session.writable

    @property
    def eta_seconds(self) -> float | None:
        """Estimated seconds until the run is done; None if unknown."""
        return self.progress.remaining_seconds if self.running else None

    @property
    def previews(self) -> PreviewReader:
        """Previews of images made during this run."""
        return self._previews

    # --- commands ---------------------------------------------------------------------------------

    def start(
        self,
        model: str,
        minutes: float | None = None,
        epochs: int | None = None,
        device: str | None = None,
        quality: str | None = None,
        **settings: Any,
    ) -> None:
        """Plan a run from the present labels, then train. Problems are reported by `not_started(Failed)`.

        None leaves the default of TrainingSettings; `settings` are further fields of it.
        """
        project = self._session.project
        if self.busy or project is None:
            return
        limits = {"minutes": minutes, "epochs": epochs, "device": device, "quality": quality}
        choices = {name: value for name, value in limits.items() if value is not None} | settings
        self._release_thread()
        self.preparing, self.stopping, self.progress.steps = True, False, 0.0
        self.state_changed.emit()
        self._session.flush()

        def work(_: Task) -> Run:
            return create_run(project, request(model, **choices))

        log = str(project.root / "runs")
        self._tasks.submit(
            work,
            self._prepared,
            self._preparation_failed,
            as_problem=lambda error: WorkerFailed(what="training", why=repr(error), log=log),
        )

    def resume(self, run: Run) -> None:
        """Resume a run where it stopped."""
        if self.busy:
            return
        self._session.flush()
        try:
            run.check_links()
        except Problem as problem:
            self._report_not_started(child_process.from_problem(problem))
            return
        self._start_child(run, resume=True)

    def stop(self, *, force: bool = False) -> None:
        """Finish the step, save, end. The stop is enforced after a delay; with `force` at once."""
        if not self.controllable or (self.stopping and not force):
            return
        self.stopping = True
        if self._thread is not None:
            self._thread.stop(force=force)
        self.state_changed.emit()

    def pause(self) -> None:
        """Save and pause after the current step; the time of the run is paused as well."""
        if self.controllable and self._thread is not None and not (self.paused or self.stopping):
            self._thread.pause()
            self.paused = True
            self.state_changed.emit()

    def unpause(self) -> None:
        if self.controllable and self._thread is not None and self.paused:
            self._thread.resume()
            self.paused = False
            self.state_changed.emit()

    def watch(self, key: str) -> None:
        """Request previews of this image from now on."""
        if self._thread is not None and self._session.writable:
            self._thread.watch(key)

    def send_command(self, command: str, image: str | None = None) -> None:
        """Send the trainer one of `core.runs.events.COMMANDS`; ignored without a trainer and in a read-only project."""
        if self._thread is not None and self._session.writable:
            self._thread.send_command(command, image)

    def follow(self, run: Run) -> None:
        """Replay the events of a run, and follow it if it is still running. Ignored while a run is active."""
        if not self.busy:
            self._begin(run, TrainerThread(run, attach=True, parent=self))

    def leave_running(self) -> bool:
        """Leave the trainer running without the window; it is found when its project is opened again.

        Return False if the trainer could not be reached; it is then still followed. Not while a run is being prepared.
        """
        self.unpause()
        thread = self._thread
        if thread is not None and thread.live and not thread.release():
            return False
        self.close()
        return True

    def close(self) -> None:
        """Release everything. The pipe of an own trainer is closed, upon which it saves and ends by itself."""
        self._tasks.stop()
        self._release_thread()
        self._previews.close()
        self.run = None
        self.preparing = self.stopping = self.paused = False
        self.progress.steps = 0.0
        self.state_changed.emit()

    # --- trainer ----------------------------------------------------------------------------------

    def _preparation_failed(self, problem: Problem) -> None:
        self._report_not_started(child_process.from_problem(problem))

    def _prepared(self, run: Run) -> None:
        self._session.classes.changed.emit()  # a model of good images may have added its own
        if self.stopping:
            discard_tree(run.root)  # just created, nothing was trained
            self._report_not_started(None)
        else:
            self.preparing = False
            self._start_child(run, resume=False)

    def _report_not_started(self, failed: Failed | None) -> None:
        self.preparing = self.stopping = False
        self.not_started.emit(failed)
        self.state_changed.emit()

    def _start_child(self, run: Run, *, resume: bool) -> None:
        command = None if self._command is None else self._command(run, resume)
        self._begin(run, TrainerThread(run, resume=resume, command=command, parent=self))

    def _begin(self, run: Run, thread: TrainerThread) -> None:
        self._release_thread()
        receiver = EventReceiver(thread, self.receive, self._recalled, self._finished, self)
        self.run, self._thread, self._receiver = run, thread, receiver
        self.stopping, self.paused, self.progress = False, False, RunProgress()
        self._previews.open(run)
        if self._thread is not thread:  # closed meanwhile
            return
        thread.start()
        if self._session.key is not None:
            self.watch(self._session.key)
        self.started.emit(run)
        self.state_changed.emit()

    def _release_thread(self) -> None:
        # Cleared together: even after an interruption no trainer remains without its receiver.
        thread, receiver, self._thread, self._receiver = self._thread, self._receiver, None, None
        if receiver is not None:
            receiver.close()
        if thread is not None:
            thread.detach()
            thread.wait()
            thread.deleteLater()

    def receive(self, event: Event) -> None:
        """Handle an event of the trainer."""
        self.progress.add(event)
        if isinstance(event, Started):
            self.state_changed.emit()
        elif isinstance(event, Preview):
            self._previews.add(event)
        elif isinstance(event, Evaluated):
            self._previews.add_validation(event)
        self.reported.emit(event)

    def _recalled(self, past: PastRun) -> None:
        self.progress.recall(past)
        self.recalled.emit(past)

    def _finished(self, ending: Finished | Failed) -> None:
        self._release_thread()
        self._end(ending)

    def _end(self, ending: Finished | Failed) -> None:
        self.preparing = self.stopping = self.paused = False
        if isinstance(ending, Finished) and ending.why == "done":
            self.progress.steps = 1.0
        self._previews.drop_cache()
        self.ended.emit(ending)
        self.state_changed.emit()

    # --- session updates --------------------------------------------------------------------------

    def _attach_to_live_run(self) -> None:
        project = self._session.project
        if project is None:
            return
        root = project.root

        def work(_: Task) -> Run | None:
            return next(
                (run for run in list_runs(root)[: -NEWEST - 1 : -1] if find_live_process(run) is not None), None
            )

        def on_done(run: Run | None) -> None:
            if run is not None and not self.busy:
                self.follow(run)

        self._tasks.submit(work, on_done, ignore_failure)

    def _label_saved(self, key: str) -> None:
        if self._thread is not None:
            self._thread.report_labels(key)
