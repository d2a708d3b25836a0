"""Text patterns with fields and with English words that depend on a number, such as `{n} {n:image|images}`.

Unique names for files and folders, and lists of names on a command line.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def numbered_names(stem: str, suffix: str = "") -> Iterator[str]:
    """Yield "stem", "stem-2", "stem-3", … without end, each followed by `suffix`."""
    yield f"{stem}{suffix}"
    for number in itertools.count(2):
        yield f"{stem}-{number}{suffix}"


def free_path(folder: Path, stem: str, suffix: str = "") -> Path:
    """Return the first path of `numbered_names` in `folder` that does not exist."""
    return next(path for name in numbered_names(stem, suffix) if not (path := folder / name).exists())


def split_names(text: str) -> list[str]:
    """Split a comma-separated list, without surrounding spaces and empty entries."""
    return [part.strip() for part in text.split(",") if part.strip()]


def is_text(name: str) -> bool:
    """Return False for a file name in bytes that are no UTF-8, which Python represents by lone surrogates."""
    return name.isascii() or not _SURROGATE.search(name)


def as_text(name: str) -> str:
    """Return a file name with escapes for its bytes that are no UTF-8, for files that hold text only."""
    return name.encode("utf-8", "backslashreplace").decode()


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return super().format_field(value, format_spec)
        one, many = format_spec.split("|", 1)
        return one if str(value) == "1" else many


_FORMATTER = _Formatter()
_PERIODS = (".", "。")
_SENTENCE_END = re.compile(r"[^\s./\\][.。]$")  # not the folders . and ..


def fill(pattern: str, /, **fields: Any) -> str:
    """Return a pattern with its fields filled in; `{n:one|many}` is `one` if n is 1 or "1", otherwise `many`.

    A field may be a sentence: its period is dropped before a period of the pattern.
    Raises KeyError or IndexError for a missing field and ValueError for a damaged pattern.
    """
    text, value = "", ""
    for literal, name, format_spec, conversion in _FORMATTER.parse(pattern):
        if literal.startswith(_PERIODS) and _SENTENCE_END.search(value):
            text = text[:-1]
        text += literal
        if name is None:
            value = ""
            continue
        field, _ = _FORMATTER.get_field(name, (), fields)
        value = _FORMATTER.format_field(_FORMATTER.convert_field(field, conversion), format_spec or "")
        text += value
    return text


def counted(number: int, noun: str) -> str:
    """Return a number with its English noun in the singular or with an s, such as "1 image" or "2 images"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
