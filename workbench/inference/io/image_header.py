"""Properties of image files needed before decoding: orientation, completeness and layout."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .declared_size import (
    PNG_SIGNATURE,
    declared_size,
    file_type,
    jpeg_marker,
    main_directory,
    tiff_directory,
    unpack,
)

# In entropy-coded JPEG data FF is followed by 00 (a stuffed byte) or D0..D7 (restart); FF FF is fill.
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
_PNG_END = b"IEND\xaeB`\x82"
_BLOCK = 1 << 16  # size of a block in bytes

_PHOTOMETRIC, _ORIENTATION, _PLANAR, _EXTRA_SAMPLES = 262, 274, 284, 338
_TAGS = (_PHOTOMETRIC, _ORIENTATION, _PLANAR, _EXTRA_SAMPLES)
_SHORT = 3


@dataclass(frozen=True)
class ImageHeader:
    """Properties given in a file's header.

    kind: as returned by `declared_size.file_type`.
    orientation: EXIF 1..8.
    cut: description of missing data, or "".
    gray_alpha: grayscale with alpha, which OpenCV decodes as color.
    inverted: TIFF in which 0 is white.
    planes_apart: TIFF that stores the channels separately.
    width, height: as stored, 0 if the header is damaged.
    channels, depth, values, lean: as in `DeclaredSize`; depth in bytes.
    peak: bytes in use while the image is decoded, with the file.
    """

    kind: str = ""
    orientation: int = 1
    cut: str = ""
    gray_alpha: bool = False
    inverted: bool = False
    planes_apart: bool = False
    width: int = 0
    height: int = 0
    channels: int = 1
    depth: int = 1
    values: int = 0
    peak: int = 0
    lean: int = 0

    @property
    def shown(self) -> tuple[int, int]:
        """(width, height) with the orientation applied."""
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)


def describe(view: Any) -> ImageHeader:
    """Return the properties of an image file. view: memoryview, or a `FileView` of a file not read whole."""
    kind = file_type(view)
    try:
        properties = _READERS[kind](view) if kind in _READERS else ImageHeader(kind)
    except (struct.error, OverflowError):
        properties = ImageHeader(kind)
    declared = declared_size(view)
    if declared is None:
        return properties
    size = {"width": declared.width, "height": declared.height, "channels": declared.channels}
    peak, lean = len(view) + declared.peak, declared.lean and len(view) + declared.lean
    return replace(properties, **size, depth=declared.depth, values=declared.values, peak=peak, lean=lean)


def inspect(data: np.ndarray) -> tuple[ImageHeader, np.ndarray]:
    """Return the properties in the header, and the bytes to decode. data: uint8 (n,).

    If needed, a TIFF is returned as a copy with three tags neutralized (orientation, white-is-zero, premultiplied
    alpha), because OpenCV applies them only for some depths and layouts; the caller applies them instead.
    """
    view = data.data
    properties = describe(view)
    return properties, _neutralize(data) if properties.kind == "tiff" else data


def _bmp(view: Any) -> ImageHeader:
    size = unpack("<I", view, 2)[0]
    return ImageHeader("bmp", cut=f"{size - len(view)} bytes are missing" if size > len(view) else "")


def _jpeg(view: Any) -> ImageHeader:
    orientation, complete = 1, bytes(view[len(view) - 2 :]) == b"\xff\xd9"
    position = 2
    while True:
        marker, position = jpeg_marker(view, position)
        if marker == 0:
            break
        if marker == 0xD9:
            complete = True
            break
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            continue
        if position + 2 > len(view):
            break
        length = unpack(">H", view, position)[0]
        if marker == 0xE1 and bytes(view[position + 2 : position + 8]) == b"Exif\0\0":
            orientation = _exif_orientation(bytes(view[position + 8 : position + length]))
        position += length
        if marker == 0xDA:  # start of scan: entropy-coded data up to the next marker
            if complete:
                break
            position = _scan_end(view, position)
    return ImageHeader("jpeg", orientation, "" if complete else "the end of the JPEG data is missing")


def lengthen_scans(data: np.ndarray, extra: np.ndarray) -> np.ndarray:
    """Return a JPEG with the bytes `extra` (without the value 255) inserted after the data of each scan."""
    view, parts, position, done = data.data, [], 2, 0
    while True:
        marker, position = jpeg_marker(view, position)
        if marker in (0, 0xD9) or position + 2 > len(view):
            return np.concatenate([*parts, data[done:]])
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            continue
        position += unpack(">H", view, position)[0]
        if marker == 0xDA:
            position = _scan_end(view, position)
            parts += [data[done:position], extra]
            done = position


def _scan_end(view: Any, position: int) -> int:
    while position < len(view):
        match = _JPEG_MARKER.search(bytes(view[position : position + _BLOCK]))
        if match is not None:
            return position + match.start()
        position += _BLOCK - 1  # a marker may span two blocks
    return len(view)


def _png(view: Any) -> ImageHeader:
    orientation, complete = 1, False
    position = len(PNG_SIGNATURE)
    while position + 12 <= len(view):
        length = unpack(">I", view, position)[0]
        kind = bytes(view[position + 4 : position + 8])
        if kind == b"eXIf":
            orientation = _exif_orientation(bytes(view[position + 8 : position + 8 + length]))
        if kind == b"IDAT":
            tail = bytes(view[max(position, len(view) - _BLOCK) :])
            if tail.endswith(_PNG_END) and b"eXIf" not in tail:  # most files: the remaining chunks need not be parsed
                complete = True
                break
        if kind == b"IEND":
            complete = True
            break
        position += 12 + length
    gray_alpha = len(view) > 25 and view[25] == 4  # color type in IHDR
    return ImageHeader("png", orientation, "" if complete else "the end of the PNG data is missing", gray_alpha)


def _webp(view: Any) -> ImageHeader:
    size = unpack("<I", view, 4)[0] + 8
    cut = f"{size - len(view)} bytes are missing" if size > len(view) else ""
    orientation, position = 1, 12
    while position + 8 <= len(view):
        length = unpack("<I", view, position + 4)[0]
        if bytes(view[position : position + 4]) == b"EXIF":
            orientation = _exif_orientation(bytes(view[position + 8 : position + 8 + length]))
        position += 8 + length + length % 2
    return ImageHeader("webp", orientation, cut)


def _tiff(view: Any) -> ImageHeader:
    tags = _directory(view, main_directory(view))[1]
    orientation, photometric, planar = (
        (tags.get(tag, ((), 0))[0] or (0,))[0] for tag in (_ORIENTATION, _PHOTOMETRIC, _PLANAR)
    )
    inverted = photometric == 0 and bool(tags.get(_PHOTOMETRIC, ((), 0))[0])
    valid_orientation = orientation if 2 <= orientation <= 8 else 1
    return ImageHeader("tiff", valid_orientation, inverted=inverted, planes_apart=planar == 2)


def _neutralize(data: np.ndarray) -> np.ndarray:
    """Return the bytes of a TIFF without the tags that the caller applies itself, and with its image as first page."""
    directory = main_directory(data.data)
    order, tags = _directory(data.data, directory)
    copy = None if directory is None else data.copy()
    if copy is not None:
        big = struct.unpack_from(f"{order}H", copy.data, 2)[0] == 43
        struct.pack_into(f"{order}{'Q' if big else 'I'}", copy.data, 8 if big else 4, directory)
    for tag, (values, position) in tags.items():
        replaced = list(values)
        if (tag == _ORIENTATION and values and 2 <= values[0] <= 8) or (
            tag == _PHOTOMETRIC and values and values[0] == 0
        ):
            replaced = [1]
        elif tag == _EXTRA_SAMPLES:
            replaced = [0 if value == 2 else value for value in values]
        if replaced != list(values):
            copy = data.copy() if copy is None else copy
            struct.pack_into(f"{order}{len(replaced)}H", copy.data, position, *replaced)
    return data if copy is None else copy


def _exif_orientation(exif: bytes) -> int:
    if exif[:6] == b"Exif\0\0":  # some PNG and WebP writers include the JPEG marker
        exif = exif[6:]
    if exif[:4] not in (b"II*\0", b"MM\0*"):
        return 1
    values, _ = _directory(memoryview(exif))[1].get(_ORIENTATION, ((1,), 0))
    return values[0] if values and 1 <= values[0] <= 8 else 1


def _directory(view: Any, start: int | None = None) -> tuple[str, dict[int, tuple[tuple[int, ...], int]]]:
    """Return byte order ("<" or ">") and, for each tag of `_TAGS`, its 16-bit values and their position.

    start: position of the directory, by default that of the first one.
    """
    tags: dict[int, tuple[tuple[int, ...], int]] = {}
    order = "<"
    try:
        for order, tag, kind, count, position, value_size in tiff_directory(view, start):
            if tag in _TAGS and kind == _SHORT and count * 2 <= value_size:
                tags[tag] = unpack(f"{order}{count}H", view, position), position
    except (struct.error, OverflowError):
        pass  # the decoder reports the fault of such a file
    return order, tags


_READERS = {"bmp": _bmp, "jpeg": _jpeg, "png": _png, "tiff": _tiff, "webp": _webp}


def apply_orientation(image: np.ndarray, orientation: int) -> np.ndarray:
    """Return an image (H,W) or (H,W,C) with EXIF orientation 1..8 applied."""
    if orientation >= 5:  # 5..8 are 1..4 with rows and columns exchanged
        image = image.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        image = image[:, ::-1]
    if orientation in (3, 4, 7, 8):
        image = image[::-1]
    return np.ascontiguousarray(image)
