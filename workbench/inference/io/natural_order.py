"""Natural order of file names: numbers by value."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")


def natural_key(text: object) -> list[str | int]:
    """Return a key for natural sorting: numbers by value, letters case-insensitively."""
    parts: list[str | int] = _DIGITS.split(str(text).casefold())
    parts[1::2] = map(int, parts[1::2])
    return parts
