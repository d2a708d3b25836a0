"""CSV tables of a results folder: one row per region, and one per image with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model_settings import ModelSettings  # noqa: TID252
from ..verdict_rule import reason_text  # noqa: TID252

_REGION_COLUMNS = (
    *("picture", "class_id", "class", "x", "y", "width", "height"),
    *("area", "area_um2", "width_um", "height_um", "centroid_x", "centroid_y", "score", "peak"),
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
    return [*cells, *region["centroid"], region["score"], region["peak"]]
