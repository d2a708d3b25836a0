"""Account of an import: what was found, what became of it, and for which images something is left unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.core.images.image_files import count_unused, unused_texts
from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    Refusal,
    is_good,
)
from workbench.core.project.formats.mask_pairing import is_in_mask_folder
from workbench.core.project.import_request import ImportReport, Tally


class UnreadLabels:
    """Labels that were found and not read, by the images that they may belong to.

    An image with such a label is neither marked as done nor taken for one without defects. A label that another of the
    recognized formats can read is known, however: it only prevents that an image with defects counts as one without.

    others: label file -> its label in another format.
    """

    def __init__(self, batch: ImportedLabels, others: Mapping[Path, ImportedEntry], *, all_formats: bool) -> None:
        self._others = {image: others[file] for image, file in batch.unread.items() if file in others}
        self._unknown = {image: file for image, file in batch.unread.items() if file not in others}
        # The format that the user chooses decides which files are the labels of an image with defects.
        self._all_formats = all_formats
        self._of_image: dict[Path, str] = {}
        self._files: set[Path] = set()  # with entries that may belong to any of their images
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
        if image in self._others and good and not labeled and _has_defects(self._others[image], size):
            return Message("import.other_format_defects", file=self._others[image].label.name)
        if not self.is_finished(entry) or (entry.background and self._of_any):
            of_image = "" if image is None else self._of_image.get(image, "")
            return Message("import.maybe_others", why=of_image or entry.remark or self._of_any)
        return ""


def _has_defects(entry: ImportedEntry, size: tuple[int, int]) -> bool:
    """Return True if the label of another format has entries that are defects, or cannot be read."""
    if entry.refused or entry.label.suffix.lower() in _SHAPE_FILES:
        return bool(entry.refused) or entry.count > 0
    try:
        label = entry.read(*size)
    except FAULTS:
        return True
    return label.mask is not None and bool(label.mask.any())


_SHAPE_FILES = (".json", ".xml", ".txt", ".csv", ".tsv")


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

    def _list(self, entry: ImportedEntry, parts: Sequence[tuple[str, str]]) -> None:
        place = entry.place(self._several[entry.label] > 1)
        for part, why in parts:
            named = Message("import.place", file=place, entry=part) if part else place
            self._report.skipped.append((named, why))

    def use_entry(self, entry: ImportedEntry, refused: Sequence[tuple[str, str]]) -> None:
        """Count a label that is imported, without its refused entries."""
        self._list(entry, refused)
        self._entries.used += max(0, entry.count - len(refused))
        self._entries.refused += len(refused)
        self._files[entry.label] = "used"
        if entry.image is not None:
            self._images[entry.image] = "used"
            self._labeled[entry.image] = True

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
        for image, path in self._batch.unread.items():
            known, labeled = path in self._others, self._labeled.get(image, False)
            self._files[path] = "kept" if known and labeled else "refused" if known else "not_understood"
            other_formats += known and labeled
            if not known:
                self._report.skipped.append((str(path), Message("import.unread_file", format=self._report.format)))
            elif not labeled:
                self._report.skipped.append((str(path), Message("import.other_format")))
        self._report.notes += unused_texts(count_unused(tree.files))
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
