"""Files of an import: prepared in `new` of its folder, put in their places, and restored from `old`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.problems import CannotWrite, MaskBroken, NoteBroken, ProjectBroken
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import check_links, copy_file, inside, same_content, write_bytes
from workbench.inference.io.atomic_write import make_folder, replace_path

Progress = Callable[[int, int], None]
_FOLDERS = {"image": "pictures", "mask": "masks", "note": "notes"}  # in the order in which they are written
_SUFFIXES = {"image": "", "mask": ".png", "note": ".json"}
KINDS = tuple(_FOLDERS)


@dataclass(frozen=True)
class ImportedImage:
    """Image in the journal. files: kinds of prepared files; replaces: kinds that existed before."""

    key: str
    files: tuple[str, ...]
    replaces: tuple[str, ...]


@dataclass(frozen=True)
class ImportPass:
    """Result of writing or undoing an import. kept: images changed since the import, which undo leaves as they are."""

    images: int
    kept: tuple[str, ...] = ()


def folder_of(project: Project) -> Path:
    """Return the folder of the import that is prepared or written; without one, that of the last import."""
    folder = new_folder(project)
    return folder if (folder / "plan.json").exists() else last_folder(project)


def new_folder(project: Project) -> Path:
    """Return the folder of an import until it is written."""
    return project.root / "journal" / "import-new"


def last_folder(project: Project) -> Path:
    """Return the folder of the last import that was written."""
    return project.root / "journal" / "import"


def write_images(project: Project, images: list[ImportedImage]) -> None:
    """Write the list of images of an import, after a check of all their places. Raises CannotWrite."""
    for image in images:
        for kind in image.files:
            check_links(project.root, target_path(project, kind, image.key))
    lines = [
        json.dumps({"key": image.key, "files": image.files, "replaces": image.replaces}) + "\n" for image in images
    ]
    write_bytes(folder_of(project) / "images.jsonl", "".join(lines).encode("ascii"), root=project.root)


def read_images(project: Project) -> list[ImportedImage]:
    """Return the images of the import in the journal. Raises ProjectBroken."""
    path = folder_of(project) / "images.jsonl"
    try:
        lines = path.read_text("ascii").splitlines()
        entries = [json.loads(line) for line in lines]
        return [ImportedImage(entry["key"], tuple(entry["files"]), tuple(entry["replaces"])) for entry in entries]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ProjectBroken(path=str(path), why=str(error)) from error


def target_path(project: Project, kind: str, key: str) -> Path:
    """Return the place of an image's file in the project. kind: "image", "mask" or "note"."""
    return inside(project.root / _FOLDERS[kind], key + _SUFFIXES[kind])


def prepared_path(project: Project, kind: str, key: str) -> Path:
    """Return the path of an image's prepared file in the journal."""
    return inside(folder_of(project) / "new" / _FOLDERS[kind], key + _SUFFIXES[kind])


def _original(project: Project, kind: str, key: str) -> Path:
    return inside(folder_of(project) / "old" / _FOLDERS[kind], key + _SUFFIXES[kind])


def write_files(project: Project, progress: Progress = lambda done, total: None) -> ImportPass:
    """Put the prepared files in their places. The pass can be interrupted and repeated. Raises CannotWrite.

    An image whose place another program has taken meanwhile is left out with its label.
    """
    return _for_each(project, place_image, progress)


def restore_files(project: Project, progress: Progress = lambda done, total: None) -> ImportPass:
    """Restore the files as before the import. The pass can be interrupted and repeated. Raises CannotWrite.

    An image whose mask or note was changed since the import stays as it is.
    """
    return _for_each(project, _restore, progress)


def _for_each(project: Project, move: Callable[[Project, ImportedImage], bool], progress: Progress) -> ImportPass:
    """Call `move` for each image of the import; it returns False if the image is left out."""
    images, kept = read_images(project), []
    for number, image in enumerate(images, 1):
        project.need_write(image.key)
        try:
            if not move(project, image):
                kept.append(image.key)
        except OSError as error:
            raise CannotWrite.of(project.mask_path(image.key), error) from error
        progress(number, len(images))
    return ImportPass(len(images) - len(kept), tuple(kept))


def place_image(project: Project, image: ImportedImage) -> bool:
    """Put the files of one image in their places. Return False if another program has put an image there."""
    for kind in image.files:
        target, prepared = target_path(project, kind, image.key), prepared_path(project, kind, image.key)
        check_links(project.root, target)
        if not prepared.exists():
            continue  # the image is in its place already, or the label was changed before an undo
        if kind != "image":
            _place_label(prepared, target, _original(project, kind, image.key))
        elif not target.exists():
            make_folder(target.parent)
            replace_path(prepared, target)
        elif not same_content(target, prepared):
            for kind in image.files:
                prepared_path(project, kind, image.key).unlink(missing_ok=True)
            return False
    return True


def _place_label(prepared: Path, target: Path, original: Path) -> None:
    """Replace a mask or note by the prepared file, which stays in the journal for undo and redo."""
    if target.exists():
        if same_content(target, prepared):
            return
        if not original.exists():
            copy_file(target, original)
    copy_file(prepared, target)


def _restore(project: Project, image: ImportedImage) -> bool:
    """Restore the files of one image. Return False if its label was changed since the import."""
    remaining = []
    for kind in image.files:
        replaced = kind in image.replaces
        pending = (
            _original(project, kind, image.key).exists() if replaced else target_path(project, kind, image.key).exists()
        )
        if pending:
            remaining.append(kind)
    labels = [kind for kind in remaining if kind != "image"]
    if any(_changed(project, kind, image.key) for kind in labels) or (
        "image" in remaining and _was_labeled_since(project, image)
    ):
        for kind in labels:
            prepared_path(project, kind, image.key).unlink(missing_ok=True)  # a later redo does not replace it either
        return False
    for kind in reversed(remaining):  # the image last: a label never lacks its image
        target = target_path(project, kind, image.key)
        check_links(project.root, target)
        if kind == "image":
            prepared = prepared_path(project, kind, image.key)
            make_folder(prepared.parent)
            replace_path(target, prepared)
        elif kind in image.replaces:
            make_folder(target.parent)
            replace_path(_original(project, kind, image.key), target)
        else:
            target.unlink()
    return True


def _changed(project: Project, kind: str, key: str) -> bool:
    """Return True if the content of a mask or note differs from the imported one."""
    target, prepared = target_path(project, kind, key), prepared_path(project, kind, key)
    if not target.exists() or not prepared.exists():
        return True
    if same_content(target, prepared):
        return False
    if kind == "mask":
        try:
            return not np.array_equal(annotation.read_mask(target), annotation.read_mask(prepared))
        except MaskBroken:
            return True
    try:
        note = annotation.load_note(project, key)
        imported = annotation.Note.model_validate_json(prepared.read_bytes())
    except (NoteBroken, ValueError):
        return True
    exclude = {"history"}
    return note.model_dump(exclude=exclude) != imported.model_dump(exclude=exclude)


def _was_labeled_since(project: Project, image: ImportedImage) -> bool:
    """Return True if an imported image without an imported label has a label now."""
    return any(kind not in image.files and target_path(project, kind, image.key).exists() for kind in ("mask", "note"))
