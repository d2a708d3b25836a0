"""Result output `--last-result FILE`: the latest result, for a program that polls one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.sinks.sink_base import Record, Sink, json_line
from workbench.inference.io.file_access import write_atomic

NAMES = ("last-result",)


def add_arguments(group: Any) -> None:
    group.add_argument("--last-result", type=Path, metavar="FILE", help="write the latest result to a file")


def configure(options: argparse.Namespace) -> Sink | None:
    return None if options.last_result is None else LastResult(options.last_result.absolute())


class LastResult(Sink):
    name = NAMES[0]

    def __init__(self, path: Path) -> None:
        self._path = path

    def deliver(self, record: Record) -> None:
        write_atomic(self._path, json_line(record))
