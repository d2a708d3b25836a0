"""Request of an import of labels, its report, and the account of everything that was found and of its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core import problems
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.box_cut import BOX_SHAPES
from workbench.core.images.image_files import count_unused, unused_texts
from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    PairingChoice,
    Refusal,
    is_good,
    is_in_good_folder,
)
from workbench.core.project.formats.mask_names import is_in_mask_folder
from workbench.core.project.formats.text_files import is_text_encoding
from workbench.core.project.plausibility import Concern
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.inference.io.opencv import cv2

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

    def leave_out(self, found: Sequence[problems.Problem]) -> None:
        """Take back images whose files could not be written, because another program has one of them open."""
        self.skipped += [(problem.fields["path"], str(problem)) for problem in found]
        self.labeled -= len(found)
        self.ledger.images.used -= len(found)
        self.ledger.images.refused += len(found)

    @property
    def all_notes(self) -> list[str]:
        """Remarks on the import and on single images."""
        return [*self.notes, *(f"{Path(path).name}: {text}" for path, text in self.image_notes)]


class UnreadLabels:
    """Labels that were found and not read, by the images that they may belong to.

    An image with such a label is neither marked as done nor taken for one without defects. A label that another of the
    recognized formats can read is known, however: it only prevents that an image with defects counts as one without.

    others: image -> its label in another format.
    """

    def __init__(self, batch: ImportedLabels, others: Mapping[Path, ImportedEntry], *, all_formats: bool) -> None:
        self._others = others
        self._unknown = {image: file for image, file in batch.unread.items() if image not in others}
        # The format that the user chooses decides which files are the labels of an image with defects.
        self._all_formats = all_formats
        self._of_image: dict[Path, str] = {}
        self._files: set[Path] = set()  # with entries that may belong to any of their images
        # A folder "ok" of all images says nothing, as in own exports.
        good = {entry.image for entry in batch.entries if is_in_good_folder(entry.key) and not entry.origin}
        self._good = good if any(entry.image not in good for entry in batch.entries) else set()
        self._of_any = ""  # reason, if a label may belong to an image without one
        for refusal in batch.refused:
            for image in refusal.images or ():
                self._of_image.setdefault(image, refusal.why)
            if refusal.images is None:
                self._files.add(refusal.file)
            if not refusal.images:
                self._of_any = self._of_any or refusal.why

    def add_missing(self, entry: ImportedEntry) -> None:
        """Add a label whose image was not found: it may be that of an image without a label."""
        self._of_any = self._of_any or entry.missing

    def is_finished(self, entry: ImportedEntry) -> bool:
        """Return True if nothing else may belong to the image of a label that was read."""
        beside = self._all_formats and entry.image in self._unknown
        return not (entry.doubtful or beside or entry.image in self._of_image or entry.label in self._files)

    def contradiction(self, entry: ImportedEntry, label: ImportedLabel, size: tuple[int, int], *, labeled: bool) -> str:
        """Return the reason why a label may not say that its image has no defects, or which verdict it has; or "".

        size: (width, height) of the image. labeled: it has a mask in the project, so that labels beside it may have
        been imported before.
        """
        image = entry.image
        if image in self._unknown and not (label.mask is None and labeled):
            return Message("import.unread_beside", file=self._unknown[image].name)
        good = label.mask is not None or (label.verdict is not None and is_good(label.verdict))
        other = None if image is None else self._others.get(image)
        if other is not None and good and not labeled and _has_defects(other, size):
            return Message("import.other_format_defects", file=other.label.name)
        if not self.is_finished(entry) or (entry.background and self._of_any):
            of_image = "" if image is None else self._of_image.get(image, "")
            return Message("import.maybe_others", why=of_image or entry.remark or self._of_any)
        return ""

    def disagreement(self, entry: ImportedEntry, label: ImportedLabel, size: tuple[int, int]) -> str:
        """Return the reason why a label with defects is to be checked, or "".

        So it is if its verdict or the folder of the image says that it has none, or if its label in another format is
        different.
        """
        if label.verdict is not None and is_good(label.verdict) and not label.exact:
            return Message("import.good_with_defects", verdict=label.verdict)
        if entry.image in self._good:
            return Message("import.defect_in_good_folder")
        other = None if entry.image is None or not self._all_formats else self._others.get(entry.image)
        if other is None or not _is_elsewhere(label, other, size):
            return ""
        return Message("import.second_label", names=f"{entry.label.name}, {other.label.name}")


def _has_defects(entry: ImportedEntry, size: tuple[int, int]) -> bool:
    """Return True if the label of another format has entries that are defects, or cannot be read."""
    if entry.refused:
        return True
    try:
        label = entry.read(*size)
    except FAULTS:
        return True
    drawn = label.boxes or label.refused or (label.mask is not None and label.mask.any())
    return bool(drawn) or (label.verdict is not None and not is_good(label.verdict))


def _is_elsewhere(label: ImportedLabel, other: ImportedEntry, size: tuple[int, int]) -> bool:
    """Return True if the label of another format shows no defects, or only some in another part of the image."""
    try:
        second = other.read(*size)
    except FAULTS:
        return False
    if second.mask is None:
        return second.verdict is not None and is_good(second.verdict)
    return _extent(label).common(_extent(second)).empty and not _extent(label).empty


def _extent(label: ImportedLabel) -> Rect:
    """Return the rectangle around the defects of a label."""
    assert label.mask is not None
    defects = (label.mask > BACKGROUND) & (label.mask < DONT_CARE)
    painted = Rect(*cv2.boundingRect(defects.astype(np.uint8)))
    return reduce(Rect.united, [rect for _, rect in label.boxes], painted)


_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar", ".bz2", ".xz")


class ImportAccount:
    """Counts of the sources of an import by what became of them, in the ledger and the list of a report."""

    def __init__(
        self, tree: FileTree, batch: ImportedLabels, report: ImportReport, others: Mapping[Path, ImportedEntry]
    ) -> None:
        self._tree, self._batch, self._report, self._others = tree, batch, report, others
        self._entries = report.ledger.entries
        self._several = Counter(entry.label for entry in batch.entries)
        self._files: dict[Path, str] = {}  # label file: name of a field of its tally
        self._images: dict[Path, str] = {}
        self._labeled: dict[Path, bool] = {}

    def refuse(self, refusal: Refusal) -> None:
        self._report.skipped.append((refusal.place, refusal.why))
        self._files.setdefault(refusal.file, "refused")
        self._entries.refused += refusal.count if refusal.entry else 0

    def refuse_entry(
        self,
        entry: ImportedEntry,
        why: str,
        parts: Sequence[tuple[str, str]] = (),
        *,
        kept: bool = False,
        broken: bool = False,
    ) -> None:
        """Count a label that is not imported. parts: its entries with the reasons, listed in place of the label.

        kept: the label of the project is kept. broken: the image cannot be read.
        """
        self._list(entry, parts or [("", why)])
        field = "kept" if kept else "refused"
        setattr(self._entries, field, getattr(self._entries, field) + entry.count)
        self._files.setdefault(entry.label, field)
        if entry.image is not None:
            self._images[entry.image] = "kept" if kept else "refused" if broken else "used"
            self._labeled[entry.image] = kept

    def place(self, entry: ImportedEntry) -> str:
        """Return the place of a label in the report: its image, if the file has labels of several."""
        return entry.place(self._several[entry.label] > 1)

    def _list(self, entry: ImportedEntry, parts: Sequence[tuple[str, str]]) -> None:
        place = self.place(entry)
        for part, why in parts:
            named = Message("import.place", file=place, entry=part) if part else place
            self._report.skipped.append((named, why))

    def use_entry(self, entry: ImportedEntry, refused: Sequence[tuple[str, str]], finished: bool) -> None:
        """Count a label that is imported, without its refused entries. finished: nothing else belongs to its image."""
        self._list(entry, refused)
        self._entries.used += max(0, entry.count - len(refused))
        self._entries.refused += len(refused)
        self._files[entry.label] = "used"
        if entry.image is not None:
            self._images[entry.image] = "used"
            self._labeled[entry.image] = finished

    def use_image(self, path: Path, *, copy: bool = False) -> None:
        """Count an image without a label, or a copy of a labeled one, which is not imported."""
        self._images[path] = "kept" if copy else "used"

    def refuse_image(self, path: Path, why: str) -> None:
        self._images[path] = "refused"
        self._report.skipped.append((str(path), why))

    def finish(self) -> None:
        """Complete the counts by the files that no label refers to."""
        ledger, tree = self._report.ledger, self._tree
        masks, images = set(self._batch.mask_files), set(map(tree.path, tree.images))
        other_formats = 0
        several = Counter(self._batch.unread.values())
        for image, path in self._batch.unread.items():
            known, labeled = image in self._others, self._labeled.get(image, False)
            other_formats += known and labeled
            if known and labeled:
                self._files.setdefault(path, "kept")
                continue
            self._files[path] = "refused" if known else "not_understood"
            why = Message("import.other_format") if known else Message("import.unread_file", format=self._report.format)
            place = Message("import.place", file=str(path), entry=tree.shown(image)) if several[path] > 1 else str(path)
            self._report.skipped.append((place, why))
        self._report.notes += unused_texts(count_unused([name for name in tree.files if tree.path(name) not in masks]))
        archives = tree.with_suffix(*_ARCHIVES)
        if archives:
            self._report.notes.append(Message("import.archives", n=len(archives), first=archives[0]))
        if other_formats:
            self._report.notes.append(Message("import.other_formats", n=other_formats, format=self._report.format))
        for name in tree.files:
            path = tree.path(name)
            if tree.chosen is not None and path not in tree.chosen:
                continue
            if path in self._files and (path not in images or path in masks or path not in self._images):
                _count(ledger.label_files, self._files[path])
            elif path in self._images:
                _count(ledger.images, self._images[path])
            elif path in images and path not in masks and not is_in_mask_folder(name):
                _count(ledger.images, "not_understood")
                self._report.skipped.append((str(path), Message("import.unused_image")))
            else:
                ledger.other_files += 1


def _count(tally: Tally, field: str) -> None:
    setattr(tally, field, getattr(tally, field) + 1)
