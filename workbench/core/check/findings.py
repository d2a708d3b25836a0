"""Findings of the project check: kinds, in the order of a report, and their data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from workbench.core.messages import Message
from workbench.inference.text_safety import csv_table

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
KINDS: tuple[Kind, ...] = get_args(Kind)


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


@cache
def kind_texts() -> dict[Kind, tuple[Message, Message]]:
    """Return the title and the advice of each kind."""
    return {
        "missing_source": (Message("check.missing_source.title"), Message("check.missing_source.advice")),
        "broken_picture": (Message("check.broken_picture.title"), Message("check.broken_picture.advice")),
        "broken_mask": (Message("check.broken_mask.title"), Message("check.broken_mask.advice")),
        "wrong_size": (Message("check.wrong_size.title"), Message("check.wrong_size.advice")),
        "unknown_ids": (Message("check.unknown_ids.title"), Message("check.unknown_ids.advice")),
        "broken_note": (Message("check.broken_note.title"), Message("check.broken_note.advice")),
        "stray_mask": (Message("check.stray_mask.title"), Message("check.stray_mask.advice")),
        "stray_note": (Message("check.stray_note.title"), Message("check.stray_note.advice")),
        "empty_defect": (Message("check.empty_defect.title"), Message("check.empty_defect.advice")),
        "painted_good": (Message("check.painted_good.title"), Message("check.painted_good.advice")),
        "folder_name": (Message("check.folder_name.title"), Message("check.folder_name.advice")),
        "island": (Message("check.island.title"), Message("check.island.advice")),
        "hole": (Message("check.hole.title"), Message("check.hole.advice")),
        "unused_class": (Message("check.unused_class.title"), Message("check.unused_class.advice")),
        "similar_classes": (Message("check.similar_classes.title"), Message("check.similar_classes.advice")),
        "duplicate": (Message("check.duplicate.title"), Message("check.duplicate.advice")),
        "leak": (Message("check.leak.title"), Message("check.leak.advice")),
        "bad_grouping": (Message("check.bad_grouping.title"), Message("check.bad_grouping.advice")),
    }


def findings_csv(findings: Iterable[LintFinding], translate: Callable[[str], str] = str) -> bytes:
    """Return findings as CSV in UTF-8 with a byte order mark. translate: returns a message in another language."""
    rows = [("kind", "title", "key", "detail", "other", "advice")]
    for finding in findings:
        title, advice = map(translate, kind_texts()[finding.kind])
        rows.append((finding.kind, title, finding.key, translate(finding.detail), finding.other, advice))
    return csv_table(rows)
