"""Copy of unsaved labels in a folder outside the project, in the project's own format."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.core.names import free_path
from workbench.core.problems import CannotWrite
from workbench.core.project.annotation import encode_mask
from workbench.core.project.project import Project
from workbench.core.project.storage import inside, write_bytes, write_json
from workbench.session.label import Label


def copy_labels(labels: Sequence[Label], project: Project, folder: Path) -> Path:
    """Write masks/<key>.png and notes/<key>.json of `labels` into `folder` and return the folder used.

    A folder that already holds files is not touched: the copy then goes into a new folder inside it. A mask is written
    if its pixels are unsaved, a note always. Raises CannotWrite.
    """
    target = _empty_folder(folder, project)
    for label in labels:
        if label.mask_unsaved and label.mask is not None:
            write_bytes(inside(target / "masks", label.key + ".png"), _encoded(label, project))
        write_json(inside(target / "notes", label.key + ".json"), json.loads(label.note.model_dump_json()))
    return target


def _encoded(label: Label, project: Project) -> bytes:
    """Return the file of a mask. Raises CannotWrite if a stroke changes it meanwhile."""
    before = label.write_sequence
    try:
        data = encode_mask(label.mask, list(project.classes))
    except MemoryError as error:
        raise CannotWrite(path=label.key, why="there is not enough memory for it") from error
    if before % 2 or label.write_sequence != before:
        raise CannotWrite(path=label.key, why="it is being painted on")
    return data


def _empty_folder(folder: Path, project: Project) -> Path:
    """Return `folder` if it is empty or new, else a new folder in it, named after the project."""
    try:
        if not folder.exists() or not any(folder.iterdir()):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        stem = f"{project.root.name}-unsaved-{time.strftime('%Y%m%d-%H%M%S')}"
        target = free_path(folder, stem)
        target.mkdir()
    except OSError as error:
        raise CannotWrite.of(folder, error) from error
    return target
