"""Findings of the project check: kinds, in the order of a report, and their data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "missing_source",
    "broken_picture",
    "broken_mask",
    "wrong_size",
    "unknown_ids",
    "broken_note",
    "stray_mask",
    "stray_note",
    "empty_defect",
    "painted_good",
    "folder_name",
    "island",
    "hole",
    "unused_class",
    "similar_classes",
    "duplicate",
    "leak",
    "bad_grouping",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class LintFinding:
    """Finding of the project check.

    key: key of the image, or the file, class or source concerned. detail: a `Message`, or part of an English sentence.
    image: key of the image to show, "" if the finding concerns none. place: (x, y) of the first pixel in it. other: the
    other image or class. name: verdict or class that the finding suggests.
    """

    kind: Kind
    key: str
    detail: str
    image: str = ""
    place: tuple[int, int] | None = None
    other: str = ""
    name: str = ""
