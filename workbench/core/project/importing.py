"""Import of labels of other tools: find the image of each label, add it to the project, write mask and verdict.

A label that cannot be imported is skipped with the reason; existing labels are kept unless overwriting is requested.
"""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import cast

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import image_size, read_displayed
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.archives import unpacked
from workbench.core.project.box_regions import box_region
from workbench.core.project.formats import FORMATS, recognized
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    reason,
    suffix_of,
    without_suffix,
)
from workbench.core.project.leftovers import remove_leftovers
from workbench.core.project.project import DONT_CARE, Project
from workbench.inference.io.image_io import ReadError, decode_image

MAX_NAME_BYTES = 248  # bytes, so that ".NAME.part" and NAME.json have at most 255
_ALREADY_LABELED = Message("import.already_labeled")


@dataclass
class ImportReport:
    """Result of an import. images: images found, with or without a label; copied: number new in the project."""

    format: str
    images: int = 0
    labeled: int = 0
    copied: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)  # (file, why)
    added_classes: list[str] = field(default_factory=list)
    added_verdicts: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # patterns that exclude masks from the images
    notes: list[str] = field(default_factory=list)
    boxes: int = 0  # boxes that became regions
    unchanged: int = 0  # images whose existing label was kept
    found: dict[str, int] = field(default_factory=dict)  # recognized formats and the number of their labels


def import_labels(
    project: Project,
    path: Path | str,
    *,
    format: str = "auto",
    class_name: str | None = None,
    threshold: int | None = None,
    copy: bool = True,
    overwrite: bool = False,
    boxes: str = "box",
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import the labels below `path` (or of one label file), and the images that they belong to.

    copy: images that are not in the project are copied; otherwise `path` becomes a source of the project. Raises
    FolderMissing, UnknownFormat, NothingToImport, CannotWrite, ProjectReadOnly.
    """
    project.need_write(Message("what.import"))
    remove_leftovers(project)
    with unpacked(project, Path(path)) as folder:
        return _import(
            project, folder, path, format, ImportOptions(class_name, threshold, boxes), copy, overwrite, progress
        )


def _import(
    project: Project,
    folder: Path,
    path: Path | str,
    format: str,
    options: ImportOptions,
    copy: bool,
    overwrite: bool,
    progress: Callable[[int, int], None] | None,
) -> ImportReport:
    """Import `folder`, which holds the labels of `path` (the unpacked archive)."""
    tree = _tree(project, folder)
    found = recognized(tree)
    if format != "auto" and format not in FORMATS:
        raise problems.UnknownFormat(name=format, known=", ".join(["auto", *FORMATS]))
    if format == "auto" and not found:
        raise problems.NothingToImport(path=str(path), why=_contents(tree))
    chosen = found[0][0] if format == "auto" else FORMATS[format]
    known = {info.id: info.name for info in project.classes}
    batch = chosen.find(tree, options, known)
    if not batch.entries and not batch.skipped:
        raise problems.NothingToImport(path=str(path), why=_contents(tree))
    if not copy and folder == Path(path):
        project.add_source(tree.root)
    report = ImportReport(chosen.name, skipped=list(batch.skipped), notes=list(batch.notes))
    report.found = {format.name: count for format, count in found}
    _LabelImport(project, batch, report, overwrite, options.boxes).run(progress)
    report.ignored = _hide_masks(project, batch.mask_files)
    return report


def _contents(tree: FileTree) -> str:
    """Return the kinds of files in a tree as a part of a sentence: "48 .jpg, 3 .xml"."""
    counts = Counter(suffix_of(name) or "?" for name in tree.files)
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in counts.most_common(5))
    return Message("import.contents", names=kinds) if kinds else Message("import.no_files")


def _tree(project: Project, path: Path) -> FileTree:
    if path.is_dir():
        return FileTree.of(path, project)
    if path.is_file():
        return FileTree(path.absolute().parent, (path.name,))
    raise problems.FolderMissing(path=str(path))


class _LabelImport:
    """State of a running import: the project's images, and the labels imported so far."""

    def __init__(
        self, project: Project, batch: ImportedLabels, report: ImportReport, overwrite: bool, boxes: str
    ) -> None:
        self.project, self.batch, self.report, self.overwrite, self.boxes = project, batch, report, overwrite, boxes
        self.act = f"import {report.format}"
        masks = {_real_path(path) for path in batch.mask_files}
        self.by_file: dict[str, str] = {}
        self.by_path: dict[str, list[str]] = defaultdict(list)
        self.by_stem: dict[str, list[str]] = defaultdict(list)
        for source in project.file.sources:
            folder = os.path.realpath(source.folder(project.root))
            for key in source.images(project.root):
                file = os.path.join(folder, *PurePosixPath(key).parts)
                if file not in masks:
                    self.by_file[file] = source.prefix + key
                    self.by_path[without_suffix(key)].append(source.prefix + key)
                    self.by_stem[PurePosixPath(key).stem].append(source.prefix + key)
        self.done: dict[str, str] = {}  # key -> digest of the imported label
        self.imported_keys: set[str] = set()

    def run(self, progress: Callable[[int, int], None] | None) -> None:
        total = len(self.batch.entries) + len(self.batch.unlabeled)
        for number, entry in enumerate(self.batch.entries, 1):
            try:
                self._import_entry(entry)
            except (problems.CannotWrite, problems.ProjectReadOnly):
                raise
            except (*FAULTS, problems.Problem) as error:
                self.report.skipped.append((str(entry.label), reason(error)))
                self.report.unchanged += str(error) == _ALREADY_LABELED
            if progress is not None:
                progress(number, total)
        for number, (path, key) in enumerate(self.batch.unlabeled, len(self.batch.entries) + 1):
            try:
                self._add_image(path, key)
            except (problems.CannotWrite, problems.ProjectReadOnly):
                raise
            except (*FAULTS, problems.Problem) as error:
                self.report.skipped.append((str(path), reason(error)))
            if progress is not None:
                progress(number, total)
        self.report.images = len(self.imported_keys)

    def _import_entry(self, entry: ImportedEntry) -> None:
        key = self._key(entry)
        _check_length(key)
        note = annotation.load_note(self.project, key)
        size = image_size(self.project.image_path(key))
        was_labeled = key not in self.done and self._labeled(key, note)
        if was_labeled and any(step.what == self.act for step in note.history):
            raise UnreadableLabel(_ALREADY_LABELED)
        label = entry.read(*size)
        if was_labeled and not self._was_interrupted(key, note, label):
            raise UnreadableLabel(_ALREADY_LABELED)
        digest = _digest(label)
        if key in self.done:
            if self.done[key] != digest:
                raise UnreadableLabel(Message("import.second_label", key=key))
            return
        if label.boxes:
            self._draw_boxes(key, label)
        if label.mask is not None:
            mask = label.mask if not label.names else self._project_ids(label)[label.mask]
            annotation.save_mask(self.project, key, mask)
        if label.verdict is not None:
            note.verdict = label.verdict
            if label.verdict not in self.project.file.verdicts:
                self.project.add_verdict(label.verdict)
                self.report.added_verdicts.append(label.verdict)
        if entry.split is not None and note.pin is None:
            note.pin = cast("annotation.Split", entry.split)
        note.status = "started" if label.boxes else "done"  # regions made of boxes are to be checked
        note.add(self.act)
        annotation.save_note(self.project, key, note)
        self.done[key] = digest
        self.report.labeled += 1
        self.report.notes += [f"{entry.label.name}: {line}" for line in label.notes]

    def _draw_boxes(self, key: str, label: ImportedLabel) -> None:
        """Paint the boxes of a label into its mask, below its other regions."""
        assert label.mask is not None
        image = read_displayed(self.project.image_path(key)) if self.boxes == "cut" else None
        for id, rect in label.boxes:
            region = box_region(rect, self.boxes, image)
            part = label.mask[rect.slices]
            part[region & (part == 0)] = id
        self.report.boxes += len(label.boxes)

    def _key(self, entry: ImportedEntry) -> str:
        """Return the project's key of the entry's image, and add the image if it is new. Raises Unreadable."""
        if entry.image is not None:
            return self._add_image(entry.image, entry.key)
        for table in (self.by_path, self.by_stem):
            for alias in entry.aliases:
                keys = table.get(alias if table is self.by_path else PurePosixPath(alias).name, [])
                if len(keys) == 1:
                    self.imported_keys.add(keys[0])
                    return keys[0]
        if entry.embedded is None:
            raise UnreadableLabel(entry.missing)
        data = entry.embedded()
        try:
            decode_image(data, entry.key)
        except ReadError as error:
            raise UnreadableLabel(Message("import.no_image", why=error.why)) from None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("picture" + (".jpg" if data[:3] == b"\xff\xd8\xff" else ".png"))
            path.write_bytes(data)
            return self._add_image(path, without_suffix(entry.key) + path.suffix)

    def _add_image(self, path: Path, key: str) -> str:
        file = _real_path(path)
        known = self.by_file.get(file)
        if known is None:
            _check_length(key)
            known = self.project.copy_image(path, key)
            self.by_file[file] = known
            self.report.copied += 1
        self.imported_keys.add(known)
        return known

    def _labeled(self, key: str, note: annotation.Note) -> bool:
        """Return True if an image has a label that must not be replaced."""
        if self.overwrite:
            return False
        if self.report.format == "folders":
            return note.verdict is not None
        return _holds_label(self.project, key, note)

    def _was_interrupted(self, key: str, note: annotation.Note, label: ImportedLabel) -> bool:
        """Return True if an interrupted import already wrote this mask, so that only the note is missing."""
        if label.mask is None or note.status == "done" or note.verdict not in (None, label.verdict):
            return False
        known = {info.name: info.id for info in self.project.classes}
        if any(name not in known for name in label.names.values()):
            return False
        mask = label.mask if not label.names else self._project_ids(label)[label.mask]
        try:
            return np.array_equal(annotation.read_mask(self.project.mask_path(key)), mask)
        except (problems.MaskBroken, FileNotFoundError):
            return False

    def _project_ids(self, label: ImportedLabel) -> np.ndarray:
        """Return the project's id for each of the label's ids, uint8 (256,); add missing classes."""
        table = np.arange(256, dtype=np.uint8)
        table[1:DONT_CARE] = 0
        known = {info.name: info.id for info in self.project.classes}
        used = {info.id for info in self.project.classes} | set(self.project.file.retired_ids)
        for id, name in sorted(label.names.items()):
            if name not in known:
                same = next((one for one in known if one.casefold() == name.strip().casefold()), None)
                if same is not None:
                    known[name] = known[same]
            if name not in known:
                requested = id if self.batch.keep_ids and id not in used else None
                info = self.project.add_class(name, id=requested)
                known[info.name] = known[name] = info.id
                used.add(info.id)
                self.report.added_classes.append(info.name)
            table[id] = known[name]
        return table


def _check_length(key: str) -> None:
    """Raise Unreadable if the files of an image would have longer names than file systems allow."""
    if len(os.fsencode(PurePosixPath(key).name)) > MAX_NAME_BYTES:
        raise UnreadableLabel(Message("import.image_name_too_long", n=MAX_NAME_BYTES))


def _holds_label(project: Project, key: str, note: annotation.Note) -> bool:
    """Return True for a mask with content, an unreadable one, or one that the user set to done."""
    if not project.mask_path(key).exists():
        return False
    if note.status == "done":
        return True
    try:
        mask = annotation.read_mask(project.mask_path(key))
    except problems.MaskBroken:
        return True
    return bool(mask.any())


def _digest(label: ImportedLabel) -> str:
    content = b"" if label.mask is None else label.mask.tobytes()
    return hashlib.sha256(content + repr((sorted(label.names.items()), label.verdict)).encode()).hexdigest()


def _real_path(path: Path) -> str:
    """Return the path with links in its folder resolved; the file name is kept, as listed by sources."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _hide_masks(project: Project, masks: list[Path]) -> list[str]:
    """Exclude masks that lie in a source from its images, by ignore patterns. Return the new patterns."""
    files = {_real_path(mask) for mask in masks}
    added_patterns: list[str] = []
    for source in project.file.sources:
        folder = os.path.realpath(source.folder(project.root))
        keys = source.images(project.root)
        hidden = {key for key in keys if os.path.join(folder, *PurePosixPath(key).parts) in files}
        source.ignore += (patterns := _patterns(keys, hidden))
        added_patterns += patterns
    if added_patterns:
        project.save()
    return added_patterns


def _patterns(keys: list[str], hidden: set[str]) -> list[str]:
    """Return few patterns that match only `hidden`: by suffix, folder, end of the name, or single file."""
    others = [key for key in keys if key not in hidden]
    remaining = set(hidden)
    patterns: list[str] = []
    suffixes = {PurePosixPath(key).suffix for key in hidden}
    folders = {str(PurePosixPath(key).parent) for key in hidden} - {"."}
    endings = {
        f"{separator}{word}{suffix}" for separator in "_-" for word in ("mask", "gt", "label") for suffix in suffixes
    }
    candidates = [f"*{glob.escape(suffix)}" for suffix in sorted(suffixes)]
    candidates += [f"{glob.escape(folder)}/*" for folder in sorted(folders)]
    candidates += [f"*{glob.escape(ending)}" for ending in sorted(endings)]
    for pattern in candidates:
        matched = set(fnmatch.filter(remaining, pattern)) if suffix_of(pattern) or pattern.endswith("*") else set()
        if matched and not any(fnmatch.fnmatchcase(key, pattern) for key in others):
            patterns.append(pattern)
            remaining -= matched
    return patterns + [glob.escape(key) for key in sorted(remaining)]
