"""What else answers the pointer on the canvas, before the tools do: each guest has a place of its own or a modifier."""

from __future__ import annotations

from typing import Any, Protocol

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter

from workbench.core.display import Display
from workbench.core.drawing import Rect
from workbench.ui.canvas.viewport import Viewport

PRESS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
MOVE, RELEASE = QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease


class Host(Protocol):
    """What a guest sees of the canvas."""

    view: Viewport
    display: Display
    picture: Any  # None while nothing is shown
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
    def picture_point(self, position: QPointF) -> tuple[float, float]: ...
    def images(self, view: Viewport, part: Rect) -> list[QImage]: ...


class Guest(Protocol):
    """`area` is where it draws, logical pixels, or None."""

    @property
    def area(self) -> QRect | None: ...
    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        """True if the event of the pointer is this guest's; nobody else then sees it."""
        ...

    def draw(self, painter: QPainter) -> None: ...


class WindowDrag(QObject):
    """Shift + right drag, as in viewers of medical pictures: contrast across, brightness up and down."""

    def __init__(self, view: Host) -> None:
        super().__init__(view)
        self._view = view
        self._last: QPointF | None = None

    @property
    def area(self) -> QRect | None:
        return None

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        right, shift = Qt.MouseButton.RightButton, Qt.KeyboardModifier.ShiftModifier
        if kind in PRESS:
            begins = event.button() == right and event.modifiers() == shift and self._view.picture is not None
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
        middle = (display.low + display.high) / 2 + down / 400 * span  # a wider window moves in larger steps
        span = max(span * 1.006**-across, self._view.span / 2000)
        self._view.set_display(display.windowed(middle - span / 2, middle + span / 2))

    def draw(self, painter: QPainter) -> None:
        pass


class Curtain(QObject):
    """Keeps hands off a picture that is only a preview: its labels are not here yet."""

    area = None

    def __init__(self, view: Host) -> None:
        super().__init__(view)
        self._view = view

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        left = event.button() == Qt.MouseButton.LeftButton and not self._view.panning
        return self._view.previewing and kind in PRESS and left

    def draw(self, painter: QPainter) -> None:
        pass
