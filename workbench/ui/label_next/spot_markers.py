"""Spots on the canvas: numbered circles, and a bar below them that offers, counts and visits the spots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.session.spot_finder import SpotFinder
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactions.region_navigator import RegionNavigator
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.items.text_bar import DARK, END, HEIGHT, LIGHT, MARGIN, bar_width, draw_arrows, draw_bar

if TYPE_CHECKING:
    from workbench.core.label_next.spot_detection import Spot


_LEAST_RADIUS = 14.0  # logical pixels, so that a circle never covers what it marks
_TAG = 16.0  # logical pixels: height of a number
_RING = QColor("#4db8ff")


def add_spots(finder: SpotFinder, navigator: RegionNavigator, canvas: Canvas) -> SpotBar:
    """Add the circles and the bar to a canvas; return the bar."""
    bar = SpotBar(finder, navigator, canvas)
    canvas.add_item(SpotMarkers(finder, canvas))
    canvas.add_item(bar)
    return bar


class SpotMarkers(QObject, Interactor):
    """Numbered circles around the spots of the open image; transparent to pointer events."""

    def __init__(self, finder: SpotFinder, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._finder, self._canvas = finder, canvas
        self._drawn: QRect | None = None
        finder.changed.connect(self.refresh)
        canvas.content.changed.connect(self.refresh)

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Visible spots: none while overlays are hidden or something else than the labeled image is shown."""
        scene = self._canvas.scene
        hidden = scene.image is None or scene.overlays_hidden or scene.previewing or not self._canvas.content.page_fits
        return () if hidden else self._finder.spots

    def refresh(self) -> None:
        before, self._drawn = self._drawn, self.area
        for area in (before, self._drawn):
            self._canvas.renderer.update_overlay(area)

    @property
    def area(self) -> QRect | None:
        around = QRectF()
        for spot in self.spots:
            around = around.united(self._circle(spot).adjusted(-3, -_TAG - 3, _TAG + 3, 3))
        return None if around.isEmpty() else around.toAlignedRect()

    def _circle(self, spot: Spot) -> QRectF:
        view = self._canvas.view_state
        center = view.to_widget((spot.x + 0.5, spot.y + 0.5))
        radius = max(_LEAST_RADIUS, view.to_length(spot.radius))
        return QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius)

    def draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, spot in enumerate(self.spots, 1):
            circle = self._circle(spot)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((DARK, 3.6), (_RING, 1.8)):
                painter.setPen(QPen(color, width))
                painter.drawEllipse(circle)
            offset = circle.width() / 2 * math.sqrt(0.5)
            tag = QRectF(circle.center().x() + offset, circle.center().y() - offset - _TAG, _TAG, _TAG)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(DARK)
            painter.drawRoundedRect(tag, 4, 4)
            painter.setPen(LIGHT)
            painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, str(number))


class SpotBar(QObject, Interactor):
    """Bar at the bottom of the canvas: an offer to show spots, or their number with arrows to visit them in order.

    The right end of the offer declines it.
    """

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, finder: SpotFinder, navigator: RegionNavigator, canvas: Canvas) -> None:
        super().__init__(canvas)
        self.finder, self._navigator, self._canvas = finder, navigator, canvas
        self._number = 0  # of the visited spot, from 1; 0 before the first
        self._spots: tuple[Spot, ...] = ()
        self._drawn: QRect | None = None
        finder.changed.connect(self.refresh)
        canvas.content.changed.connect(self.refresh)

    def refresh(self) -> None:
        if self.finder.spots != self._spots:
            self._spots, self._number = self.finder.spots, 0
        before, self._drawn = self._drawn, self.area
        for area in (before, self._drawn):
            self._canvas.renderer.update_overlay(area)

    def text(self) -> str:
        """Return the text of the bar; "" if it is hidden."""
        finder, count = self.finder, len(self._spots)
        if self._canvas.scene.image is None or self._canvas.scene.previewing:
            return ""
        if finder.offered:
            return self.tr("Suggest where to look")
        if not finder.on or not finder.possible():
            return ""
        if finder.searching:
            return self.tr("Searching for spots…")
        if not count:
            return self.tr("No spot differs from the rest of the image")
        if not self._number:
            return self.tr("Spots: {count}").format(count=count)
        return self.tr("Spot {number} of {count}").format(number=self._number, count=count)

    @property
    def _ends(self) -> int:
        return 1 if self.finder.offered else 2  # the offer can be declined only

    @property
    def area(self) -> QRect | None:
        text, view = self.text(), self._canvas.view_state
        if not text:
            return None
        width = bar_width(self._canvas.renderer.font_metrics, text, ends=self._ends)
        area = QRect((round(view.width) - width) // 2, round(view.height) - HEIGHT - MARGIN, width, HEIGHT)
        minimap = self._canvas.minimap.area
        if minimap is not None and minimap.intersects(area):
            area.moveRight(minimap.left() - MARGIN)
        return area

    def covers(self, position: QPointF) -> bool:
        area = self.area
        return area is not None and area.contains(position.toPoint())

    def press(self, event: PointerEvent) -> bool:
        area, x = self.area, event.position.x()
        if area is None or not self.covers(event.position):
            return False
        if event.button != Qt.MouseButton.LeftButton:
            return True
        if self.finder.offered:
            if x > area.right() - END:
                self.finder.decline()
            else:
                self.finder.switch(True)
        elif self._spots:
            self.go(-1 if x < area.left() + END else 1)
        return True

    def go(self, step: int) -> None:
        """Show the next (1) or previous (-1) spot in order of strength, wrapping around."""
        if not self._spots:
            return
        count = len(self._spots)
        self._number = (self._number + step - 1) % count + 1 if self._number else (1 if step > 0 else count)
        spot = self._spots[self._number - 1]
        radius = max(1, spot.radius)
        self._navigator.show(Rect(spot.x - radius, spot.y - radius, 2 * radius + 1, 2 * radius + 1))
        self.refresh()

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        draw_bar(painter, area, self.text(), ends=self._ends)
        if self.finder.offered:
            x, middle = area.right() + 1 - END / 2, area.y() + area.height() / 2
            painter.drawLine(QPointF(x - 4, middle - 4), QPointF(x + 4, middle + 4))
            painter.drawLine(QPointF(x - 4, middle + 4), QPointF(x + 4, middle - 4))
        elif self._spots:
            draw_arrows(painter, area)
