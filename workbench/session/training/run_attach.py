"""Runs trained by another process: detection of that process, and commands by file."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from workbench.core.runs.events import Failed, Finished, Started, encode
from workbench.core.runs.run import Run
from workbench.core.runs.run_lock import training_process

POLL = 0.2  # seconds


def orders_path(run: Run) -> Path:
    """Return the file from which the trainer reads commands besides its pipe; one JSON line each."""
    return run.root / "orders.jsonl"


def send_order(run: Run, line: str) -> None:
    """Append a command for a trainer that was not started by this process. Raises OSError."""
    with orders_path(run).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def append_ending(run: Run, ending: Finished | Failed) -> None:
    """Append the ending of a trainer that died to the events file."""
    try:
        with run.events_path.open("ab+") as file:
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
    for event in run.events():
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
