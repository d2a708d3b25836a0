"""Escaping of untrusted text for terminals and spreadsheets."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls: in a file name they could
# clear the screen, forge a line or hide the suffix.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_UNSAFE_IN_BLOCK = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))

# Spreadsheet programs treat cells beginning with one of these as formulas; some also accept the full-width forms.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def terminal_text(text: str, *, block: bool = False) -> str:
    r"""Return `text` with control characters replaced by escapes such as ``\x1b``.

    block: keep line ends and tabs, for multi-line text.
    """
    return (_UNSAFE_IN_BLOCK if block else _UNSAFE).sub(_escape, text)


def csv_cell(value: Any) -> Any:
    """Return a value for a CSV cell; text that a spreadsheet would run as a formula gets a leading apostrophe.

    Text that is a number is unchanged.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value):
        return f"'{value}"
    return value


def csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV in UTF-8, with each cell as by `csv_cell`. Undecodable bytes of file names are kept."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(map(csv_cell, row) for row in rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def csv_table(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a CSV file: `csv_rows` after a byte order mark, as required by Excel."""
    return codecs.BOM_UTF8 + csv_rows(rows)


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) is not None
