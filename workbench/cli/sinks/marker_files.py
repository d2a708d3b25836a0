"""Output `marker`: a file NAME.OK, NAME.NG or NAME.ERROR for each image, whose existence is its result."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from workbench.cli.sinks.sink_base import ERROR, NG, OK, Record, Sink, json_line
from workbench.inference.io.atomic_write import sweep, write_atomic

_MIN_AGE = 60.0  # seconds after which another process has ended writing a marker, or was killed


def add_arguments(group: Any) -> None:
    meaning = "write a file NAME.OK, NAME.NG or, without a prediction, NAME.ERROR for each image"
    group.add_argument("--marker", type=Path, metavar="FOLDER", help=meaning)


def configure(options: argparse.Namespace) -> MarkerFiles | None:
    """Return the output, None if it was not requested."""
    return None if options.marker is None else MarkerFiles(options.marker.absolute())


class MarkerFiles(Sink):
    """Folder of markers. A marker appears complete, with the record as its content, and replaces an earlier one."""

    name = "marker"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        path = self._folder / f"{record['name']}.{record['result']}"
        # Never two markers at once: a reader must not meet the result of an earlier version of the image.
        for result in {OK, NG, ERROR} - {record["result"]}:
            path.with_name(f"{path.name.removesuffix(record['result'])}{result}").unlink(missing_ok=True)
        write_atomic(path, json_line(record) + b"\n")
