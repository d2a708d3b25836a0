"""Training program as a child process: reads its events, sends the order to stop, writes its stderr to a log."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from workbench.cli.pip_commands import paddle_command
from workbench.core import problems
from workbench.core.runs import process_exit
from workbench.core.runs.events import Event, Failed, Finished, decode, encode_order
from workbench.core.runs.launch import own_group, paddle_installed, worker_command, worker_environment


def run_child(
    verb: str,
    *arguments: str | Path,
    device: str = "auto",
    log: Path,
    on_event: Callable[[Event], None],
    on_stop: Callable[[], None],
) -> Finished:
    """Run a verb of the training program to its end. on_stop: called after the first Ctrl-C, which orders a stop.

    A second Ctrl-C kills the child. Raises the problem that the child reports, PaddleMissing, or WorkerFailed.
    """
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command())
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as chatter:
        before = chatter.tell()
        process = subprocess.Popen(
            worker_command(verb, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=chatter,
            env=worker_environment(device),
            **own_group(),
        )
    ending: Finished | Failed | None = None
    with process, _interrupts(process, on_stop):
        for event in _events(process):
            on_event(event)
            if isinstance(event, (Finished, Failed)):
                ending = event
        process.wait()
    if isinstance(ending, Finished):
        return ending
    what = "training" if verb == "train" else verb
    if ending is None:
        ending = process_exit.failed_event(
            what, process_exit.cause(process.returncode, process_exit.log_tail(log, before)), log
        )
    if ending.problem == "PaddleMissing":
        raise problems.PaddleMissing(command=paddle_command())
    raise process_exit.to_problem(ending, what, log)


def _events(process: subprocess.Popen[bytes]) -> Iterator[Event]:
    """Yield the child's events. A thread reads them, so that the calling thread can be interrupted on every system."""
    lines: queue.Queue[bytes | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True, name="events of the child").start()
    while True:
        try:
            line = lines.get(timeout=0.2)
        except queue.Empty:
            continue
        if line is None:
            return
        event = decode(line.decode("utf-8", "replace"))
        if event is not None:
            yield event


@contextmanager
def _interrupts(process: subprocess.Popen[bytes], on_stop: Callable[[], None]) -> Iterator[None]:
    """Context in which the first SIGINT or SIGTERM orders the child to stop and the second one kills it."""
    asked = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked += 1
        if asked == 1 and _order_stop(process):
            on_stop()
        else:
            process.kill()

    kinds = (signal.SIGINT, signal.SIGTERM)
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {kind: signal.signal(kind, handle) for kind in kinds}
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _order_stop(process: subprocess.Popen[bytes]) -> bool:
    """Send the order to stop. Return False if the child has closed its stdin."""
    assert process.stdin is not None
    try:
        process.stdin.write((encode_order("stop") + "\n").encode())
        process.stdin.flush()
    except OSError:
        return False
    return True
