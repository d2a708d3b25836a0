"""Mask files as stored: bits, palette, gray values, colors, and arrays of NumPy, MATLAB 5 and TIFF."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel, reason
from workbench.inference.io import image_io
from workbench.inference.io.file_access import open_file, open_regular
from workbench.inference.io.image_io import ReadError, read_image
from workbench.inference.io.json_io import read_file

ARRAY_SUFFIXES = (".npy", ".npz", ".mat")
_LOSSY_TIFF = {
    6: "jpeg",
    7: "jpeg",
    34887: "lerc",
    34892: "jpeg",
    33003: "jpeg 2000",
    33005: "jpeg 2000",
    50001: "webp",
}
_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", "I;16B", "I;16L", "I")
_FORMATS = ("PNG", "TIFF", "BMP", "DIB", "GIF", "JPEG", "JPEG2000", "PPM", "WEBP")


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


def losses_of(path: Path) -> str:
    """Return the compression of a file that changes values, "jpeg" or another one, as its content says; "" if none."""
    with open_regular(path) as file:
        head = file.read(4096)
    if head[:2] == b"\xff\xd8":
        return "jpeg"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "" if b"VP8L" in head else "webp"
    if b"\xff\x4f\xff\x51" in head:  # JPEG 2000; its marker COD says at the end if the transform is reversible
        position = head.find(b"\xff\x52")
        return "" if head[position + 13 : position + 14] == b"\1" else "jpeg 2000"
    if head[:4] in (b"II*\0", b"MM\0*"):
        import tifffile

        with suppress(Exception), tifffile.TiffFile(path) as file:  # a damaged file can make the parser fail in any way
            return _LOSSY_TIFF.get(int(file.pages[0].keyframe.compression), "")
    return ""


def read_raw(path: Path, size: tuple[int, int] | None = None) -> RawMask:
    """Read a mask whose (width, height) must be `size`; the header is compared before decoding.

    Raises UnreadableLabel.
    """
    try:
        raw = _read_array(path, size) if path.suffix.lower() in (*ARRAY_SUFFIXES, ".tif", ".tiff") else None
        return raw or _read_image(path, size)
    except FileNotFoundError:
        raise UnreadableLabel(Message("file.missing")) from None
    except MemoryError as error:
        raise UnreadableLabel(reason(error)) from None
    except (OSError, ValueError, LookupError, SyntaxError, EOFError, zipfile.BadZipFile, ReadError):
        raise UnreadableLabel(Message("import.damaged_mask")) from None


def _read_array(path: Path, size: tuple[int, int] | None) -> RawMask | None:
    open_regular(path).close()  # pipes and devices are refused
    found = read_array(path)
    if found is None:
        return None
    values, instances = found
    if size is not None and values.shape != (size[1], size[0]):
        raise _other_size(values.shape[1], values.shape[0], size)
    return RawMask("grey", values, instances=instances)


def _read_image(path: Path, size: tuple[int, int] | None) -> RawMask:
    values, palette, depth = _pixels(path, size)
    if values.dtype == np.bool_:
        return RawMask("bits", values.astype(np.uint8))
    if palette is not None:
        return _from_palette(values, palette)
    if values.ndim == 3:
        return _from_color(values) if values.shape[2] == 3 else _from_transparent(values)
    if values.dtype.kind not in "ui" or (values.size and int(values.min()) < 0):
        raise UnreadableLabel(Message("import.values"))
    if depth in (2, 4):
        values = values // (85 if depth == 2 else 17)  # the decoder scales two and four bits to 0..255
    return RawMask("grey", values)


def _pixels(path: Path, size: tuple[int, int] | None) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Return the pixels of an image file as stored, its palette, and its bits per value if that is less than 8."""
    from workbench.core.images.pillow import Image

    with open_regular(path) as opened, Image.open(opened, formats=_FORMATS) as file:
        mode, palette = file.mode, None
        width, height = file.size
        if size is not None and (width, height) != tuple(size):
            raise _other_size(width, height, size)
        channels, depth = len(file.getbands()), 4 if mode == "I" else 2 if mode.startswith("I;") else 1
        # Pillow holds colors in four bytes, a JPEG's coefficients in two each, and returns the values in two steps.
        held = (4 if channels > 1 else depth) * (2 if mode in ("LA", "PA") else 1) + 2 * depth * channels
        held += 2 * channels if file.format == "JPEG" else 0
        too_large = image_io.size_problem(width, height, width * height * channels, depth, width * height * held)
        if too_large:
            raise UnreadableLabel(too_large)
        if mode not in _MODES:
            raise UnreadableLabel(Message("import.mode", mode=mode))
        if mode in ("LA", "PA", "RGBA"):
            return np.asarray(file if mode == "RGBA" else file.convert("RGBA")), None, 8
        # Pillow rescales the values of portable maps.
        values = read_image(path) if file.format == "PPM" and mode != "1" else np.asarray(file)
        if file.mode == "P":
            palette = np.array(file.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
        return values, palette, _bit_depth(path) if file.mode == "L" else 8


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
    dark = used[(colors == 0).all(axis=1)]
    if used[0] == 0 and len(dark) == 1 and dark[0]:  # black is the background, whatever its number
        return _from_color(palette[values])
    return RawMask("palette", values, palette)


def _from_transparent(values: np.ndarray) -> RawMask:
    """Return a mask with an alpha channel, uint8 (H, W, 4): pixels that are not visible are background.

    If no visible pixel has a color, the alpha channel is the mask, as of black drawings on a transparent layer.
    """
    alpha = values[:, :, 3]
    if not (values[:, :, :3].any(axis=2) & (alpha > 0)).any() and (alpha == 0).any():
        return RawMask("grey", alpha.copy())
    color = values[:, :, :3].copy()
    color[alpha < 128] = 0
    return _from_color(color)


def _from_color(values: np.ndarray) -> RawMask:
    values = np.ascontiguousarray(values[:, :, :3])
    if (values[:, :, 0] == values[:, :, 1]).all() and (values[:, :, 1] == values[:, :, 2]).all():
        return RawMask("grey", values[:, :, 0].copy())
    return RawMask("colour", values)


def codes_of(values: np.ndarray) -> np.ndarray:
    """Return colors (H, W, 3) as numbers 0xRRGGBB, int32 (H, W)."""
    channels = values.astype(np.int32)
    return (channels[:, :, 0] << 16) | (channels[:, :, 1] << 8) | channels[:, :, 2]


_LARGEST = 1 << 30  # bytes of a file and of its uncompressed content
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_ID_BYTES = 4  # of the largest numbers of classes and instances
_ARRAY_NAMES = ("mask", "masks", "label", "labels", "seg", "segmentation", "gt")
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _FIRST_NUMBER, _LAST_NUMBER = 1, 2, 6, 15


def read_array(path: Path) -> tuple[np.ndarray, int] | None:
    """Return (class ids, number of instances) of a file, or None for a kind of TIFF that an image decoder reads.

    Ids are integers from 0, (H, W). Of two planes, the first holds the numbers of instances and the second the classes
    (PaddleLabel). Raises UnreadableLabel, OSError, ValueError.
    """
    suffix = path.suffix.lower()
    if suffix == ".npy":
        with open_file(path) as opened:
            if opened.read(6) == b"\x93NUMPY" and b"'|O'" in opened.read(256):  # objects of Python
                raise UnreadableLabel(Message("import.no_mask_array"))
        array = np.lib.format.open_memmap(path, mode="r")
        _check_size(array.shape, array.dtype)
    elif suffix == ".npz":
        array = _from_archive(path)
    elif suffix == ".mat":
        array = _from_matlab(read_file(path, limit=_LARGEST))
    else:
        import tifffile

        with open_file(path) as opened, tifffile.TiffFile(opened) as file:
            series = file.series[0]
            planes = len(series.shape) == 3 and 2 in (series.shape[0], series.shape[-1])
            if len(series.shape) > 2 and not planes and series.axes[0] not in "YXS" and series.shape[0] > 1:
                raise UnreadableLabel(Message("import.pages", n=series.shape[0]))
            if not planes and series.dtype.kind != "f":
                return None
            _check_size(series.shape, series.dtype)
            array = series.asarray()
    array = np.squeeze(array) if array.ndim > 2 else array
    instances = 0
    if array.ndim == 3 and 2 in (array.shape[0], array.shape[-1]):
        first, array = (array[0], array[1]) if array.shape[0] == 2 else (array[..., 0], array[..., 1])
        if ((first > 0) != (array > 0)).any():  # pages of two masks
            raise UnreadableLabel(Message("import.pages", n=2))
        instances = len(np.unique(first[first > 0]))
    if array.ndim != 2:
        shape = " × ".join(map(str, array.shape))
        raise UnreadableLabel(Message("import.array_shape", shape=shape) if shape else Message("import.no_mask_array"))
    return _integers(np.asarray(array)), instances


def _from_archive(path: Path) -> np.ndarray:
    """Return the array of an .npz file: its only array of integers with two dimensions, or the one named "mask"."""
    found: dict[str, np.ndarray] = {}
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(".npy"):
                continue
            if info.file_size > _LARGEST:
                raise UnreadableLabel(Message("import.no_mask_array"))
            array = np.lib.format.read_array(io.BytesIO(archive.read(info)), allow_pickle=False)
            if array.ndim >= 2 and array.dtype.kind in "biuf":
                found[info.filename.removesuffix(".npy").casefold()] = array
    named = [array for name, array in found.items() if name in _ARRAY_NAMES]
    chosen = named[:1] or [array for array in found.values() if array.ndim == 2]
    if len(chosen) > 1:
        raise UnreadableLabel(Message("import.arrays", names=", ".join(list(found)[:5])))
    if not chosen:
        raise UnreadableLabel(Message("import.no_mask_array"))
    _check_size(chosen[0].shape, chosen[0].dtype)
    return chosen[0]


def _check_size(shape: tuple[int, ...], dtype: np.dtype) -> None:
    sides = sorted(shape)[-2:] if len(shape) > 1 else (1, 1)
    count = int(np.prod(shape, dtype=object))
    too_large = image_io.size_problem(sides[1], sides[0], count, dtype.itemsize, count * (dtype.itemsize + _ID_BYTES))
    if too_large:
        raise UnreadableLabel(too_large)


def _integers(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise UnreadableLabel(Message("import.values"))
    if array.dtype.kind == "f" and any((~np.isfinite(row) | (row != np.rint(row))).any() for row in array):
        raise UnreadableLabel(Message("import.values"))
    smallest, largest = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if smallest < 0 or largest >= 1 << 8 * _ID_BYTES:
        raise UnreadableLabel(Message("import.values"))
    return array.astype(np.uint8 if largest < 256 else np.uint16 if largest < 65536 else np.uint32)


# --- MATLAB 5 --------------------------------------------------------------------------------------


def _from_matlab(data: bytes) -> np.ndarray:
    """Return the first matrix of integers in a MATLAB 5 file, also inside cells and structures."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise UnreadableLabel(Message("import.no_mask_array"))
    try:
        for array in _matrices(data[128:], order):
            if (
                array.ndim == 2
                and min(array.shape) > 1
                and array.dtype.kind in "iuf"
                and (array == np.rint(array)).all()
            ):
                return array
    except (struct.error, zlib.error, IndexError, KeyError):
        raise UnreadableLabel(Message("import.damaged_mask")) from None
    raise UnreadableLabel(Message("import.no_mask_array"))


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield (type, content) of the data elements."""
    position = 0
    while position + 8 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, position)
        if kind >> 16:  # small element: size and type in one word, the content in the other
            kind, size = kind & 0xFFFF, kind >> 16
            yield kind, data[position + 4 : position + 4 + size]
            position += 8
            continue
        yield kind, data[position + 8 : position + 8 + size]
        position += 8 + size
        if kind != _COMPRESSED:
            position += -position % 8


def _matrices(data: bytes, order: str, depth: int = 0) -> Iterator[np.ndarray]:
    for kind, content in _elements(data, order):
        if kind == _COMPRESSED:
            yield from _matrices(zlib.decompressobj().decompress(content, _LARGEST), order, depth)
        elif kind == _MATRIX and depth < 8:
            yield from _matrix(content, order, depth)


def _matrix(content: bytes, order: str, depth: int) -> Iterator[np.ndarray]:
    elements = list(_elements(content, order))
    if len(elements) < 3:
        return
    kind = struct.unpack_from(order + "I", elements[0][1])[0] & 0xFF
    shape = np.frombuffer(elements[1][1], order + "i4")
    if kind in (_CELL, _STRUCT):
        for inner, value in elements[3:]:
            if inner == _MATRIX:
                yield from _matrix(value, order, depth + 1) if depth < 8 else ()
    elif _FIRST_NUMBER <= kind <= _LAST_NUMBER and len(elements) > 3:
        stored, value = elements[3]
        values = np.frombuffer(value, np.dtype(order + _STORED[stored]))
        if len(values) == np.prod(shape):
            yield values.reshape(tuple(shape), order="F")
