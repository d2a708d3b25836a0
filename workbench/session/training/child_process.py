"""Child process that prints events and reads orders; started at low priority, read without blocking."""

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

import psutil

from workbench.core.runs.events import Checkpoint, Event, Failed, Finished, decode
from workbench.core.runs.launch import own_group
from workbench.core.runs.process_exit import ASIDE, log_tail
from workbench.inference.io.atomic_write import make_folder

NICENESS = 10  # keeps the window responsive, at a cost of a few percent of the child's speed


@dataclass(frozen=True)
class StopTimeouts:
    """Delays in seconds between the steps of a stop: order, terminate, kill.

    saving: delay counted from the order, for a child that is writing a checkpoint.
    """

    order: float = 10.0
    terminate: float = 3.0
    saving: float = 60.0


class ChildProcess:
    """One child process. `events` runs in one worker thread; `send`, `stop` and `detach` run in any thread."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        log: Path,
        patience: StopTimeouts | None = None,
    ) -> None:
        self.command = list(command)
        self.environment = environment
        self.log = log
        self.forced = False  # the process was terminated or killed
        self.detached = False
        self._patience = patience or StopTimeouts()
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._written = threading.Event()
        self._delivered = False  # all lines up to the end of the input were written
        self._gently = True
        self._process: subprocess.Popen[str] | None = None
        self._log_start = 0

    # --- orders, from any thread ------------------------------------------------------------------

    def send(self, line: str) -> None:
        """Write one line to the child's input; ignored if the child has ended."""
        self._outbox.put(line)

    def stop(self, order: str | None) -> None:
        """Send `order`, then terminate, then kill. Without an order, terminate at once."""
        if order is None:
            self._gently = False
        elif not self._stopping.is_set():
            self.send(order)
        self._stopping.set()

    def detach(self) -> None:
        """Close the child's input, upon which the child saves and ends by itself; no further events are reported."""
        self.detached = True
        self._outbox.put(None)

    def release(self, order: str, seconds: float) -> bool:
        """Write an order, close the input, leave the child running. Return False if that took longer than `seconds`."""
        self._outbox.put(order)
        self._outbox.put(None)
        self._written.wait(seconds)
        if self._delivered:
            self.detached = True
        return self._delivered

    # --- process, in a worker thread --------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """Start the process and yield its events until it has ended. Raises OSError if it cannot be started."""
        if self.detached:
            return
        process = self._start()
        ladder = StopEscalation(self._patience)
        over = False
        dead_since: float | None = None
        while not self.detached:
            try:
                line = self._lines.get(timeout=0.1)
            except queue.Empty:
                line = ""
            if line is None:
                over = True
                ladder.begin()  # no events can follow a closed pipe
            elif line:
                event = decode(line)
                if event is None:
                    self._keep(line)
                else:
                    ladder.heard(event)
                    yield event
                    if isinstance(event, (Finished, Failed)):
                        ladder.begin()  # from the final event on, the same delays apply as after an order
            if process.poll() is not None:
                # A grandchild may keep the pipe open forever: reading stops one second after the child's end.
                dead_since = dead_since or time.monotonic()
                if over or (not line and time.monotonic() - dead_since > 1):
                    break
                continue
            if self._stopping.is_set():
                ladder.begin(gently=self._gently)
            if (step := ladder.due()) is not None:
                self.forced = True
                self._end(process.pid, kill=step == "kill")
        if not self.detached:
            self._outbox.put(None)
            if self.forced or process.returncode:
                self._end(process.pid, kill=True)  # processes started by the child
            process.wait()

    @property
    def returncode(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def log_tail(self, lines: int = 12) -> str:
        """Return the last lines of the child's error output."""
        return log_tail(self.log, self._log_start, lines)

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
                **_apart(),
            )
        self._process = process
        _be_nice(process.pid)
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
        # Separate thread: a child that does not read its input must not block the window.
        with contextlib.suppress(OSError, ValueError), process.stdin:
            while (line := self._outbox.get()) is not None:
                process.stdin.write(line + "\n")
                process.stdin.flush()
            self._delivered = True
        self._written.set()

    def _keep(self, line: str) -> None:
        """Append to the log a line that a library printed among the events."""
        if line.strip():
            with contextlib.suppress(OSError), self.log.open("a", encoding="utf-8") as log:
                log.write(f"{ASIDE}{line.rstrip()}\n")

    def _end(self, pid: int, *, kill: bool) -> None:
        if os.name == "posix":
            with contextlib.suppress(OSError):  # the whole group, including orphans of a dead child
                os.killpg(pid, signal.SIGKILL if kill else signal.SIGTERM)
        else:
            end_process(pid, kill=kill)


class StopEscalation:
    """Steps of ending a process: none before `begin`, then "terminate", then "kill"."""

    def __init__(self, patience: StopTimeouts) -> None:
        self._patience = patience
        self._begun = 0.0
        self._gently = True
        self._steps: list[tuple[float, str]] | None = None

    def begin(self, *, gently: bool = True) -> None:
        if self._steps is None or (not gently and len(self._steps) == 2):
            self._begun, self._gently = time.monotonic(), gently
            self._plan(self._patience.order if gently else 0)

    def heard(self, event: Event) -> None:
        """Extend the delay after a checkpoint: the order was received, and writing the model takes longer."""
        if isinstance(event, Checkpoint) and self._gently and self._steps is not None and len(self._steps) == 2:
            self._plan(max(self._patience.order, self._patience.saving))

    def _plan(self, seconds: float) -> None:
        first = self._begun + seconds
        self._steps = [(first, "terminate"), (first + self._patience.terminate, "kill")]

    def due(self) -> str | None:
        if self._steps and time.monotonic() >= self._steps[0][0]:
            return self._steps.pop(0)[1]
        return None


def end_process(pid: int, *, kill: bool) -> None:
    """Terminate or kill a process and all its descendants."""
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [*parent.children(recursive=True), parent]:
            with contextlib.suppress(psutil.Error):
                process.kill() if kill else process.terminate()


def _apart() -> dict[str, Any]:
    """Return `Popen` arguments: own process group; on Windows no console and a priority below the window's."""
    if sys.platform == "win32":
        return own_group(flags=subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS)
    return own_group()


def _be_nice(pid: int) -> None:
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        if sys.version_info < (3, 11) and sys.platform == "linux":
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS), encoding="ascii")
