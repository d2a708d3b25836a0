"""Definitions of the columns of a CSV file, in a JSON file beside it (CSV on the Web, W3C 2015)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

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
