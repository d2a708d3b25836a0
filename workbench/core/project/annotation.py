"""Label of one image: its mask (class ids, one byte per pixel) and its note (verdict, status, history).

Labels of a project as they are compared with those of another project: mask, note and time of the last change.
"""

from __future__ import annotations

import codecs
import errno
import getpass
import io
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict

from workbench.core import problems
from workbench.core.geometry.drawing import blank
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.project import label_transaction, storage
from workbench.core.project.label_transaction import Kind, KnownFiles
from workbench.core.project.project import BACKGROUND, DONT_CARE, MAX_CLASS_ID, NOT_LABELED, ClassInfo, Project
from workbench.core.project.sources import walk
from workbench.core.stored_model import StoredModel
from workbench.inference.inspection_area import InspectionArea, area_of
from workbench.inference.io import file_access, image_io
from workbench.inference.io.file_access import open_regular, patiently, read_regular
from workbench.inference.io.opencv import cv2
from workbench.inference.part_position import Placement

Status = Literal["new", "started", "done"]
Split = Literal["train", "val", "test"]
NOTE_FORMAT = 1


class HistoryEntry(StoredModel):
    """One entry of an image's history."""

    model_config = ConfigDict(extra="allow")
    when: str
    who: str
    what: str  # "paint", "import png", "accept proposal", ...
    detail: str = ""  # origin, in English: "run 20261120-101500-unet: scratch 0.93"


class SuggestionDecision(StoredModel):
    """Suggested region that the user has accepted or rejected, with class, box and area as given by the model."""

    model_config = ConfigDict(extra="allow")
    what: Literal["accepted", "rejected"]
    model: str  # the run's name
    class_id: int
    x: int
    y: int
    width: int
    height: int
    area: int


class ConfirmedLabel(StoredModel):
    """Place where a model contradicts the label and the user has confirmed the label, see `LabelIssue`."""

    model_config = ConfigDict(extra="allow")
    kind: Literal["missing", "extra", "class", "verdict"]
    class_id: int = 0
    labelled_id: int = 0
    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    verdict: str = ""
    said: str = ""


class Note(StoredModel):
    """Annotation data of an image besides its mask: the content of notes/<key>.json.

    Unknown fields are kept and written back, here and in the entries of the lists.
    """

    model_config = ConfigDict(extra="allow")
    format: int = NOTE_FORMAT
    verdict: str | None = None
    status: Status = "new"
    pin: Split | None = None  # fixed to this side of the split by the user
    group: str | None = None  # overrides the project's grouping rule
    # True once the user has painted background explicitly: unpainted pixels are then not labeled (255).
    explicit_background: bool = False
    history: list[HistoryEntry] = []
    decided: list[SuggestionDecision] = []  # suggestions not to be shown again
    confirmed: list[ConfirmedLabel] = []  # contradictions of a model not to be shown again

    def add(self, what: str, detail: str = "") -> None:
        """Append to the history; a repetition of the last entry replaces that entry."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S")
        who = _user_name()
        entry = HistoryEntry(when=now, who=who, what=what, detail=detail)
        last = self.history[-1] if self.history else None
        if last is not None and (last.what, last.who, last.detail) == (what, who, detail):
            self.history[-1] = entry
        else:
            self.history.append(entry)
        del self.history[:-200]

    def content(self) -> dict[str, Any]:
        """Return a deep copy of the note as JSON values."""
        return self.model_dump(mode="json")


def continues(earlier: Note, later: Note) -> bool:
    """Return True if the history of `later` begins with that of `earlier` and goes on."""
    return _is_prefix(earlier.history, later.history) and not _is_prefix(later.history, earlier.history)


def _is_prefix(start: list[HistoryEntry], whole: list[HistoryEntry]) -> bool:
    if len(start) > len(whole):
        return False
    if not start:
        return True
    last, same = start[-1], whole[len(start) - 1]
    # A repeated action replaces the last entry, so that its time may be later.
    repeated = (last.what, last.who, last.detail) == (same.what, same.who, same.detail) and last.when <= same.when
    return repeated and start[:-1] == whole[: len(start) - 1]


def united_history(ours: Note, theirs: Note) -> list[HistoryEntry]:
    """Return the entries of two histories without duplicates, by time."""
    entries = list({entry.model_dump_json(): entry for entry in (*ours.history, *theirs.history)}.values())
    return sorted(entries, key=lambda entry: entry.when)


def load_note(project: Project, key: str, saves: label_transaction.SaveRecords | None = None) -> Note:
    """Return the note of an image, an empty one if there is none. Raises NoteBroken and its subclass NoteTooNew.

    saves: unfinished saves of the project, for a pass over many images.
    """
    path = project.note_path(key)
    try:
        data = label_transaction.read_note(project.root, key, saves)
    except FileNotFoundError:
        return Note()
    except OSError as error:
        raise problems.unreadable(problems.NoteBroken, path, error, _why(error)) from error
    try:
        note = Note.model_validate_json(data.removeprefix(codecs.BOM_UTF8))  # written by an editor
        stored_format, invalid = note.format, None
    except ValueError as error:  # JSON errors, encoding errors and pydantic's ValidationError
        note, stored_format, invalid = None, _format_of(data), error
    if stored_format > NOTE_FORMAT:
        why = Message("file.newer_format", found=stored_format)
        raise problems.NoteTooNew(path=str(path), why=why, found=stored_format, known=NOTE_FORMAT) from invalid
    if note is None:
        raise problems.NoteBroken(path=str(path), why=str(invalid).splitlines()[0]) from invalid
    return note


def _format_of(data: bytes) -> int:
    """Return the format number in a note that is not valid in the current format; 0 if it has none."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return 0
    stored_format = content.get("format") if isinstance(content, dict) else None
    return stored_format if isinstance(stored_format, int) else 0


def save_label(
    project: Project,
    key: str,
    *,
    mask: np.ndarray | bytes | None = None,
    note: Note | None = None,
    files: KnownFiles | None = None,
) -> None:
    """Write the mask, the note, or both as one transaction: the only way to save the label of one image.

    mask: uint8 (H, W), or its file. files: see `label_transaction.write`. Raises CannotWrite, ProjectReadOnly.
    """
    project.need_write(key)
    contents: dict[Kind, bytes] = {}
    if mask is not None:
        contents["mask"] = mask if isinstance(mask, bytes) else encode_mask(mask, project.classes)
    if note is not None:
        contents["note"] = storage.json_bytes(note.content())
    label_transaction.write(project.root, key, contents, files)


def save_note(project: Project, key: str, note: Note) -> None:
    """Write the note alone, see `save_label`."""
    save_label(project, key, note=note)


def save_mask(project: Project, key: str, mask: np.ndarray) -> None:
    """Write the mask alone, see `save_label`."""
    save_label(project, key, mask=mask)


def load_mask(
    project: Project, key: str, size: tuple[int, int] | None = None, *, data: bytes | None = None
) -> np.ndarray | None:
    """Return the mask as uint8 (H, W) class ids, writable, C-contiguous; None if the image has no mask yet.

    `size` is the expected (width, height) of the image. data: content of the file, if it was read already. Raises
    MaskBroken, MaskWrongSize, MaskUnknownClass; the file is then left unchanged.
    """
    path = project.mask_path(key)
    try:
        mask = read_mask(path, size, data)
    except FileNotFoundError:
        return None
    check_ids(mask, path, project.classes)
    return mask


def load_truth(
    project: Project, key: str, size: tuple[int, int] | None = None, *, data: bytes | None = None
) -> np.ndarray | None:
    """Return the mask for training and evaluation: as `load_mask`, and ignored outside of the inspection area.

    Raises PartNotFound and ImageBroken besides, if the area moves with the part.
    """
    mask = load_mask(project, key, size, data=data)
    return None if mask is None else ignore_outside(project, key, mask)


def ignore_outside(project: Project, key: str, mask: np.ndarray) -> np.ndarray:
    """Set the pixels of a mask, uint8 (H, W), outside of the inspection area to DONT_CARE, in place, and return it.

    Raises as `load_truth`.
    """
    area = placed_area(project, key)
    if area is not None:
        mask[~area.inside(mask.shape)] = DONT_CARE
    return mask


def placed_area(project: Project, key: str, areas: Sequence[InspectionArea] | None = None) -> InspectionArea | None:
    """Return the inspection area of an image, where the part is in it. Raises PartNotFound, ImageBroken.

    areas: None for those of the project.
    """
    area = area_of(project.file.inspection_areas if areas is None else areas, key)
    if area is None or area.reference is None:
        return area
    path = project.image_path(key)
    try:
        stamp = path.stat()
    except OSError as error:
        raise problems.ImageBroken(path=str(path), why=file_access.reason(error)) from error
    placement = _placement(path, stamp.st_mtime_ns, stamp.st_size, area)
    if placement.why:
        raise problems.PartNotFound(path=str(path), why=placement.why)
    return area.moved(placement)


@lru_cache(20_000)
def _placement(path: Path, time_ns: int, size: int, area: InspectionArea) -> Placement:
    """Return the placement in an image file, which is read again after a change."""
    placement = area.find(read(path))
    assert placement is not None
    return placement


def check_ids(mask: np.ndarray, path: Path, classes: list[ClassInfo]) -> None:
    """Raise MaskUnknownClass if the mask, read from `path`, has ids that none of the classes has."""
    known = {BACKGROUND, DONT_CARE, NOT_LABELED} | {c.id for c in classes}
    unknown_ids = sorted(set(ids_in(mask)) - known)
    if unknown_ids:
        raise problems.MaskUnknownClass(path=str(path), ids=", ".join(map(str, unknown_ids)))


def backup_conflict(project: Project, key: str, data: bytes, suffix: str) -> Path:
    """Copy a file of the image `key` to `journal/kept`, see `storage.backup_conflict`. Raises CannotWrite."""
    return storage.backup_conflict(project.root, storage.key_hash(key)[:8], data, suffix)


def unused_backup_path(project: Project, key: str, suffix: str) -> Path:
    """Return an unused path in `journal/kept` for a file of the image `key`."""
    return storage.unused_backup_path(project.root, storage.key_hash(key)[:8], suffix)


def mask_content(project: Project, key: str) -> bytes | None:
    """Return the content of a mask file for `load_mask`, None if the image has no mask yet. Raises MaskBroken."""
    path = project.mask_path(key)
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        kind = problems.MaskHeld if isinstance(error, PermissionError) else problems.MaskBroken
        raise kind(path=str(path), why=_why(error)) from error


def read_mask(path: Path, size: tuple[int, int] | None = None, data: bytes | None = None) -> np.ndarray:
    """Return the index values of a PNG as uint8 (H, W): palette indices, or the gray values of a gray PNG.

    `size` is the expected (width, height), compared with the header before anything is decoded. Raises
    FileNotFoundError, MaskWrongSize; MaskBroken for anything that is not an 8-bit single-plane PNG, and for a mask that
    is larger than the limits allow.
    """
    from PIL import UnidentifiedImageError

    try:
        return patiently(_decode_mask, path, size, data)
    except FileNotFoundError:
        raise
    except UnidentifiedImageError:
        raise problems.MaskBroken(path=str(path), why=Message("mask.not_png")) from None
    except OSError as error:
        kind = problems.MaskHeld if isinstance(error, PermissionError) else problems.MaskBroken
        raise kind(path=str(path), why=_why(error)) from error
    except (ValueError, SyntaxError, EOFError, MemoryError) as error:
        raise problems.MaskBroken(path=str(path), why=str(error) or type(error).__name__) from error


def _decode_mask(path: Path, size: tuple[int, int] | None, data: bytes | None) -> np.ndarray:
    from workbench.core.images.pillow import Image

    source = open_regular(path) if data is None else io.BytesIO(data)
    with source as opened, Image.open(opened, formats=("PNG",)) as file:
        width, height = file.size
        if size is not None and (width, height) != tuple(size):
            raise problems.MaskWrongSize(
                path=str(path), mask_width=width, mask_height=height, width=size[0], height=size[1]
            )
        if file.mode not in ("1", "P", "L"):
            raise problems.MaskBroken(path=str(path), why=Message("mask.not_ids", mode=file.mode))
        too_large = image_io.size_problem(width, height, width * height)
        if too_large:
            raise problems.MaskBroken(path=str(path), why=too_large)
        return np.array(file, dtype=np.uint8, order="C")


def _why(error: OSError) -> str:
    if error.errno == errno.ENAMETOOLONG:
        return Message("label.name_too_long")
    return file_access.reason(error)


def palette_bytes(classes: list[ClassInfo]) -> bytes:
    """Return the palette of a mask's PNG, 256 x RGB, with the color of each class at its id."""
    palette = np.zeros((256, 3), np.uint8)
    for info in classes:
        palette[info.id] = [int(info.color[i : i + 2], 16) for i in (1, 3, 5)]
    palette[DONT_CARE] = (160, 160, 160)
    palette[NOT_LABELED] = (64, 64, 64)
    return palette.tobytes()


def encode_mask(mask: np.ndarray, classes: list[ClassInfo]) -> bytes:
    """Encode class ids, uint8 (H, W), as an 8-bit palette PNG with the colors of the classes as palette."""
    from workbench.core.images.pillow import Image

    image = Image.fromarray(np.ascontiguousarray(mask))
    image.putpalette(palette_bytes(classes))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def ids_in(mask: np.ndarray) -> list[int]:
    """Return the distinct ids of a mask, ascending."""
    return np.flatnonzero(counts(mask)).tolist()


def counts(mask: np.ndarray) -> np.ndarray:
    """Return the number of pixels per id, int64 (256,).

    Uses OpenCV's histogram, because NumPy's holds the interpreter lock for a long time.
    """
    return cv2.calcHist([np.ascontiguousarray(mask)], [0], None, [256], [0, 256]).ravel().astype(np.int64)


def foreground_counts(mask: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Return (class id, pixels) of the classes painted in a mask, ids ascending."""
    pixels = counts(mask)
    return tuple((id, int(pixels[id])) for id in np.flatnonzero(pixels).tolist() if 0 < id <= MAX_CLASS_ID)


def new_mask(size: tuple[int, int], note: Note | None = None) -> np.ndarray:
    """Return an empty mask for an image of `size` (width, height)."""
    if note is not None and note.explicit_background:
        return np.full((size[1], size[0]), NOT_LABELED, np.uint8)
    return blank(size[1], size[0])


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


@dataclass
class ProjectLabel:
    """Label of an image in one of two projects. mask: uint8 (h, w) with the ids of the project that is merged into.

    changed: time of the last change of its files, seconds since 1970.
    """

    note: Note
    mask: np.ndarray | None
    changed: float

    @classmethod
    def load(cls, project: Project, key: str, ids: dict[int, int] | None = None) -> ProjectLabel:
        """Load mask and note of an image. ids: ids of classes to replace.

        Raises MaskBroken, MaskWrongSize, MaskUnknownClass, NoteBroken and NoteTooNew.
        """
        note, mask = load_note(project, key), load_mask(project, key)
        if mask is not None and ids:
            table = np.arange(256, dtype=np.uint8)
            for old, new in ids.items():
                table[old] = new
            mask = table[mask]
        return cls(note, mask, max(_modified(project.mask_path(key)), _modified(project.note_path(key))))

    @property
    def empty(self) -> bool:
        painted = self.mask is not None and bool(self.mask.any())
        return not painted and self.note.verdict is None and self.note.status == "new"

    def equals(self, other: ProjectLabel) -> bool:
        """Return True if pixels, verdict and status are equal; a missing mask equals an empty one."""
        fields = ("verdict", "status", "explicit_background")
        if any(getattr(self.note, name) != getattr(other.note, name) for name in fields):
            return False
        if self.mask is None or other.mask is None:
            return not any(label.mask is not None and label.mask.any() for label in (self, other))
        return np.array_equal(self.mask, other.mask)

    def last_change(self) -> float:
        """Return the time of the last change, seconds since 1970: from the history, else of the files."""
        try:
            return datetime.fromisoformat(self.note.history[-1].when).timestamp()
        except (IndexError, ValueError, OverflowError, OSError):
            return self.changed


def has_label_files(project: Project, key: str) -> bool:
    return os.path.exists(project.mask_path(key)) or os.path.exists(project.note_path(key))


def labeled_keys(project: Project) -> list[str]:
    """Return the sorted keys of all masks and notes, also of images that are not available."""
    return sorted(
        {
            relative.removesuffix(suffix)
            for folder, suffix in (("masks", ".png"), ("notes", ".json"))
            for relative, _ in walk(project.root / folder)
            if relative.endswith(suffix)
        }
    )


def _modified(path: Path) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
