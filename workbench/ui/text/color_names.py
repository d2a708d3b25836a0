"""Names of colors in words, for users who do not distinguish them by sight and for screen readers."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtGui import QColor

from workbench.inference.io.opencv import cv2

# Name of each color of `core.project.project_file.PALETTE`, and of other common colors.
COLOR_NAMES: dict[str, str] = {
    "#e69f00": QT_TRANSLATE_NOOP("colors", "Amber"),
    "#56b4e9": QT_TRANSLATE_NOOP("colors", "Sky blue"),
    "#d55e00": QT_TRANSLATE_NOOP("colors", "Vermilion"),
    "#009e73": QT_TRANSLATE_NOOP("colors", "Green"),
    "#cc79a7": QT_TRANSLATE_NOOP("colors", "Mauve"),
    "#f0e442": QT_TRANSLATE_NOOP("colors", "Yellow"),
    "#0072b2": QT_TRANSLATE_NOOP("colors", "Blue"),
    "#ff5c8a": QT_TRANSLATE_NOOP("colors", "Pink"),
    "#7fdb6a": QT_TRANSLATE_NOOP("colors", "Light green"),
    "#b48cff": QT_TRANSLATE_NOOP("colors", "Violet"),
    "#00c2c7": QT_TRANSLATE_NOOP("colors", "Turquoise"),
    "#ff9b54": QT_TRANSLATE_NOOP("colors", "Apricot"),
    "#c5e063": QT_TRANSLATE_NOOP("colors", "Lime"),
    "#8fa8ff": QT_TRANSLATE_NOOP("colors", "Light blue"),
    "#ff6ad5": QT_TRANSLATE_NOOP("colors", "Magenta"),
    "#5ad1a4": QT_TRANSLATE_NOOP("colors", "Mint"),
    "#1e30d0": QT_TRANSLATE_NOOP("colors", "Blue"),
    "#e02020": QT_TRANSLATE_NOOP("colors", "Red"),
    "#8b1a1a": QT_TRANSLATE_NOOP("colors", "Dark red"),
    "#8b5a2b": QT_TRANSLATE_NOOP("colors", "Brown"),
    "#7d7d00": QT_TRANSLATE_NOOP("colors", "Olive"),
    "#1c5a1c": QT_TRANSLATE_NOOP("colors", "Dark green"),
    "#14285a": QT_TRANSLATE_NOOP("colors", "Navy"),
    "#7a1fa2": QT_TRANSLATE_NOOP("colors", "Purple"),
    "#000000": QT_TRANSLATE_NOOP("colors", "Black"),
    "#606060": QT_TRANSLATE_NOOP("colors", "Dark gray"),
    "#a0a0a0": QT_TRANSLATE_NOOP("colors", "Gray"),
    "#d2d2d2": QT_TRANSLATE_NOOP("colors", "Light gray"),
    "#ffffff": QT_TRANSLATE_NOOP("colors", "White"),
}


def color_name(color: str | QColor) -> str:
    """Return the name of the nearest named color by distance in CIELAB, in the language of the window."""
    distances = np.linalg.norm(_lab(list(COLOR_NAMES)) - _lab([QColor(color).name()]), axis=1)
    return QCoreApplication.translate("colors", list(COLOR_NAMES.values())[int(distances.argmin())])


def _lab(colors: list[str]) -> np.ndarray:
    """Return CIELAB values, float32 (n, 3), of colors written as #rrggbb."""
    rgb = np.array([[int(color[start : start + 2], 16) for start in (1, 3, 5)] for color in colors], np.float32)
    return cv2.cvtColor(rgb[None] / 255, cv2.COLOR_RGB2LAB)[0]
