"""Escaping of untrusted text for terminals and spreadsheets.

Natural order of file names: numbers by value.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_DIGITS = re.compile(r"(\d+)")


def natural_key(text: object) -> list[str | int]:
    """Return a key for natural sorting: numbers by value, letters case-insensitively."""
    parts: list[str | int] = _DIGITS.split(str(text).casefold())
    parts[1::2] = map(int, parts[1::2])
    return parts


# Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls: in a file name they could
# clear the screen, forge a line or hide the suffix.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NO_CHARACTER = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates that stand for no byte of a file name
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
    """Return rows as CSV in UTF-8, with each cell as by `csv_cell`.

    Undecodable bytes of file names are kept. Other characters that are none, as in a damaged file, are replaced.
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows(map(csv_cell, row) for row in rows)
    return _NO_CHARACTER.sub("\ufffd", text.getvalue()).encode("utf-8", "surrogateescape")


def csv_table(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a CSV file: `csv_rows` after a byte order mark, as required by Excel."""
    return codecs.BOM_UTF8 + csv_rows(rows)


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) is not None


SUFFIX = "-metadata.json"  # after the name of the table

REGION_DEFINITIONS: Mapping[str, str] = {
    "picture": "path of the image",
    "image": "path of the image in the project",
    "class": "name of the class",
    "class_id": "value of the class in the mask",
    "x": "left side of the bounding box, pixels from the left edge of the image",
    "y": "upper side of the bounding box, pixels from the upper edge of the image",
    "width": "width of the bounding box; along the rows of the image, not of the region",
    "height": "height of the bounding box; along the columns of the image, not of the region",
    "area": "number of pixels",
    "centroid_x": "mean x of the pixels; the center of the first pixel is 0",
    "centroid_y": "mean y of the pixels; the center of the first pixel is 0",
    "score": "mean probability of the pixels, 0 to 1",
    "peak": "maximum probability of the pixels, 0 to 1",
    "feret_max": "length: greatest distance of two parallel lines that enclose the corners of all pixels (Feret)",
    "feret_min": "width: least distance of two parallel lines that enclose the corners of all pixels (Feret)",
}

_UNITS = {"px": "pixels", "mm": "mm", "mm2": "mm²", "um": "µm", "um2": "µm²"}
_PARTS = {"min": "minimum", "median": "median", "p90": "90th percentile", "max": "maximum", "mean": "mean"}


def csv_metadata(table: str, columns: Sequence[str], definitions: Mapping[str, str] = REGION_DEFINITIONS) -> bytes:
    """Return the content of the file beside a table of this file name, UTF-8.

    columns: names of its columns: a key of `definitions`, with a statistic and a unit appended where it has them.
    """
    described = [(column, _describe(column, definitions)) for column in columns]
    content = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": table,
        "dialect": {"encoding": "utf-8", "header": True},
        "tableSchema": {
            "columns": [{"name": name, **({"dc:description": text} if text else {})} for name, text in described]
        },
    }
    return json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _describe(column: str, definitions: Mapping[str, str]) -> str:
    """Return the definition of a column, "" for a name that has none, such as that of a verdict."""
    names = [name for name in definitions if column == name or column.startswith(f"{name}_")]
    if not names:
        return ""
    key = max(names, key=len)
    text = definitions[key]
    for word in column[len(key) :].split("_"):
        text = f"{_PARTS[word]} over the regions: {text}" if word in _PARTS else text
        text += f"; in {_UNITS[word]}" if word in _UNITS else ""
    return text
