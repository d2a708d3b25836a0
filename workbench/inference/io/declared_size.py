"""Image size according to the file header, without decoding.

Only formats parsed here are decoded at all. If a header is ambiguous, the larger size counts. A view is a memoryview,
bytes or a `regular_files.FileView`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JP2_SIGNATURE = b"\0\0\0\x0cjP  \r\n\x87\n"
CODESTREAM = b"\xff\x4f\xff\x51"
TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

# Files have dozens of boxes, chunks or markers; many more indicate an attempt to keep the parser busy.
_MAX_PARTS = 4096
_MAX_TAGS = 65535


@dataclass(frozen=True)
class DeclaredSize:
    """Size in pixels according to a header.

    channels: values per pixel.
    depth: bytes per value.
    padded: number of decoded pixels, including tile padding.
    working: bytes that OpenCV needs for decoding, beside the file; 0 for the image and the copy that it returns.
    lean: bytes that tifffile needs for it, 0 if only OpenCV is certain to read it.
    """

    width: int
    height: int
    channels: int = 1
    depth: int = 1
    padded: int = 0
    working: int = field(default=0, compare=False)
    lean: int = field(default=0, compare=False)

    @property
    def pixels(self) -> int:
        return self.width * self.height

    @property
    def values(self) -> int:
        """Number of values to decode for the whole image."""
        return max(self.pixels, self.padded) * self.channels

    @property
    def memory(self) -> int:
        """Size of the decoded image in bytes."""
        return self.values * self.depth

    @property
    def peak(self) -> int:
        """Number of bytes in use while the image is decoded, beside the file."""
        return max(self.working, 2 * self.memory)


def unpack(format: str, view: Any, position: int) -> tuple:
    """Apply `struct.unpack_from` to any view. Raises struct.error beyond its end."""
    return struct.unpack(format, bytes(view[position : position + struct.calcsize(format)]))


def file_type(view: Any) -> str:
    """Return "png", "jpeg", "bmp", "tiff", "webp", "jp2", "pnm", or "" for anything else."""
    start = bytes(view[:12])
    if start[:8] == PNG_SIGNATURE:
        return "png"
    if start[:3] == b"\xff\xd8\xff":
        return "jpeg"
    if start[:2] == b"BM":
        return "bmp"
    if start[:4] in TIFF_STARTS:
        return "tiff"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    if start == JP2_SIGNATURE or start[:4] == CODESTREAM:
        return "jp2"
    return "pnm" if re.match(rb"P[1-6]\s", start) else ""


def declared_size(view: Any) -> DeclaredSize | None:
    """Return the size in an image's header; None if the format is unknown or the header is damaged."""
    try:
        read = _READERS.get(file_type(view))
        return None if read is None else read(view)
    except (struct.error, IndexError, OverflowError):
        return None  # truncated header, or an offset outside the file


_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 3, 6: 4}  # as decoded: gray with alpha becomes color


def _png(view: Any) -> DeclaredSize | None:
    if bytes(view[12:16]) != b"IHDR":
        return None
    width, height, bits, color = unpack(">IIBB", view, 16)
    return DeclaredSize(width, height, _PNG_CHANNELS.get(color, 4), 2 if bits > 8 else 1)


def find_byte(view: Any, byte: bytes, position: int) -> int:
    """Return the position of a byte in a view, searching from `position`; -1 if not found."""
    while position < len(view):
        offset = bytes(view[position : position + 4096]).find(byte)
        if offset >= 0:
            return position + offset
        position += 4096
    return -1


def jpeg_marker(view: Any, position: int) -> tuple[int, int]:
    """Return the next JPEG marker from `position` on and the position after it; (0, end) if there is none.

    As in decoders, bytes before the marker, stuffed bytes and fill bytes are skipped.
    """
    while True:
        position = find_byte(view, b"\xff", position)
        if position < 0:
            return 0, len(view)
        while position < len(view) and view[position] == 0xFF:
            position += 1
        if position >= len(view):
            return 0, len(view)
        if view[position]:
            return view[position], position + 1


def jpeg_segments(view: Any) -> Iterator[tuple[int, int, int]]:
    """Yield marker, start and end of the content of each JPEG segment before the first scan. Raises struct.error."""
    position = 2
    for _ in range(_MAX_PARTS):
        marker, position = jpeg_marker(view, position)
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            continue
        if marker in (0, 0xD9):
            return
        length = unpack(">H", view, position)[0]
        yield marker, position + 2, position + length
        if marker == 0xDA or length < 2:
            return
        position += length


def _jpeg(view: Any) -> DeclaredSize | None:
    sizes: list[DeclaredSize] = []
    progressive = False
    for marker, start, _ in jpeg_segments(view):
        if marker == 0xDA:  # the first scan; a frame after it is an error in every decoder
            size = _largest(sizes)
            if size is not None and (progressive or view[start] < size.channels):  # several scans
                return replace(size, working=3 * size.memory)  # coefficients of two bytes
            return size
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            progressive |= marker & 3 == 2
            bits, height, width, channels = unpack(">BHHB", view, start)
            sizes.append(DeclaredSize(width, height, channels, 2 if bits > 8 else 1))
    return None


def _bmp(view: Any) -> DeclaredSize | None:
    size = unpack("<I", view, 14)[0]
    if size == 12:
        width, height, _, bits = unpack("<HHHH", view, 18)
    elif size >= 36:
        width, height, _, bits = unpack("<iiHH", view, 18)
    else:
        return None
    return DeclaredSize(abs(width), abs(height), 4 if bits == 32 else 3)


def _webp(view: Any) -> DeclaredSize | None:
    sizes = []
    position = 12
    for _ in range(_MAX_PARTS):
        if position + 8 > len(view):
            break
        kind, length = bytes(view[position : position + 4]), unpack("<I", view, position + 4)[0]
        body = position + 8
        if kind == b"VP8X":
            sizes.append(DeclaredSize(_three_bytes(view, body + 4) + 1, _three_bytes(view, body + 7) + 1, 4))
        elif kind == b"ANMF":
            sizes.append(DeclaredSize(_three_bytes(view, body + 6) + 1, _three_bytes(view, body + 9) + 1, 4))
        elif kind == b"VP8L":
            bits = unpack("<I", view, body + 1)[0]
            sizes.append(DeclaredSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, 4))
        elif kind == b"VP8 ":
            width, height = unpack("<HH", view, body + 6)
            sizes.append(DeclaredSize(width & 0x3FFF, height & 0x3FFF, 4))
        if kind in (b"VP8L", b"VP8 ", b"ANMF"):
            return _largest(sizes)
        position = body + length + length % 2
    return None


def _three_bytes(view: Any, position: int) -> int:
    return view[position] | view[position + 1] << 8 | view[position + 2] << 16


_WIDTH, _LENGTH, _BITS, _PACKING, _PHOTOMETRIC, _SAMPLES, _ROWS, _PLANAR = 256, 257, 258, 259, 262, 277, 278, 284
_TILE_WIDTH, _TILE_LENGTH, _DEPTH, _TILE_DEPTH = 322, 323, 32997, 32998
_SIZES = (_WIDTH, _LENGTH, _SAMPLES, _TILE_WIDTH, _TILE_LENGTH, _DEPTH, _TILE_DEPTH)
_TAGS = (*_SIZES, _PACKING, _PHOTOMETRIC, _ROWS, _PLANAR)
_COLORS, _PALETTE, _SEPARATE = 2, 3, 2
_NOT_PACKED, _DEFLATE = 1, (8, 32946)
_TYPES = {1: "B", 3: "H", 4: "I", 16: "Q"}


_MAX_PAGES = 64  # directories that are searched for the largest page


def tiff_directory(view: Any, directory: int | None = None) -> Iterator[tuple[str, int, int, int, int, int]]:
    """Yield the entries of a directory: byte order, tag, type, count, position and size of the value field.

    directory: its position, by default that of the first one. Raises struct.error.
    """
    order, big = _tiff_kind(view)
    start = _first_directory(view, order, big) if directory is None else directory
    entries = unpack(f"{order}{'Q' if big else 'H'}", view, start)[0]
    first, step, value_size = (start + 8, 20, 8) if big else (start + 2, 12, 4)
    if entries > _MAX_TAGS:
        return
    for position in range(first, first + entries * step, step):
        entry = unpack(f"{order}{'HHQ' if big else 'HHI'}", view, position)
        yield order, *entry, position + step - value_size, value_size


def _tiff_kind(view: Any) -> tuple[str, bool]:
    """Return byte order ("<" or ">") and whether counts and offsets have eight bytes (BigTIFF)."""
    order = "<" if bytes(view[:2]) == b"II" else ">"
    return order, unpack(f"{order}H", view, 2)[0] == 43


def _first_directory(view: Any, order: str, big: bool) -> int:
    return unpack(f"{order}Q", view, 8)[0] if big else unpack(f"{order}I", view, 4)[0]


def tiff_pages(view: Any) -> tuple[list[int], int]:
    """Return the positions of the directories of pages, at most `_MAX_PAGES`, and the index of the image.

    The image is the first of the largest pages: some scanners and microscopes store a thumbnail before it.
    """
    order, big = _tiff_kind(view)
    found, sizes = list[int](), list[int]()
    try:
        position = _first_directory(view, order, big)
        while position and position not in found and len(found) < _MAX_PAGES:
            size, entries = {_WIDTH: 0, _LENGTH: 0}, 0
            for _, tag, kind, _, value, _ in tiff_directory(view, position):
                entries += 1
                if tag in size and kind in (3, 4):
                    size[tag] = unpack(f"{order}{_TYPES[kind]}", view, value)[0]
            found.append(position)
            sizes.append(size[_WIDTH] * size[_LENGTH])
            end = position + (8 + 20 * entries if big else 2 + 12 * entries)
            position = unpack(f"{order}{'Q' if big else 'I'}", view, end)[0]
    except (struct.error, OverflowError):
        pass  # the decoder reports the fault of such a file
    return found, sizes.index(max(sizes)) if sizes else 0


def main_directory(view: Any) -> int | None:
    """Return the position of the directory of a TIFF's image, None if it is the first or cannot be determined."""
    pages, image = tiff_pages(view)
    return pages[image] if image else None


def page_index(view: Any, number: int) -> int:
    """Return the index in the file of page `number`: the image is page 0, and the others follow in their order."""
    image = tiff_pages(view)[1]
    return image if number == 0 else number - 1 if number <= image else number


def _tiff(view: Any) -> DeclaredSize | None:
    values = dict.fromkeys(_TAGS, 1)
    bits, present = 8, set()
    for order, tag, kind, length, position, value_size in tiff_directory(view, main_directory(view)):
        if tag == _BITS and kind == 3 and length:
            value_position = (
                position
                if 2 * length <= value_size
                else unpack(order + ("Q" if value_size == 8 else "I"), view, position)[0]
            )
            bits = max(bits, unpack(f"{order}H", view, value_position)[0])
        if tag not in _TAGS:
            continue
        if length != 1 or kind not in _TYPES or (kind == 16 and value_size == 4):
            if tag in _SIZES:
                return None
            continue
        values[tag] = max(values[tag], unpack(f"{order}{_TYPES[kind]}", view, position)[0])
        present.add(tag)
    if not {_WIDTH, _LENGTH} <= present:
        return None
    width, height = values[_WIDTH], values[_LENGTH]
    tile = values[_TILE_WIDTH] * values[_TILE_LENGTH]  # a tile is decoded into its own buffer
    channels = values[_SAMPLES] * max(values[_DEPTH], values[_TILE_DEPTH])
    depth = max(1, -(-bits // 8))
    size = DeclaredSize(width, height, channels, depth, max(tile, width * height))
    part = max(tile, width * min(height, values[_ROWS] if _ROWS in present else height))  # decoded at once
    packing, stored = values[_PACKING], part * channels * depth
    if values[_PHOTOMETRIC] == _PALETTE:
        size = replace(size, channels=max(3, channels))
    elif (
        packing in (_NOT_PACKED, *_DEFLATE)
        and values[_PHOTOMETRIC] <= _COLORS
        and values[_PLANAR] != _SEPARATE
        and channels in (1, 3)
        and bits in (8, 16)
    ):  # tifffile copies the file
        size = replace(size, lean=len(view) + size.memory + (0 if packing == _NOT_PACKED else stored))
    return replace(size, working=size.memory + stored + (4 * part if depth == 1 else 0))  # libtiff makes RGBA of 8 bits


def _jpeg_2000(view: Any) -> DeclaredSize | None:
    if bytes(view[:4]) == CODESTREAM:
        return _codestream(view, 0)
    sizes = []
    for kind, start, end in _boxes(view, 0, len(view)):
        if kind == b"jp2h":
            for inner, position, _ in _boxes(view, start, end):
                if inner == b"ihdr":
                    height, width, channels = unpack(">IIH", view, position)
                    sizes.append(DeclaredSize(width, height, channels, 4))
        elif kind == b"jp2c":
            stream = _codestream(view, start)
            return _largest([*sizes, stream]) if stream else None
    return None


def _boxes(view: Any, position: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, content start and content end of each box."""
    for _ in range(_MAX_PARTS):
        if position + 8 > end:
            return
        length, start = unpack(">I", view, position)[0], position + 8
        if length == 1:
            length, start = unpack(">Q", view, start)[0], position + 16
        stop = end if length == 0 else min(end, position + length)
        if stop < start:
            return
        yield bytes(view[position + 4 : position + 8]), start, stop
        position = stop


def _codestream(view: Any, position: int) -> DeclaredSize | None:
    if bytes(view[position : position + 4]) != CODESTREAM:
        return None
    width, height, left, top = unpack(">IIII", view, position + 8)
    channels = unpack(">H", view, position + 40)[0]
    return DeclaredSize(max(0, width - left), max(0, height - top), channels, 4)  # decoders use four bytes per value


_NUMBER = re.compile(rb"(?:\s|#[^\n\r]*[\n\r])*(\d{1,12})(?!\d)")


def _pnm(view: Any) -> DeclaredSize | None:
    text = bytes(view[2 : 1 << 16])
    width = _NUMBER.match(text)
    height = _NUMBER.match(text, width.end()) if width else None
    if not width or not height:
        return None
    channels = 3 if view[1] in b"36" else 1
    largest = _NUMBER.match(text, height.end())
    is_byte = view[1] in b"14" or (largest is not None and int(largest[1]) < 256)
    return DeclaredSize(int(width[1]), int(height[1]), channels, 1 if is_byte else 2)


def _largest(claims: list[DeclaredSize]) -> DeclaredSize | None:
    if not claims:
        return None
    sizes = ((claim.width, claim.height, claim.channels, claim.depth) for claim in claims)
    return DeclaredSize(*map(max, zip(*sizes)))


_READERS = {"png": _png, "jpeg": _jpeg, "bmp": _bmp, "tiff": _tiff, "webp": _webp, "jp2": _jpeg_2000, "pnm": _pnm}
