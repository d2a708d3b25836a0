"""Items that handle pointer events on the canvas before the tools, each by its own area or modifier."""

from __future__ import annotations

from typing import Any, Protocol

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import Display
from workbench.ui.canvas.layers.viewport import Viewport

PRESS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
MOVE, RELEASE = QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease


class CanvasItemHost(Protocol):
    """Part of the canvas used by guests."""

    view: Viewport
    display: Display
    image: Any  # None while no image is shown
    previewing: bool
    backdrop: QColor
    frame: QColor

    @property
    def panning(self) -> bool: ...
    @property
    def span(self) -> float: ...
    def width(self) -> int: ...
    def height(self) -> int: ...
    def devicePixelRatioF(self) -> float: ...
    def fontMetrics(self) -> QFontMetrics: ...
    def update(self, area: QRect) -> None: ...
    def set_view(self, view: Viewport) -> None: ...
    def set_display(self, display: Display) -> None: ...
    def image_point(self, position: QPointF) -> tuple[float, float]: ...
    def images(self, view: Viewport, part: Rect) -> list[QImage]: ...


class CanvasItem(Protocol):
    """Item over the canvas. `area` is the drawn rectangle in logical pixels, or None."""

    @property
    def area(self) -> QRect | None: ...
    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        """Return True if this guest handles the pointer event; no other receiver gets the event then."""
        ...

    def draw(self, painter: QPainter) -> None: ...


class WindowLevelDrag(QObject):
    """Shift + right drag as in medical image viewers: contrast horizontally, brightness vertically."""

    def __init__(self, view: CanvasItemHost) -> None:
        super().__init__(view)
        self._view = view
        self._last: QPointF | None = None

    @property
    def area(self) -> QRect | None:
        return None

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        right, shift = Qt.MouseButton.RightButton, Qt.KeyboardModifier.ShiftModifier
        if kind in PRESS:
            begins = event.button() == right and event.modifiers() == shift and self._view.image is not None
            if begins:
                self._last = event.position()
            return begins or self._last is not None
        if self._last is None:
            return False
        if kind == RELEASE:
            if event.button() == right:
                self._last = None
            return True
        by, self._last = event.position() - self._last, event.position()
        self._drag(by.x(), by.y())
        return True

    def _drag(self, across: float, down: float) -> None:
        display = self._view.display
        span = display.high - display.low
        middle = (display.low + display.high) / 2 + down / 400 * span  # steps are proportional to the window width
        span = max(span * 1.006**-across, self._view.span / 2000)
        self._view.set_display(display.windowed(middle - span / 2, middle + span / 2))

    def draw(self, painter: QPainter) -> None:
        pass


class PreviewGuard(QObject):
    """Guest that blocks tools while a preview is shown, because the labels are not loaded yet."""

    area = None

    def __init__(self, view: CanvasItemHost) -> None:
        super().__init__(view)
        self._view = view

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        left = event.button() == Qt.MouseButton.LeftButton and not self._view.panning
        return self._view.previewing and kind in PRESS and left

    def draw(self, painter: QPainter) -> None:
        pass
