"""Pixels of a mask as few bytes: how undo and the journal keep what a step changed."""

from __future__ import annotations

import zlib

import numpy as np

_PIXELS, _RUNS = b"P", b"R"  # how pixels are packed


def packed(contents: list[bytes]) -> bytes:
    """Pixels of some areas as bytes: runs of one id where that is short, which labels nearly always are.

    Runs are several times as quick to find as zlib is over the pixels, and are packed by zlib after that.
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
    """The pixels, uint8. Raises ValueError or zlib.error for what is not packed, or more than `limit` of them."""
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
