"""Child process that reports events and reads commands: the training program."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.runs import captured_program
from workbench.core.runs.captured_program import end_process
from workbench.core.runs.events import Checkpoint, Event, Failed, Finished, decode
from workbench.inference.io.file_access import make_folder

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
        return captured_program.log_tail(self.log, self._log_start, lines)

    def exit_event(self, what: str, time: float = 0.0) -> Failed:
        """Return the event of a child that ended without a final event. what: "training" or "export"."""
        return captured_program.failed_event(
            what, captured_program.cause(self.returncode, self.log_tail()), self.log, time
        )

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
                log.write(f"{captured_program.LIBRARY_OUTPUT}{line.rstrip()}\n")

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
