"""Reading of foreign labels for an import: one pass that finds image, mask, verdict and conflicts of each label."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.core import problems
from workbench.core.geometry.selection.box_cut import box_region
from workbench.core.images.image_files import image_size, read_displayed
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import (
    FAULTS,
    ImportedEntry,
    ImportedLabel,
    ImportOptions,
    UnreadableLabel,
    reason,
)
from workbench.core.project.import_images import ImageCopies, ImportImage, ImportImages, check_length, mask_patterns
from workbench.core.project.import_journal import ImportRecord
from workbench.core.project.import_request import ImportReport, ImportRequest
from workbench.core.project.label_files import LabelFiles
from workbench.core.project.project import BACKGROUND, DONT_CARE, ClassInfo, Project, matching_class
from workbench.core.project.sources import Source, source_of
from workbench.inference.io.image_io import decode_image

Progress = Callable[[int, int], None]
_ALREADY_LABELED = Message("import.already_labeled")


@dataclass
class ReadLabel:
    """Label that was read, with its image. label: None for an image without a label. existing: has a label already."""

    image: ImportImage
    entry: ImportedEntry | None = None
    label: ImportedLabel | None = None
    existing: bool = False
    size: tuple[int, int] = (0, 0)  # width, height
    note: annotation.Note = field(default_factory=annotation.Note)


Consumer = Callable[[ReadLabel], None]


class ImportClasses:
    """Mapping of class names to class ids. Missing classes are added to `project`, which is not saved.

    names: name in the labels -> name in the project, None to ignore the class. A name that is not in it means the
    class of the project whose name differs at most in case, width and outer spaces, or a new class. keep_ids: a new
    class takes the id used in its label.
    """

    def __init__(self, project: Project, names: Mapping[str, str | None], *, keep_ids: bool) -> None:
        self._project, self._names, self._keep_ids = project, names, keep_ids
        self._ids: dict[str, int] = {}  # by name in the labels; BACKGROUND for ignored ones
        self.added: list[ClassInfo] = []

    def table(self, label: ImportedLabel) -> np.ndarray:
        """Return the project's id for each of the label's ids, uint8 (256,). Raises BadClass for an impossible name."""
        table = np.arange(256, dtype=np.uint8)
        table[1:DONT_CARE] = BACKGROUND
        for id, name in sorted(label.names.items()):
            if name not in self._ids:
                self._ids[name] = self._id_of(name, id)
            table[id] = self._ids[name]
        return table

    def targets(self) -> dict[str, ClassInfo | None]:
        """Return the class of each name met so far, None for ignored ones."""
        classes = {info.id: info for info in self._project.classes}
        return {name: classes.get(id) for name, id in self._ids.items()}

    def _id_of(self, name: str, id: int) -> int:
        mapped = self._names.get(name, name)
        if mapped is None:
            return BACKGROUND
        known = matching_class(mapped, self._project.classes, exact=name in self._names)
        if known is None:
            file = self._project.file
            used = {info.id for info in file.classes} | set(file.retired_ids)
            requested = id if self._keep_ids and id not in used else None
            known = self._project.add_class(mapped, id=requested, save=False)
            self.added.append(known)
        return known.id


class LabelReading:
    """One pass over the labels of an import, which reads each and passes it to a function. Nothing is written."""

    def __init__(self, project: Project, files: LabelFiles, request: ImportRequest) -> None:
        self.request, self.files = request, files
        self.format = files.format(request.format)
        options = ImportOptions(request.class_name, request.threshold, request.boxes, request.background)
        self.batch = self.format.find(files.tree, options, {info.id: info.name for info in project.classes})
        if not self.batch.entries and not self.batch.skipped:
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
        self.report = ImportReport(self.format.name, skipped=list(self.batch.skipped), notes=list(self.batch.notes))
        self.report.found = {format.name: count for format, count in files.found}
        self._lost: Counter[str] = Counter()  # of all labels: message id -> count
        self._copies = ImageCopies()
        self._digests: dict[str, str] = {}  # of the labels read so far, by key
        self._seen: set[str] = set()
        self._matched: set[str] = set()

    def run(
        self, consume: Consumer, progress: Progress | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> ImportReport:
        """Read all labels, in order. A label that cannot be read or written is skipped, with the reason."""
        report, batch = self.report, self.batch
        total = len(batch.entries) + len(batch.unlabeled)
        files = Counter(entry.label for entry in batch.entries)
        tasks = [(e.place(files[e.label] > 1), lambda entry=e: self._read(entry, consume)) for e in batch.entries]
        tasks += [(str(p), lambda path=p, key=key: self._add_image(path, key, consume)) for p, key in batch.unlabeled]
        for number, (path, task) in enumerate(tasks, 1):
            if stopped():
                report.cancelled = True
                return report
            try:
                task()
            except problems.NameTooLong as error:
                report.skipped.append((path, reason(error)))
            except (problems.CannotWrite, problems.ProjectReadOnly):
                raise
            except (*FAULTS, problems.Problem) as error:
                report.skipped.append((path, reason(error)))
                report.unchanged += str(error) == _ALREADY_LABELED
            if progress is not None:
                progress(number, total)
        report.images, report.matched = len(self._seen), len(self._matched)
        if self.request.background and report.background:
            report.notes.append(Message("import.background", n=report.background))
        report.notes += [Message(id, n=count) for id, count in sorted(self._lost.items())]
        report.added_classes = [info.name for info in self.classes.added]
        report.added_verdicts = [name for name in self.verdicts if name not in self.project.file.verdicts]
        return report

    def fill(self, record: ImportRecord) -> None:
        """Set the changes of project.json in the record of the import."""
        record.label_format, record.path, record.labeled = self.format.name, str(self.files.path), self.report.labeled
        record.classes, record.verdicts = list(self.classes.added), list(self.report.added_verdicts)
        record.source, record.ignore = self.source, self.fill_ignored()

    def fill_ignored(self) -> dict[str, list[str]]:
        """Set the ignore patterns of the report. Returns them by the name of a source."""
        ignored = mask_patterns(self.project, None, self.batch.mask_files)
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

    def _read(self, entry: ImportedEntry, consume: Consumer) -> None:
        try:
            image = self.images.of_label(entry)
        except UnreadableLabel:
            self.report.missing += entry.image is None
            raise
        if entry.background and (image.key in self._seen or self._is_copy(image, entry.label)):
            return
        self._add(image)
        check_length(image.key)
        note = annotation.load_note(self.project, image.key)
        size = _size(image)
        existing = image.key not in self._digests and not image.new and self._labeled(image.key, note)
        if existing and self.request.conflicts == "keep":
            self.report.copied += image.new
            raise UnreadableLabel(_ALREADY_LABELED)
        label = entry.read(*size)
        digest = _digest(label)
        if image.key in self._digests:
            if self._digests[image.key] != digest:
                raise UnreadableLabel(Message("import.second_label", key=image.key))
            return
        if label.mask is not None and not label.names:  # the mask holds ids of the project
            ids = annotation.ids_in(label.mask)
            label.names = {info.id: info.name for info in self.project.classes if info.id in ids}
        self.classes.table(label)  # raises for a name that no class can have
        verdict = label.verdict
        label.verdict = self._verdict(verdict)
        consume(ReadLabel(image, entry, label, existing, size, note))
        self.report.copied += image.new
        self._digests[image.key] = digest
        self.verdict_counts.update([verdict] if verdict is not None else [])
        self.report.labeled += 1
        self.report.background += entry.background
        self.report.replaced += existing
        self.report.boxes += len(label.boxes)
        if entry.split is not None and self.has_split:
            self.report.splits[entry.split] += 1
        self.report.image_notes += [(str(entry.label), text) for text in label.notes]
        self._lost += label.lost
        if entry.image is not None and not entry.background:
            self._copies.add(entry.image)

    def _add_image(self, path: Path, key: str, consume: Consumer) -> None:
        image = self.images.of_file(path, key)
        check_length(image.key)
        if self._is_copy(image, path):
            return
        if image.key not in self._seen:
            consume(ReadLabel(image))
            self.report.copied += image.new
            self.report.background += self.format.of_pixels
            self._add(image)

    def _add(self, image: ImportImage) -> None:
        self._seen.add(image.key)
        if not image.new:
            self._matched.add(image.key)

    def _is_copy(self, image: ImportImage, path: Path) -> bool:
        """Return True for a copy of a labeled image, which is not imported."""
        added = image.new or (self.source is not None and image.key.startswith(self.source.prefix))
        if not (added and self._copies.is_copy(path)):
            return False
        self._lost["import.copies"] += 1
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
