"""A mask's PNG in bands of rows, of which a save packs only those that changed since the last."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.core.annotation import palette_bytes
from workbench.core.drawing import Rect
from workbench.core.project import ClassInfo

BAND = 1 << 18  # bytes of pixels in a band, about; at least a row
_ADLER = 65521


class BandedPng:
    """Encodes one mask again and again. A standard 8-bit palette PNG, rows unfiltered, zlib level 1.

    Each band is a deflate segment that ends in a full flush, so nothing in it refers to another, in an IDAT chunk of
    its own; what zlib checks at the end is put together from the bands' own sums. One instance serves one mask, from
    one thread at a time.
    """

    def __init__(self, classes: Sequence[ClassInfo]) -> None:
        self.classes = list(classes)  # may be replaced between encodings: the palette is written anew each time
        self._shape: tuple[int, int] | None = None
        self._rows = 1
        self._bands: list[tuple[bytes, int, int]] = []  # chunk, Adler-32 and length of what it holds

    def encode(self, mask: np.ndarray, dirty_rects: Iterable[Rect] | None = None) -> bytes:
        """The file of `mask`, uint8 (H, W), not empty.

        `dirty_rects`: where the mask changed since it was last encoded here; None if that is not known. A mask of
        another shape is packed anew. Should the mask change while this runs, hand in those places again next time.
        Raises ValueError for another dtype or shape; after any error the next encoding packs everything.
        """
        if mask.dtype != np.uint8 or mask.ndim != 2 or not mask.size:
            raise ValueError(f"a mask is uint8 (H, W) and not empty, not {mask.dtype} {mask.shape}")
        height, width = mask.shape
        if dirty_rects is None or mask.shape != self._shape:
            self._shape, self._rows = mask.shape, max(1, BAND // (width + 1))
            self._bands = [(b"", 1, 0)] * -(-height // self._rows)
            dirty = range(len(self._bands))
        else:
            dirty = self._touched(dirty_rects)
        shape, self._shape = self._shape, None  # not valid until all of it is packed
        for band in dirty:
            self._bands[band] = _packed(mask[band * self._rows : (band + 1) * self._rows])
        self._shape = shape
        check = 1
        for _, adler, length in self._bands:
            check = _combined(check, adler, length)
        header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        return b"".join(
            [
                b"\x89PNG\r\n\x1a\n",
                _chunk(b"IHDR", header),
                _chunk(b"PLTE", palette_bytes(self.classes)),
                _chunk(b"IDAT", b"\x78\x01"),
                *(chunk for chunk, _, _ in self._bands),
                _chunk(b"IDAT", b"\x03\x00" + struct.pack(">I", check)),
                _chunk(b"IEND", b""),
            ]
        )

    def _touched(self, rects: Iterable[Rect]) -> list[int]:
        height, width = self._shape
        bands: set[int] = set()
        for rect in rects:
            rect = rect.clipped(width, height)
            if not rect.empty:
                bands.update(range(rect.y // self._rows, (rect.y + rect.height - 1) // self._rows + 1))
        return sorted(bands)


def _packed(rows: np.ndarray) -> tuple[bytes, int, int]:
    """The IDAT chunk of some rows, and the Adler-32 and the length of the bytes in it."""
    plain = np.zeros((rows.shape[0], rows.shape[1] + 1), np.uint8)  # the first byte of a row names its filter: none
    plain[:, 1:] = rows
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(plain) + deflate.flush(zlib.Z_FULL_FLUSH)
    return _chunk(b"IDAT", packed), zlib.adler32(plain), plain.size


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def _combined(first: int, second: int, length: int) -> int:
    """The Adler-32 of two byte strings, one after the other, from those of each and the second's length (RFC 1950)."""
    a1, b1, a2, b2 = first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16
    a = (a1 + a2 - 1) % _ADLER
    b = (b1 + b2 + length * (a1 - 1)) % _ADLER
    return b << 16 | a
