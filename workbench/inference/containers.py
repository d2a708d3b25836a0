"""What must be known of a picture file before it is decoded: how it is turned, and whether it is whole."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

# In entropy-coded JPEG data FF is followed by 00 (a stuffed byte) or D0..D7 (restart); FF FF is fill.
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

_PHOTOMETRIC, _ORIENTATION, _PLANAR, _EXTRA_SAMPLES = 262, 274, 284, 338
_WANTED = (_PHOTOMETRIC, _ORIENTATION, _PLANAR, _EXTRA_SAMPLES)
_SHORT = 3


@dataclass(frozen=True)
class Container:
    """What a file says of itself.

    kind: "jpeg", "png", "webp", "bmp", "tiff" or "". orientation: EXIF 1..8. cut: what is missing, or "".
    grey_alpha: grey with alpha, which OpenCV decodes as colour. inverted: a TIFF in which 0 is white.
    planes_apart: a TIFF that stores one channel after the other.
    """

    kind: str = ""
    orientation: int = 1
    cut: str = ""
    grey_alpha: bool = False
    inverted: bool = False
    planes_apart: bool = False


def inspect(data: np.ndarray) -> tuple[Container, np.ndarray]:
    """What the header says, and the bytes to decode. data: uint8 (n,).

    A TIFF comes back as a copy with three tags neutralised (orientation, white-is-zero, alpha to multiply
    with), because OpenCV heeds them for some depths and layouts and not for others; the caller applies them
    instead.
    """
    view = memoryview(data)
    start = bytes(view[:12])
    if start[:3] == b"\xff\xd8\xff":
        return _jpeg(view), data
    if start[:8] == _PNG_SIGNATURE:
        return _png(view), data
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return _webp(view), data
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return _tiff(data)
    if start[:2] == b"BM" and len(view) >= 6:
        size = struct.unpack_from("<I", view, 2)[0]
        return Container("bmp", cut=f"{size - len(view)} bytes are missing" if size > len(view) else ""), data
    return Container(), data


def _jpeg(view: memoryview) -> Container:
    orientation, ends = 1, bytes(view[-2:]) == b"\xff\xd9"
    position = 2
    while position + 4 <= len(view):
        if view[position] != 0xFF:
            break
        marker = view[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if marker == 0xD9:
            ends = True
            break
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            position += 2
            continue
        length = struct.unpack_from(">H", view, position + 2)[0]
        if marker == 0xE1 and bytes(view[position + 4 : position + 10]) == b"Exif\0\0":
            orientation = _exif_orientation(bytes(view[position + 10 : position + 2 + length]))
        position += 2 + length
        if marker == 0xDA:  # start of scan: entropy-coded data follows, up to the next marker
            if ends:
                break
            found = _JPEG_MARKER.search(view, position)
            if found is None:
                break
            position = found.start()
    if not ends and position + 2 <= len(view) and bytes(view[position : position + 2]) == b"\xff\xd9":
        ends = True
    return Container("jpeg", orientation, "" if ends else "the end of the JPEG data is missing")


def _png(view: memoryview) -> Container:
    orientation, ends = 1, False
    position = len(_PNG_SIGNATURE)
    while position + 12 <= len(view):
        length = struct.unpack_from(">I", view, position)[0]
        kind = bytes(view[position + 4 : position + 8])
        if kind == b"eXIf":
            orientation = _exif_orientation(bytes(view[position + 8 : position + 8 + length]))
        if kind == b"IEND":
            ends = True
            break
        position += 12 + length
    grey_alpha = len(view) > 25 and view[25] == 4  # colour type in IHDR
    return Container("png", orientation, "" if ends else "the end of the PNG data is missing", grey_alpha)


def _webp(view: memoryview) -> Container:
    size = struct.unpack_from("<I", view, 4)[0] + 8
    cut = f"{size - len(view)} bytes are missing" if size > len(view) else ""
    orientation, position = 1, 12
    while position + 8 <= len(view):
        length = struct.unpack_from("<I", view, position + 4)[0]
        if bytes(view[position : position + 4]) == b"EXIF":
            orientation = _exif_orientation(bytes(view[position + 8 : position + 8 + length]))
        position += 8 + length + length % 2
    return Container("webp", orientation, cut)


def _tiff(data: np.ndarray) -> tuple[Container, np.ndarray]:
    orientation, inverted, planes_apart = 1, False, False
    copy: np.ndarray | None = None
    order, tags = _first_directory(memoryview(data))
    for tag, (values, position) in tags.items():
        replaced = list(values)
        if tag == _ORIENTATION and values and 2 <= values[0] <= 8:
            orientation, replaced = values[0], [1]
        elif tag == _PHOTOMETRIC and values and values[0] == 0:
            inverted, replaced = True, [1]
        elif tag == _PLANAR:
            planes_apart = values[:1] == (2,)
        elif tag == _EXTRA_SAMPLES:
            replaced = [0 if value == 2 else value for value in values]
        if replaced != list(values):
            copy = data.copy() if copy is None else copy
            struct.pack_into(f"{order}{len(replaced)}H", copy.data, position, *replaced)
    found = Container("tiff", orientation, inverted=inverted, planes_apart=planes_apart)
    return found, data if copy is None else copy


def _exif_orientation(exif: bytes) -> int:
    if exif[:6] == b"Exif\0\0":  # some writers of PNG and WebP repeat the marker of JPEG
        exif = exif[6:]
    if exif[:4] not in (b"II*\0", b"MM\0*"):
        return 1
    values, _ = _first_directory(memoryview(exif))[1].get(_ORIENTATION, ((1,), 0))
    return values[0] if values and 1 <= values[0] <= 8 else 1


def _first_directory(view: memoryview) -> tuple[str, dict[int, tuple[tuple[int, ...], int]]]:
    """Byte order ("<" or ">") and, for the tags that matter here, their short values and where those lie."""
    order = "<" if bytes(view[:2]) == b"II" else ">"
    found: dict[int, tuple[tuple[int, ...], int]] = {}
    try:
        if struct.unpack_from(f"{order}H", view, 2)[0] == 43:  # BigTIFF: counts and offsets of eight bytes
            directory = struct.unpack_from(f"{order}Q", view, 8)[0]
            entries = struct.unpack_from(f"{order}Q", view, directory)[0]
            first, step, count_code, inline = directory + 8, 20, "Q", 8
        else:
            directory = struct.unpack_from(f"{order}I", view, 4)[0]
            entries = struct.unpack_from(f"{order}H", view, directory)[0]
            first, step, count_code, inline = directory + 2, 12, "I", 4
        for position in range(first, first + min(entries, 4096) * step, step):
            tag, kind, count = struct.unpack_from(f"{order}HH{count_code}", view, position)
            value_at = position + step - inline
            if tag in _WANTED and kind == _SHORT and count * 2 <= inline:
                found[tag] = struct.unpack_from(f"{order}{count}H", view, value_at), value_at
    except (struct.error, OverflowError):
        pass  # the decoder says what is wrong with such a file
    return order, found


def turn(picture: np.ndarray, orientation: int) -> np.ndarray:
    """The picture as it is meant to be seen, for an EXIF orientation 1..8. picture: (H,W) or (H,W,C)."""
    if orientation >= 5:  # 5..8 are 1..4 of the picture with rows and columns exchanged
        picture = picture.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        picture = picture[:, ::-1]
    if orientation in (3, 4, 7, 8):
        picture = picture[::-1]
    return np.ascontiguousarray(picture)
