"""The one way in which the training program speaks: events, a line each, to stdout and to events.jsonl."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import threading
import time
from pathlib import Path

from workbench.core.events import Event, encode

LAUNCHER_FOLDER = "workbench-launcher-"


class Clock:
    """Seconds that a run has taken: over all its sittings, pauses not counted."""

    def __init__(self, began: float | None = None) -> None:
        self._began = time.perf_counter() if began is None else began
        self._earlier = 0.0
        self._stood = 0.0

    @property
    def elapsed(self) -> float:
        return self._earlier + time.perf_counter() - self._began - self._stood

    def continue_from(self, earlier: float) -> None:
        """This is a further sitting of a run that has already taken `earlier` seconds."""
        self._earlier = earlier

    def stand_still(self, seconds: float) -> None:
        self._stood += seconds


class Reporter:
    """Writes events whole, one line each, and never fails: a reader that is gone must not end a training."""

    def __init__(self, pipe: int | None, clock: Clock, path: Path | None = None) -> None:
        self._pipe, self._clock, self._path = pipe, clock, path
        self._lock = threading.Lock()
        self._whole = False  # the last line: the process before may have been killed, or the disk full, within it

    def __call__(self, event: Event, *, keep: bool = True) -> None:
        """Report an event. keep: False for one that does not belong into the file, which another process may write."""
        event = dataclasses.replace(event, time=round(self._clock.elapsed, 3))
        # A name that is no UTF-8 holds lone surrogates: as an escape they are JSON again.
        line = (encode(event) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            # The disk first: it is the truth, and who hears of an event may look it up there at once.
            if self._path is not None and keep:
                self._append(line)
            if self._pipe is not None and not write_all(self._pipe, line):
                self._pipe = None

    def _append(self, line: bytes) -> None:
        assert self._path is not None
        whole, self._whole = self._whole, False
        with contextlib.suppress(OSError):
            with self._path.open("ab+") as file:
                if not whole and file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":
                        line = b"\n" + line
                file.write(line)
            self._whole = True


def claim_stdout() -> int | None:
    """A descriptor for events; what anything else prints to stdout goes to stderr from now on.

    None if there is no stdout, as in a program without a console.
    """
    try:
        pipe = os.dup(1)
        os.set_inheritable(pipe, False)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    return pipe


def print_to(path: Path) -> None:
    """What this process prints goes into this file from now on, also what libraries print."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with path.open("ab", buffering=0) as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)


def forget_launcher() -> None:
    """Remove the folder into which Paddle's launcher has written its whole environment, if the folder is ours."""
    folder = Path(os.environ.get("PADDLE_LOG_DIR", ""))
    if folder.name.startswith(LAUNCHER_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)


def write_all(pipe: int, data: bytes) -> bool:
    """False if nobody reads any more."""
    try:
        while data:
            data = data[os.write(pipe, data) :]
    except OSError:
        return False
    return True
