"""PNG writer for images of any size, given as bands, without holding the whole image in memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .atomic_write import replacing

_COMPRESSION_LEVEL = 2  # zlib level; higher levels are much slower and save little on photos
_UP_FILTER = 2  # difference to the row above, the fastest filter to compute with NumPy


def stream_png(path: Path | str, width: int, height: int, bands: Iterable[np.ndarray]) -> None:
    """Write an RGB image losslessly and atomically.

    bands: uint8 (h, width, 3), top to bottom, `height` rows in total.

    Raises OSError, and ValueError for other bands; no file is written then.
    """
    with replacing(path) as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        packer = zlib.compressobj(_COMPRESSION_LEVEL)
        previous_row, row_count = np.zeros((1, 3 * width), np.uint8), 0
        for band in bands:
            if band.dtype != np.uint8 or band.shape[1:] != (width, 3):
                raise ValueError(f"a band is uint8 (h, {width}, 3), not {band.dtype} {band.shape}")
            rows = np.ascontiguousarray(band).reshape(len(band), -1)
            filtered = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
            filtered[:, 0] = _UP_FILTER
            np.subtract(rows[:1], previous_row, out=filtered[:1, 1:])
            np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
            previous_row, row_count = rows[-1:].copy(), row_count + len(rows)
            _chunk(file, b"IDAT", packer.compress(filtered.data))
        if row_count != height:
            raise ValueError(f"there are {row_count} rows, not {height}")
        _chunk(file, b"IDAT", packer.flush())
        _chunk(file, b"IEND", b"")


def _chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    if data or kind == b"IEND":
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind))))
