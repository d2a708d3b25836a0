"""Canvas widget: view of the open image whose pointer and key events are handled by tools and other interactors."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.session import Session
from workbench.ui.canvas.canvas_input import EventDispatcher, Navigation
from workbench.ui.canvas.canvas_items import ClassPicker, Minimap, PreviewGuard, Ruler, WindowLevelDrag
from workbench.ui.canvas.context_menu import ContextMenu
from workbench.ui.canvas.interactor import Interactor
from workbench.ui.canvas.layers.canvas_scene import CanvasContent, CanvasScene
from workbench.ui.canvas.layers.view_state import Viewport, ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.image_context import ToolOptions, ToolTasks, next_diameter
from workbench.ui.canvas.tools.polygon_tool import AreaOutline, PolygonTool
from workbench.ui.canvas.tools.region_tool import RegionTool, SelectedRegion
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tool_context import ToolContext, ToolRequests
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.shortcuts import key_text
from workbench.ui.widgets.keyboard import TEXTS, FocusFrame


class Canvas(QWidget):
    """Widget composed of the view (zoom, pan), the scene (layers), its renderer, interactors and their dispatcher."""

    tool_changed = Signal(str)
    image_menu_requested = Signal(QPoint)  # position on the screen
    brush_changed = Signal(int)  # diameter in image pixels
    hovered = Signal(object)  # (column, row) or None
    refused = Signal(str)  # reason nothing was painted: "no mask", "read-only", "no class", "too large", "locked", …
    measured = Signal(str, float)  # name and value of a tool's measurement
    region_chosen = Signal(object)  # SelectedRegion or None

    def __init__(self, session: Session, clicks: ClickSegmentation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self.clicks = session, clicks
        self.view_state = ViewState(self)
        self.scene = CanvasScene(self.view_state, self)
        self.renderer = SceneRenderer(self, self.view_state, self.scene)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusFrame(self)
        self.setAccessibleName(self.tr("Image"))
        self.setAccessibleDescription(
            self.tr("Current image with labels. Press {key} for keyboard shortcuts.").format(key=key_text("keys"))
        )
        self.content = CanvasContent(session, self.scene, self)
        self.options = ToolOptions(self)
        self.tasks = ToolTasks(self)
        self.context = context = _context(self, session)
        self.suggestions = context.suggestions
        self.tools = {name: spec.tool(context) for name, spec in TOOLS.items()}
        self.tool = "brush"
        self.navigation = Navigation(self.view_state, self.options, self.set_diameter, self)
        self.minimap = Minimap(self.view_state, self.scene, self.renderer, self)
        self.ruler = Ruler(self.view_state, self.renderer, self)
        self.area_outline = AreaOutline(session, self.view_state, self.renderer, self)
        self._picker = ClassPicker(session)
        guard = PreviewGuard(self.scene)
        items = WindowLevelDrag(self.scene), self.minimap, self.navigation, self.ruler, guard, self._picker
        self.items: tuple[Interactor, ...] = items  # topmost first
        region_tool = self.tools["region"]
        assert isinstance(region_tool, RegionTool)
        request = self.image_menu_requested.emit
        self._menu = ContextMenu(context, self.suggestions, region_tool, lambda: self.current, request, self)
        self._dispatcher = EventDispatcher(self, self.view_state, self.scene, self.current, self.hovered.emit)
        self._arrange()
        self._connect()
        self.content.show()

    def _connect(self) -> None:
        self.scene.image_replaced.connect(self.ruler.clear)
        self.scene.image_replaced.connect(self._dispatcher.update_cursor)
        self.content.about_to_change.connect(self._cancel_work)
        self.content.changed.connect(self._dispatcher.hover_again)
        self.navigation.drag_started.connect(self.suggestions.cancel)
        self.navigation.pan_key_changed.connect(self._follow_pan_key)
        self.suggestions.held.connect(self._confirm_pan_key)
        self._session.editor.finishing.connect(self.tasks.finish)
        self._session.editor.finishing.connect(self._commit_pending)
        self._session.editor.mask_changed.connect(self._follow_mask)
        self._session.classes.chosen.connect(self._follow_class)
        self.tasks.failed.connect(self._session.problem_met)

    def end(self) -> None:
        """Cancel the computations of the tools and wait for the threads of the scene."""
        self.clicks.cancel()
        self.tasks.close()
        self.scene.close()

    # --- view ------------------------------------------------------------------------------------

    @property
    def view(self) -> Viewport:
        return self.view_state.viewport

    def set_view(self, view: Viewport) -> None:
        self.view_state.set(view)

    # --- tools and interactors -------------------------------------------------------------------

    @property
    def current(self) -> Tool:
        """Tool in use."""
        return self.tools[self.tool]

    def arrive(self, rect: Rect) -> None:
        """Let the tool follow a key that has moved the view to a region."""
        self.current.arrive(rect)

    def choose_tool(self, name: str) -> None:
        tool = self.current
        tool.commit_pending()
        tool.cancel()
        self._dispatcher.release_tool()
        tool.hover(None)
        self.tool = name
        self._arrange()
        self._dispatcher.hover_again()
        self.tool_changed.emit(name)

    @property
    def region(self) -> SelectedRegion | None:
        """Region chosen by the region tool."""
        tool = self.tools["region"]
        return tool.region if isinstance(tool, RegionTool) else None

    def edit_outline(self) -> None:
        """Edit the outline of the chosen region."""
        if self.region is not None:
            self._edit_outline(self.region.selection, self.region.id)

    def _edit_outline(self, region: Selection, id: int) -> None:
        tool = self.tools["polygon"]
        assert isinstance(tool, PolygonTool)
        self.choose_tool("polygon")
        tool.edit_region(region, id)

    def add_item(self, item: Interactor) -> None:
        """Add an interactor above all others."""
        self.items = (item, *self.items)
        self._arrange()

    def _arrange(self) -> None:
        interactors = (*self.items, self.current, self.suggestions, self._menu, self.area_outline)
        self.renderer.overlays = interactors
        self._dispatcher.arrange(interactors, self.current)

    @property
    def diameter(self) -> int:
        """Diameter of the brush in image pixels."""
        return self.options.diameter

    def set_diameter(self, diameter: int) -> None:
        self._dispatcher.hover(None)  # redraws the area of the old ring
        self.options.diameter = diameter
        self._dispatcher.hover_again()
        self.brush_changed.emit(diameter)

    def change_diameter(self, steps: int) -> None:
        self.set_diameter(next_diameter(self.diameter, steps))

    def pick(self) -> None:
        """Make the class under the pointer the current one."""
        if self._dispatcher.position is not None:
            self._picker.pick(self.view_state.image_point(self._dispatcher.position))

    def _cancel_work(self) -> None:
        """Discard unfinished actions before other content is shown."""
        self.current.cancel()
        self.tasks.cancel()
        self.context.reset()
        self._dispatcher.release_tool()
        self._dispatcher.hover(None)

    def _follow_mask(self) -> None:
        self.current.mask_changed()

    def _follow_class(self) -> None:
        self.current.class_changed()

    def _commit_pending(self) -> None:
        self.current.commit_pending()

    # --- events ----------------------------------------------------------------------------------

    def mousePressEvent(self, event) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._dispatcher.press(event)

    mouseDoubleClickEvent = mousePressEvent

    def mouseMoveEvent(self, event) -> None:
        self._dispatcher.move(event)

    def mouseReleaseEvent(self, event) -> None:
        self._dispatcher.release(event)

    def wheelEvent(self, event) -> None:
        if self.scene.image is None:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._dispatcher.hover(None)
        self.navigation.wheel(event)
        self._dispatcher.hover(event.position())
        event.accept()

    def tabletEvent(self, event) -> None:
        self._dispatcher.store_pen(event, uses_pressure=self.options.on("pressure"))
        self.options.enable_pen()
        event.ignore()  # Qt sends a mouse event then

    def enterEvent(self, event) -> None:
        self._dispatcher.position = event.position()
        # Held keys such as Space should work under the pointer, but typing in a text field keeps the focus.
        if not isinstance(self.window().focusWidget(), TEXTS):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def leaveEvent(self, event) -> None:
        self._dispatcher.position = None
        self._dispatcher.hover(None)

    def keyPressEvent(self, event) -> None:
        if self._dispatcher.key_press(event):
            return
        if event.key() == Qt.Key.Key_Tab:
            self.scene.hide_overlays(True)
        elif event.key() != Qt.Key.Key_Space:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event) -> None:
        if event.isAutoRepeat():
            return
        if event.key() == Qt.Key.Key_Tab:
            self.scene.hide_overlays(False)
        elif not self._dispatcher.key_release(event):
            super().keyReleaseEvent(event)

    def _follow_pan_key(self, pressed: bool) -> None:
        if pressed:
            self.navigation.show_pan_cursor = not self.suggestions.aim()
        else:
            self.suggestions.accept_aimed()
        self._dispatcher.hover_again()

    def _confirm_pan_key(self) -> None:
        """Show that Space pans, because it is held too long for a tap."""
        self.navigation.show_pan_cursor = self.navigation.pan_key
        self._dispatcher.hover_again()

    def focusNextPrevChild(self, forward: bool) -> bool:
        # Tab hides the overlays here; F6 and Shift+Tab move the focus.
        return False if forward else super().focusNextPrevChild(forward)

    def focusOutEvent(self, event) -> None:
        self.navigation.reset()
        self.suggestions.cancel()
        self.scene.hide_overlays(False)
        self._dispatcher.update_cursor()
        super().focusOutEvent(event)

    # --- size and painting -----------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and self._dispatcher.overrides_shortcut(event.key(), event.modifiers()):
            event.accept()
            return True
        if kind == QEvent.Type.NativeGesture and self.scene.image is not None:
            self._dispatcher.hover(None)
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
        self.content.seen_key = self._session.key
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


def _context(canvas: Canvas, session: Session) -> ToolContext:
    """Return the access of the tools to the session and to a canvas."""
    return ToolContext(
        session=session,
        clicks=canvas.clicks,
        content=canvas.content,
        scene=canvas.scene,
        view=canvas.view_state,
        renderer=canvas.renderer,
        options=canvas.options,
        tasks=canvas.tasks,
        requests=ToolRequests(
            refuse=canvas.refused.emit,
            report=canvas.measured.emit,
            choose_region=canvas.region_chosen.emit,
            edit_outline=canvas._edit_outline,
        ),
    )
