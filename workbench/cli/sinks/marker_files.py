"""Output `marker`: a file NAME.OK, NAME.NG or NAME.ERROR for each image, whose existence is its result."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.cli.sinks.sink_base import ERROR, NG, OK, Record, Sink, json_line
from workbench.inference.io.file_access import read_regular, remove_file, sweep, write_atomic

_MIN_AGE = 60.0  # seconds after which another process has ended writing a marker, or was killed


def add_arguments(group: Any) -> None:
    meaning = "write a file NAME.OK, NAME.NG or, without a prediction, NAME.ERROR for each image"
    group.add_argument("--marker", type=Path, metavar="FOLDER", help=meaning)


def configure(options: argparse.Namespace) -> MarkerFiles | None:
    """Return the output, None if it was not requested."""
    # A watched folder, whose results are named after files, has no option: a new version of a file replaces the old.
    replace = getattr(options, "replace", True)
    return None if options.marker is None else MarkerFiles(options.marker.absolute(), replace=replace)


class MarkerFiles(Sink):
    """Folder of markers. A marker appears complete, with the record as its content.

    replace: a marker replaces an earlier one of the same name; otherwise it gets the id of its record as an addition
    to the name.
    """

    name = "marker"

    def __init__(self, folder: Path, *, replace: bool = True) -> None:
        self._folder = folder
        self._replace = replace
        self._second_sweep: float | None = None  # `time.monotonic` at which it is due

    def open(self, *, durable: bool) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if durable:
            sweep(self._folder, below=True)
            return
        # A server may have several processes that write here. The file of a process that was killed a moment ago is as
        # young as theirs, so it is removed later.
        sweep(self._folder, below=True, min_age=_MIN_AGE)
        self._second_sweep = time.monotonic() + _MIN_AGE

    def deliver(self, record: Record) -> None:
        if self._second_sweep is not None and time.monotonic() >= self._second_sweep:
            self._second_sweep = None
            sweep(self._folder, below=True, min_age=_MIN_AGE)
        with _locked(self._folder):
            name = record["name"]
            markers = {result: self._folder / f"{name}.{result}" for result in (OK, NG, ERROR)}
            if not self._replace and any(_is_of_another(path, record) for path in markers.values()):
                markers = {result: self._folder / f"{name}-{record['id']}.{result}" for result in markers}
            # Never two markers at once: a reader must not meet the result of an earlier version of the image.
            path = markers.pop(record["result"])
            for other in markers.values():
                remove_file(other, missing_ok=True)
            write_atomic(path, json_line(record) + b"\n")


def _is_of_another(path: Path, record: Record) -> bool:
    """Return True if a marker exists, unless it is an earlier delivery of the same record."""
    try:
        return record["id"].encode() not in read_regular(path)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep the other processes of a server from writing markers, where folders can be locked."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
