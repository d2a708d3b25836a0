"""Distribution of pointer and key events to the interactors of the canvas; holds the owner of the pointer."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPointingDevice, QTabletEvent
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.tool_base import ENDING, Tool

_Modifier = Qt.KeyboardModifier


class EventDispatcher:
    """Offers events to the interactors from the top down.

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
        """Take the pointer from the tool, whose gesture was cancelled."""
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
