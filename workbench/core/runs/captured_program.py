"""Short programs that run to their end while their output is captured.

Description of a child process that ended without a report: from exit code, signal and the end of its log.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.problems import Problem, RunUnusable, WorkerFailed
from workbench.core.runs.events import Failed, Finished

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
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
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
