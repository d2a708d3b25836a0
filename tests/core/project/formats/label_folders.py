"""Image files of the folders that are imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SIZE = (60, 40)


def photo(path: Path, seed: int = 0, size: tuple[int, int] = SIZE) -> Path:
    """Write a noisy image of (width, height), like that of a camera."""
    gray = np.random.default_rng(seed + sum(path.name.encode())).integers(60, 190, size[::-1])
    return save(path, gray.astype(np.uint8))


def save(path: Path, array: np.ndarray, mode: str | None = None, palette: Any = None) -> Path:
    """Write an image file in a mode of Pillow, or with a palette."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(array)
    if palette is not None:
        image.putpalette(palette)
    (image if mode is None else image.convert(mode)).save(path)
    return path
