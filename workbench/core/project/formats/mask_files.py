"""Reading of mask files as stored: bits, palette, gray values or colors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel
from workbench.core.project.formats.mask_arrays import read_array
from workbench.inference.io import size_limits
from workbench.inference.io.regular_files import open_regular

_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", "I;16B", "I;16L", "I")
_FORMATS = ("PNG", "TIFF", "BMP", "DIB", "GIF", "JPEG", "JPEG2000", "PPM", "WEBP")

Image.MAX_IMAGE_PIXELS = None  # the limits of `inference.io.size_limits` are checked instead


@dataclass(frozen=True)
class RawMask:
    """Mask file as stored. values: (H, W) integers >= 0, or uint8 (H, W, 3) for a color mask.

    instances: number of objects that the file numbers besides their classes.
    """

    kind: Literal["bits", "palette", "grey", "colour"]
    values: np.ndarray
    palette: np.ndarray | None = None  # uint8 (n, 3)
    instances: int = 0

    @property
    def size(self) -> tuple[int, int]:
        return self.values.shape[1], self.values.shape[0]


def read_raw(path: Path, size: tuple[int, int] | None = None) -> RawMask:
    """Read a mask whose (width, height) must be `size`; the header is compared before decoding. Raises Unreadable."""
    try:
        raw = _read_array(path, size) if path.suffix.lower() in (".npy", ".mat", ".tif", ".tiff") else None
        return raw or _read_image(path, size)
    except UnreadableLabel:
        raise
    except FileNotFoundError:
        raise UnreadableLabel(Message("file.missing")) from None
    except (OSError, ValueError, LookupError, SyntaxError, EOFError, MemoryError) as error:
        raise UnreadableLabel(Message("import.damaged", why=str(error) or type(error).__name__)) from None


def _read_array(path: Path, size: tuple[int, int] | None) -> RawMask | None:
    with open_regular(path):
        pass  # pipes and devices are refused
    found = read_array(path)
    if found is None:
        return None
    values, instances = found
    if size is not None and values.shape != (size[1], size[0]):
        raise _other_size(values.shape[1], values.shape[0], size)
    return RawMask("grey", values, instances=instances)


def _read_image(path: Path, size: tuple[int, int] | None) -> RawMask:
    with open_regular(path) as opened, Image.open(opened, formats=_FORMATS) as file:
        mode, palette = file.mode, None
        width, height = file.size
        if size is not None and (width, height) != tuple(size):
            raise _other_size(width, height, size)
        channels, depth = len(file.getbands()), 4 if mode == "I" else 2 if mode.startswith("I;") else 1
        too_large = size_limits.size_problem(width, height, width * height * channels, depth)
        if too_large:
            raise UnreadableLabel(too_large)
        if mode not in _MODES:
            raise UnreadableLabel(Message("import.mode", mode=mode))
        if mode in ("LA", "PA", "RGBA"):
            file = file.convert("L" if mode == "LA" else "RGB")
        values = np.array(file)
        if file.mode == "P":
            palette = np.array(file.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
        depth = _bit_depth(path) if file.mode == "L" else 8
    if values.dtype == np.bool_:
        return RawMask("bits", values.astype(np.uint8))
    if palette is not None:
        return _from_palette(values, palette)
    if values.ndim == 3:
        return _from_color(values)
    if values.dtype.kind not in "ui" or (values.size and int(values.min()) < 0):
        raise UnreadableLabel(Message("import.values"))
    if depth in (2, 4):
        values = values // (85 if depth == 2 else 17)  # the decoder scales two and four bits to 0..255
    return RawMask("grey", values)


def _other_size(width: int, height: int, size: tuple[int, int]) -> UnreadableLabel:
    return UnreadableLabel(Message("import.other_size", w=width, h=height, width=size[0], height=size[1]))


def _bit_depth(path: Path) -> int:
    with open_regular(path) as file:
        head = file.read(26)
    return head[24] if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) == 26 else 8


def _from_palette(values: np.ndarray, palette: np.ndarray) -> RawMask:
    used = np.flatnonzero(np.bincount(values.ravel(), minlength=256))
    if used.size and used[-1] >= len(palette):
        return RawMask("palette", values, palette)
    colors = palette[used]
    if (colors == colors[:, :1]).all() and {int(c) for c in colors[:, 0]} <= {0, 255}:
        # black and white with a palette, whose order depends on the writer
        return RawMask("grey", palette[:, 0][values])
    return RawMask("palette", values, palette)


def _from_color(values: np.ndarray) -> RawMask:
    values = np.ascontiguousarray(values[:, :, :3])
    if (values[:, :, 0] == values[:, :, 1]).all() and (values[:, :, 1] == values[:, :, 2]).all():
        return RawMask("grey", values[:, :, 0].copy())
    return RawMask("colour", values)


def codes_of(values: np.ndarray) -> np.ndarray:
    """Return colors (H, W, 3) as numbers 0xRRGGBB, int32 (H, W)."""
    channels = values.astype(np.int32)
    return (channels[:, :, 0] << 16) | (channels[:, :, 1] << 8) | channels[:, :, 2]
