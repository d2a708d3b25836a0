"""Dialog for the scale of the images in µm/pixel, entered directly or as the true length of a measured line."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.session.display_presets import DisplayPresets
from workbench.ui.canvas.items.ruler import Ruler
from workbench.ui.shortcuts import key_text
from workbench.ui.text import formatting

_MIN, _MAX = 1e-4, 1e7


def ask_scale(parent: QWidget, ruler: Ruler, presets: DisplayPresets) -> None:
    """Ask for the project's scale and set it. If the ruler holds a line, its true length in µm is asked for."""
    title = QCoreApplication.translate("scale", "Image scale")
    scale = presets.um_per_pixel or 1.0
    pixels = ruler.length
    if pixels:
        text = QCoreApplication.translate("scale", "True length of the measured line ({length}) in µm:")
        text = text.format(length=formatting.length(pixels))
    else:
        text = QCoreApplication.translate("scale", "µm per pixel. Press {key} to measure a line of known length first.")
        text = text.format(key=key_text("ruler"))
    value, accepted = QInputDialog.getDouble(parent, title, text, scale * (pixels or 1.0), _MIN, _MAX, 4)
    if accepted:
        presets.set_scale(value / (pixels or 1.0))
