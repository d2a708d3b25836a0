"""Gestures that move the view or size the brush: drags, wheel and two-finger touchpad gestures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QNativeGestureEvent, QWheelEvent

from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.tool_options import MAX_DIAMETER, ToolOptions, next_diameter

STEP = 1.25  # zoom factor of one wheel notch
_PER_STEP = 60  # logical pixels of a two-finger scroll with Ctrl that equal one notch
_BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class Navigation(QObject, Interactor):
    """Middle or Space + left drag pans, Alt + right drag sizes the brush, the wheel zooms.

    `show_pan_cursor`: Space shows the open-hand cursor; False until it is known that Space is held to pan.
    """

    drag_started = Signal()
    pan_key_changed = Signal(bool)  # Space is pressed or released

    def __init__(
        self, view: ViewState, options: ToolOptions, set_diameter: Callable[[int], None], parent: QObject
    ) -> None:
        """set_diameter: called with the new brush diameter in image pixels."""
        super().__init__(parent)
        self._view, self._options, self._set_diameter = view, options, set_diameter
        self.pan_key = self.show_pan_cursor = False
        self._drag: Literal["", "pan", "size"] = ""
        self._last = QPointF()
        self._diameter = 0
        self._rest = QPointF()  # fraction of a pixel left over from a slow scroll

    # --- drags -----------------------------------------------------------------------------------

    def press(self, event: PointerEvent) -> bool:
        left = event.button == Qt.MouseButton.LeftButton
        alt = bool(event.modifiers & Qt.KeyboardModifier.AltModifier)
        if event.button == Qt.MouseButton.MiddleButton or (left and self.pan_key):
            self._drag = "pan"
        elif event.button == Qt.MouseButton.RightButton and alt:
            self._drag = "size"
        else:
            return False
        self._last, self._diameter = event.position, self._options.diameter
        self.drag_started.emit()
        return True

    def move(self, event: PointerEvent) -> None:
        if self._drag == "size":
            away = (event.position.x() - self._last.x()) / self._view.to_length(1)
            self._set_diameter(min(max(1, round(self._diameter + 2 * away)), MAX_DIAMETER))
        else:
            self._last = self._last + self._pan(event.position - self._last)

    def release(self, event: PointerEvent) -> None:
        self._drag = ""

    def covers(self, position: QPointF) -> bool:
        return self._drag == "pan" or self.pan_key

    @property
    def cursor(self) -> Qt.CursorShape | None:
        if self._drag == "pan":
            return Qt.CursorShape.ClosedHandCursor
        return Qt.CursorShape.OpenHandCursor if self.show_pan_cursor else None

    def _pan(self, by: QPointF) -> QPointF:
        """Pan by a logical distance, rounded to whole device pixels. Return the rounded distance, logical pixels."""
        ratio = self._view.ratio
        dx, dy = round(by.x() * ratio), round(by.y() * ratio)
        self._view.set(self._view.viewport.moved(dx, dy))
        return QPointF(dx / ratio, dy / ratio)

    # --- keys ------------------------------------------------------------------------------------

    def key(self, event: QKeyEvent) -> bool:
        space = event.key() == Qt.Key.Key_Space
        if space and not event.isAutoRepeat():
            self._set_pan_key(True)
        return space

    def key_release(self, event: QKeyEvent) -> bool:
        space = event.key() == Qt.Key.Key_Space
        if space:
            self._set_pan_key(False)
        return space

    def _set_pan_key(self, on: bool) -> None:
        self.pan_key, self.show_pan_cursor = on, on
        self.pan_key_changed.emit(on)

    def reset(self) -> None:
        """Forget the pressed key when the canvas loses the focus."""
        self.pan_key = self.show_pan_cursor = False

    # --- wheel and fingers -----------------------------------------------------------------------

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom at the pointer or size the brush. A two-finger scroll pans the image."""
        keys, pixel_delta = event.modifiers(), event.pixelDelta()
        if event.phase() != Qt.ScrollPhase.NoScrollPhase and not (pixel_delta.isNull() and event.angleDelta().isNull()):
            by = QPointF(pixel_delta) if not pixel_delta.isNull() else QPointF(event.angleDelta()) / 2
            if keys & Qt.KeyboardModifier.ControlModifier:
                self._view.zoom_at(STEP ** (by.y() / _PER_STEP), event.position())
            else:
                by += self._rest
                self._rest = by - self._pan(by)
            return
        turns = event.angleDelta().y() / 120 or event.angleDelta().x() / 120  # Alt swaps the axes of the wheel
        if turns and keys & _BOTH == _BOTH:
            self._set_diameter(next_diameter(self._options.diameter, 1 if turns > 0 else -1))
        elif turns:
            self._view.zoom_at(STEP**turns, event.position())

    def gesture(self, event: QNativeGestureEvent) -> bool:
        """Handle pinch (zoom) and two-finger double tap (fit the image, or 100 % if it is fitted)."""
        kind, position = event.gestureType(), event.position()
        if kind == Qt.NativeGestureType.ZoomNativeGesture:
            self._view.zoom_at(min(max(1 + event.value(), 0.2), 5.0), position)
        elif kind == Qt.NativeGestureType.PanNativeGesture:
            self._pan(event.delta())
        elif kind == Qt.NativeGestureType.SmartZoomNativeGesture and self._view.fitted:
            self._view.set(self._view.viewport.at_scale(1.0, *self._view.device_point(position)))
        elif kind == Qt.NativeGestureType.SmartZoomNativeGesture:
            self._view.fit()
        else:
            return False
        return True
