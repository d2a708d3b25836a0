"""Location of icons, themes, style and translations in a frozen app, an installed wheel or a checkout."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import workbench

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}  # English is the language of the source texts


@cache
def folder() -> Path:
    """Return the folder `resources`. Raises FileNotFoundError with the paths that were tried."""
    package = Path(workbench.__file__).resolve().parent
    places = [package / "resources", package.parent / "resources"]
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen:
        places.insert(0, Path(frozen) / "resources")
    for place in places:
        if (place / "style.qss").is_file():
            return place
    raise FileNotFoundError("resources: looked in " + ", ".join(map(str, places)))


def path(relative: str) -> Path:
    """Return the path of a file below `resources`, for example "icons/brush.svg"."""
    return folder() / relative


def text(relative: str) -> str:
    """Return the content of a text file below `resources`."""
    return path(relative).read_text("utf-8")
