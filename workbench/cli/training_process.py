"""Training program as a child process of the command line: events, Ctrl+C, and the problem if it fails."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from workbench.core import problems
from workbench.core.runs import process_exit
from workbench.core.runs.child_process import ChildProcess, StopTimeouts
from workbench.core.runs.events import Event, Failed, Finished, encode_order
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.pip_commands import paddle_command_here


def run_child(
    verb: str,
    *arguments: str | Path,
    device: str = "auto",
    log: Path,
    on_event: Callable[[Event], None],
    on_stop: Callable[[], None],
) -> Finished:
    """Run a verb of the training program to its end. on_stop: called after the first Ctrl+C, which orders a stop.

    A second Ctrl+C kills the child. Raises the problem that the child reports, PaddleMissing, or WorkerFailed.
    """
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    child = ChildProcess(
        worker_command(verb, *arguments),
        environment=worker_environment(device),
        log=log,
        timeouts=StopTimeouts(command=math.inf, saving=math.inf),  # only a second Ctrl+C ends it by force
    )
    ending: Finished | Failed | None = None
    with _interrupts(child, on_stop):
        for event in child.events():
            on_event(event)
            if isinstance(event, (Finished, Failed)):
                ending = event
    if isinstance(ending, Finished):
        return ending
    what = "training" if verb == "train" else verb
    if ending is None:
        ending = child.exit_event(what)
    if ending.problem == "PaddleMissing":
        raise problems.PaddleMissing(command=paddle_command_here())
    raise process_exit.to_problem(ending, what, log)


@contextmanager
def _interrupts(child: ChildProcess, on_stop: Callable[[], None]) -> Iterator[None]:
    """Context in which the first SIGINT or SIGTERM orders the child to stop and the second one kills it."""
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            child.stop(encode_order("stop"))
            on_stop()
        else:
            child.kill()

    previous: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        previous = {kind: signal.signal(kind, handle) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except BaseException:
        child.kill()
        raise
    finally:
        for kind, handler in previous.items():
            signal.signal(kind, handler)
