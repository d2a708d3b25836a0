"""Account of an import: what was found, what became of it, and for which images something is left unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedEntry, ImportedLabel, ImportedLabels, Refusal
from workbench.core.project.formats.mask_pairing import is_in_mask_folder
from workbench.core.project.import_request import ImportReport, ImportRequest, Tally


class UnreadLabels:
    """Labels that were found and not read, by the images that they may belong to.

    An image with such a label is neither marked as done nor taken for one without defects.
    """

    def __init__(self, batch: ImportedLabels, request: ImportRequest) -> None:
        # The format that the user chooses decides which files are the labels of an image with defects.
        self._beside = batch.unread
        self._all_formats = request.format == "auto"
        self._of_image: dict[Path, str] = {}
        self._files: set[Path] = set()  # with entries that may belong to any of their images
        self._of_any = ""  # reason, if a label may belong to an image without one
        for refusal in batch.refused:
            self._add(refusal)

    def _add(self, refusal: Refusal) -> None:
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
        beside = self._all_formats and entry.image in self._beside
        return not (entry.doubtful or beside or entry.image in self._of_image or entry.label in self._files)

    def allows_empty(self, entry: ImportedEntry, label: ImportedLabel, *, labeled: bool) -> bool:
        """Return True if a label may say that an image has no defect, or which verdict it has.

        labeled: the image has a mask in the project, so that a label beside it may have been imported before.
        """
        if entry.background and self._of_any:
            return False
        return entry.image not in self._beside or (label.mask is None and labeled)

    def why(self, entry: ImportedEntry) -> str:
        """Return the reason why the label of an image without defects is not imported."""
        if entry.image in self._beside:
            return Message("import.unread_beside", file=self._beside[entry.image].name)
        of_image = "" if entry.image is None else self._of_image.get(entry.image, "")
        return Message("import.maybe_others", why=of_image or self._of_any or entry.remark)


class ImportAccount:
    """Counts of the sources of an import by what became of them, in the ledger and the list of a report."""

    def __init__(self, tree: FileTree, batch: ImportedLabels, report: ImportReport) -> None:
        self._tree, self._batch, self._report = tree, batch, report
        self._entries = report.ledger.entries
        self._several = Counter(entry.label for entry in batch.entries)
        self._files: dict[Path, str] = {}  # label file: name of a field of its tally
        self._images: dict[Path, str] = {}

    def refuse(self, refusal: Refusal) -> None:
        self._report.skipped.append((refusal.place, refusal.why))
        self._files.setdefault(refusal.file, "refused")
        self._entries.refused += refusal.count if refusal.entry else 0

    def refuse_entry(self, entry: ImportedEntry, why: str, *, kept: bool = False, broken: bool = False) -> None:
        """Count a label that is not imported. kept: that of the project is kept. broken: its image cannot be read."""
        self._report.skipped.append((entry.place(self._several[entry.label] > 1), why))
        field = "kept" if kept else "refused"
        setattr(self._entries, field, getattr(self._entries, field) + entry.count)
        self._files.setdefault(entry.label, field)
        if entry.image is not None:
            self._images[entry.image] = "kept" if kept else "refused" if broken else "used"

    def name_parts(self, entry: ImportedEntry, refused: Sequence[tuple[str, str]]) -> None:
        """List the refused entries of a label."""
        place = entry.place(self._several[entry.label] > 1)
        for part, why in refused:
            self._report.skipped.append((Message("import.place", file=place, entry=part), why))

    def use_entry(self, entry: ImportedEntry, refused: Sequence[tuple[str, str]]) -> None:
        """Count a label that is imported, without its refused entries."""
        self.name_parts(entry, refused)
        self._entries.used += max(0, entry.count - len(refused))
        self._entries.refused += len(refused)
        self._files[entry.label] = "used"
        if entry.image is not None:
            self._images[entry.image] = "used"

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
        for path in dict.fromkeys(self._batch.unread.values()):
            self._files[path] = "not_understood"
            self._report.skipped.append((str(path), Message("import.unread_file", format=self._report.format)))
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
