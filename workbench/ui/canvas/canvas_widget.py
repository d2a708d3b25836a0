"""Canvas widget: view of the open image whose pointer and key events are handled by tools and other interactors."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPointingDevice
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.selection import Point
from workbench.session.session import Session
from workbench.ui.canvas.canvas_content import CanvasContent
from workbench.ui.canvas.interactions.context_menu import ContextMenu
from workbench.ui.canvas.interactions.suggestion_interactor import SuggestionInteractor
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.items.display_items import ClassPicker, PreviewGuard, WindowLevelDrag
from workbench.ui.canvas.items.minimap import Minimap
from workbench.ui.canvas.items.ruler import Ruler
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.viewport import Viewport
from workbench.ui.canvas.navigation import Navigation
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.region_tool import RegionTool
from workbench.ui.canvas.tools.tool_base import ENDING, Tool
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.canvas.tools.tool_options import ToolOptions, next_diameter
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.canvas.tools.tool_tasks import ToolTasks
from workbench.ui.canvas.view_state import ViewState
from workbench.ui.widgets.editor_keys import TEXTS

_Key, _Modifier = Qt.Key, Qt.KeyboardModifier


class Canvas(QWidget):
    """Widget composed of the view (zoom, pan), the scene (layers), its renderer, and interactors.

    Events are offered to the interactors from the top down. The interactor that handles a press owns the pointer until
    the button of that press is released; presses of other buttons are ignored meanwhile.
    """

    tool_changed = Signal(str)
    brush_changed = Signal(int)  # diameter in image pixels
    hovered = Signal(object)  # (column, row) or None
    refused = Signal(str)  # reason nothing was painted: "no mask", "read-only", "no class", "too large", "locked", …
    measured = Signal(str, float)  # name and value of a tool's measurement
    region_chosen = Signal(object)  # SelectedRegion or None

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.view_state = ViewState(self)
        self.scene = CanvasScene(self.view_state, self)
        self.renderer = SceneRenderer(self, self.view_state, self.scene)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Image"))
        self.setAccessibleDescription(self.tr("Current image with labels. Press F1 for keyboard shortcuts."))
        self.content = CanvasContent(session, self.scene, self)
        self.options = ToolOptions(self)
        self.tasks = ToolTasks(self)
        context = ToolContext(
            session=session,
            content=self.content,
            view=self.view_state,
            renderer=self.renderer,
            options=self.options,
            tasks=self.tasks,
            refuse=self.refused.emit,
            report=self.measured.emit,
            choose_region=self.region_chosen.emit,
        )
        self.context = context
        self.suggestions = context.suggestions = SuggestionInteractor(context, self.scene, self)
        self._tools = {name: spec.tool(context) for name, spec in TOOLS.items()}
        self.tool = "brush"
        self.navigation = Navigation(self.view_state, self.options, self.set_diameter, self)
        self.minimap = Minimap(self.view_state, self.scene, self.renderer, self)
        self.ruler = Ruler(self.view_state, self.renderer, self)
        self._picker = ClassPicker(session)
        self._items: tuple[Interactor, ...] = (
            WindowLevelDrag(self.scene),
            self.minimap,
            self.navigation,
            self.ruler,
            PreviewGuard(self.scene),
            self._picker,
        )
        region_tool = self._tools["region"]
        assert isinstance(region_tool, RegionTool)
        self._menu = ContextMenu(context, self.suggestions, region_tool, lambda: self.current, self)
        self._interactors: tuple[Interactor, ...] = ()  # topmost first
        self._owner: Interactor | None = None  # owner of the pointer
        self._button = Qt.MouseButton.NoButton  # whose release ends the ownership
        self._covering: Interactor | None = None  # interactor under the pointer that covers the tool
        self.pointer: QPointF | None = None
        self._pressure, self._eraser_end = 1.0, False  # of a pen
        self._arrange()
        self._connect()
        self.content.show()

    def _connect(self) -> None:
        self.scene.image_replaced.connect(self.ruler.clear)
        self.scene.image_replaced.connect(self._update_cursor)
        self.content.about_to_change.connect(self._cancel_work)
        self.content.changed.connect(self._hover_again)
        self.navigation.drag_started.connect(self.suggestions.cancel)
        self.navigation.pan_key_changed.connect(self._follow_pan_key)
        self.suggestions.held.connect(self._confirm_pan_key)
        self._session.settling.connect(self.tasks.finish)
        self._session.mask_changed.connect(self._follow_mask)
        self.tasks.failed.connect(self._session.problem_met)

    def end(self) -> None:
        """Cancel the computations of the tools and wait for the threads of the scene."""
        self.tasks.close()
        self.scene.close()

    # --- view ------------------------------------------------------------------------------------

    @property
    def view(self) -> Viewport:
        return self.view_state.viewport

    def set_view(self, view: Viewport) -> None:
        self.view_state.set(view)

    def fit(self) -> None:
        self.view_state.fit()

    def actual_size(self) -> None:
        self.view_state.set(self.view.at_scale(1.0))

    def zoom(self, factor: float) -> None:
        """Zoom around the center of the screen area."""
        self.view_state.set(self.view.zoomed(factor, self.view.width / 2, self.view.height / 2))

    # --- tools and interactors -------------------------------------------------------------------

    @property
    def current(self) -> Tool:
        """Tool in use."""
        return self._tools[self.tool]

    def choose_tool(self, name: str) -> None:
        tool = self.current
        tool.cancel()
        if self._owner is tool:
            self._owner = None
        tool.hover(None)
        self.tool = name
        self._arrange()
        self._hover_again()
        self.tool_changed.emit(name)

    def add_item(self, item: Interactor) -> None:
        """Add an interactor above all others."""
        self._items = (item, *self._items)
        self._arrange()

    def _arrange(self) -> None:
        self._interactors = (*self._items, self.current, self.suggestions, self._menu)
        self.renderer.overlays = self._interactors

    @property
    def diameter(self) -> int:
        """Diameter of the brush in image pixels."""
        return self.options.diameter

    def set_diameter(self, diameter: int) -> None:
        self._hover(None)  # redraws the area of the old ring
        self.options.diameter = diameter
        self._hover_again()
        self.brush_changed.emit(diameter)

    def change_diameter(self, steps: int) -> None:
        self.set_diameter(next_diameter(self.diameter, steps))

    def pick(self) -> None:
        """Make the class under the pointer the current one."""
        if self.pointer is not None:
            self._picker.pick(self.view_state.image_point(self.pointer))

    def _cancel_work(self) -> None:
        """Discard unfinished actions before other content is shown."""
        self.current.cancel()
        self.tasks.cancel()
        self.context.reset()
        if self._owner is self.current:
            self._owner = None
        self._hover(None)

    def _follow_mask(self) -> None:
        self.current.mask_changed()

    # --- pointer ---------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self._owner is not None and event.buttons() == event.button():
            self._release(event)  # the only button that is down: the release of the owner's button was missed
        if self._owner is not None or self.scene.image is None:
            return
        press = self._pointer_event(event)
        for interactor in self._interactors:
            if interactor.press(press):
                if interactor.claims_pointer:
                    self._owner, self._button = interactor, event.button()
                    if interactor is not self.current:
                        self._hover(event.position())
                return

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._owner is not None:
            self._owner.move(self._pointer_event(event))
            if self._owner is not self.current:
                return
        self.pointer = event.position()
        self._hover(self.pointer)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._owner is not None and event.button() == self._button:
            self._release(event)

    def _release(self, event: QMouseEvent) -> None:
        """End the gesture of the owner of the pointer."""
        owner, self._owner = self._owner, None
        if owner is not None:
            owner.release(self._pointer_event(event))
        if owner is not self.current:
            self.pointer = event.position()
            self._hover(self.pointer)

    def _pointer_event(self, event: QMouseEvent) -> PointerEvent:
        position, keys = event.position(), event.modifiers()
        return PointerEvent(
            point=self.view_state.image_point(position),
            position=position,
            global_position=event.globalPosition().toPoint(),
            button=event.button(),
            modifiers=keys,
            double=event.type() == QEvent.Type.MouseButtonDblClick,
            erase=self._eraser_end or bool(keys & _Modifier.ControlModifier),
            pressure=self._pressure,
        )

    def _hover(self, position: QPointF | None) -> None:
        """Report the pointer position to the interactors.

        The owner of the pointer hides it from those above, a covering interactor and a tool in use from those below.
        """
        point: Point | None = None
        if position is not None and self.scene.image is not None:
            point = self.view_state.image_point(position)
        self.hovered.emit(None if point is None else (math.floor(point[0]), math.floor(point[1])))
        self._covering, reached = None, self._owner is None
        for interactor in self._interactors:
            reached = reached or interactor is self._owner
            interactor.hover(point if reached else None)
            if point is not None and position is not None and reached:
                if interactor.covers(position):
                    self._covering, point = interactor, None
                elif interactor is self._owner is self.current:
                    point = None
        self._update_cursor()

    def _hover_again(self) -> None:
        self._hover(self.pointer)

    def _update_cursor(self) -> None:
        shape: Qt.CursorShape | None = None
        for interactor in (self._owner, self._covering, self.current):
            shape = interactor.cursor if interactor is not None and shape is None else shape
        if self.scene.image is None or shape is None:
            shape = Qt.CursorShape.ArrowCursor
        if shape != self.cursor().shape():
            self.setCursor(shape)

    def wheelEvent(self, event) -> None:
        if self.scene.image is None:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._hover(None)
        self.navigation.wheel(event)
        self._hover(event.position())
        event.accept()

    def tabletEvent(self, event) -> None:
        """Store pressure and end of the pen. Pen movements also arrive as mouse events."""
        self._eraser_end = event.pointerType() == QPointingDevice.PointerType.Eraser
        lifted = event.type() == QEvent.Type.TabletRelease
        self._pressure = 1.0 if lifted or not self.options.on("pressure") else event.pressure()
        self.options.enable_pen()
        event.ignore()

    def enterEvent(self, event) -> None:
        self.pointer = event.position()
        # Held keys such as Space should work under the pointer, but typing in a text field keeps the focus.
        if not isinstance(self.window().focusWidget(), TEXTS):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def leaveEvent(self, event) -> None:
        self.pointer = None
        self._hover(None)

    # --- keys ------------------------------------------------------------------------------------

    def keyPressEvent(self, event) -> None:
        painting = self._owner is self.current
        for interactor in (self.current,) if painting else self._interactors:
            if interactor.key(event):
                if painting and not self.current.busy:
                    self._owner = None  # the key has ended the gesture
                return
        if event.key() == _Key.Key_Tab:
            self.scene.hide_overlays(True)
        elif event.key() != _Key.Key_Space:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event) -> None:
        if event.isAutoRepeat():
            return
        if event.key() == _Key.Key_Tab:
            self.scene.hide_overlays(False)
        elif not any(interactor.key_release(event) for interactor in self._interactors):
            super().keyReleaseEvent(event)

    def _overrides_shortcut(self, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Return True if a key must reach the canvas although it is a shortcut of the window."""
        if self._owner is self.current:
            return True  # during a stroke no shortcut may change the image
        if key in ENDING and self.current.just_closed:
            return True
        plain = not modifiers & (_Modifier.ControlModifier | _Modifier.AltModifier)
        return plain and any(interactor.wants(key) for interactor in self._interactors)

    def _follow_pan_key(self, pressed: bool) -> None:
        if pressed:
            self.navigation.show_hand = not self.suggestions.aim()
        else:
            self.suggestions.accept_aimed()
        self._hover_again()

    def _confirm_pan_key(self) -> None:
        """Show that Space pans, because it is held too long for a tap."""
        self.navigation.show_hand = self.navigation.pan_key
        self._hover_again()

    def focusNextPrevChild(self, forward: bool) -> bool:
        # Tab hides the overlays here; F6 and Shift+Tab move the focus.
        return False if forward else super().focusNextPrevChild(forward)

    def focusOutEvent(self, event) -> None:
        self.navigation.reset()
        self.suggestions.cancel()
        self.scene.hide_overlays(False)
        self._update_cursor()
        super().focusOutEvent(event)

    # --- size and painting -----------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and self._overrides_shortcut(event.key(), event.modifiers()):
            event.accept()
            return True
        if kind == QEvent.Type.NativeGesture and self.scene.image is not None:
            self._hover(None)
            return self.navigation.gesture(event) or super().event(event)
        if kind == QEvent.Type.DevicePixelRatioChange:
            self._follow_size()
        return super().event(event)

    def resizeEvent(self, event) -> None:
        self._follow_size()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        self._follow_size()

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._follow_size()

    def _follow_size(self) -> None:
        ratio = self.devicePixelRatioF()
        if ratio != self.view_state.ratio:
            self.scene.set_ratio(ratio)
            self.update()
        self.view_state.resize(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)), ratio)

    def update(self) -> None:
        """Redraw everything, also the cached scene."""
        self.renderer.update_scene()

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        try:
            self.renderer.paint(painter, event)
            if self.scene.image is None:
                unreadable = bool(self._session.key)
                text = self.tr("Image cannot be read") if unreadable else self.tr("Images are labeled here")
                painter.setPen(self.palette().placeholderText().color())
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, text)
        finally:
            painter.end()  # a painter kept alive by a traceback would terminate the process
