"""Properties of image files needed before decoding: size, memory, orientation, completeness and layout.

Only formats parsed here are decoded at all. If a header states several sizes, the largest counts. A view is a
memoryview, bytes, bytearray or a `file_access.FileView`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JP2_SIGNATURE = b"\0\0\0\x0cjP  \r\n\x87\n"
_CODESTREAM = b"\xff\x4f\xff\x51"
_TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

# Files have dozens of boxes, chunks or markers; many more indicate an attempt to keep the parser busy.
_MAX_PARTS = 4096
_BLOCK = 4096  # bytes searched at once


@dataclass(frozen=True)
class ImageHeader:
    """Properties given in a file's header.

    kind: "png", "jpeg", "bmp", "tiff", "webp", "jp2", "pnm", or "" for anything else.
    width, height: as stored, 0 if the header is damaged.
    channels: values per pixel.
    depth: bytes per value.
    padded: number of decoded pixels if it includes the padding of tiles.
    working: bytes that OpenCV needs for decoding, beside the file; 0 for the image and the copy that it returns.
    lean: bytes that tifffile needs for it, with the file; 0 if only OpenCV is certain to read it.
    file_size: size of the file in bytes.
    orientation: EXIF 1..8.
    cut: description of missing data, or "".
    gray_alpha: grayscale with alpha, which OpenCV decodes as color.
    inverted: TIFF in which 0 is white.
    planes_apart: TIFF that stores the channels separately.
    """

    kind: str = ""
    width: int = 0
    height: int = 0
    channels: int = 1
    depth: int = 1
    padded: int = 0
    working: int = 0
    lean: int = 0
    file_size: int = 0
    orientation: int = 1
    cut: str = ""
    gray_alpha: bool = False
    inverted: bool = False
    planes_apart: bool = False

    @property
    def shown(self) -> tuple[int, int]:
        """(width, height) with the orientation applied."""
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)

    @property
    def pixels(self) -> int:
        """Number of pixels to decode for the whole image."""
        return max(self.width * self.height, self.padded)

    @property
    def values(self) -> int:
        """Number of values to decode for the whole image."""
        return self.pixels * self.channels

    @property
    def memory(self) -> int:
        """Size of the decoded image in bytes."""
        return self.values * self.depth

    @property
    def peak(self) -> int:
        """Number of bytes in use while the image is decoded, with the file."""
        return self.file_size + max(self.working, 2 * self.memory)


def describe(view: Any) -> ImageHeader:
    """Return the properties of an image file; width and height are 0 if the header is damaged."""
    kind = _kind(view)
    try:
        properties = _READERS[kind](view) if kind else {}
    except (struct.error, IndexError, OverflowError):
        properties = {}  # truncated header, or an offset outside the file
    return ImageHeader(kind, file_size=len(view), **properties)


def inspect(data: np.ndarray) -> tuple[ImageHeader, np.ndarray]:
    """Return the properties in the header, and the bytes to decode. data: uint8 (n,).

    If needed, a TIFF is returned as a copy with its image as first page and three tags neutralized (orientation,
    white-is-zero, premultiplied alpha), because OpenCV applies them only for some depths and layouts; the caller
    applies them instead.
    """
    properties = describe(data.data)
    return properties, _neutralize(data) if properties.kind == "tiff" else data


def apply_orientation(image: np.ndarray, orientation: int) -> np.ndarray:
    """Return an image (H,W) or (H,W,C) with EXIF orientation 1..8 applied."""
    if orientation >= 5:  # 5..8 are 1..4 with rows and columns exchanged
        image = image.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        image = image[:, ::-1]
    if orientation in (3, 4, 7, 8):
        image = image[::-1]
    return np.ascontiguousarray(image)


def _kind(view: Any) -> str:
    start = bytes(view[:12])
    if start[:8] == PNG_SIGNATURE:
        return "png"
    if start[:3] == b"\xff\xd8\xff":
        return "jpeg"
    if start[:2] == b"BM":
        return "bmp"
    if start[:4] in _TIFF_STARTS:
        return "tiff"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    if start == _JP2_SIGNATURE or start[:4] == _CODESTREAM:
        return "jp2"
    return "pnm" if re.match(rb"P[1-6]\s", start) else ""


def _unpack(format: str, view: Any, position: int) -> tuple:
    """Apply `struct.unpack_from` to any view. Raises struct.error beyond its end."""
    return struct.unpack(format, bytes(view[position : position + struct.calcsize(format)]))


def _search(view: Any, two_bytes: re.Pattern[bytes], position: int) -> int:
    """Return the position of the first match of a pattern of two bytes; -1 if there is none."""
    while position < len(view):
        match = two_bytes.search(bytes(view[position : position + _BLOCK]))
        if match is not None:
            return position + match.start()
        position += _BLOCK - 1  # the two bytes may lie in two blocks
    return -1


def _size(*claims: tuple[int, int, int, int]) -> dict[str, Any]:
    """Return the properties for the largest of the claimed (width, height, channels, depth)."""
    return dict(zip(("width", "height", "channels", "depth"), map(max, zip(*claims)))) if claims else {}


# --- PNG, JPEG, WebP, BMP ------------------------------------------------------------------------

_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 3, 6: 4}  # as decoded: gray with alpha becomes color
_PNG_END = b"IEND\xaeB`\x82"
_PNG_CUT = "the end of the PNG data is missing"


def _png(view: Any) -> dict[str, Any]:
    if len(view) < 33:  # the signature and the first chunk
        return {"cut": _PNG_CUT}
    if bytes(view[12:16]) != b"IHDR":
        return {}
    width, height, bits, color = _unpack(">IIBB", view, 16)
    orientation, complete, tail, position = 1, False, b"", len(PNG_SIGNATURE)
    while position + 12 <= len(view) and not complete:
        length, kind = _unpack(">I4s", view, position)
        complete = kind == b"IEND"
        if kind == b"eXIf":
            orientation = _exif_orientation(bytes(view[position + 8 : position + 8 + length]))
        elif kind == b"IDAT" and not tail:  # in most files the chunks after the first pixels need not be parsed
            tail = bytes(view[max(position, len(view) - _BLOCK) :])
            complete = tail.endswith(_PNG_END) and b"eXIf" not in tail
        position += 12 + length
    return {
        **_size((width, height, _PNG_CHANNELS.get(color, 4), 2 if bits > 8 else 1)),
        "orientation": orientation,
        "cut": "" if complete else _PNG_CUT,
        "gray_alpha": color == 4,
    }


# Decoders skip bytes before a marker, stuffed bytes (FF 00) and fill bytes (FF FF).
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xff]", re.DOTALL)
_JPEG_END = re.compile(rb"\xff\xd9")
_START_OF_SCAN = 0xDA


def _jpeg(view: Any) -> dict[str, Any]:
    sizes, progressive, orientation, position = [], False, 1, 2
    for _ in range(_MAX_PARTS):
        position = _search(view, _JPEG_MARKER, position)
        if position < 0 or view[position + 1] == 0xD9:
            return {}
        marker, position = view[position + 1], position + 2
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:  # without content
            continue
        length, start = _unpack(">H", view, position)[0], position + 2
        if marker == _START_OF_SCAN:  # a frame after it is an error in every decoder
            properties = _size(*sizes)
            if properties and (progressive or view[start] < properties["channels"]):
                # Several scans: the decoder holds their coefficients of two bytes beside the image.
                width, height, channels, depth = properties.values()
                properties["working"] = 3 * width * height * channels * depth
            whole = bytes(view[len(view) - 2 :]) == b"\xff\xd9" or _search(view, _JPEG_END, start) >= 0
            cut = "" if whole else "the end of the JPEG data is missing"
            return {**properties, "orientation": orientation, "cut": cut}
        if length < 2:
            return {}
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            progressive |= marker & 3 == 2
            bits, height, width, channels = _unpack(">BHHB", view, start)
            sizes.append((width, height, channels, 2 if bits > 8 else 1))
        elif marker == 0xE1 and bytes(view[start : start + 6]) == b"Exif\0\0":
            orientation = _exif_orientation(bytes(view[start + 6 : position + length]))
        position += length
    return {}


def _bmp(view: Any) -> dict[str, Any]:
    stated, header = _unpack("<I", view, 2)[0], _unpack("<I", view, 14)[0]
    if header != 12 and header < 36:
        return {}
    width, height, _, bits = _unpack("<HHHH" if header == 12 else "<iiHH", view, 18)
    size = _size((abs(width), abs(height), 4 if bits == 32 else 3, 1))
    return {**size, "cut": _missing(stated - len(view))}


def _webp(view: Any) -> dict[str, Any]:
    def three_bytes(position: int) -> int:
        return view[position] | view[position + 1] << 8 | view[position + 2] << 16

    sizes, has_pixels, orientation, position = [], False, 1, 12
    for _ in range(_MAX_PARTS):
        if position + 8 > len(view):
            break
        kind, length = _unpack("<4sI", view, position)
        body = position + 8
        if kind == b"EXIF":
            orientation = _exif_orientation(bytes(view[body : body + length]))
        elif kind in (b"VP8X", b"ANMF") and not has_pixels:
            offset = 4 if kind == b"VP8X" else 6
            sizes.append((three_bytes(body + offset) + 1, three_bytes(body + offset + 3) + 1, 4, 1))
        elif kind == b"VP8L" and not has_pixels:
            bits = _unpack("<I", view, body + 1)[0]
            sizes.append(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, 4, 1))
        elif kind == b"VP8 " and not has_pixels:
            width, height = _unpack("<HH", view, body + 6)
            sizes.append((width & 0x3FFF, height & 0x3FFF, 4, 1))
        has_pixels |= kind in (b"VP8L", b"VP8 ", b"ANMF")
        position = body + length + length % 2
    size = _size(*sizes) if has_pixels else {}
    return {**size, "orientation": orientation, "cut": _missing(_unpack("<I", view, 4)[0] + 8 - len(view))}


def _missing(count: int) -> str:
    return f"{count} bytes are missing" if count > 0 else ""


# --- JPEG 2000, PNM ------------------------------------------------------------------------------


def _jpeg_2000(view: Any) -> dict[str, Any]:
    if bytes(view[:4]) == _CODESTREAM:
        return _size(*_codestream(view, 0))
    sizes = []
    for kind, start, end in _boxes(view, 0, len(view)):
        if kind == b"jp2h":
            for inner, position, _ in _boxes(view, start, end):
                if inner == b"ihdr":
                    height, width, channels = _unpack(">IIH", view, position)
                    sizes.append((width, height, channels, 4))
        elif kind == b"jp2c":
            stream = _codestream(view, start)
            return _size(*sizes, *stream) if stream else {}
    return {}


def _boxes(view: Any, position: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, content start and content end of each box."""
    for _ in range(_MAX_PARTS):
        if position + 8 > end:
            return
        length, kind = _unpack(">I4s", view, position)
        start = position + 8
        if length == 1:
            length, start = _unpack(">Q", view, start)[0], position + 16
        stop = end if length == 0 else min(end, position + length)
        if stop < start:
            return
        yield kind, start, stop
        position = stop


def _codestream(view: Any, position: int) -> list[tuple[int, int, int, int]]:
    if bytes(view[position : position + 4]) != _CODESTREAM:
        return []
    width, height, left, top = _unpack(">IIII", view, position + 8)
    channels = _unpack(">H", view, position + 40)[0]
    return [(max(0, width - left), max(0, height - top), channels, 4)]  # decoders use four bytes per value


_NUMBER = re.compile(rb"(?:\s|#[^\n\r]*[\n\r])*(\d{1,12})(?!\d)")


def _pnm(view: Any) -> dict[str, Any]:
    text = bytes(view[2 : 1 << 16])
    width = _NUMBER.match(text)
    height = _NUMBER.match(text, width.end()) if width else None
    if not width or not height:
        return {}
    channels = 3 if view[1] in b"36" else 1
    largest = _NUMBER.match(text, height.end())
    is_byte = view[1] in b"14" or (largest is not None and int(largest[1]) < 256)
    return _size((int(width[1]), int(height[1]), channels, 1 if is_byte else 2))


# --- TIFF ----------------------------------------------------------------------------------------

_WIDTH, _LENGTH, _BITS, _PACKING, _PHOTOMETRIC, _ORIENTATION = 256, 257, 258, 259, 262, 274
_SAMPLES, _ROWS, _PLANAR, _TILE_WIDTH, _TILE_LENGTH, _EXTRA_SAMPLES = 277, 278, 284, 322, 323, 338
_DEPTH, _TILE_DEPTH = 32997, 32998
_SIZES = (_WIDTH, _LENGTH, _SAMPLES, _TILE_WIDTH, _TILE_LENGTH, _DEPTH, _TILE_DEPTH)
_TAGS = (*_SIZES, _PACKING, _PHOTOMETRIC, _ORIENTATION, _ROWS, _PLANAR)
_COLORS, _PALETTE, _SEPARATE, _PREMULTIPLIED = 2, 3, 2, 2
_NOT_PACKED, _DEFLATE = 1, (8, 32946)
_SHORT, _LONG, _LONG8 = 3, 4, 16
_TYPES = {1: "B", _SHORT: "H", _LONG: "I", _LONG8: "Q"}
# Tags that the caller applies: the value without effect, and the values in whose place it is set.
_NEUTRAL = {_ORIENTATION: (1, range(2, 9)), _PHOTOMETRIC: (1, (0,)), _EXTRA_SAMPLES: (0, (_PREMULTIPLIED,))}
_MAX_TAGS = 65535
_MAX_PAGES = 64  # directories that are searched for the largest page


def _tiff(view: Any) -> dict[str, Any]:
    tags, bits = dict[int, int](), 8
    for order, tag, kind, count, position, value_size in _directory(view, _main_directory(view)):
        if tag == _BITS and kind == _SHORT and count:
            if 2 * count > value_size:
                position = _unpack(order + ("Q" if value_size == 8 else "I"), view, position)[0]
            bits = max(bits, _unpack(f"{order}H", view, position)[0])
        elif tag in _TAGS and count == 1 and kind in _TYPES and not (kind == _LONG8 and value_size == 4):
            tags[tag] = max(tags.get(tag, 0), _unpack(order + _TYPES[kind], view, position)[0])
        elif tag in _SIZES:
            return {}
    orientation, photometric, planar = tags.get(_ORIENTATION, 1), tags.get(_PHOTOMETRIC), tags.get(_PLANAR)
    layout = {
        "orientation": orientation if 2 <= orientation <= 8 else 1,
        "inverted": photometric == 0,
        "planes_apart": planar == _SEPARATE,
    }
    if not {_WIDTH, _LENGTH} <= set(tags):
        return layout
    width, height = max(1, tags[_WIDTH]), max(1, tags[_LENGTH])
    tile = max(1, tags.get(_TILE_WIDTH, 1)) * max(1, tags.get(_TILE_LENGTH, 1))  # decoded into a buffer of its own
    channels = max(1, tags.get(_SAMPLES, 1)) * max(1, tags.get(_DEPTH, 1), tags.get(_TILE_DEPTH, 1))
    depth, padded = max(1, -(-bits // 8)), max(tile, width * height)
    part = max(tile, width * min(height, max(1, tags.get(_ROWS, height))))  # decoded at once
    packing, stored, lean = max(1, tags.get(_PACKING, 1)), part * channels * depth, 0
    if photometric == _PALETTE:
        memory = padded * max(3, channels) * depth
    else:
        memory = padded * channels * depth
        is_plain = packing in (_NOT_PACKED, *_DEFLATE) and (photometric or 1) <= _COLORS and planar != _SEPARATE
        if is_plain and channels in (1, 3) and bits in (8, 16):  # tifffile copies the file
            lean = 2 * len(view) + memory + (0 if packing == _NOT_PACKED else stored)
    rgba = 4 * part if depth == 1 else 0  # libtiff makes RGBA of 8 bits
    return {
        **_size((width, height, memory // (padded * depth), depth)),
        **layout,
        "padded": padded,
        "working": memory + stored + rgba,
        "lean": lean,
    }


def page_index(view: Any, number: int) -> int:
    """Return the index in a TIFF of page `number`: the image is page 0, and the others follow in their order."""
    image = _pages(view)[1]
    return image if number == 0 else number - 1 if number <= image else number


def _byte_order(view: Any) -> tuple[str, bool]:
    """Return byte order ("<" or ">") and whether counts and offsets have eight bytes (BigTIFF)."""
    order = "<" if bytes(view[:2]) == b"II" else ">"
    return order, _unpack(f"{order}H", view, 2)[0] == 43


def _first_directory(view: Any) -> int:
    order, big = _byte_order(view)
    return _unpack(f"{order}Q", view, 8)[0] if big else _unpack(f"{order}I", view, 4)[0]


def _directory(view: Any, directory: int | None = None) -> Iterator[tuple[str, int, int, int, int, int]]:
    """Yield the entries of a directory: byte order, tag, type, count, position and size of the value field.

    directory: its position, by default that of the first one. Raises struct.error.
    """
    order, big = _byte_order(view)
    start = _first_directory(view) if directory is None else directory
    entries = _unpack(f"{order}{'Q' if big else 'H'}", view, start)[0]
    first, step, value_size = (start + 8, 20, 8) if big else (start + 2, 12, 4)
    if entries > _MAX_TAGS:
        return
    for position in range(first, first + entries * step, step):
        entry = _unpack(f"{order}{'HHQ' if big else 'HHI'}", view, position)
        yield order, *entry, position + step - value_size, value_size


def _pages(view: Any) -> tuple[list[int], int]:
    """Return the positions of the directories of pages, at most `_MAX_PAGES`, and the index of the image.

    The image is the first of the largest pages: some scanners and microscopes store a thumbnail before it.
    """
    found, sizes = list[int](), list[int]()
    try:
        order, big = _byte_order(view)
        position = _first_directory(view)
        while position and position not in found and len(found) < _MAX_PAGES:
            size, entries = {_WIDTH: 0, _LENGTH: 0}, 0
            for _, tag, kind, _, value, _ in _directory(view, position):
                entries += 1
                if tag in size and kind in (_SHORT, _LONG):
                    size[tag] = _unpack(order + _TYPES[kind], view, value)[0]
            found.append(position)
            sizes.append(size[_WIDTH] * size[_LENGTH])
            end = position + (8 + 20 * entries if big else 2 + 12 * entries)
            position = _unpack(f"{order}{'Q' if big else 'I'}", view, end)[0]
    except (struct.error, OverflowError):
        pass  # the decoder reports the fault of such a file
    return found, sizes.index(max(sizes)) if sizes else 0


def _main_directory(view: Any) -> int | None:
    """Return the position of the directory of a TIFF's image, None if it is the first or cannot be determined."""
    pages, image = _pages(view)
    return pages[image] if image else None


def _neutralize(data: np.ndarray) -> np.ndarray:
    """Return the bytes of a TIFF without the tags that the caller applies itself, and with its image as first page."""
    view, directory = data.data, _main_directory(data.data)
    changes = list[tuple[str, int, list[int]]]()  # format, position, values
    try:
        if directory is not None:
            order, big = _byte_order(view)
            changes.append((f"{order}{'Q' if big else 'I'}", 8 if big else 4, [directory]))
        for order, tag, kind, count, position, value_size in _directory(view, directory):
            neutral, applied = _NEUTRAL.get(tag, (0, ()))
            if applied and kind in _TYPES and count * struct.calcsize(_TYPES[kind]) <= value_size:
                format = f"{order}{count}{_TYPES[kind]}"
                values = list(_unpack(format, view, position))
                replaced = [neutral if value in applied else value for value in values]
                if replaced != values:
                    changes.append((format, position, replaced))
    except (struct.error, OverflowError):
        pass  # the decoder reports the fault of such a file
    if changes:
        data = data.copy()
    for format, position, values in changes:
        struct.pack_into(format, data.data, position, *values)
    return data


def _exif_orientation(exif: bytes) -> int:
    if exif[:6] == b"Exif\0\0":  # some PNG and WebP writers include the JPEG marker
        exif = exif[6:]
    if exif[:4] not in _TIFF_STARTS[:2]:
        return 1
    try:
        for order, tag, kind, count, position, _ in _directory(exif):
            if tag == _ORIENTATION and kind == _SHORT and count == 1:
                value = _unpack(f"{order}H", exif, position)[0]
                return value if 1 <= value <= 8 else 1
    except (struct.error, OverflowError):
        pass  # damaged: as if it were missing
    return 1


_READERS = {"png": _png, "jpeg": _jpeg, "bmp": _bmp, "tiff": _tiff, "webp": _webp, "jp2": _jpeg_2000, "pnm": _pnm}
