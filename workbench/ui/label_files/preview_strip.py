"""Thumbnails of imported labels, drawn over their images."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.project.import_plan import PlannedPreview
from workbench.core.project.project import DONT_CARE
from workbench.ui.widgets.theme import ThemeManager

_OPACITY = 0.55
_GAP = 8  # px
_CAPTION = 18  # px

Color = Callable[[str], str | None]  # class name in the labels -> "#rrggbb", None if the class is ignored


class PreviewStrip(QWidget):
    """Grid of thumbnails, as many as fit."""

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self._images: list[tuple[str, QImage]] = []
        self.setMinimumSize(QSize(250, 150))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview of the labels"))

    def show_previews(self, previews: Sequence[PlannedPreview], color: Color) -> None:
        """Show labels over their images. color: returns the color of a class."""
        self._images = [(preview.key.rpartition("/")[2], _drawn(preview, color)) for preview in previews]
        self.setToolTip("\n".join(preview.key for preview in previews))
        self.update()

    def paintEvent(self, event) -> None:
        if not self._images:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(self._style.theme.color("muted"))
        columns, rows = _grid(self.width(), self.height(), len(self._images))
        width = (self.width() - _GAP * (columns - 1)) // columns
        height = (self.height() - _GAP * (rows - 1)) // rows
        for place, (name, image) in enumerate(self._images[: columns * rows]):
            x, y = place % columns * (width + _GAP), place // columns * (height + _GAP)
            size = image.size().scaled(width, height - _CAPTION, Qt.AspectRatioMode.KeepAspectRatio)
            left, top = x + (width - size.width()) // 2, y + (height - _CAPTION - size.height()) // 2
            painter.drawImage(QRect(left, top, size.width(), size.height()), image)
            text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, width)
            painter.drawText(QRect(x, y + height - _CAPTION, width, _CAPTION), Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


def _grid(width: int, height: int, count: int) -> tuple[int, int]:
    """Return columns and rows for cells of about 120 px."""
    columns = max(1, min(count, width // 120))
    return columns, max(1, min(-(-count // columns), height // 110))


def _drawn(preview: PlannedPreview, color: Color) -> QImage:
    """Return the image with the regions of its label in the colors of their classes."""
    gray = preview.image if preview.image.ndim == 3 else np.repeat(preview.image[..., None], 3, axis=2)
    pixels = gray.astype(np.float32)
    for id in np.unique(preview.mask).tolist():
        name = color(preview.names[id]) if id in preview.names else "#a0a0a0" if id == DONT_CARE else None
        if name is None:
            continue
        inside = preview.mask == id
        rgb = np.array(QColor(name).getRgb()[:3], np.float32)
        pixels[inside] = pixels[inside] * (1 - _OPACITY) + rgb * _OPACITY
    data = np.ascontiguousarray(pixels.astype(np.uint8))
    height, width = data.shape[:2]
    return QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
