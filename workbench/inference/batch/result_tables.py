"""CSV tables and results.json of a results folder, written from its log.

The tables have one row per region, and one per image with a verdict.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..csv_metadata import SUFFIX, csv_metadata  # noqa: TID252
from ..io.atomic_write import replacing  # noqa: TID252
from ..model_settings import ModelSettings  # noqa: TID252
from ..text_safety import csv_rows, csv_table  # noqa: TID252
from ..verdict_rule import reason_text  # noqa: TID252
from .results_log import ResultsLog

_FERETS = ("feret_max", "feret_min", "feret_max_mm", "feret_min_mm")
_REGION_COLUMNS = (
    *("picture", "class_id", "class", "x", "y", "width", "height"),
    *("area", "area_um2", "width_um", "height_um", "centroid_x", "centroid_y", "score", "peak"),
    *_FERETS,
)


@dataclass(frozen=True)
class ResultTable:
    """Table of a results folder. rows: function of an image's entry in the results log."""

    file: str
    columns: Sequence[str]
    rows: Callable[[dict[str, Any]], Iterator[Sequence[Any]]]


def result_tables(settings: ModelSettings) -> list[ResultTable]:
    """Return the tables for a model: regions of a segmentation, verdicts of a classification or by a rule."""
    if settings.task == "classification":
        names = settings.verdicts
        return [ResultTable("verdicts.csv", ("picture", "verdict", *names), lambda entry: _probabilities(entry, names))]
    tables = [ResultTable("regions.csv", _REGION_COLUMNS, _regions)]
    if settings.verdict_rule is not None:
        columns = ("picture", "verdict", "anomaly_score", "regions", "reason")
        tables.append(ResultTable("verdicts.csv", columns, _verdict))
    return tables


def _probabilities(entry: dict[str, Any], names: Sequence[str]) -> Iterator[Sequence[Any]]:
    yield [entry["path"], entry["verdict"], *(entry["probabilities"][name] for name in names)]


def _regions(entry: dict[str, Any]) -> Iterator[Sequence[Any]]:
    for region in entry["regions"]:
        yield [entry["path"], *_region_cells(region)]


def _verdict(entry: dict[str, Any]) -> Iterator[Sequence[Any]]:
    reason = reason_text(entry["verdict_reason"])
    yield [entry["path"], entry["verdict"], entry["anomaly_score"], len(entry["regions"]), reason]


def _region_cells(region: dict[str, Any]) -> list[Any]:
    keys = ("class_id", "class_name", "x", "y", "width", "height", "area", "area_um2", "width_um", "height_um")
    cells = ["" if region[key] is None else region[key] for key in keys]
    ferets = ["" if region.get(key) is None else region[key] for key in _FERETS]  # absent in logs of earlier versions
    return [*cells, *region["centroid"], region["score"], region["peak"], *ferets]


def write_tables(out: Path, settings: ModelSettings, log: ResultsLog) -> None:
    """Write the tables anew, and the definitions of the columns of regions.csv beside it. Raises OSError."""
    for table in result_tables(settings):
        if table.columns is _REGION_COLUMNS:
            with replacing(out / f"{table.file}{SUFFIX}") as file:
                file.write(csv_metadata(table.file, table.columns))
        with replacing(out / table.file) as file:
            # The byte order mark makes spreadsheet programs detect UTF-8.
            file.write(csv_table([table.columns]))
            for entry in log.entries():
                if "why" not in entry:
                    file.write(csv_rows(table.rows(entry)))


def append_rows(out: Path, settings: ModelSettings, entry: dict[str, Any]) -> None:
    """Append the rows of an image to the tables. Raises OSError."""
    for table in result_tables(settings):
        with (out / table.file).open("ab") as file:
            file.write(csv_rows(table.rows(entry)))


def write_report(out: Path, header: dict[str, Any], log: ResultsLog, skipped: Iterable[dict[str, Any]]) -> None:
    """Write results.json with relative paths, entry by entry, because it may be long. Raises OSError.

    skipped: entries of files that were skipped before, without a line in the log.
    """
    with replacing(out / "results.json") as file:
        head = json.dumps({"format": 1, **header}, indent=1, ensure_ascii=False)
        file.write(_utf8(head.rstrip("}\n") + ',\n "pictures": ['))
        file.writelines(_json_items(entry for entry in log.entries() if "why" not in entry))
        file.write(b'],\n "skipped": [')
        left_out = (entry for entry in log.entries() if "why" in entry)
        file.writelines(_json_items(itertools.chain(skipped, left_out)))
        file.write(b"]\n}\n")


def _json_items(entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for number, entry in enumerate(entries):
        yield _utf8(f"{',' if number else ''}\n  {json.dumps(entry, ensure_ascii=False)}")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
