"""Import of labels of other tools: find the image of each label, add it to the project, write mask and verdict.

A label that cannot be imported is skipped with the reason. Nothing of the project changes before all labels are read:
`import_journal` then writes all files as one step, which can be undone.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.core import problems
from workbench.core.geometry.selection.box_cut import box_region
from workbench.core.images.image_files import image_size, read_displayed, thumbnail
from workbench.core.messages import Message, join
from workbench.core.project import annotation
from workbench.core.project.file_transaction import dropped_text, recover
from workbench.core.project.formats.base import (
    FAULTS,
    ImportedEntry,
    ImportedLabel,
    ImportOptions,
    UnreadableLabel,
    reason,
)
from workbench.core.project.import_account import ImportAccount, ImportReport, ImportRequest, UnreadLabels
from workbench.core.project.import_images import (
    ImageCopies,
    ImportClasses,
    ImportImage,
    ImportImages,
    LabelFiles,
    check_length,
    mask_patterns,
    open_labels,
)
from workbench.core.project.import_journal import ImportJournal, ImportRecord
from workbench.core.project.plausibility import Plausibility
from workbench.core.project.project import BACKGROUND, NOT_LABELED, Project
from workbench.core.project.sources import Source, source_of
from workbench.core.project.storage import remove_leftovers
from workbench.inference.io.image_io import decode_image

Progress = Callable[[int, int], None]
_EXAMINED, _EXAMINED_EDGE = 40, 256  # images that are read to see whether they are blank, and their longer side
_ALREADY_LABELED = Message("import.already_labeled")


_NAMED = 3  # files in a note


@dataclass
class ReadLabel:
    """Label that was read, with its image. label: None for an image without a label. existing: has a label already.

    finished: everything that may belong to the image is in the label. equal: set by the consumer if the project has
    this label already.
    """

    image: ImportImage
    entry: ImportedEntry | None = None
    label: ImportedLabel | None = None
    existing: bool = False
    finished: bool = True
    size: tuple[int, int] = (0, 0)  # width, height
    note: annotation.Note = field(default_factory=annotation.Note)
    equal: bool = False


Consumer = Callable[[ReadLabel], None]


class _Copy(Exception):
    """Image without a label that is a copy of a labeled one."""


class _Refused(UnreadableLabel):
    """Label of which no entry can be used. parts: (name of the entry, reason)."""

    def __init__(self, parts: list[tuple[str, str]]) -> None:
        super().__init__(parts[0][1])
        self.parts = parts


class LabelReading:
    """One pass over the labels of an import, which reads each and passes it to a function. Nothing is written."""

    def __init__(self, project: Project, files: LabelFiles, request: ImportRequest) -> None:
        self.request, self.files = request, files
        self.format = files.format(request.format)
        self.tree = replace(files.tree, encoding=request.encoding, guesses={})
        self.batch = self.format.find(self.tree, request, {info.id: info.name for info in project.classes})
        if not self.batch.entries and not self.batch.refused:
            raise files.nothing()
        # If all images are training images, there is no split: validation images would be missing.
        self.has_split = {entry.split for entry in self.batch.entries} - {None} not in (set(), {"train"})
        self.source: Source | None = None
        self.project = Project(project.root, project.file.model_copy(deep=True))  # as after the import
        if not request.copy and not files.archive:
            source = source_of(files.tree.root, project.file.sources, project.root)
            if source not in project.file.sources:
                self.source = source
                self.project.file.sources.append(source)
                self.batch.mask_files += self.batch.other_masks
        self.images = ImportImages(project, self.batch.mask_files, self.source)
        self.classes = ImportClasses(self.project, request.classes, keep_ids=self.batch.keep_ids)
        self.verdicts = list(project.file.verdicts)
        self.verdict_counts: Counter[str] = Counter()  # by name in the labels
        self.report = ImportReport(self.format.name, notes=list(self.batch.notes))
        self.report.found = {format.name: count for format, count in files.found}
        self._lost: dict[str, Counter[str]] = defaultdict(Counter)  # message id -> {file: count}
        self._copies = ImageCopies()
        self._seen: set[str] = set()
        self._matched: set[str] = set()
        self._empty = 0  # labels without an object
        others = self._labels_of_other_formats()
        self._plausibility = Plausibility()
        self._unread = UnreadLabels(self.batch, others, all_formats=request.format == "auto")
        self._account = ImportAccount(self.tree, self.batch, self.report, others)

    def run(
        self, consume: Consumer, progress: Progress | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> ImportReport:
        """Read all labels, in order. What cannot be read is left out, with the reason, and its image has no label."""
        report, batch = self.report, self.batch
        for refusal in batch.refused:
            self._account.refuse(refusal)
        steps: list[partial] = [
            partial(self._read_entries, image, entries, consume) for image, entries in self._entries_by_image()
        ]
        steps += [partial(self._add_image, path, key, consume) for path, key in batch.unlabeled]
        for done, step in enumerate(steps, 1):
            if stopped():
                report.cancelled = True
                return report
            step()
            if progress is not None:
                progress(done, len(steps))
        report.images, report.matched = len(self._seen), len(self._matched)
        if self.request.background and report.background:
            report.notes.append(Message("import.background", n=report.background))
        if 0 < self._empty < report.labeled:
            report.notes.append(Message("import.empty_labels", n=self._empty))
        report.notes += [_lost_text(id, self._lost[id]) for id in sorted(self._lost)]
        report.added_classes = [info.name for info in self.classes.added]
        report.added_verdicts = [name for name in self.verdicts if name not in self.project.file.verdicts]
        report.concerns = self._plausibility.concerns()
        report.encodings, report.pairings = dict(self.tree.guesses), self.batch.pairings
        self._account.finish()
        return report

    def _labels_of_other_formats(self) -> dict[Path, ImportedEntry]:
        """Return the labels of other recognized formats in files that are not read, by image; they become `unread`."""
        read, unread = self.batch.read_files(), self.batch.unread
        found: dict[Path, ImportedEntry] = {}
        for other, _ in self.files.found:
            if other.own_files and other is not self.format:
                for entry in other.reader(self.tree, ImportOptions(), {}).entries:
                    if entry.image is not None and unread.get(entry.image, entry.label) == entry.label not in read:
                        unread[entry.image], found[entry.image] = entry.label, entry
        return found

    def _entries_by_image(self) -> list[tuple[ImportImage, list[ImportedEntry]]]:
        """Return the labels of each image, in their order. Labels without an image are refused."""
        groups: dict[str, tuple[ImportImage, list[ImportedEntry]]] = {}
        for entry in self.batch.entries:
            try:
                image = self.images.of_label(entry)
                check_length(image.key)
            except (*FAULTS, problems.Problem) as error:
                self.report.missing += entry.image is None
                self._unread.add_missing(entry)
                self._account.refuse_entry(entry, reason(error))
            else:
                if not entry.background:
                    groups.setdefault(image.key, (image, []))[1].append(entry)
                elif image.key not in groups:
                    groups[image.key] = image, [entry]
        return list(groups.values())

    def _read_entries(self, image: ImportImage, entries: list[ImportedEntry], consume: Consumer) -> None:
        """Read the labels of an image, which must be equal, and pass them on as one."""
        try:
            read = self._read(image, entries)
            consume(read)
        except (problems.CannotWrite, problems.ProjectReadOnly):
            raise
        except _Copy:
            self._account.use_image(entries[0].label, copy=True)
        except (*FAULTS, problems.Problem) as error:
            why = reason(error)
            kept = why == _ALREADY_LABELED
            self.report.unchanged += kept
            for entry in entries:
                parts = error.parts if isinstance(error, _Refused) else ()
                broken = isinstance(error, problems.ImageBroken)
                self._account.refuse_entry(entry, why, parts, kept=kept, broken=broken)
            if not kept and not isinstance(error, problems.Problem):
                self._consume_image(image, consume)
        else:
            self._record(read, entries)
            self._examine(read)

    def _read(self, image: ImportImage, entries: list[ImportedEntry]) -> ReadLabel:
        entry, note = entries[0], annotation.load_note(self.project, image.key)
        if entry.background and self._is_copy(image, entry.label):
            raise _Copy
        size = _size(image)
        self._add(image)
        existing = not image.new and self._labeled(image.key, note)
        if existing and self.request.conflicts == "keep":
            raise UnreadableLabel(_ALREADY_LABELED)
        for one in entries:
            for place, why in one.refused:
                if not place:
                    raise UnreadableLabel(why)
        labels = [one.read(*size) for one in entries]
        label = labels[0]
        if len(labels) > 1 and len(set(map(_digest, labels))) > 1:
            names = ", ".join(dict.fromkeys(self.tree.shown(one.label) for one in entries))
            raise UnreadableLabel(Message("import.second_label", names=names))
        if label.mask is not None and not label.names:  # the mask holds ids of the project
            ids = annotation.ids_in(label.mask)
            label.names = {info.id: info.name for info in self.project.classes if info.id in ids}
        refused = [*entry.refused, *label.refused]
        finished = not refused and all(map(self._unread.is_finished, entries))
        if label.mask is None or not (label.mask.any() or label.boxes):
            if refused:
                raise _Refused(refused)
            labeled = self.project.mask_path(image.key).exists()
            contradiction = self._unread.contradiction(entry, label, size, labeled=labeled)
            if contradiction:
                raise UnreadableLabel(contradiction)
        elif not existing and (disagreement := self._unread.disagreement(entry, label, size)):
            label.notes.append(disagreement)
            finished = False
        self.classes.table(label)  # raises for a name that no class can have
        verdict = label.verdict if finished else None
        label.verdict = self._verdict(verdict)
        self.verdict_counts.update([verdict] if verdict is not None else [])
        return ReadLabel(image, entry, label, existing, finished, size, note)

    def _record(self, read: ReadLabel, entries: list[ImportedEntry]) -> None:
        report, label, entry, image = self.report, read.label, read.entry, read.image
        assert label is not None and entry is not None
        report.copied += image.new
        report.labeled += 1
        report.background += entry.background
        report.replaced += read.existing and not read.equal
        report.unchanged += read.equal
        report.boxes += len(label.boxes)
        stated = entry.good or entry.background or label.verdict is not None or label.boxes
        self._empty += not stated and label.mask is not None and not label.mask.any()
        if not read.finished:
            report.unfinished.append(image.key)
        if entry.split is not None and self.has_split:
            report.splits[entry.split] += 1
        report.image_notes += [
            (self._account.place(entry), text) for text in (*filter(None, [entry.remark]), *label.notes)
        ]
        for id, count in label.lost.items():
            if count:
                self._lost[id][str(entry.label)] += count
        for one in entries:
            self._account.use_entry(one, [*entry.refused, *label.refused] if one is entry else [], read.finished)
        if entry.image is not None and not entry.background:
            self._copies.add(entry.image)

    def fill(self, record: ImportRecord) -> None:
        """Set the changes of project.json in the record of the import."""
        record.label_format, record.path, record.labeled = self.format.name, str(self.files.path), self.report.labeled
        record.classes, record.verdicts = list(self.classes.added), list(self.report.added_verdicts)
        record.source, record.ignore = self.source, self.fill_ignored()

    def fill_ignored(self) -> dict[str, list[str]]:
        """Set the ignore patterns of the report. Returns them by the name of a source."""
        ignored = mask_patterns(self.project, self.batch.mask_files)
        self.report.ignored = [pattern for patterns in ignored.values() for pattern in patterns]
        return ignored

    def project_mask(self, read: ReadLabel) -> np.ndarray | None:
        """Return the mask of a label with the project's class ids, boxes included; None for a verdict alone."""
        label = read.label
        if label is None or label.mask is None:
            return None
        if label.boxes:
            image = read_displayed(read.image.file) if self.request.boxes == "cut" else None
            for id, rect in label.boxes:
                region = box_region(rect, self.request.boxes, image)
                part = label.mask[rect.slices]
                part[region & (part == 0)] = id
        return self.classes.table(label)[label.mask]

    def _examine(self, read: ReadLabel) -> None:
        """Count a label, and some images, for doubts about the whole."""
        label, image = read.label, read.image
        if label is not None and label.mask is not None:
            self._plausibility.add_mask(image.key, label.mask, label.names)
        if image.embedded is None and self.report.labeled % max(1, len(self.batch.entries) // _EXAMINED) == 0:
            self._plausibility.add_image(image.key, thumbnail(image.file, _EXAMINED_EDGE))

    def _add_image(self, path: Path, key: str, consume: Consumer) -> None:
        try:
            image = self.images.of_file(path, key)
            check_length(image.key)
        except (*FAULTS, problems.Problem) as error:
            self._account.refuse_image(path, reason(error))
            return
        copy = image.key not in self._seen and self._is_copy(image, path)
        self._account.use_image(path, copy=copy)
        if image.key not in self._seen and not copy:
            self._consume_image(image, consume)
            self.report.background += self.format.of_pixels

    def _consume_image(self, image: ImportImage, consume: Consumer) -> None:
        """Pass on an image without a label, if it is not one of the project's."""
        consume(ReadLabel(image))
        self.report.copied += image.new
        self._add(image)

    def _add(self, image: ImportImage) -> None:
        if image.renamed and image.key not in self._seen:
            self.report.image_notes.append((str(image.file), Message("import.other_key", key=image.key)))
        self._seen.add(image.key)
        if not image.new:
            self._matched.add(image.key)

    def _is_copy(self, image: ImportImage, path: Path) -> bool:
        """Return True for a copy of a labeled image, which is not imported."""
        added = image.new or (self.source is not None and image.key.startswith(self.source.prefix))
        if not (added and self._copies.is_copy(path)):
            return False
        self._lost["import.copies"][str(path)] += 1
        self.batch.mask_files.append(path)  # excluded from the images of a source
        return True

    def _verdict(self, name: str | None) -> str | None:
        """Return the project's verdict for a verdict of a label."""
        if name is None:
            return None
        name = self.request.verdicts.get(name, name)
        if name and name not in self.verdicts:
            self.verdicts.append(name)
        return name or None

    def _labeled(self, key: str, note: annotation.Note) -> bool:
        """Return True if an image has a label: a verdict, or a mask with content, unreadable, or set to done."""
        if self.format.name == "folders":
            return note.verdict is not None
        path = self.project.mask_path(key)
        if not path.exists():
            return False
        try:
            return note.status == "done" or bool(annotation.read_mask(path).any())
        except problems.MaskBroken:
            return True


def _lost_text(id: str, files: Counter[str]) -> Message:
    """Return a note with the total and the first of the files."""
    note, names = Message(id, n=files.total()), [Path(file).name for file in list(files)[:_NAMED]]
    shown = join("list.comma", names)
    if len(files) <= _NAMED:
        return Message("import.found_in", note=note, files=shown)
    return Message("import.found_in_more", note=note, files=shown, n=len(files) - _NAMED)


def _size(image: ImportImage) -> tuple[int, int]:
    """Return (width, height) of an image. Raises ImageBroken, UnreadableLabel."""
    if image.embedded is None:
        return image_size(image.file)
    height, width = decode_image(image.embedded, image.key).shape[:2]
    return width, height


def _digest(label: ImportedLabel) -> str:
    content = b"" if label.mask is None else label.mask.tobytes()
    values = (sorted(label.names.items()), label.verdict, sorted(map(repr, label.boxes)))
    return hashlib.sha256(content + repr(values).encode("utf-8", "surrogatepass")).hexdigest()


def import_labels(
    project: Project,
    path: Path | str | Sequence[Path | str],
    request: ImportRequest | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    **choices: Any,
) -> ImportReport:
    """Import the labels below `path`, or of label files, and the images that they belong to.

    choices: fields of the request, if none is given. overwrite: conflicts="replace". An interrupted import is finished
    first. Raises FolderMissing, UnknownFormat, NothingToImport, CannotWrite, ProjectReadOnly.
    """
    if request is None:
        request = ImportRequest(conflicts="replace", **choices) if overwrite else ImportRequest(**choices)
    project.need_write(Message("what.import"))
    remove_leftovers(project.root)
    recover(project)
    with open_labels(project, path) as files:
        report, journal = prepare_import(project, files, request, progress=progress)
    if journal is not None:
        report.leave_out(journal.execute().problems)
        report.notes += filter(None, [dropped_text(journal.dropped)])
    return report


def prepare_import(
    project: Project,
    files: LabelFiles,
    request: ImportRequest,
    *,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[ImportReport, ImportJournal | None]:
    """Read all labels and prepare the files of the import in the journal; the project itself does not change.

    The journal is None if nothing is to be written: `stopped` returned True, and the report is marked as canceled, no
    label can be imported, or the project has all of it. The last import can then still be undone.
    """
    project.need_write(Message("what.import"))
    with ImportJournal(project) as journal:
        reading = LabelReading(project, files, request)
        report = reading.run(_JournalWriter(reading, journal).add, progress, stopped)
        reading.fill(journal.plan)
        if request.strict and not report.ledger.complete:
            raise problems.NotAllUsed(n=len(report.skipped), first=": ".join(report.skipped[0]))
        usable = report.labeled or report.unchanged
        report.undoable = journal.close(usable=bool(usable) and not report.cancelled)
    return report, journal if report.undoable else None


class _JournalWriter:
    """Writer of labels into the journal of an import."""

    def __init__(self, reading: LabelReading, journal: ImportJournal) -> None:
        self._reading, self._journal = reading, journal
        self._action = f"import {reading.format.name}"

    def add(self, read: ReadLabel) -> None:
        """Prepare the files of a label and of its image."""
        reading, image, label, note = self._reading, read.image, read.label, read.note
        copied = (image.embedded or image.file) if image.new else None
        if label is None or read.entry is None:
            if copied is not None:
                self._journal.add(image.key, image=copied)
            return
        merged, former = read.existing and reading.request.conflicts == "merge", _content(note)
        mask = reading.project_mask(read)
        self._journal.plan.classes = list(reading.classes.added)  # for the colors of the mask file
        if merged and mask is not None:
            mask = _merged(annotation.load_mask(reading.project, image.key, read.size), mask)
        if label.verdict is not None and read.finished and not (merged and note.verdict is not None):
            note.verdict = label.verdict
        if reading.request.split and reading.has_split and read.entry.split is not None and note.pin is None:
            note.pin = cast(annotation.Split, read.entry.split)
        if label.boxes or not read.finished:
            note.status = "started"  # regions made of boxes, and labels that are not complete, are to be checked
        elif not merged:
            note.status = "done"
        if copied is None and _content(note) == former and _is_stored(reading.project, image.key, mask):
            read.equal = True
            return
        note.add(self._action)
        self._journal.add(image.key, image=copied, mask=mask, note=note)


def _content(note: annotation.Note) -> dict[str, Any]:
    return note.model_dump(exclude={"history"})


def _is_stored(project: Project, key: str, mask: np.ndarray | None) -> bool:
    """Return True if an image has this mask, or if there is none to store."""
    try:
        return mask is None or np.array_equal(annotation.read_mask(project.mask_path(key)), mask)
    except (FileNotFoundError, problems.MaskBroken):
        return False


def _merged(mine: np.ndarray | None, theirs: np.ndarray) -> np.ndarray:
    """Return `mine` with the regions of `theirs` where it is background or unlabeled; both uint8 (H, W)."""
    if mine is None:
        return theirs
    empty = (mine == BACKGROUND) | (mine == NOT_LABELED)
    return np.where(empty & (theirs != BACKGROUND) & (theirs != NOT_LABELED), theirs, mine)
