"""Thumbnail cache in `.cache/thumbnails`, which makes reopening a project faster.

The folder can be deleted at any time. The file name is a hash of the image's key and file stamp, so a changed image
gets a new file. Damaged files are recreated. If the folder exceeds its limit, the least recently used files are
removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import thumbnail
from workbench.core.problems import CannotWrite
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.project.storage import check_links, file_stamp
from workbench.inference.io.file_access import make_folder, replace_path
from workbench.inference.io.image_io import ReadError, decode_image, encode_png
from workbench.inference.io.opencv import cv2

MIN_FILE_SIZE = 400_000  # bytes: a smaller image file is decoded as fast as a cache entry is read
LIMIT = 256 << 20  # bytes in the folder
CHECK_INTERVAL = 100  # files written between two checks of the folder size


class ThumbnailCache:
    """Thumbnail cache of one project. Not thread-safe."""

    def __init__(self, project: Project, edge: int) -> None:
        """Create a cache. edge: maximum of the longer side in pixels."""
        self._project, self._edge = project, edge
        self._folder = project.root / ".cache" / "thumbnails"
        self._written = 0

    def get(self, key: str) -> np.ndarray:
        """Return the thumbnail, uint8 (h, w) or (h, w, 3) RGB. Raises ImageBroken."""
        image = self._project.image_path(key)
        stamp = file_stamp(image)
        if stamp == "-" or int(stamp.partition(":")[0]) < MIN_FILE_SIZE:
            return thumbnail(image, self._edge)
        path = self._path(key, stamp)
        with contextlib.suppress(OSError, ReadError):
            pixels = decode_image(path.read_bytes(), path.name)
            if pixels.dtype == np.uint8 and max(pixels.shape[:2]) <= self._edge:
                os.utime(path)  # mark as recently used
                return pixels
        pixels = thumbnail(image, self._edge)
        if self._project.writable:
            with contextlib.suppress(OSError, CannotWrite):  # disk full, or a link out of the project: not cached
                self._store(path, bytes(encode_png(pixels)))
        return pixels

    def _path(self, key: str, stamp: str) -> Path:
        name = hashlib.sha256(f"{key}\n{stamp}\n{self._edge}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / name[:2] / f"{name}.png"

    def _store(self, path: Path, data: bytes) -> None:
        check_links(self._project.root, path)
        make_folder(path.parent)
        # Not flushed to disk, since the file can be recreated.
        temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_bytes(data)
            replace_path(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self._written += 1
        if self._written % CHECK_INTERVAL == 0:
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        """Remove the least recently used files until the folder is at most 90 % of the limit."""
        files: list[tuple[float, int, str]] = []
        for folder in [entry.path for entry in os.scandir(self._folder) if entry.is_dir(follow_symlinks=False)]:
            for entry in os.scandir(folder):
                state = entry.stat(follow_symlinks=False)
                files.append((state.st_mtime, state.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        if total <= LIMIT:
            return
        for _, size, path in sorted(files):
            Path(path).unlink(missing_ok=True)
            total -= size
            if total <= 0.9 * LIMIT:
                return


def label_thumbnail(mask: np.ndarray, edge: int) -> np.ndarray:
    """Return a reduced mask, uint8 (h, w) class ids with a longer side of at most `edge`, of uint8 (H, W).

    Each pixel has the greatest id painted in its area; don't care and not labeled count as background.
    """
    height, width = mask.shape
    factor = max(height, width) / edge
    painted = cv2.threshold(mask, MAX_CLASS_ID, 0, cv2.THRESH_TOZERO_INV)[1]
    if factor <= 1:
        return painted
    step = int(np.ceil(factor))
    spread = cv2.dilate(painted, np.ones((step, step), np.uint8))
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    return cv2.resize(spread, size, interpolation=cv2.INTER_NEAREST)
