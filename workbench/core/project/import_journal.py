"""Imports: files prepared in the journal, moved into the project at once, undone and repeated as one step.

`images.jsonl` in the folder of an import has one line for each image. Labels of another program are such a step.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, MaskBroken, NoteBroken, Problem, ProjectBroken, unreadable
from workbench.core.project import annotation
from workbench.core.project.annotation import Split
from workbench.core.project.file_transaction import (
    FilePass,
    FileTransaction,
    Progress,
    Stopped,
    TransactionPlan,
    Unchanged,
    new_name,
    recover,
)
from workbench.core.project.image_row import masks_with_classes
from workbench.core.project.project import ClassInfo, Project, ProjectFile
from workbench.core.project.sources import Source, ignore_images, list_images
from workbench.core.project.storage import (
    check_links,
    copy_file,
    inside,
    move_file,
    same_content,
    write_bytes,
    write_json,
)
from workbench.inference.io.file_access import read_regular, remove_file

_FOLDERS = {"image": "pictures", "mask": "masks", "note": "notes"}  # in the order in which they are written
_SUFFIXES = {"image": "", "mask": ".png", "note": ".json"}


class ImportRecord(TransactionPlan):
    """State of an import or merge, and its changes of project.json. ignore: patterns by the name of a source."""

    label_format: str = ""
    path: str = ""
    labeled: int = 0
    classes: list[ClassInfo] = []
    verdicts: list[str] = []
    source: Source | None = None
    ignore: dict[str, list[str]] = {}


@dataclass(frozen=True)
class ImportedImage:
    """Image in the journal. files: kinds of prepared files; replaces: kinds that existed before."""

    key: str
    files: tuple[str, ...]
    replaces: tuple[str, ...]


def file_path(kind: str, key: str) -> str:
    """Return the path of an image's file in the project. kind: "image", "mask" or "note"."""
    return f"{_FOLDERS[kind]}/{key}{_SUFFIXES[kind]}"


class ImportJournal(FileTransaction[ImportRecord, ImportedImage]):
    """Import, to which images are added until `close`, in a `with` statement that deletes it after an exception.

    Nothing outside of its folder is written before `begin`, except copies in `journal/kept`.
    """

    kind, plan_type, what, resumes = "import", ImportRecord, "what.import", True

    def __init__(self, project: Project, plan: ImportRecord | None = None) -> None:
        super().__init__(project, plan or ImportRecord(name=new_name(project)))
        self._images: dict[str, ImportedImage] = {}
        self._kept: list[Path] = []
        if plan is None:
            self.write("preparing")

    def __enter__(self) -> ImportJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None:
            self.delete()

    @property
    def count(self) -> int:
        """Number of images that were added."""
        return len(self._images)

    def __contains__(self, key: str) -> bool:
        return key in self._images

    def add(
        self,
        key: str,
        *,
        image: Path | bytes | None = None,
        mask: np.ndarray | None = None,
        note: annotation.Note | None = None,
    ) -> None:
        """Prepare files of an image: an image to copy, a mask, uint8 (H, W), and a note. Raises CannotWrite."""
        project, added = self.project, {"image": image, "mask": mask, "note": note}
        if isinstance(image, bytes):
            write_bytes(self.new(file_path("image", key)), image, root=project.root)
        elif image is not None:
            copy_file(image, self.new(file_path("image", key)), root=project.root)
        if mask is not None:
            write_bytes(self.new(file_path("mask", key)), self._encoded(mask), root=project.root)
        if note is not None:
            write_json(self.new(file_path("note", key)), note.content(), root=project.root)
        former = self._images.get(key)
        files = tuple(
            kind for kind in _FOLDERS if added[kind] is not None or (former is not None and kind in former.files)
        )
        replaces = tuple(kind for kind in files if kind != "image" and self.target(file_path(kind, key)).exists())
        self._images[key] = ImportedImage(key, files, replaces)

    def keep(self, key: str, label: annotation.ProjectLabel) -> None:
        """Copy a label that loses a conflict to `journal/kept`. A change that is not made has no copies."""
        parts = {} if label.mask is None else {".png": self._encoded(label.mask)}
        parts[".json"] = label.note.model_dump_json(indent=1).encode()
        self._kept += [annotation.backup_conflict(self.project, key, data, end) for end, data in parts.items()]

    def _encoded(self, mask: np.ndarray) -> bytes:
        return annotation.encode_mask(mask, [*self.project.classes, *self.plan.classes])

    def delete(self) -> None:
        with contextlib.suppress(OSError):
            for path in self._kept:
                remove_file(path, missing_ok=True)
        super().delete()

    def close(self, *, usable: bool = True) -> bool:
        """Write the list of images, after a check of all their places; afterwards the import can be written.

        Delete the import and return False if it would change nothing, or is not usable. Raises CannotWrite.
        """
        plan, images = self.plan, self._images.values()
        if not usable or not (images or plan.classes or plan.verdicts or plan.source or plan.ignore):
            self.delete()
            return False
        for image in images:
            for kind in image.files:
                check_links(self.project.root, self.target(file_path(kind, image.key)))
        content = "".join(json.dumps(asdict(image)) + "\n" for image in images).encode("ascii")
        write_bytes(self.folder / "images.jsonl", content, root=self.project.root)
        self.write("preparing")
        return True

    # --- project.json -----------------------------------------------------------------------------

    def before_do(self, file: ProjectFile) -> None:
        """Add classes, verdicts and the source. Raises BadClass if another program has used an id or a name."""
        project, plan = self.project, self.plan
        known = {(info.id, info.name) for info in file.classes}
        for info in plan.classes:
            if (info.id, info.name) not in known:
                project.add_class(info.name, id=info.id, color=info.color, save=False)
        for verdict in plan.verdicts:
            project.add_verdict(verdict, save=False)
        if plan.source is not None and all(source.name != plan.source.name for source in file.sources):
            file.sources.append(plan.source.model_copy(deep=True))
        ignore_images(file.sources, plan.ignore)

    def after_do(self, file: ProjectFile) -> None:
        self._kept = []

    def after_undo(self, file: ProjectFile) -> None:
        """Remove what the import has added, except classes, verdicts and sources in use."""
        project, plan = self.project, self.plan
        added = {info.id for info in plan.classes}
        used = set().union(*masks_with_classes(project, added).values()) if added else set()
        file.classes = [info for info in file.classes if info.id not in added or info.id in used]
        if plan.verdicts:
            unused = set(plan.verdicts) - _verdicts_in_use(project, plan.verdicts)
            file.verdicts = [verdict for verdict in file.verdicts if verdict not in unused]
        list_images(file.sources, plan.ignore)
        if plan.source is not None and not _has_labels(project, plan.source):
            file.sources = [source for source in file.sources if source.name != plan.source.name]

    # --- files ------------------------------------------------------------------------------------

    def parts(self, stopped: Stopped = lambda: False) -> Sequence[ImportedImage]:
        """Return the images. Raises ProjectBroken."""
        path = self.folder / "images.jsonl"
        try:
            entries = [json.loads(line) for line in read_regular(path).decode("ascii").splitlines()]
            return [ImportedImage(entry["key"], tuple(entry["files"]), tuple(entry["replaces"])) for entry in entries]
        except OSError as error:
            raise unreadable(ProjectBroken, path, error) from error
        except (ValueError, LookupError, TypeError) as error:
            raise ProjectBroken(path=str(path), why=str(error)) from error

    def do(self, progress: Progress = lambda done, total: None, stopped: Stopped = lambda: False) -> FilePass:
        """Put the files in their places. Raises CannotWrite if none can be written."""
        result = super().do(progress, stopped)
        if result.problems and not result.images:
            raise result.problems[0]
        return result

    def place(self, part: ImportedImage) -> int:
        """Put the files of an image in their places.

        It is left out if another program has put an image there, or holds a file of it.
        """
        nbytes, placed = 0, list[str]()
        try:
            for kind in part.files:
                path = file_path(kind, part.key)
                target, new = self.target(path), self.new(path)
                if not new.exists():
                    continue  # the image is in its place already, or the label was changed before an undo
                if kind != "image":
                    nbytes += self._place_label(path)
                elif not target.exists():
                    move_file(new, target, root=self.project.root)
                elif not same_content(target, new):
                    for other in part.files:
                        remove_file(self.new(file_path(other, part.key)), missing_ok=True)
                    raise Unchanged(part.key)
                placed.append(kind)
        except (Problem, PermissionError) as error:
            problem = error if isinstance(error, Problem) else CannotWrite.of(error.filename, error)
            if not isinstance(error, PermissionError) and not error.refused:
                raise
            self._take_back(part, placed)
            raise Unchanged(problem) from error
        return nbytes

    def _take_back(self, part: ImportedImage, placed: Sequence[str]) -> None:
        """Restore an image of which only the files of some kinds could be written. A redo does not write it either."""
        for kind in reversed(part.files):
            path = file_path(kind, part.key)
            target, new, old = self.target(path), self.new(path), self.old(path)
            if kind in placed and old.exists():
                move_file(old, target, root=self.project.root)
            elif kind in placed and kind not in part.replaces:
                remove_file(target, missing_ok=True)
            for prepared in (new, old):
                remove_file(prepared, missing_ok=True)

    def _place_label(self, path: str) -> int:
        """Replace a mask or note by the prepared file, which stays in the journal for undo and redo."""
        target, new, old, root = self.target(path), self.new(path), self.old(path), self.project.root
        if target.exists():
            if same_content(target, new):
                return 0
            if not old.exists():
                copy_file(target, old, root=root)
        copy_file(new, target, root=root)
        return old.stat().st_size if old.exists() else 0

    def restore(self, part: ImportedImage) -> int:
        """Restore the files of an image. It stays as it is if its label was changed since the import."""
        remaining = []
        for kind in part.files:
            path = file_path(kind, part.key)
            if (self.old(path) if kind in part.replaces else self.target(path)).exists():
                remaining.append(kind)
        labels = [kind for kind in remaining if kind != "image"]
        if any(self._changed(kind, part.key) for kind in labels) or (
            "image" in remaining and self._was_labeled_since(part)
        ):
            for kind in labels:
                # A later redo does not replace it either.
                remove_file(self.new(file_path(kind, part.key)), missing_ok=True)
            raise Unchanged(part.key)
        for kind in reversed(remaining):  # the image last: a label never lacks its image
            path = file_path(kind, part.key)
            target = self.target(path)
            check_links(self.project.root, target)
            if kind == "image":
                move_file(target, self.new(path), root=self.project.root)
            elif kind in part.replaces:
                move_file(self.old(path), target, root=self.project.root)
            else:
                remove_file(target)
        return 0

    def _changed(self, kind: str, key: str) -> bool:
        """Return True if the content of a mask or note differs from the imported one."""
        path = file_path(kind, key)
        target, new = self.target(path), self.new(path)
        if not target.exists() or not new.exists():
            return True
        if same_content(target, new):
            return False
        try:
            if kind == "mask":
                return not np.array_equal(annotation.read_mask(target), annotation.read_mask(new))
            notes = annotation.load_note(self.project, key), annotation.Note.model_validate_json(read_regular(new))
        except (MaskBroken, NoteBroken, ValueError) as error:
            if isinstance(error, Problem) and error.refused:
                raise
            return True
        first, second = (note.model_dump(exclude={"history"}) for note in notes)
        return first != second

    def _was_labeled_since(self, image: ImportedImage) -> bool:
        """Return True if an imported image without an imported label has a label now."""
        kinds = [kind for kind in ("mask", "note") if kind not in image.files]
        return any(self.target(file_path(kind, image.key)).exists() for kind in kinds)


def _verdicts_in_use(project: Project, verdicts: Sequence[str]) -> set[str]:
    """Return the verdicts of all notes; `verdicts`, too, if a note cannot be read, so that none is lost."""
    found: set[str] = set()
    for path in (project.root / "notes").rglob("*.json"):
        key = path.relative_to(project.root / "notes").as_posix().removesuffix(".json")
        try:
            found.add(annotation.load_note(project, key).verdict or "")
        except NoteBroken:
            found.update(verdicts)
    return found


def _has_labels(project: Project, source: Source) -> bool:
    folders = (inside(project.root / name, source.prefix.rstrip("/")) for name in ("masks", "notes"))
    return any(path.is_file() for folder in folders for path in folder.rglob("*"))


# --- labels of another program --------------------------------------------------------------------


@dataclass(frozen=True)
class WrittenLabel:
    """Label to write to an image. What is None stays as it is.

    class_map: uint8 (H, W) of the size of the image: class ids, 0 background, 254 ignored, 255 not labeled. verdict:
    name, added to the project if it is new; "" removes it. done: the label is finished; an image without a class map
    then has no defect. split: "train", "val", "test"; "" removes the assignment. group: name of the part; "" for that
    of the grouping rule.
    """

    class_map: np.ndarray | None = None
    verdict: str | None = None
    done: bool | None = None
    split: str | None = None
    group: str | None = None


def write_labels(project: Project, labels: Mapping[str, WrittenLabel]) -> int:
    """Write labels by key of the image, all or none of them. Return the number of images whose label has changed.

    An interrupted change is finished first. Raises NotInProject, BadSettings, MaskWrongSize, MaskUnknownClass,
    ImageBroken, NoteBroken, ProjectReadOnly, CannotWrite.
    """
    project.need_write(Message("what.import"))
    recover(project)
    known = set(project.images())
    with ImportJournal(project) as journal:
        for key, label in labels.items():
            if key not in known:
                raise problems.NotInProject(name=key)
            _add(journal, key, label)
        names = {label.verdict for label in labels.values()} - {None, "", *project.file.verdicts}
        journal.plan.verdicts = sorted(filter(None, names))
        journal.plan.label_format, journal.plan.labeled = "python", journal.count
        changed = journal.close()
    return journal.execute().images if changed else 0


def _add(journal: ImportJournal, key: str, label: WrittenLabel) -> None:
    """Prepare the files of a label, unless the image has it."""
    project = journal.project
    note = annotation.load_note(project, key)
    before, mask = note.content(), None
    if label.class_map is not None:
        mask = _checked(project, key, label.class_map)
        stored = annotation.load_mask(project, key, (mask.shape[1], mask.shape[0]))
        mask = None if stored is not None and np.array_equal(stored, mask) else mask
    if label.verdict is not None:
        note.verdict = label.verdict or None
    if label.split is not None:
        if label.split not in ("", *get_args(Split)):
            why = Message("settings.choice", names=", ".join(get_args(Split)))
            raise problems.BadSettings(key="split", value=label.split, why=why)
        note.pin = cast(Split, label.split) if label.split else None
    if label.group is not None:
        note.group = label.group or None
    if label.done is not None:
        note.status = "done" if label.done else "started"
    elif note.status == "new" and (mask is not None or note.verdict is not None):
        note.status = "started"
    if label.done and label.class_map is None and project.classes and not project.mask_path(key).exists():
        mask = annotation.new_mask(image_size(project.image_path(key)), note)
    if mask is not None or note.content() != before:
        note.add("import python")
        journal.add(key, mask=mask, note=note)


def _checked(project: Project, key: str, class_map: np.ndarray) -> np.ndarray:
    """Return a class map as a contiguous array, if the image can have it."""
    path, (width, height) = project.mask_path(key), image_size(project.image_path(key))
    if class_map.dtype != np.uint8 or class_map.ndim != 2:
        why = Message("settings.class_map")
        raise problems.BadSettings(key="class_map", value=f"{class_map.dtype} {class_map.shape}", why=why)
    if class_map.shape != (height, width):
        rows, columns = class_map.shape
        raise problems.MaskWrongSize(path=str(path), mask_width=columns, mask_height=rows, width=width, height=height)
    annotation.check_ids(class_map, path, project.classes)
    return np.ascontiguousarray(class_map)
