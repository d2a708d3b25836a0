"""A run that another process drives: whether it lives, what it writes, and orders by file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from workbench.core.events import Event, Failed, Finished, Started, decode, encode
from workbench.core.run import Run
from workbench.core.run_lock import training_process

POLL = 0.2  # seconds


def orders_path(run: Run) -> Path:
    """Where the trainer looks for orders, beside its pipe; one JSON line each."""
    return run.root / "orders.jsonl"


def send_order(run: Run, line: str) -> None:
    """Append an order for a trainer whose pipe is not ours. Raises OSError."""
    with orders_path(run).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def append_ending(run: Run, ending: Finished | Failed) -> None:
    """Put the ending of a trainer that died into its events, so that the disk knows too."""
    try:
        with run.events_path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":  # its last line is torn
                    file.write(b"\n")
            file.write(encode(ending).encode("utf-8") + b"\n")
    except OSError:
        return  # a full disk; the window has been told


def living(run: Run) -> psutil.Process | None:
    """The process that trains `run` now, by its last Started without an ending; None if there is none.

    One that holds the lock counts before it has reported anything: it is starting.
    """
    pid = 0
    for event in run.events():
        if isinstance(event, Started):
            pid = event.process
        elif isinstance(event, (Finished, Failed)):
            pid = 0
    found = process_of(run, pid) if pid else None
    if found is None and (pid := training_process(run.root) or 0):
        found = process_of(run, pid)
    return found


def process_of(run: Run, pid: int) -> psutil.Process | None:
    """The process `pid` if it still is this run's trainer, and not one that was given the number later."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        try:
            mine = any(_same(part, run.root) for part in process.cmdline())
        except psutil.AccessDenied:
            # Then by age: it must have been there when the run last wrote.
            mine = process.create_time() <= run.events_path.stat().st_mtime
    except (psutil.Error, OSError, ValueError):
        return None
    return process if mine else None


def _same(argument: str, root: Path) -> bool:
    if Path(argument).name != root.name:
        return False
    try:
        return Path(argument).samefile(root)
    except (OSError, ValueError):
        return False


class Tail:
    """Events of a growing events.jsonl; a line that is not complete yet waits for its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._part = b""

    def read(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """What was added since the last call."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                for line in file:
                    if stopped():
                        return
                    self._at += len(line)
                    self._part += line
                    if not line.endswith(b"\n"):
                        return
                    whole, self._part = self._part, b""
                    event = decode(whole.decode("utf-8", "replace"))
                    if event is not None:
                        yield event
        except OSError:
            return
