"""Text patterns with fields and with English words that depend on a number, such as `{n} {n:image|images}`."""

from __future__ import annotations

import string
from typing import Any


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return super().format_field(value, format_spec)
        one, many = format_spec.split("|", 1)
        return one if str(value) == "1" else many


_FORMATTER = _Formatter()


def fill(pattern: str, /, **fields: Any) -> str:
    """Return a pattern with its fields filled in; `{n:one|many}` is `one` if n is 1 or "1", otherwise `many`.

    Raises KeyError or IndexError for a missing field and ValueError for a damaged pattern.
    """
    return _FORMATTER.vformat(pattern, (), fields)


def counted(number: int, noun: str) -> str:
    """Return a number with its English noun in the singular or with an s, such as "1 image" or "2 images"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
