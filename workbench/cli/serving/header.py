"""How large a picture file says that it is, read from its header: nothing is decoded and nothing allocated.

A file of a few kilobytes may unpack to gigabytes. Only kinds whose size is understood here are decoded at all, and
where a header could be read in two ways, the larger size counts.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """Sizes in pixels, numbers to a pixel (channels, or planes of a stack), and bytes to a number."""

    width: int
    height: int
    channels: int = 1
    depth: int = 1

    @property
    def pixels(self) -> int:
        return self.width * self.height

    @property
    def memory(self) -> int:
        """Bytes of the decoded picture."""
        return self.pixels * self.channels * self.depth


# Boxes, chunks and markers come in dozens; a file with more of them is made to keep a reader busy.
_MOST_PARTS = 4096
_MOST_TAGS = 65535


def claimed_size(data: bytes | bytearray) -> Claim | None:
    """The size in a picture file's header, or None where it is of no known kind or the header is damaged."""
    view = memoryview(data)
    start = bytes(view[:12])
    try:
        if start[:8] == b"\x89PNG\r\n\x1a\n":
            return _png(view)
        if start[:3] == b"\xff\xd8\xff":
            return _jpeg(bytes(data) if isinstance(data, bytearray) else data)
        if start[:2] == b"BM":
            return _bmp(view)
        if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
            return _tiff(view)
        if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
            return _webp(view)
        if start == b"\0\0\0\x0cjP  \r\n\x87\n" or start[:4] == b"\xff\x4f\xff\x51":
            return _jpeg_2000(view)
        if re.match(rb"P[1-6]\s", start):
            return _pnm(view)
    except (struct.error, IndexError, OverflowError):
        pass  # cut off in the middle of the header, or pointing out of the file
    return None


def _png(view: memoryview) -> Claim | None:
    if view[12:16] != b"IHDR":
        return None
    width, height, bits, kind = struct.unpack_from(">IIBB", view, 16)
    return Claim(width, height, {0: 1, 2: 3, 3: 3, 4: 2}.get(kind, 4), _bytes(bits))


def _bytes(bits: int) -> int:
    return max(1, (bits + 7) // 8)


_NO_FILL = re.compile(rb"[^\xff]")


def _jpeg(data: bytes) -> Claim | None:
    found: list[Claim] = []
    position = 2
    for _ in range(_MOST_PARTS):
        # Decoders skip what lies between segments, and any number of fill bytes.
        fill = data.find(b"\xff", position)
        byte = _NO_FILL.search(data, fill) if fill >= 0 else None
        if byte is None:
            return None
        marker, position = data[byte.start()], byte.end()
        if marker == 0 or marker == 0x01 or 0xD0 <= marker <= 0xD8:
            continue
        if marker in (0xD9, 0xDA):  # the end, or the first scan: a frame after it is an error to every decoder
            return _largest(found)
        length = struct.unpack_from(">H", data, position)[0]
        if length < 2:
            return None
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            bits, height, width, channels = struct.unpack_from(">BHHB", data, position + 2)
            found.append(Claim(width, height, channels, _bytes(bits)))
        position += length
    return None


def _bmp(view: memoryview) -> Claim | None:
    size = struct.unpack_from("<I", view, 14)[0]
    if size == 12:
        width, height = struct.unpack_from("<HH", view, 18)
    elif size >= 36:
        width, height = struct.unpack_from("<ii", view, 18)
    else:
        return None
    return Claim(abs(width), abs(height), 4)


def _webp(view: memoryview) -> Claim | None:
    found = []
    position = 12
    for _ in range(_MOST_PARTS):
        if position + 8 > len(view):
            break
        kind, length = bytes(view[position : position + 4]), struct.unpack_from("<I", view, position + 4)[0]
        body = position + 8
        if kind == b"VP8X":
            found.append(Claim(_three_bytes(view, body + 4) + 1, _three_bytes(view, body + 7) + 1, 4))
        elif kind == b"ANMF":
            found.append(Claim(_three_bytes(view, body + 6) + 1, _three_bytes(view, body + 9) + 1, 4))
        elif kind == b"VP8L":
            bits = struct.unpack_from("<I", view, body + 1)[0]
            found.append(Claim((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, 4))
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", view, body + 6)
            found.append(Claim(width & 0x3FFF, height & 0x3FFF, 3))
        if kind in (b"VP8L", b"VP8 ", b"ANMF"):
            return _largest(found)
        position = body + length + length % 2
    return None


def _three_bytes(view: memoryview, at: int) -> int:
    return view[at] | view[at + 1] << 8 | view[at + 2] << 16


# TIFF: tag number to what it says; bytes of its types.
_WIDTH, _LENGTH, _SAMPLES, _TILE_WIDTH, _TILE_LENGTH, _DEPTH, _TILE_DEPTH = 256, 257, 277, 322, 323, 32997, 32998
_TAGS = (_WIDTH, _LENGTH, _SAMPLES, _TILE_WIDTH, _TILE_LENGTH, _DEPTH, _TILE_DEPTH)
_BITS = 258
_TYPES = {1: "B", 3: "H", 4: "I", 16: "Q"}


def _tiff(view: memoryview) -> Claim | None:
    order = "<" if view[:2] == b"II" else ">"
    if struct.unpack_from(f"{order}H", view, 2)[0] == 43:  # BigTIFF
        directory = struct.unpack_from(f"{order}Q", view, 8)[0]
        count = struct.unpack_from(f"{order}Q", view, directory)[0]
        first, step, head = directory + 8, 20, f"{order}HHQ"
    else:
        directory = struct.unpack_from(f"{order}I", view, 4)[0]
        count = struct.unpack_from(f"{order}H", view, directory)[0]
        first, step, head = directory + 2, 12, f"{order}HHI"
    if count > _MOST_TAGS:
        return None
    values = dict.fromkeys(_TAGS, 1)
    seen = set()
    bits = 1
    for position in range(first, first + count * step, step):
        tag, kind, length = struct.unpack_from(head, view, position)
        if tag == _BITS:
            bits = max(bits, _bits_per_sample(view, order, kind, length, position + struct.calcsize(head), step == 20))
        if tag not in _TAGS:
            continue
        if length != 1 or kind not in _TYPES or (kind == 16 and step == 12):
            return None
        value = struct.unpack_from(f"{order}{_TYPES[kind]}", view, position + struct.calcsize(head))[0]
        values[tag] = max(values[tag], value)
        seen.add(tag)
    if not {_WIDTH, _LENGTH} <= seen:
        return None
    width, height = max(values[_WIDTH], values[_TILE_WIDTH]), max(values[_LENGTH], values[_TILE_LENGTH])
    return Claim(width, height, values[_SAMPLES] * max(values[_DEPTH], values[_TILE_DEPTH]), _bytes(bits))


def _bits_per_sample(view: memoryview, order: str, kind: int, length: int, at: int, big: bool) -> int:
    """The largest of the numbers, one for each sample; 64 where they cannot be read."""
    if kind not in _TYPES or not 1 <= length <= _MOST_PARTS:
        return 64
    form = f"{order}{length}{_TYPES[kind]}"
    if struct.calcsize(form) > (8 if big else 4):
        at = struct.unpack_from(f"{order}{'Q' if big else 'I'}", view, at)[0]
        if at + struct.calcsize(form) > len(view):
            return 64
    return min(64, max(struct.unpack_from(form, view, at)))


def _jpeg_2000(view: memoryview) -> Claim | None:
    if view[:2] == b"\xff\x4f":
        return _codestream(view, 0)
    found = []
    for kind, start, end in _boxes(view, 0, len(view)):
        if kind == b"jp2h":
            for inner, at, _ in _boxes(view, start, end):
                if inner == b"ihdr":
                    height, width, channels, bits = struct.unpack_from(">IIHB", view, at)
                    found.append(Claim(width, height, channels, 4 if bits == 255 else _bytes((bits & 0x7F) + 1)))
        elif kind == b"jp2c":
            stream = _codestream(view, start)
            return _largest([*found, stream]) if stream else None
    return None


def _boxes(view: memoryview, position: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Kind, start and end of the content of each box."""
    for _ in range(_MOST_PARTS):
        if position + 8 > end:
            return
        length, start = struct.unpack_from(">I", view, position)[0], position + 8
        if length == 1:
            length, start = struct.unpack_from(">Q", view, start)[0], position + 16
        stop = end if length == 0 else min(end, position + length)
        if stop < start:
            return
        yield bytes(view[position + 4 : position + 8]), start, stop
        position = stop


def _codestream(view: memoryview, at: int) -> Claim | None:
    if view[at : at + 4] != b"\xff\x4f\xff\x51":
        return None
    width, height, left, top = struct.unpack_from(">IIII", view, at + 8)
    channels = struct.unpack_from(">H", view, at + 40)[0]
    depths = bytes(view[at + 42 : at + 42 + 3 * min(channels, _MOST_PARTS) : 3])
    bits = max(((each & 0x7F) + 1 for each in depths), default=8)
    return Claim(max(0, width - left), max(0, height - top), channels, _bytes(bits))


_NUMBER = re.compile(rb"(?:\s|#[^\n\r]*[\n\r])*(\d{1,12})(?!\d)")


def _pnm(view: memoryview) -> Claim | None:
    text = bytes(view[2 : 1 << 16])
    width = _NUMBER.match(text)
    height = _NUMBER.match(text, width.end()) if width else None
    if not width or not height:
        return None
    most = _NUMBER.match(text, height.end()) if view[1] not in b"14" else None
    return Claim(int(width[1]), int(height[1]), 3 if view[1] in b"36" else 1, 2 if most and int(most[1]) > 255 else 1)


def _largest(claims: list[Claim]) -> Claim | None:
    if not claims:
        return None
    return Claim(
        max(claim.width for claim in claims),
        max(claim.height for claim in claims),
        max(claim.channels for claim in claims),
        max(claim.depth for claim in claims),
    )
