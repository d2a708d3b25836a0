"""Files of one import: prepared in a folder, moved into the project at once, undone and redone as one step.

`new/` holds the prepared images, masks and notes, `old/` the files that they replace, `plan.json` the state and the
changes of project.json, `images.jsonl` one line for each image. Until the state is "doing" the project is as it was;
from then on an interrupted import, undo or redo is finished by repeating it. The folder is `journal/import-new` until
the import is written. It then takes the place of the last import, `journal/import`, which can be undone until then.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ConfigDict

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, NoteBroken, Problem, ProjectBroken
from workbench.core.project import annotation
from workbench.core.project.class_merge import masks_with_classes
from workbench.core.project.import_files import (
    KINDS,
    ImportedImage,
    Progress,
    folder_of,
    last_folder,
    new_folder,
    prepared_path,
    restore_files,
    target_path,
    write_files,
    write_images,
)
from workbench.core.project.project import ClassInfo, Project
from workbench.core.project.sources import Source
from workbench.core.project.storage import check_links, inside, write_bytes, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.io.atomic_write import replace_path, replacing

FORMAT = 1


class ImportRecord(StoredModel):
    """State of an import, and its changes of project.json. ignore: patterns by the name of a source."""

    model_config = ConfigDict(extra="ignore")
    format: Literal[1] = FORMAT
    state: Literal["preparing", "doing", "done", "undoing", "undone"] = "preparing"
    label_format: str = ""
    path: str = ""
    labeled: int = 0
    classes: list[ClassInfo] = []
    verdicts: list[str] = []
    source: Source | None = None
    ignore: dict[str, list[str]] = {}


def load_record(project: Project) -> ImportRecord | None:
    """Return the state of the import in `folder_of`; None if there is none. Raises ProjectBroken."""
    try:
        return load_versioned(folder_of(project) / "plan.json", ImportRecord, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return None


def delete(project: Project) -> None:
    """Delete the journal of the last import, which can no longer be undone. Raises CannotWrite."""
    _remove(last_folder(project))


def discard(project: Project) -> None:
    """Delete the journal of an import that is not written. Raises CannotWrite."""
    _remove(new_folder(project))


def _remove(folder: Path) -> None:
    try:
        (folder / "plan.json").unlink(missing_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise CannotWrite.of(folder, error) from error


class ImportJournal:
    """Journal of an import that is being prepared. Nothing outside of `journal/import-new` is written."""

    def __init__(self, project: Project) -> None:
        discard(project)
        self.project = project
        self.record = ImportRecord()
        _write(project, self.record, new_folder(project))
        self._images: dict[str, ImportedImage] = {}

    def add(
        self,
        key: str,
        *,
        image: Path | bytes | None = None,
        mask: np.ndarray | None = None,
        note: annotation.Note | None = None,
    ) -> None:
        """Prepare files of an image: an image to copy, a mask, uint8 (H, W), and a note. Raises CannotWrite."""
        project, kinds = self.project, []
        if image is not None:
            kinds.append("image")
            self._copy(image, prepared_path(project, "image", key))
        if mask is not None:
            kinds.append("mask")
            classes = [*project.classes, *self.record.classes]
            write_bytes(prepared_path(project, "mask", key), annotation.encode_mask(mask, classes), root=project.root)
        if note is not None:
            kinds.append("note")
            write_json(prepared_path(project, "note", key), note.content(), root=project.root)
        former = self._images.get(key)
        files = tuple(kind for kind in KINDS if kind in kinds or (former is not None and kind in former.files))
        replaces = tuple(kind for kind in files if kind != "image" and target_path(project, kind, key).exists())
        self._images[key] = ImportedImage(key, files, replaces)

    def _copy(self, source: Path | bytes, target: Path) -> None:
        check_links(self.project.root, target)
        try:
            if isinstance(source, bytes):
                write_bytes(target, source, root=self.project.root)
            else:
                with source.open("rb") as opened, replacing(target) as file:
                    shutil.copyfileobj(opened, file)
        except OSError as error:
            raise CannotWrite.of(target, error) from error

    def close(self) -> ImportRecord | None:
        """Write the list of images and the record; afterwards the import can be written. Raises CannotWrite.

        Return None for an import that would change nothing. It is to be discarded.
        """
        record = self.record
        if not (self._images or record.classes or record.verdicts or record.source or record.ignore):
            return None
        write_images(self.project, list(self._images.values()))
        _write(self.project, self.record)
        return self.record


def begin(project: Project, record: ImportRecord) -> ImportRecord:
    """Change project.json as the import requires, before its files are written. Returns the record with state "doing".

    Raises BadClass if another program has used an id or a name meanwhile, and errors of writing: a prepared import is
    then discarded.
    """
    project.need_write(Message("what.import"))
    project.refresh()
    file, before = project.file, project.file.model_copy(deep=True)
    known = {(info.id, info.name) for info in file.classes}
    changed = False
    try:
        for info in record.classes:
            if (info.id, info.name) not in known:
                project.add_class(info.name, id=info.id, color=info.color, save=False)
                changed = True
        for verdict in record.verdicts:
            changed = changed or verdict not in file.verdicts
            project.add_verdict(verdict, save=False)
        if record.source is not None and all(source.name != record.source.name for source in file.sources):
            file.sources.append(record.source.model_copy(deep=True))
            changed = True
        for source in file.sources:
            added = [pattern for pattern in record.ignore.get(source.name, []) if pattern not in source.ignore]
            source.ignore = [*source.ignore, *added]
            changed = changed or bool(added)
        doing = record.model_copy(update={"state": "doing"})
        _write(project, doing)
        if changed:
            project.save()
    except Problem:
        file.classes, file.verdicts, file.sources = before.classes, before.verdicts, before.sources
        with contextlib.suppress(CannotWrite):
            discard(project) if record.state == "preparing" else _write(project, record)
        raise
    return doing


def finish(project: Project, record: ImportRecord) -> ImportRecord:
    """Mark the import as written. The import before it can no longer be undone."""
    if record.state != "done":
        record = record.model_copy(update={"state": "done"})
        _write(project, record)
    folder = new_folder(project)
    if folder_of(project) == folder:
        delete(project)
        try:
            replace_path(folder, last_folder(project))
        except OSError as error:
            raise CannotWrite.of(folder, error) from error
    return record


def begin_undo(project: Project, record: ImportRecord) -> ImportRecord:
    """Mark the import as being undone."""
    project.need_write(Message("what.import"))
    record = record.model_copy(update={"state": "undoing"})
    _write(project, record)
    return record


def finish_undo(project: Project, record: ImportRecord) -> ImportRecord | None:
    """Remove from project.json what the import added, except classes, verdicts and sources in use.

    Returns the last import: the undone one, or if writing had failed, the one before it.
    """
    project.refresh()
    file, before = project.file, project.file.model_copy(deep=True)
    added = {info.id for info in record.classes}
    used = masks_with_classes(project, added) if added else {}
    used_ids = {id for ids in used.values() for id in ids}
    file.classes = [info for info in file.classes if info.id not in added or info.id in used_ids]
    if record.verdicts:
        used_verdicts = _verdicts_in_use(project)
        file.verdicts = [v for v in file.verdicts if v not in record.verdicts or v in used_verdicts]
    for source in file.sources:
        added_patterns = record.ignore.get(source.name, [])
        source.ignore = [pattern for pattern in source.ignore if pattern not in added_patterns]
    if record.source is not None and not _has_labels(project, record.source):
        file.sources = [source for source in file.sources if source.name != record.source.name]
    record = record.model_copy(update={"state": "undone"})
    try:
        if file != before:
            project.save()
        _write(project, record)
    except Problem:
        file.classes, file.verdicts, file.sources = before.classes, before.verdicts, before.sources
        raise
    if folder_of(project) == new_folder(project):
        discard(project)
        return load_record(project)
    return record


def execute(project: Project, record: ImportRecord) -> None:
    """Put the prepared files of an import in their places. After a failure the project is restored."""
    record = begin(project, record)
    try:
        write_files(project)
    except Problem:
        record = begin_undo(project, record)
        restore_files(project)
        finish_undo(project, record)
        raise
    finish(project, record)


def recover(project: Project, progress: Progress = lambda done, total: None) -> ImportRecord | None:
    """Finish an interrupted import or undo, and delete one that was not begun or is undone.

    Returns the record of the last written import. Raises ProjectBroken and errors of writing.
    """
    record = load_record(project)
    if record is None or record.state == "preparing" or folder_of(project) != new_folder(project):
        discard(project)
        record = load_record(project)
    if record is not None and record.state == "doing":
        record = begin(project, record)
        write_files(project, progress)
    elif record is not None and record.state == "undoing":
        restore_files(project, progress)
        record = finish_undo(project, record)
    if record is not None and record.state in ("doing", "done"):
        return finish(project, record)
    delete(project)
    return None


def _write(project: Project, record: ImportRecord, folder: Path | None = None) -> None:
    path = (folder or folder_of(project)) / "plan.json"
    write_json(path, record.model_dump(mode="json"), root=project.root)


def _verdicts_in_use(project: Project) -> set[str]:
    """Return the verdicts of all notes."""
    found: set[str] = set()
    for path in (project.root / "notes").rglob("*.json"):
        key = path.relative_to(project.root / "notes").as_posix().removesuffix(".json")
        with contextlib.suppress(NoteBroken):
            found.add(annotation.load_note(project, key).verdict or "")
    return found


def _has_labels(project: Project, source: Source) -> bool:
    folders = (inside(project.root / name, source.prefix.rstrip("/")) for name in ("masks", "notes"))
    return any(path.is_file() for folder in folders for path in folder.rglob("*"))
