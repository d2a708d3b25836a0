"""Compact storage of mask pixels, used by undo and the journal."""

from __future__ import annotations

import zlib

import numpy as np

_PIXELS, _RUNS = b"P", b"R"  # kinds of packed data


def packed(contents: list[bytes]) -> bytes:
    """Pack the pixels of some areas: as runs of one id if these are short, as for nearly all labels.

    Runs are found several times faster than zlib processes the pixels, and are then compressed by zlib.
    """
    if not contents:
        return b""
    pixels = np.frombuffer(b"".join(contents), np.uint8)
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]), pixels.size - 1)
    if 10 * ends.size > pixels.size:
        return _PIXELS + zlib.compress(pixels, 1)
    lengths = np.diff(ends, prepend=-1).astype("<u4")
    return _RUNS + zlib.compress(pixels[ends].tobytes() + lengths.tobytes(), 1)


def unpacked(data: bytes, limit: int | None = None) -> np.ndarray:
    """Return the pixels, uint8. Raises ValueError or zlib.error for invalid data, or more than `limit` pixels."""
    if not data:
        return np.zeros(0, np.uint8)
    kind, most = data[:1], 0 if limit is None else limit * 5 + 1
    plain = np.frombuffer(zlib.decompressobj().decompress(data[1:], most), np.uint8)
    if kind == _PIXELS:
        return plain
    if kind != _RUNS or plain.size % 5:
        raise ValueError("areas packed in another way")
    ids, lengths = plain[: plain.size // 5], plain[plain.size // 5 :].view("<u4")
    if limit is not None and int(lengths.sum(dtype=np.int64)) != limit:
        raise ValueError("areas of another size")
    return np.repeat(ids, lengths)
