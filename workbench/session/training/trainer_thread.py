"""Training of one run: a QThread that drives the training process, or follows one that was started elsewhere.

All state is on the disk, so that a run can be followed again later. Commands for a process that another program has
started are written to a file.

Export of a run: a child process that writes, checks and reports.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QThread, Signal

from workbench.core.problems import Problem, WorkerFailed
from workbench.core.resources import matching_language
from workbench.core.runs import child_process
from workbench.core.runs.child_process import ChildProcess, StopEscalation, StopTimeouts, end_process
from workbench.core.runs.events import Event, Failed, Finished, Progress, Started, encode, encode_command
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.launch import training_process, worker_command, worker_environment
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import EventTail, read_past
from workbench.core.text_patterns import free_path
from workbench.inference.io.file_access import open_file, remove_file
from workbench.session.tasks import Job, Task

if TYPE_CHECKING:
    import psutil

Command = Callable[[Run, Path, Sequence[str]], Sequence[str]]
_EARLY = 0.1  # fraction done below which no remaining time is estimated
DEFAULT_OPTIONS = ExportOptions()


def language_of_window() -> str:
    """Return the language of the window among those with a model card."""
    return matching_language(QLocale().name())


def _follow(child: ChildProcess, task: Task) -> Finished | Failed | None:
    """Report the events of the child, in the worker thread. Return the last one; None if the child is detached."""
    ending: Finished | Failed | None = None
    for event in child.events():
        task.report(event)
        if isinstance(event, (Finished, Failed)):
            ending = event
    if child.detached:
        return None
    return ending or child.exit_event("export")


class ExportJob(Job):
    """Export of one run at a time. command: (run, out, arguments of the options) -> the child's whole command."""

    progressed = Signal(object)  # Progress
    reported = Signal(object)  # every Event, including Trouble
    finished = Signal(object)  # dict: path, formats, parity
    cancelled = Signal()

    def __init__(self, *, command: Command | None = None) -> None:
        super().__init__()
        self._command = command or export_command
        self._cancelling = False
        self.options = DEFAULT_OPTIONS  # of the current or last export
        self.run: Run | None = None  # of the current or last export
        self.progress: Progress | None = None  # last one of the current or last export

    @property
    def eta_seconds(self) -> float | None:
        """Estimated seconds until the export is done; None if unknown."""
        last = self.progress
        if not self.running or last is None or not last.total or last.done < _EARLY * last.total:
            return None
        return last.time * (last.total - last.done) / last.done

    def start(
        self,
        run: Run,
        out: Path | str | None = None,
        options: ExportOptions = DEFAULT_OPTIONS,
        *,
        anyway: bool = False,
    ) -> None:
        """Export `run` into a new folder; `finished`, `failed` or `cancelled` follows.

        A model that is not ready fails with ModelNotReady, unless it is to be exported `anyway`.
        """
        if self.running:
            return
        self.options, self.run, self.progress = options, run, None
        try:
            run.need_usable()
            folder = Path(out) if out is not None else free_path(run.project_root / "exports", run.name)
            language = options.language or language_of_window()
            options = replace(options, language=language, require_ready=not anyway)
            command = self._command(run, folder, options.to_arguments())
            child = ChildProcess(
                command,
                environment=worker_environment("cpu"),
                log=run.root / "export-log.txt",
                timeouts=StopTimeouts(command=0),
                low_priority=True,
            )
        except Problem as problem:
            self.failed.emit(problem)
            return
        self._cancelling = False
        self.begin(
            lambda task: _follow(child, task),
            partial(self._on_ended, child.log),
            partial(self._on_ended, child.log),
            on_progress=self._on_event,
            as_problem=lambda error: child_process.to_problem(
                child_process.failed_event("export", str(error), child.log), "export", child.log
            ),
            interrupt=lambda: child.stop(None),
        )

    def cancel(self) -> None:
        """End the child; unfinished results are not reported."""
        self._cancelling = self.running
        super().cancel()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress = event
            self.progressed.emit(event)
        self.reported.emit(event)

    def _on_ended(self, log: Path, ending: Finished | Failed | Problem | None) -> None:
        if isinstance(ending, Finished) and ending.why == "done":
            self.finished.emit(ending.result)
        elif self._cancelling:
            self.cancelled.emit()
        elif isinstance(ending, Problem):
            self.failed.emit(ending)
        elif isinstance(ending, Failed):
            self.failed.emit(child_process.to_problem(ending, "export", log))
        else:
            self.failed.emit(WorkerFailed(what="export", why="it was stopped", log=str(log)))


def export_command(run: Run, out: Path, options: Sequence[str]) -> list[str]:
    return worker_command("export", run.root, "--out", out, *options)


POLL = 0.2  # seconds


def commands_path(run: Run) -> Path:
    """Return the file from which the trainer reads commands besides its pipe; one JSON line each."""
    return run.root / "orders.jsonl"


def send_command(run: Run, line: str) -> None:
    """Append a command for a trainer that was not started by this process. Raises OSError."""
    with open_file(commands_path(run), "ab") as file:
        file.write(line.encode() + b"\n")


def append_ending(run: Run, ending: Finished | Failed) -> None:
    """Append the ending of a trainer that crashed to the events file."""
    try:
        with open_file(run.events_path, "ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":  # the last line is incomplete
                    file.write(b"\n")
            file.write(encode(ending).encode("utf-8") + b"\n")
    except OSError:
        return  # full disk; the ending is reported by signal all the same


def find_live_process(run: Run) -> psutil.Process | None:
    """Return the process that trains `run` now: the one of its last Started without an ending, or None.

    A process that holds the lock without having reported anything counts: it is starting.
    """
    pid = 0
    for event in run.events(Started, Finished, Failed):
        if isinstance(event, Started):
            pid = event.process
        elif isinstance(event, (Finished, Failed)):
            pid = 0
    process = process_of(run, pid) if pid else None
    if process is None and (pid := training_process(run.root) or 0):
        process = process_of(run, pid)
    return process


def process_of(run: Run, pid: int) -> psutil.Process | None:
    """Return process `pid` if it still is the trainer of this run; None for another process that reuses the number."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        try:
            is_trainer = any(_same(part, run.root) for part in process.cmdline())
        except psutil.AccessDenied:
            # Fall back to the age: the process must have existed when the run last wrote.
            is_trainer = process.create_time() <= run.events_path.stat().st_mtime
    except (psutil.Error, OSError, ValueError):
        return None
    return process if is_trainer else None


def _same(argument: str, root: Path) -> bool:
    if Path(argument).name != root.name:
        return False
    try:
        return Path(argument).samefile(root)
    except (OSError, ValueError):
        return False


class TrainerThread(QThread):
    """Thread that runs a training process, or with `attach` follows a run that another process drives or has driven.

    command: replaces the child's whole command.
    """

    reported = Signal(object)  # Event
    recalled = Signal(object)  # PastRun: everything reported before the thread began to follow, steps included
    ended = Signal(object)  # Finished | Failed

    def __init__(
        self,
        run: Run,
        *,
        resume: bool = False,
        attach: bool = False,
        command: Sequence[str] | None = None,
        timeouts: StopTimeouts | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.training_run = run
        self.live = False  # a process runs or is being started; False during a replay
        self._time = 0.0
        self._timeouts = timeouts or StopTimeouts()
        self._wake_up = threading.Event()
        self._stopping = self._detached = False
        self._graceful = True
        self._child: ChildProcess | None = None
        if not attach:
            arguments = [run.root, "--resume"] if resume else [run.root]
            self._child = ChildProcess(
                command or worker_command("train", *arguments), log=run.log_path, timeouts=timeouts, low_priority=True
            )

    # --- commands, from any thread ----------------------------------------------------------------

    def stop(self, *, force: bool = False) -> None:
        """Save and end: by command, after 10 s (60 s if it is saving) by signal, after 3 s more by force.

        force: by signal at once.
        """
        self._stopping = True
        self._graceful = not force
        if self._child is not None:
            self._child.stop(None if force else encode_command("stop"))
        self._wake_up.set()

    def pause(self) -> None:
        self._send(encode_command("pause"))

    def resume(self) -> None:
        self._send(encode_command("resume"))

    def watch(self, key: str) -> None:
        """Request previews of this image."""
        self._send(encode_command("watch", key))

    def report_labels(self, key: str) -> None:
        self._send(encode_command("labels_changed", key))

    def send_command(self, command: str, image: str | None = None) -> None:
        self._send(encode_command(command, image))

    def detach(self) -> None:
        """Stop following without an ending: an own child saves and ends, another process continues."""
        self._detached = True
        if self._child is not None:
            self._child.detach()
        self._wake_up.set()

    def release(self, seconds: float = 10.0) -> bool:
        """Stop following while the process continues. Return False if the command could not be delivered."""
        released = self._child is None or self._child.release(encode_command("keep_running"), seconds)
        self._detached = self._detached or released
        self._wake_up.set()
        return released

    def _send(self, line: str) -> None:
        if self._child is not None:
            self._child.send(line)
        elif self.live:
            self._send_by_file(line)

    def _send_by_file(self, line: str) -> None:
        try:
            send_command(self.training_run, line)
        except OSError:
            return  # the next step of the escalation follows

    # --- thread -----------------------------------------------------------------------------------

    def start(self, priority: QThread.Priority = QThread.Priority.InheritPriority) -> None:
        """Start the thread. An own child counts as running from now on."""
        self.live = self._child is not None
        super().start(priority)

    def run(self) -> None:
        try:
            ending = self._run_child(self._child) if self._child is not None else self._follow()
        except Problem as problem:
            ending = child_process.from_problem(problem, self._time)
        except OSError as error:
            ending = child_process.failed_event("training", str(error), self.training_run.log_path, self._time)
        self.live = False
        if ending is not None and not self._detached:
            self.ended.emit(ending)

    def _emit_event(self, events: Iterator[Event]) -> Finished | Failed | None:
        """Report events. Return the ending if one was among them."""
        ending = None
        for event in events:
            if self._detached:
                break
            self._time = event.time
            if isinstance(event, Started):
                ending = None
            elif isinstance(event, (Finished, Failed)):
                ending = event
            self.reported.emit(event)
        return ending

    def _run_child(self, child: ChildProcess) -> Finished | Failed | None:
        run = self.training_run
        child.environment = worker_environment(run.settings().device)
        remove_file(commands_path(run), missing_ok=True)  # of an earlier process
        ending = self._emit_event(child.events())
        if ending is None and not self._detached:
            if child.forced and self._stopping:
                ending = child_process.stopped_event(run.name, self._time, usable=run.usable, resumable=run.resumable)
            else:
                ending = child.exit_event("training", self._time)
            append_ending(run, ending)
            self.reported.emit(ending)
        return ending

    def _watched(self, tail: EventTail, escalation: StopEscalation) -> Iterator[Event]:
        for event in tail.read(lambda: self._detached):
            escalation.consider(event)
            yield event

    def _follow(self) -> Finished | Failed | None:
        run = self.training_run
        tail = EventTail(run.events_path)
        escalation = StopEscalation(self._timeouts)
        process = find_live_process(run)
        self.live = process is not None
        # Not reported one by one: a long run has a million events, which would block the window.
        past = read_past(run, tail.read(lambda: self._detached), lambda: self._detached)
        ending = self._emit_event(iter(past.notable))
        self._time = past.series.last
        if not self._detached:
            self.recalled.emit(past)
        stop_sent = False
        while process is not None and ending is None and not self._detached:
            self._wake_up.wait(POLL)
            self._wake_up.clear()
            if self._stopping and not stop_sent:
                stop_sent = True
                self._send_by_file(encode_command("stop"))
            if self._stopping:
                escalation.begin(graceful=self._graceful)
            if (step := escalation.due()) is not None and process_of(run, process.pid) is not None:
                end_process(process.pid, kill=step == "kill")
            alive = process_of(run, process.pid) is not None  # checked before reading, so that the last events are read
            ending = self._emit_event(self._watched(tail, escalation))
            if not alive:
                break
        if ending is None and not self._detached:
            if stop_sent:
                ending = child_process.stopped_event(run.name, self._time, usable=run.usable, resumable=run.resumable)
            else:
                why = child_process.cause(None, "")
                ending = child_process.failed_event("training", why, run.log_path, self._time)
            self.reported.emit(ending)
        return ending
