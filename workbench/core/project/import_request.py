"""Choices of the user for an import of labels, and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.core import problems
from workbench.core.geometry.selection.box_cut import BOX_SHAPES
from workbench.core.messages import Message
from workbench.core.project.formats.base import ImportOptions, PairingChoice
from workbench.core.project.formats.text_files import is_text_encoding
from workbench.core.project.plausibility import Concern

Conflicts = Literal["keep", "replace", "merge"]
CONFLICTS: tuple[Conflicts, ...] = ("keep", "replace", "merge")
UNLISTED = ("refuse", "name", "ignore")


@dataclass(frozen=True)
class ImportRequest(ImportOptions):
    """Choices of the user for an import.

    encoding: of text files that do not state theirs.
    strict: import nothing unless everything found is used.
    copy: images that are not in the project are copied; otherwise the folder becomes a source of the project.
    conflicts: for an image that is labeled already, "keep" its label, "replace" it, or "merge": regions are added where
        the existing label is background.
    classes, verdicts: name in the labels -> name in the project, None to ignore it; other names are taken over.
    split: take over the data split.

    Raises BadSettings.
    """

    format: str = "auto"
    copy: bool = True
    conflicts: Conflicts = "keep"
    classes: Mapping[str, str | None] = field(default_factory=dict)
    verdicts: Mapping[str, str | None] = field(default_factory=dict)
    split: bool = True
    encoding: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.encoding is not None and not is_text_encoding(self.encoding):
            raise problems.BadSettings(key="encoding", value=self.encoding, why=Message("import.no_encoding"))
        for key, known in (("conflicts", CONFLICTS), ("boxes", BOX_SHAPES), ("unlisted", UNLISTED)):
            if getattr(self, key) not in known:
                why = Message("settings.choice", names=", ".join(known))
                raise problems.BadSettings(key=key, value=getattr(self, key), why=why)


@dataclass
class Tally:
    """Numbers of the sources of one kind that an import found.

    kept: not imported, because the image has a label already or the source is a copy. refused: for a reason that the
    report states. not_understood: no reader understands them.
    """

    used: int = 0
    kept: int = 0
    refused: int = 0
    not_understood: int = 0

    @property
    def seen(self) -> int:
        return self.used + self.kept + self.refused + self.not_understood

    @property
    def unused(self) -> int:
        return self.refused + self.not_understood

    def to_json(self) -> dict[str, int]:
        return {"seen": self.seen, **vars(self)}


@dataclass
class Ledger:
    """Account of everything that an import found, and of its use. entries: shapes, rows or masks in the label files.

    other_files: files that are neither images nor labels of one.
    """

    images: Tally = field(default_factory=Tally)
    label_files: Tally = field(default_factory=Tally)
    entries: Tally = field(default_factory=Tally)
    other_files: int = 0

    @property
    def complete(self) -> bool:
        """True if everything found is used, or kept for a reason."""
        return not (self.images.unused or self.label_files.unused or self.entries.unused)

    def to_json(self) -> dict[str, Any]:
        tallies = {name: value.to_json() for name, value in vars(self).items() if isinstance(value, Tally)}
        return {**tallies, "other_files": self.other_files, "complete": self.complete}


@dataclass
class ImportReport:
    """Result of an import. images: images found, with or without a label; copied: number new in the project.

    background: images without a label in files that label pixels; by request they were imported as without defects.
    unfinished: images with a label that are not marked as done, because something that may belong to them is not used.
    encodings: text file -> (guessed encoding, examples of its texts). pairings: possible answers to open questions.
    """

    format: str
    images: int = 0
    labeled: int = 0
    copied: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)  # (file, why)
    added_classes: list[str] = field(default_factory=list)
    added_verdicts: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # patterns that exclude masks from the images
    notes: list[str] = field(default_factory=list)
    image_notes: list[tuple[str, str]] = field(default_factory=list)  # (label file, remark on its image)
    boxes: int = 0  # boxes that became regions
    unchanged: int = 0  # images whose existing label was kept
    found: dict[str, int] = field(default_factory=dict)  # recognized formats and the number of their labels
    splits: Counter[str] = field(default_factory=Counter)  # images of each side of the data split
    replaced: int = 0  # images whose existing label was replaced or merged
    matched: int = 0  # images that are in the project already
    missing: int = 0  # labels whose image was not found
    background: int = 0
    unfinished: list[str] = field(default_factory=list)  # keys
    encodings: dict[Path, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    pairings: list[PairingChoice] = field(default_factory=list)
    concerns: list[Concern] = field(default_factory=list)  # what is not plausible
    ledger: Ledger = field(default_factory=Ledger)
    cancelled: bool = False  # nothing was imported
    undoable: bool = False  # the import changed something, and is in the journal

    def main_reasons(self) -> list[tuple[int, str, str]]:
        """Return (number, first place, reason) of the most frequent kinds of reasons why something is not used."""
        kinds: dict[str, list[tuple[str, str]]] = {}
        for place, why in self.skipped:
            kinds.setdefault(why.id if isinstance(why, Message) else why, []).append((place, why))
        found = [(len(places), *places[0]) for id, places in kinds.items() if id != "import.already_labeled"]
        return sorted(found, key=lambda kind: -kind[0])[:3]

    @property
    def all_notes(self) -> list[str]:
        """Remarks on the import and on single images."""
        return [*self.notes, *(f"{Path(path).name}: {text}" for path, text in self.image_notes)]
