"""Gestures that move the view or size the brush: drags, wheel and two-finger touchpad gestures."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent, QWheelEvent

from workbench.ui.canvas.layers.viewport import Viewport
from workbench.ui.canvas.tools.tool_base import MAX_DIAMETER

STEP = 1.25  # zoom factor of one wheel notch
_PER_STEP = 60  # logical pixels of a two-finger scroll with Ctrl that equal one notch
_BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class NavigationTarget(Protocol):
    """Part of the canvas used by the gestures."""

    diameter: int
    view: Viewport

    @property
    def fitted(self) -> bool: ...
    def devicePixelRatioF(self) -> float: ...
    def screen_point(self, position: QPointF) -> tuple[float, float]: ...
    def set_view(self, view: Viewport) -> None: ...
    def set_diameter(self, diameter: int) -> None: ...
    def change_diameter(self, steps: int) -> None: ...
    def fit(self) -> None: ...


class Navigation:
    """View gestures. `held` is "pan" or "size" during such a drag, else empty."""

    def __init__(self, canvas: NavigationTarget) -> None:
        self._canvas = canvas
        self.held = ""
        self._last = QPointF()
        self._diameter = 0
        self._rest = QPointF()  # fraction of a pixel left over from a slow scroll

    # --- drags -----------------------------------------------------------------------------------

    def take(self, what: str, position: QPointF) -> None:
        self.held, self._last, self._diameter = what, position, self._canvas.diameter

    def drag(self, position: QPointF) -> None:
        canvas, ratio = self._canvas, self._canvas.devicePixelRatioF()
        if self.held == "size":
            away = (position.x() - self._last.x()) * ratio / canvas.view.scale
            canvas.set_diameter(min(max(1, round(self._diameter + 2 * away)), MAX_DIAMETER))
        else:
            dx, dy = self._pan(position - self._last)
            self._last += QPointF(dx / ratio, dy / ratio)

    def let_go(self) -> None:
        self.held = ""

    def _pan(self, by: QPointF) -> tuple[int, int]:
        """Pan by a logical distance, rounded to whole device pixels. Return the distance moved in device pixels."""
        ratio = self._canvas.devicePixelRatioF()
        dx, dy = round(by.x() * ratio), round(by.y() * ratio)
        self._canvas.set_view(self._canvas.view.moved(dx, dy))
        return dx, dy

    # --- wheel and fingers -----------------------------------------------------------------------

    def wheel(self, event: QWheelEvent) -> bool:
        """Zoom at the pointer or size the brush. A two-finger scroll pans the image."""
        keys, fingers = event.modifiers(), event.pixelDelta()
        if event.phase() != Qt.ScrollPhase.NoScrollPhase and not (fingers.isNull() and event.angleDelta().isNull()):
            by = QPointF(fingers) if not fingers.isNull() else QPointF(event.angleDelta()) / 2
            if keys & Qt.KeyboardModifier.ControlModifier:
                self._zoom(STEP ** (by.y() / _PER_STEP), event.position())
            else:
                by += self._rest
                ratio = self._canvas.devicePixelRatioF()
                dx, dy = self._pan(by)
                self._rest = by - QPointF(dx / ratio, dy / ratio)
            return True
        turns = event.angleDelta().y() / 120 or event.angleDelta().x() / 120  # Alt swaps the axes of the wheel
        if not turns:
            return False
        if keys & _BOTH == _BOTH:
            self._canvas.change_diameter(1 if turns > 0 else -1)
        else:
            self._zoom(STEP**turns, event.position())
        return True

    def gesture(self, event: QNativeGestureEvent) -> bool:
        """Handle pinch (zoom) and two-finger double tap (fit the image, or 100 % if it is fitted)."""
        kind, at = event.gestureType(), event.position()
        if kind == Qt.NativeGestureType.ZoomNativeGesture:
            self._zoom(min(max(1 + event.value(), 0.2), 5.0), at)
        elif kind == Qt.NativeGestureType.PanNativeGesture:
            self._pan(event.delta())
        elif kind == Qt.NativeGestureType.SmartZoomNativeGesture and self._canvas.fitted:
            self._canvas.set_view(self._canvas.view.at_scale(1.0, *self._canvas.screen_point(at)))
        elif kind == Qt.NativeGestureType.SmartZoomNativeGesture:
            self._canvas.fit()
        else:
            return False
        return True

    def _zoom(self, factor: float, at: QPointF) -> None:
        self._canvas.set_view(self._canvas.view.zoomed(factor, *self._canvas.screen_point(at)))
