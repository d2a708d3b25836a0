"""Location of icons, themes, style and translations in a frozen app, an installed wheel or a checkout."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import workbench

SOURCE_LANGUAGE = "en"  # language of the texts in the sources
# Languages of the window and of the model card, by locale name. Each one except the source language needs
# resources/i18n/workbench_<name>.ts, which resources/i18n/update.py creates.
LANGUAGES = {SOURCE_LANGUAGE: "English", "zh_CN": "简体中文"}


def matching_language(locale: str) -> str:
    """Return the entry of LANGUAGES for a locale name such as "zh_TW", by its language code; else the source one."""
    if locale in LANGUAGES:
        return locale
    code = locale.partition("_")[0]
    return next((name for name in LANGUAGES if name.partition("_")[0] == code), SOURCE_LANGUAGE)


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
