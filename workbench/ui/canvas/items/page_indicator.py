"""Page indicator at the top of the canvas; a click on its ends turns the page."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF

from workbench.session.image_pages import ImagePages
from workbench.ui.canvas.items.canvas_items import PRESS, RELEASE, CanvasItemHost

_HEIGHT, _END, _MARGIN = 26, 28, 10
_DARK, _LIGHT = QColor(18, 20, 22, 215), QColor(231, 233, 235)


class PageSource(CanvasItemHost, Protocol):
    """Canvas that can show a page in place of its image."""

    page_fits: bool


class PageIndicator(QObject):
    """Page indicator, visible only if a file has several pages."""

    def __init__(self, view: PageSource, pages: ImagePages) -> None:
        super().__init__(view)
        self._view, self._pages = view, pages
        self._shown: QRect | None = None
        pages.changed.connect(self.refresh)

    def refresh(self) -> None:
        old, self._shown = self._shown, self.area
        for area in (old, self._shown):
            if area is not None:
                self._view.update(area.adjusted(-2, -2, 2, 2))

    def text(self) -> str:
        said = self.tr("Page {number} of {count}").format(number=self._pages.number + 1, count=self._pages.count)
        return said if self._view.page_fits else said + self.tr(" – of another size: labels lie on page 1")

    @property
    def area(self) -> QRect | None:
        if not self._pages.possible() or self._view.image is None:
            return None
        width = self._view.fontMetrics().horizontalAdvance(self.text()) + 2 * _END + 12
        return QRect((self._view.width() - width) // 2, _MARGIN, width, _HEIGHT)

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        area, at = self.area, event.position().toPoint()
        if area is None or not area.contains(at):
            return False
        if kind in PRESS and event.button() == Qt.MouseButton.LeftButton:
            if at.x() < area.left() + _END:
                self._pages.go(-1)
            elif at.x() > area.right() - _END:
                self._pages.go(1)
            return True
        # A stroke begun outside continues under the indicator.
        return kind in PRESS or (kind != RELEASE and event.buttons() == Qt.MouseButton.NoButton)

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(255, 255, 255, 40), 1))
        painter.setBrush(_DARK)
        painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(_LIGHT)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self.text())
        painter.setPen(QPen(_LIGHT, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        middle = area.y() + area.height() / 2
        for x, side in ((area.left() + _END / 2, 1), (area.right() + 1 - _END / 2, -1)):
            painter.drawPolyline(
                QPolygonF(
                    [
                        QPointF(x + 2.5 * side, middle - 4.5),
                        QPointF(x - 2.5 * side, middle),
                        QPointF(x + 2.5 * side, middle + 4.5),
                    ]
                )
            )
        painter.restore()
