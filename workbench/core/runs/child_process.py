"""Child processes: short programs whose output is captured, and the training program, which reports events.

A child that ended without a report is described from its exit code, signal and the end of its log.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.problems import Problem, RunUnusable, WorkerFailed
from workbench.core.runs.events import Checkpoint, Event, Failed, Finished, decode
from workbench.inference.io.file_access import make_folder

_PROCESSES = {"training": "process.training", "export": "process.export"}
LIBRARY_OUTPUT = "stdout: "  # prefix of what libraries print, in a log; never quoted as the cause
_NO_MEMORY = ("out of memory", "cannot allocate memory", "memoryerror", "bad_alloc", "resourceexhausted")
_WINDOWS = {
    0xC0000005: "exit.access_violation",
    0xC0000017: "exit.memory",
    0xC0000409: "exit.stack_overrun",
    0xC000013A: "exit.keyboard",
    0xC0000135: "exit.missing_dll",
}


def cause(returncode: int | None, log_tail: str) -> str:
    """Return the reason why a process ended, as a part of a sentence."""
    last = next((line.strip() for line in reversed(log_tail.splitlines()) if line.strip()), "")
    number = _signal_number(returncode)
    log = log_tail.lower()
    if any(sign in log for sign in _NO_MEMORY):
        why = Message("exit.out_of_memory")
    elif number == 9:
        why = Message("exit.sigkill")
    elif number is not None:
        crash = number in (4, 6, 7, 8, 11)
        why = Message("exit.crash_signal" if crash else "exit.end_signal", n=number, name=_signal_name(number))
    elif returncode is not None and returncode & 0xFFFFFFFF in _WINDOWS:
        why = Message(_WINDOWS[returncode & 0xFFFFFFFF])
    elif returncode == 0:
        why = Message("exit.silent")
    elif returncode is None:
        why = Message("exit.gone")
    else:
        why = Message("exit.code", n=returncode)
    return Message("exit.last_words", why=why, words=last[:300]) if last else why


def log_tail(log: Path, start: int = 0, lines: int = 12) -> str:
    """Return the last lines of a process's error output. start: size of the log before the process began."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(start, end - 16_384))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    own = [line for line in text.splitlines() if not line.startswith(LIBRARY_OUTPUT)]
    return "\n".join(own[-lines:])


def failed_event(what: str, why: str, log: Path, time: float = 0.0) -> Failed:
    """Return the event of a process that failed. what: "training" or "export"."""
    return from_problem(WorkerFailed(what=Message(_PROCESSES[what]), why=why, log=str(log)), time, log)


def from_problem(problem: Problem, time: float = 0.0, log: Path | str = "") -> Failed:
    """Return the event of a process that failed or could not be started for a known reason."""
    fields = {name: value if isinstance(value, (int, float)) else str(value) for name, value in problem.fields.items()}
    kind = type(problem).__name__
    return Failed(time=time, why=Message.of(problem), problem=kind, fields=fields, log=str(log))


def failed_problem(failed: Failed) -> Problem | None:
    """Return the problem of a Failed event; None if it is unknown to this version."""
    kind = problems.problem_class(failed.problem)
    if kind is None:
        return None
    why = failed.why
    fields = why.fields if isinstance(why, Message) and problems.problem_class(why.id) is kind else failed.fields
    try:
        problem = kind(**fields)
        str(problem)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None  # fields of another version
    return problem


def to_problem(ending: Failed, what: str, log: Path) -> Problem:
    """Return the problem of a Failed event; one that is unknown to this version becomes WorkerFailed."""
    why = ending.why
    return failed_problem(ending) or WorkerFailed(what=Message(_PROCESSES[what]), why=why, log=ending.log or str(log))


def stopped_event(name: str, time: float, *, usable: bool, resumable: bool) -> Finished | Failed:
    """Return the event of the terminated training of the run `name`; its saved checkpoints remain valid."""
    if usable or resumable:
        return Finished(time=time, why="stopped", result={"forced": True, "usable": usable, "resumable": resumable})
    return from_problem(RunUnusable(name=name, why=Message("run.no_checkpoint")), time)


def _signal_number(returncode: int | None) -> int | None:
    if returncode is None:
        return None
    if -65 < returncode < 0:
        return -returncode
    return returncode - 128 if 128 < returncode < 160 else None  # as passed on by a shell or a launcher


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


_POLL = 0.05  # seconds between checks whether the program has ended


@dataclass(frozen=True)
class ChildOutput:
    """Result of `run_captured`. returncode: None if the program was killed at the time limit."""

    returncode: int | None
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        """Last line of the error output, or of the output if there is no error output; may be empty."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return lines[-1] if lines else ""


def run_captured(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    tick: Callable[[], None] = lambda: None,
) -> ChildOutput:
    """Run a program without input to its end.

    seconds: time limit, after which the program and its descendants are killed. folder: working directory.
    tick: called 20 times per second; may raise, which kills the program as well. Raises OSError if the program cannot
    be started.
    """
    variables = {"PYTHONIOENCODING": "utf-8", **(os.environ if environment is None else environment)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=variables, cwd=folder
        )
        try:
            until = time.monotonic() + seconds
            while (code := process.poll()) is None and time.monotonic() < until:
                tick()
                time.sleep(_POLL)
        finally:
            if process.poll() is None:
                end_process(process.pid, kill=True)
            process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return ChildOutput(code, *texts)


def end_process(pid: int, *, kill: bool) -> None:
    """Terminate or kill a process and all its descendants."""
    import psutil

    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [*parent.children(recursive=True), parent]:
            with contextlib.suppress(psutil.Error):
                process.kill() if kill else process.terminate()


# --- programs that report events ------------------------------------------------------------------


NICENESS = 10  # keeps the window responsive, at a cost of a few percent of the child's speed


@dataclass(frozen=True)
class StopTimeouts:
    """Delays in seconds between the steps of a stop: command, terminate, kill. math.inf: no further step.

    saving: delay counted from the command, for a child that is writing a checkpoint.
    """

    command: float = 10.0
    terminate: float = 3.0
    saving: float = 60.0


class ChildProcess:
    """Child process in its own process group that prints events as JSON lines and reads commands from its stdin.

    `events` runs in one thread; `send`, `stop`, `kill`, `detach` and `release` may be called in any. low_priority: the
    child yields the CPU to this process. log: file to which the child's stderr is appended.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        timeouts: StopTimeouts | None = None,
        low_priority: bool = False,
    ) -> None:
        self.command = list(command)
        self.environment = environment
        self.log = log
        self.forced = False  # the process was terminated or killed
        self.detached = False
        self._timeouts = timeouts or StopTimeouts()
        self._low_priority = low_priority
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._input_closed = threading.Event()
        self._delivered = False  # all lines up to the end of the input were written
        self._graceful = True
        self._process: subprocess.Popen[str] | None = None
        self._log_start = 0

    # --- commands, from any thread ----------------------------------------------------------------

    def send(self, line: str) -> None:
        """Write one line to the child's input; ignored if the child has ended."""
        self._outbox.put(line)

    def stop(self, line: str | None) -> None:
        """Send the command `line`, then terminate, then kill. Without a command, terminate at once."""
        if line is None:
            self._graceful = False
        elif not self._stopping.is_set():
            self.send(line)
        self._stopping.set()

    def kill(self) -> None:
        """Kill the child and the processes that it started, without delay."""
        self.stop(None)
        if self._process is not None and self._process.poll() is None:
            self.forced = True
            self._signal_group(self._process.pid, kill=True)

    def detach(self) -> None:
        """Close the child's input, upon which the child saves and ends by itself; no further events are reported."""
        self.detached = True
        self._outbox.put(None)

    def release(self, line: str, seconds: float) -> bool:
        """Send a command, close the input, leave the child running. Return False if that took longer than `seconds`."""
        self._outbox.put(line)
        self._outbox.put(None)
        self._input_closed.wait(seconds)
        if self._delivered:
            self.detached = True
        return self._delivered

    # --- process, in a worker thread --------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """Start the process and yield its events until it has ended. Raises OSError if it cannot be started."""
        if self.detached:
            return
        process = self._start()
        escalation = StopEscalation(self._timeouts)
        output_ended = False
        dead_since: float | None = None
        while not self.detached:
            try:
                line = self._lines.get(timeout=0.1)
            except queue.Empty:
                line = ""
            if line is None:
                output_ended = True
                escalation.begin()  # no events can follow a closed pipe
            elif line:
                event = decode(line)
                if event is None:
                    self._log_output(line)
                else:
                    escalation.consider(event)
                    yield event
                    if isinstance(event, (Finished, Failed)):
                        escalation.begin()  # from the final event on, the same delays apply as after a command
            if process.poll() is not None:
                # A grandchild may keep the pipe open forever: reading stops one second after the child's end.
                dead_since = dead_since or time.monotonic()
                if output_ended or (not line and time.monotonic() - dead_since > 1):
                    break
                continue
            if self._stopping.is_set():
                escalation.begin(graceful=self._graceful)
            if (step := escalation.due()) is not None:
                self.forced = True
                self._signal_group(process.pid, kill=step == "kill")
        if not self.detached:
            self._outbox.put(None)
            if self.forced or process.returncode:
                self._signal_group(process.pid, kill=True)  # processes started by the child
            process.wait()

    @property
    def returncode(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def log_tail(self, lines: int = 12) -> str:
        """Return the last lines of the child's error output."""
        return log_tail(self.log, self._log_start, lines)

    def exit_event(self, what: str, time: float = 0.0) -> Failed:
        """Return the event of a child that ended without a final event. what: "training" or "export"."""
        return failed_event(what, cause(self.returncode, self.log_tail()), self.log, time)

    def _start(self) -> subprocess.Popen[str]:
        make_folder(self.log.parent)
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                **_process_group(self._low_priority),
            )
        self._process = process
        if self._low_priority:
            _lower_priority(process.pid)
        for work in (self._read, self._write):
            threading.Thread(target=work, args=(process,), daemon=True).start()
        return process

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        # Read on after a detach: a full pipe would block the child before it has saved.
        with contextlib.suppress(OSError, ValueError), process.stdout:
            for line in process.stdout:
                if not self.detached:
                    self._lines.put(line)
        self._lines.put(None)
        process.wait()

    def _write(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        # Separate thread: a child that does not read its input must not block this process.
        with contextlib.suppress(OSError, ValueError), process.stdin:
            while (line := self._outbox.get()) is not None:
                process.stdin.write(line + "\n")
                process.stdin.flush()
            self._delivered = True
        self._input_closed.set()

    def _log_output(self, line: str) -> None:
        """Append to the log a line that a library printed among the events."""
        if line.strip():
            with contextlib.suppress(OSError), self.log.open("a", encoding="utf-8") as log:
                log.write(f"{LIBRARY_OUTPUT}{line.rstrip()}\n")

    def _signal_group(self, pid: int, *, kill: bool) -> None:
        if os.name == "posix":
            with contextlib.suppress(OSError):  # the whole group, including orphans of a dead child
                os.killpg(pid, signal.SIGKILL if kill else signal.SIGTERM)
        else:
            end_process(pid, kill=kill)


class StopEscalation:
    """Steps of ending a process: none before `begin`, then "terminate", then "kill"."""

    def __init__(self, timeouts: StopTimeouts) -> None:
        self._timeouts = timeouts
        self._begin_time = 0.0
        self._graceful = True
        self._steps: list[tuple[float, str]] | None = None

    def begin(self, *, graceful: bool = True) -> None:
        if self._steps is None or (not graceful and len(self._steps) == 2):
            self._begin_time, self._graceful = time.monotonic(), graceful
            self._schedule(self._timeouts.command if graceful else 0)

    def consider(self, event: Event) -> None:
        """Extend the delay after a checkpoint: the command was received, and writing the model takes longer."""
        if isinstance(event, Checkpoint) and self._graceful and self._steps is not None and len(self._steps) == 2:
            self._schedule(max(self._timeouts.command, self._timeouts.saving))

    def due(self) -> str | None:
        """Return the step whose time has come, once."""
        if self._steps and time.monotonic() >= self._steps[0][0]:
            return self._steps.pop(0)[1]
        return None

    def _schedule(self, seconds: float) -> None:
        first = self._begin_time + seconds
        self._steps = [(first, "terminate"), (first + self._timeouts.terminate, "kill")]


def _process_group(low_priority: bool) -> dict[str, Any]:
    """Return `Popen` arguments for a process group of its own; on Windows without a console.

    Ctrl-C in a terminal reaches every process of a group, but the child must be stopped by this process only.
    """
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP
        if low_priority:
            flags |= subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    if sys.version_info >= (3, 11):
        # not a session of its own: Linux may balance sessions against each other, regardless of niceness
        return {"process_group": 0}
    return {"start_new_session": True}


def _lower_priority(pid: int) -> None:
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        if sys.version_info < (3, 11) and sys.platform == "linux":
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS), encoding="ascii")
