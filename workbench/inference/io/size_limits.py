"""Limits on image size, checked against the header before decoding.

A file of a few kilobytes can expand to gigabytes. Two environment variables set the limits: WORKBENCH_MAX_MEGAPIXELS
(pixels of an image) and WORKBENCH_MAX_DECODED_MB (memory of an image decoded as a whole, of which its decoder may use
twice as much).
"""

from __future__ import annotations

import math
import os

MEGAPIXELS, DECODED = "WORKBENCH_MAX_MEGAPIXELS", "WORKBENCH_MAX_DECODED_MB"
_DEFAULTS = {MEGAPIXELS: 1000, DECODED: 2048}


def limit(name: str) -> float:
    """Return a limit: the value of its environment variable if that is a positive number, else the default."""
    try:
        value = float(os.environ.get(name, ""))
    except ValueError:
        return _DEFAULTS[name]
    return value if value > 0 and not math.isnan(value) else _DEFAULTS[name]


def decoded_bytes() -> int:
    """Return the memory limit in bytes for an image decoded as a whole."""
    return int(min(limit(DECODED) * (1 << 20), 1 << 62))


def size_problem(width: int, height: int, values: int = 0, size: int = 1, peak: int = 0) -> str:
    """Return the reason why an image is too large, a part of a sentence; "" if it is not.

    values: number of values decoded at once, of `size` bytes each; 0 if the image is not decoded as a whole. peak:
        bytes in use while it is decoded, of which at most twice the limit are allowed.
    """
    maximum = limit(MEGAPIXELS)
    if width * height > maximum * 1e6:
        return (
            f"its {width} x {height} pixels are over the limit of {maximum:g} megapixels"
            f" (the environment variable {MEGAPIXELS} changes it)"
        )
    maximum = limit(DECODED)
    needed = math.ceil(max(values * size, peak / 2) / (1 << 20))
    if needed > maximum:
        return (
            f"decoded it would take {needed} MB, over the limit of {maximum:g} MB"
            f" (the environment variable {DECODED} changes it)"
        )
    return ""
