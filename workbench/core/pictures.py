"""Picture files: size without decoding, pixels by the one reading road, thumbnails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from workbench.core.problems import PictureBroken
from workbench.inference.cv import cv2
from workbench.inference.drawing import to_display
from workbench.inference.reading import PICTURE_SUFFIXES, ReadError, read_picture

__all__ = ["PICTURE_SUFFIXES", "picture_size", "read", "thumbnail"]

Image.MAX_IMAGE_PIXELS = None  # only headers and masks go through Pillow; line cameras make very large ones


def read(path: Path) -> np.ndarray:
    """Pixels (H, W) or (H, W, 3) RGB; uint8, uint16 or float32; EXIF applied. Raises PictureBroken."""
    try:
        return read_picture(path)
    except ReadError as error:
        raise PictureBroken(path=str(path), why=error.why) from error


def picture_size(path: Path) -> tuple[int, int]:
    """(width, height) as shown, EXIF applied, from the header only. Raises PictureBroken."""
    try:
        with Image.open(path) as header:
            width, height = header.size
            turned = header.getexif().get(0x0112, 1) in (5, 6, 7, 8)
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError):
        height, width = read(path).shape[:2]  # kinds that Pillow does not know
        turned = False
    return (height, width) if turned else (width, height)


def thumbnail(path: Path, edge: int) -> np.ndarray:
    """uint8 (h, w) or (h, w, 3) RGB whose longer side is at most `edge` pixels. Raises PictureBroken."""
    picture = read(path)
    height, width = picture.shape[:2]
    factor = edge / max(height, width)
    if factor < 1:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return to_display(picture)
