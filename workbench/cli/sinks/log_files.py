"""Outputs `log-csv` and `log-jsonl`: one line per image in a file, which is renamed daily and at a maximum size."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import datetime
import itertools
import os
from pathlib import Path
from typing import Any

from workbench.cli.sinks.sink_base import Record, Sink, json_line
from workbench.cli.verb_runner import WrongUse, number_in
from workbench.inference.io.file_access import open_file, replace_path, sync
from workbench.inference.text_safety import csv_rows
from workbench.inference.verdict_rule import unlike_text

_COLUMNS = (
    *("time", "id", "name", "result", "verdict", "regions", "largest_area"),
    *("anomaly_score", "milliseconds", "path", "why"),
)
_DEFAULT_MB = 100.0


def add_arguments(group: Any) -> None:
    group.add_argument("--log-csv", type=Path, metavar="FILE", help="append one line per image to a CSV file")
    group.add_argument("--log-jsonl", type=Path, metavar="FILE", help="append one line of JSON per image to a file")
    group.add_argument(
        "--log-max-mb",
        type=number_in(0, kind=float, above=True),
        metavar="N",
        help="size in MB at which a log file is renamed and a new one begun (100); also done every day",
    )


def configure(options: argparse.Namespace) -> list[LogFile]:
    """Return the requested outputs. Raises WrongUse."""
    size = options.log_max_mb
    limit = int((_DEFAULT_MB if size is None else size) * 2**20)
    sinks: list[LogFile] = []
    if options.log_csv is not None:
        sinks.append(CsvLog(options.log_csv.absolute(), limit))
    if options.log_jsonl is not None:
        sinks.append(JsonlLog(options.log_jsonl.absolute(), limit))
    if not sinks and size is not None:
        raise WrongUse("--log-max-mb needs --log-csv or --log-jsonl")
    if options.log_csv is not None and options.log_csv == options.log_jsonl:
        raise WrongUse("--log-csv and --log-jsonl need different files")
    return sinks


class LogFile(Sink):
    """Log file. limit: bytes at which it is renamed to NAME.DATE.SUFFIX, or NAME.DATE.NUMBER.SUFFIX if that exists.

    The date is the local one of the last line.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._durable = False

    def for_process(self, row: int) -> LogFile:
        """Return a log with a file of its own, since two processes cannot rename the same file."""
        path = self._path
        return self if row == 0 else type(self)(path.with_name(f"{path.stem}-{row + 1}{path.suffix}"), self._limit)

    def open(self, *, durable: bool) -> None:
        self._durable = durable

    def deliver(self, record: Record) -> None:
        line = self._line(record)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._rotate(len(line))
        with open_file(self._path, "a+b", buffering=0) as file:
            start = file.seek(0, os.SEEK_END)
            if not start:
                line = self._head() + line
            else:
                file.seek(start - 1)
                line = line if file.read(1) == b"\n" else b"\n" + line  # the last line was cut off
            try:
                view = memoryview(line)
                while view:
                    view = view[file.write(view) :]
                if self._durable:
                    sync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(start)
                raise

    def _rotate(self, size: int) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return
        day = datetime.date.fromtimestamp(status.st_mtime)
        if not status.st_size or (day == datetime.date.today() and status.st_size + size <= self._limit):
            return
        base = f"{self._path.stem}.{day.isoformat()}"
        names = itertools.chain([base], (f"{base}.{number}" for number in itertools.count(1)))
        targets = (self._path.with_name(name + self._path.suffix) for name in names)
        replace_path(self._path, next(target for target in targets if not target.exists()))

    def _head(self) -> bytes:
        return b""

    def _line(self, record: Record) -> bytes:
        raise NotImplementedError


class JsonlLog(LogFile):
    """Log with the whole record of each image."""

    name = "log-jsonl"

    def _line(self, record: Record) -> bytes:
        return json_line(record) + b"\n"


class CsvLog(LogFile):
    """Log with one row per image: number of regions and the area of the largest instead of all regions."""

    name = "log-csv"

    def _head(self) -> bytes:
        return codecs.BOM_UTF8 + csv_rows([_COLUMNS])

    def _line(self, record: Record) -> bytes:
        areas = [region["area"] for region in record.get("regions", ())]
        row = {"why": unlike_text(record), **record, "regions": len(areas), "largest_area": max(areas, default=0)}
        cells = ("" if row.get(column) is None else row[column] for column in _COLUMNS)
        return csv_rows([[cell.replace("\n", " ") if isinstance(cell, str) else cell for cell in cells]])
