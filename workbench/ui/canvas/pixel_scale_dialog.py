"""Dialog for the scale of the images in µm/pixel, entered directly or as the true length of a measured line."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.session.display_presets import DisplayPresets
from workbench.ui.canvas.items.ruler import Ruler
from workbench.ui.text import formatting

_LEAST, _MOST = 1e-4, 1e7


def ask_scale(parent: QWidget, ruler: Ruler, shelf: DisplayPresets) -> None:
    """Ask for the project's scale and set it. If the ruler holds a line, its true length in µm is asked for."""
    title = QCoreApplication.translate("scale", "Scale of the pictures")
    now = shelf.um_per_pixel or 1.0
    pixels = ruler.length
    if pixels:
        says = QCoreApplication.translate("scale", "The measured line is {length} long. Its true length in µm:")
        text = says.format(length=formatting.length(pixels))
    else:
        text = QCoreApplication.translate("scale", "Micrometres a pixel; measure a line of known length first (M):")
    found, wanted = QInputDialog.getDouble(parent, title, text, now * (pixels or 1.0), _LEAST, _MOST, 4)
    if wanted:
        shelf.set_scale(found / (pixels or 1.0))
