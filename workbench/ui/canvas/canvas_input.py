"""Input of the canvas: distribution of pointer and key events to its interactors, and the gestures that move the view
or size the brush: drags, wheel and two-finger touchpad gestures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QNativeGestureEvent, QPointingDevice, QTabletEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.image_context import MAX_DIAMETER, ToolOptions, next_diameter
from workbench.ui.canvas.tools.tool_base import ENDING, Tool

STEP = 1.25  # zoom factor of one wheel notch
_PER_STEP = 60  # logical pixels of a two-finger scroll with Ctrl that equal one notch
_BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_Modifier = Qt.KeyboardModifier


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


class EventDispatcher:
    """Dispatcher of events to the interactors, from the top down.

    The interactor that handles a press owns the pointer until the button of that press is released; presses of other
    buttons are ignored meanwhile. While the tool owns the pointer, it alone receives keys.
    """

    def __init__(
        self,
        widget: QWidget,
        view: ViewState,
        scene: CanvasScene,
        tool: Tool,
        report_pixel: Callable[[tuple[int, int] | None], None],
    ) -> None:
        """report_pixel: called with (column, row) of the pixel under the pointer, or None."""
        self._widget, self._view, self._scene = widget, view, scene
        self._report_pixel = report_pixel
        self.position: QPointF | None = None  # of the pointer on the widget
        self._tool = tool
        self._interactors: tuple[Interactor, ...] = (tool,)  # topmost first
        self._owner: Interactor | None = None
        self._button = Qt.MouseButton.NoButton  # whose release ends the ownership
        self._covering: Interactor | None = None  # interactor under the pointer that covers the tool
        self._pressure, self._eraser_end = 1.0, False  # of a pen

    def arrange(self, interactors: tuple[Interactor, ...], tool: Tool) -> None:
        """Set the interactors, topmost first, and the tool among them."""
        self._interactors, self._tool = interactors, tool

    def release_tool(self) -> None:
        """Take the pointer from the tool, whose gesture was canceled."""
        if self._owner is self._tool:
            self._owner = None

    # --- pointer ---------------------------------------------------------------------------------

    def press(self, event: QMouseEvent) -> None:
        if self._owner is not None and event.buttons() == event.button():
            self._end_gesture(event)  # the only button that is down: the release of the owner's button was missed
        if self._owner is not None or self._scene.image is None:
            return
        press = self._pointer_event(event)
        for interactor in self._interactors:
            if interactor.press(press):
                if interactor.claims_pointer:
                    self._owner, self._button = interactor, event.button()
                    if interactor is not self._tool:
                        self.hover(event.position())
                return

    def move(self, event: QMouseEvent) -> None:
        if self._owner is not None:
            self._owner.move(self._pointer_event(event))
            if self._owner is not self._tool:
                return
        self.position = event.position()
        self.hover(self.position)

    def release(self, event: QMouseEvent) -> None:
        if self._owner is not None and event.button() == self._button:
            self._end_gesture(event)

    def _end_gesture(self, event: QMouseEvent) -> None:
        owner, self._owner = self._owner, None
        if owner is not None:
            owner.release(self._pointer_event(event))
        if owner is not self._tool:
            self.position = event.position()
            self.hover(self.position)

    def store_pen(self, event: QTabletEvent, *, uses_pressure: bool) -> None:
        """Store pressure and end of the pen for the mouse event that follows."""
        self._eraser_end = event.pointerType() == QPointingDevice.PointerType.Eraser
        lifted = event.type() == QEvent.Type.TabletRelease
        self._pressure = event.pressure() if uses_pressure and not lifted else 1.0

    def _pointer_event(self, event: QMouseEvent) -> PointerEvent:
        position, keys = event.position(), event.modifiers()
        return PointerEvent(
            point=self._view.image_point(position),
            position=position,
            global_position=event.globalPosition().toPoint(),
            button=event.button(),
            modifiers=keys,
            double=event.type() == QEvent.Type.MouseButtonDblClick,
            erase=self._eraser_end or bool(keys & _Modifier.ControlModifier),
            pressure=self._pressure,
        )

    # --- hover and cursor ------------------------------------------------------------------------

    def hover(self, position: QPointF | None) -> None:
        """Report a pointer position to the interactors; None if the pointer is outside.

        The owner of the pointer hides it from those above, a covering interactor and a tool in use from those below.
        """
        point: Point | None = None
        if position is not None and self._scene.image is not None:
            point = self._view.image_point(position)
        self._report_pixel(None if point is None else (math.floor(point[0]), math.floor(point[1])))
        self._covering, reached = None, self._owner is None
        for interactor in self._interactors:
            reached = reached or interactor is self._owner
            interactor.hover(point if reached else None)
            if point is not None and position is not None and reached:
                if interactor.covers(position):
                    self._covering, point = interactor, None
                elif interactor is self._owner is self._tool:
                    point = None
        self.update_cursor()

    def hover_again(self) -> None:
        """Report the present position after a change of the interactors."""
        self.hover(self.position)

    def update_cursor(self) -> None:
        shape: Qt.CursorShape | None = None
        for interactor in (self._owner, self._covering, self._tool):
            shape = interactor.cursor if interactor is not None and shape is None else shape
        if self._scene.image is None or shape is None:
            shape = Qt.CursorShape.ArrowCursor
        if shape != self._widget.cursor().shape():
            self._widget.setCursor(shape)

    # --- keys ------------------------------------------------------------------------------------

    def key_press(self, event: QKeyEvent) -> bool:
        """Return True if an interactor has handled the key."""
        painting = self._owner is self._tool
        for interactor in (self._tool,) if painting else self._interactors:
            if interactor.key(event):
                if painting and not self._tool.busy:
                    self._owner = None  # the key has ended the gesture
                return True
        return False

    def key_release(self, event: QKeyEvent) -> bool:
        return any(interactor.key_release(event) for interactor in self._interactors)

    def overrides_shortcut(self, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Return True if a key must reach the canvas although it is a shortcut of the window."""
        if self._owner is self._tool:
            return True  # during a stroke no shortcut may change the image
        if key in ENDING and self._tool.just_closed:
            return True
        plain = not modifiers & (_Modifier.ControlModifier | _Modifier.AltModifier)
        return plain and any(interactor.wants(key) for interactor in self._interactors)
