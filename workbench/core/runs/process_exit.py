"""Description of a child process that ended without a report: from exit code, signal and the end of its log."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from workbench.core import problems
from workbench.core.problems import Problem, RunUnusable, WorkerFailed
from workbench.core.runs.events import Failed, Finished
from workbench.core.runs.run import Run

ASIDE = "stdout: "  # marks output of libraries in a log; never quoted as the cause
_NO_MEMORY = ("out of memory", "cannot allocate memory", "memoryerror", "bad_alloc", "resourceexhausted")
_WINDOWS = {
    0xC0000005: "it crashed (access violation)",
    0xC0000017: "the memory of this computer was used up",
    0xC0000409: "it crashed (stack overrun)",
    0xC000013A: "it was interrupted from the keyboard",
    0xC0000135: "a library that it needs is missing",
}


def cause(returncode: int | None, log_tail: str) -> str:
    """Return the reason why a process ended, as a part of a sentence."""
    last = next((line.strip() for line in reversed(log_tail.splitlines()) if line.strip()), "")
    number = _signal_number(returncode)
    text = log_tail.lower()
    if any(sign in text for sign in _NO_MEMORY):
        what = "it ran out of memory"
    elif number == 9:
        what = "it was killed by signal 9 (SIGKILL), most often because the memory of this computer was used up"
    elif number is not None:
        crash = number in (4, 6, 7, 8, 11)
        what = f"it {'crashed' if crash else 'was ended'} by signal {number} ({_signal_name(number)})"
    elif returncode is not None and returncode & 0xFFFFFFFF in _WINDOWS:
        what = _WINDOWS[returncode & 0xFFFFFFFF]
    elif returncode == 0:
        what = "it ended without saying why (exit code 0)"
    elif returncode is None:
        what = "its process is gone and has not said why"
    else:
        what = f"it ended with exit code {returncode}"
    return f"{what}; its last words were: {last[:300]}" if last else what


def log_tail(log: Path, start: int = 0, lines: int = 12) -> str:
    """Return the last lines of a process's error output. start: size of the log before the process began."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(start, end - 16_384))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    own = [line for line in text.splitlines() if not line.startswith(ASIDE)]
    return "\n".join(own[-lines:])


def failed_event(what: str, why: str, log: Path, time: float = 0.0) -> Failed:
    """Return the event of a process that failed. what: "training" or "export"."""
    fields = {"what": what, "why": why, "log": str(log)}
    return Failed(time=time, why=str(WorkerFailed(**fields)), problem="WorkerFailed", fields=fields, log=str(log))


def from_problem(problem: Problem, time: float = 0.0) -> Failed:
    """Return the event of a process that could not be started."""
    return Failed(time=time, why=str(problem), problem=type(problem).__name__, fields=dict(problem.fields))


def to_problem(ending: Failed, what: str, log: Path) -> Problem:
    """Return the problem of a Failed event; one that is unknown to this version becomes WorkerFailed."""
    kind = problems.problem_class(ending.problem)
    if kind is not None:
        try:
            problem = kind(**ending.fields)
            str(problem)
        except (LookupError, TypeError, ValueError, AttributeError):
            pass  # fields of another version
        else:
            return problem
    return WorkerFailed(what=what, why=ending.why, log=ending.log or str(log))


def stopped_event(run: Run, time: float) -> Finished | Failed:
    """Return the event of a training that was terminated; its saved checkpoints remain valid."""
    if run.usable or run.resumable:
        result = {"forced": True, "usable": run.usable, "resumable": run.resumable}
        return Finished(time=time, why="stopped", result=result)
    return from_problem(RunUnusable(name=run.name, why="it was stopped before its first checkpoint"), time)


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
