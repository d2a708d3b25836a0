"""PNG encoder for masks in bands of rows. A save compresses only the bands that changed since the previous save."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.project.annotation import palette_bytes
from workbench.core.project.project import MAX_CLASS_ID, ClassInfo

BAND = 1 << 16  # approximate number of pixel bytes per band; at least one row
_MAX_BANDS = 512  # per mask
_ADLER = 65521


class IncrementalPng:
    """Encoder for repeated saves of one mask: standard 8-bit palette PNG, rows unfiltered, zlib level 1.

    Each band is a deflate segment in an IDAT chunk of its own. It ends in a full flush, so it contains no references to
    other bands. The zlib checksum is combined from those of the bands. One instance serves one mask, from one thread at
    a time.
    """

    def __init__(self, classes: Sequence[ClassInfo]) -> None:
        self.classes = list(classes)  # may be replaced between encodings: the palette is rewritten each time
        self._shape: tuple[int, int] | None = None
        self._rows = 1
        self._bands: list[_PngBand] = []
        self._changed: list[Rect] = []
        self._stale: set[int] = set()  # bands that differ from the mask

    def encode(self, mask: np.ndarray, dirty_rects: Iterable[Rect] | None = None) -> bytes:
        """Return the PNG file of `mask`, uint8 (H, W), not empty.

        `dirty_rects`: areas that changed since the mask was last encoded; None if unknown. A mask of another shape is
        encoded completely. Raises ValueError for another dtype or number of dimensions.
        """
        self.invalidate(dirty_rects)
        self.encode_changed(mask)
        return self.file()

    def invalidate(self, rects: Iterable[Rect] | None) -> None:
        """Mark areas of the mask as changed; None marks the whole mask."""
        if rects is None:
            self._shape = None
        else:
            self._changed += rects

    def encode_changed(self, mask: np.ndarray) -> None:
        """Compress the bands that were marked by `invalidate`.

        If the mask changes during this call, `invalidate` the changed areas and encode again before calling `file`; the
        other bands remain valid. After an error, the remaining bands are compressed by the next call.
        """
        if mask.dtype != np.uint8 or mask.ndim != 2 or not mask.size:
            raise ValueError(f"a mask is uint8 (H, W) and not empty, not {mask.dtype} {mask.shape}")
        height, width = mask.shape
        if mask.shape != self._shape:
            self._shape, self._rows = mask.shape, max(1, BAND // (width + 1), -(-height // _MAX_BANDS))
            self._bands = [_EMPTY_BAND] * -(-height // self._rows)
            self._stale = set(range(len(self._bands)))
        changed, self._changed = self._changed, []
        for rect in changed:
            rect = rect.clipped(width, height)
            if not rect.empty:
                self._stale.update(range(rect.y // self._rows, (rect.y + rect.height - 1) // self._rows + 1))
        for number in sorted(self._stale):
            self._bands[number] = encode_band(mask[number * self._rows : (number + 1) * self._rows])
            self._stale.discard(number)

    def file(self) -> bytes:
        """Return the PNG file of the encoded mask. Raises ValueError if bands remain to be encoded."""
        if self._shape is None or self._stale or self._changed:
            raise ValueError("not all of the mask is encoded")
        height, width = self._shape
        check = 1
        for band in self._bands:
            check = combine_adler32(check, band.adler, band.length)
        header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        return b"".join(
            [
                b"\x89PNG\r\n\x1a\n",
                _chunk(b"IHDR", header),
                _chunk(b"PLTE", palette_bytes(self.classes)),
                _chunk(b"IDAT", b"\x78\x01"),
                *(band.chunk for band in self._bands),
                _chunk(b"IDAT", b"\x03\x00" + struct.pack(">I", check)),
                _chunk(b"IEND", b""),
            ]
        )

    def foreground_counts(self) -> tuple[tuple[int, int], ...]:
        """Return (class id, pixels) of the classes painted in the encoded mask, ids ascending."""
        total: dict[int, int] = {}
        for band in self._bands:
            for id, pixels in band.counts:
                total[id] = total.get(id, 0) + pixels
        return tuple((id, total[id]) for id in sorted(total))


class _PngBand(NamedTuple):
    """Band of rows: IDAT chunk, Adler-32 and length of the uncompressed bytes, and pixels per class."""

    chunk: bytes
    adler: int
    length: int
    counts: tuple[tuple[int, int], ...]


_EMPTY_BAND = _PngBand(b"", 1, 0, ())


def encode_band(rows: np.ndarray) -> _PngBand:
    """Return some rows of a mask as a part of a PNG file. rows: uint8 (h, W)."""
    plain = np.zeros((rows.shape[0], rows.shape[1] + 1), np.uint8)  # first byte of a row: filter type none
    plain[:, 1:] = rows
    pixels = np.bincount(plain[(plain > 0) & (plain <= MAX_CLASS_ID)])  # of the copy, as `rows` may change
    counts = tuple((id, int(pixels[id])) for id in np.flatnonzero(pixels).tolist())
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    compressed = deflate.compress(plain.data) + deflate.flush(zlib.Z_FULL_FLUSH)
    return _PngBand(_chunk(b"IDAT", compressed), zlib.adler32(plain.data), plain.size, counts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def combine_adler32(first: int, second: int, length: int) -> int:
    """Return the Adler-32 of two concatenated byte strings, from both checksums and the second length (RFC 1950)."""
    a1, b1, a2, b2 = first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16
    a = (a1 + a2 - 1) % _ADLER
    b = (b1 + b2 + length * (a1 - 1)) % _ADLER
    return b << 16 | a
