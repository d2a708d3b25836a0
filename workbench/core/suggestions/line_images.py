"""Images that a line has kept for labeling (`cli/kept_images.py`): their list, and the way into a project.

An image taken into a project is `inbox/STEM.SUFFIX` there, with its origin in the history of its note. Its prediction
is stored as suggestions, or, accepted, as its label.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, InboxBroken, InboxUnknown, Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.suggestions.suggestion_files import save_stored
from workbench.core.suggestions.suggestions import class_table, suggest_regions
from workbench.inference.io.file_access import read_regular
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.regions import Region

MASK_SUFFIX, RECORD_SUFFIX = ".mask.png", ".json"
KEPT = ("NG", "unsure", "unlike", "sample")  # reasons to keep an image
FOLDER, TAKEN_FILE = "inbox", "inbox.json"  # of the project's images; marks of those taken, in the project


@dataclass(frozen=True)
class LineImage:
    """Kept image. record: of its result, with `sha256` and `kept`. path: of the image."""

    path: Path
    record: dict[str, Any]

    @property
    def mark(self) -> str:
        """Beginning of the checksum, the end of the name without suffix."""
        return str(self.record["sha256"])[:16]

    @property
    def mask_path(self) -> Path:
        return self.path.with_name(self.path.stem + MASK_SUFFIX)

    @property
    def origin(self) -> str:
        """English text for the history of the note."""
        values = (self.record.get(key) or "" for key in ("time", "name", "run", "verdict"))
        return "line, {}: {}, run {}: {}".format(*values)


@dataclass
class Taken:
    """Report of `take`. keys: of the new images. known: number of those that the project has. skipped: name, reason."""

    keys: list[str] = field(default_factory=list)
    known: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)


def read_kept(folder: Path) -> tuple[list[LineImage], list[tuple[str, str]]]:
    """Return the kept images of a folder and its folders, the newest first, and names and reasons of broken ones."""
    found, broken = [], []
    for path in sorted(folder.rglob(f"*{RECORD_SUFFIX}"), key=lambda path: path.name, reverse=True):
        try:
            record = load_object(path, InboxBroken)
            if not isinstance(record.get("sha256"), str) or not isinstance(record.get("regions"), list):
                raise InboxBroken(path=str(path), why=Message("inbox.no_record"))
            images = [each for each in path.parent.glob(f"{path.stem}.*") if each.stem == path.stem and each != path]
            if not images:
                raise InboxBroken(path=str(path), why=Message("inbox.no_image"))
            found.append(LineImage(images[0], record))
        except (Problem, OSError) as problem:
            broken.append((path.name, Message.of(problem)))
    return found, broken


def known_marks(project: Project) -> set[str]:
    """Return the marks of the images that the project has taken, also of those removed since. Raises InboxBroken."""
    stems = (Path(key).stem for key in project.images() if key.startswith(f"{FOLDER}/"))
    try:
        taken = load_object(project.root / TAKEN_FILE, InboxBroken).get("taken")
    except FileNotFoundError:
        taken = []
    return {stem.rpartition("-")[2] for stem in stems} | set(taken if isinstance(taken, list) else [])


def take(
    project: Project,
    images: Sequence[LineImage],
    *,
    accept: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Taken:
    """Copy images into the project, each once, also if it was removed from it, with their predictions.

    accept: the prediction becomes the label, and a known verdict that of the image; otherwise its regions become
    suggestions. Raises CannotWrite, InboxBroken, ProjectReadOnly.
    """
    taken, known = Taken(), known_marks(project)
    runs = {path.name for path in (project.root / "runs").glob("*")}
    for number, image in enumerate(images):
        if cancelled():
            break
        progress(number, len(images))
        if image.mark in known:
            taken.known += 1
            continue
        try:
            taken.keys.append(_take(project, image, accept=accept, own=image.record.get("run") in runs))
            known.add(image.mark)
        except CannotWrite:
            raise
        except (Problem, ReadError, OSError, ValueError, TypeError) as error:
            taken.skipped.append((image.path.name, Message.of(error)))
    if taken.keys:  # those of a take that is ended before this are known by their images
        project.need_write(Message("what.inbox"))
        write_json(project.root / TAKEN_FILE, {"format": 1, "taken": sorted(known)})
    return taken


def _take(project: Project, image: LineImage, *, accept: bool, own: bool) -> str:
    data = read_regular(image.path)
    if hashlib.sha256(data).hexdigest() != image.record["sha256"]:
        raise InboxBroken(path=str(image.path), why=Message("inbox.changed"))
    height, width = decode_image(data).shape[:2]
    prediction = None
    if image.mask_path.exists():
        prediction = decode_image(read_regular(image.mask_path))
        if prediction.shape != (height, width) or prediction.dtype != np.uint8:
            raise InboxBroken(path=str(image.mask_path), why=Message("inbox.no_record"))
    listed: list[dict[str, Any]] = [{**each, "centroid": tuple(each["centroid"])} for each in image.record["regions"]]
    regions = [Region(**each) for each in listed]
    table = class_table(project.classes, regions, own=own)
    verdict = image.record["verdict"]
    if accept:  # what the project does not know would become background, or an image that is done without a verdict
        if prediction is None:
            known = verdict in project.file.verdicts
        else:
            known = set(np.unique(prediction).tolist()) <= {0, *table}
        if not known:
            raise InboxUnknown(path=image.path.name)
    key = project.copy_image(image.path, f"{FOLDER}/{image.path.name}")
    note, mask = annotation.load_note(project, key), None
    note.add("inbox", image.origin)
    if accept:
        note.status = "done"
        note.verdict = verdict if verdict in project.file.verdicts else note.verdict
        if prediction is not None:
            ids = np.zeros(256, np.uint8)
            ids[list(table)] = list(table.values())
            mask = ids[prediction]
    annotation.save_label(project, key, mask=mask, note=note)
    if prediction is not None and not accept:
        model = str(image.record.get("run", ""))
        found = suggest_regions(prediction, regions, table, model).suggestions
        save_stored(project, key, found, model=model, fingerprint="", size=(width, height))
    return key
