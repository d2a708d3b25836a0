"""Data of one image for lists and searches, read from its files, and the stamps that show changes of the files."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import image_size
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.sources import walk
from workbench.core.project.storage import file_stamp
from workbench.inference.io.opencv import cv2

Numbers = tuple[tuple[int, int], ...]  # (class id, number)


@dataclass(frozen=True, slots=True)
class ImageRow:
    """Indexed data of one image."""

    key: str
    width: int = 0
    height: int = 0
    status: str = "new"
    verdict: str | None = None
    counts: Numbers = ()  # pixels of each painted class
    masked: bool = False  # a mask file exists
    broken: str = ""  # the reason, in English; "" if all files are readable
    regions: Numbers = ()  # connected regions (8 neighbors) of each painted class
    group: str = ""  # from the note; "" if it has none
    date: float = 0.0  # of the image file, seconds since 1970
    score: float | None = None  # 0..1, probability of the strongest predicted defect

    @property
    def area(self) -> int:
        """Painted pixels of all classes."""
        return sum(pixels for _, pixels in self.counts)

    @property
    def region_count(self) -> int:
        return sum(number for _, number in self.regions)

    @property
    def labeled(self) -> bool:
        """True if the user has set a status or a verdict."""
        return self.status != "new" or self.verdict is not None


def read_row(project: Project, key: str) -> ImageRow:
    """Read the files of one image. Never raises; a broken file becomes the row's reason."""
    try:
        path = project.image_path(key)
        width, height = image_size(path)
        date = path.stat().st_mtime
    except (Problem, OSError) as problem:
        return ImageRow(key=key, broken=str(problem))
    try:
        note = annotation.load_note(project, key)
        mask = annotation.load_mask(project, key, (width, height))
    except Problem as problem:
        return ImageRow(key=key, width=width, height=height, broken=str(problem), date=date)
    counts = () if mask is None else annotation.foreground_counts(mask)
    regions = () if mask is None else tuple((id, count_regions(mask, id)) for id, _ in counts)
    return ImageRow(
        key, width, height, note.status, note.verdict, counts, mask is not None, "", regions, note.group or "", date
    )


def count_regions(mask: np.ndarray, id: int) -> int:
    """Return the number of connected regions (8 neighbors) of a class in uint8 (H, W)."""
    plane = (mask == id).view(np.uint8)  # OpenCV takes a mask of one pixel for a number
    # Contours need far less memory than labels with four bytes per pixel; holes are recognized by their parent.
    _, tree = cv2.findContours(plane, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    return 0 if tree is None else int((tree[0][:, 3] < 0).sum())


class FileStamps:
    """Sizes and times of all files of a project, from three directory walks: much faster than a query per file."""

    def __init__(self, project: Project) -> None:
        self._images: dict[str, str] = {}
        for source in project.file.sources:
            walk_stamps(source.folder(project.root), self._images, source.prefix)
        self._masks = walk_stamps(project.root / "masks")
        self._notes = walk_stamps(project.root / "notes")

    def of(self, key: str) -> str:
        mask, note = self._masks.get(key + ".png", "-"), self._notes.get(key + ".json", "-")
        return f"{self._images.get(key, '-')}|{mask}|{note}"


def stamp_of(project: Project, key: str) -> str:
    """Return the stamp of one image's files."""
    try:
        return file_stamp(project.image_path(key), project.mask_path(key), project.note_path(key))
    except Problem:
        return "-|-|-"


def walk_stamps(folder: Path, target: dict[str, str] | None = None, prefix: str = "") -> dict[str, str]:
    """Return the stamp of every file below a folder, by its POSIX path, without unreadable files."""
    stamps = {} if target is None else target
    for relative, entry in walk(folder):
        with contextlib.suppress(OSError):
            state = entry.stat()
            stamps[prefix + relative] = f"{state.st_size}:{state.st_mtime_ns}"
    return stamps
