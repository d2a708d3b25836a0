"""Interactive canvas: pointer and key events become gestures of the current tool."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QPainter, QPointingDevice
from PySide6.QtWidgets import QWidget

from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID
from workbench.session.session import Session
from workbench.ui.canvas.image_view import ImageView
from workbench.ui.canvas.interactions.region_menu import ask
from workbench.ui.canvas.interactions.suggestion_interaction import SuggestionInteraction
from workbench.ui.canvas.interactions.suggestion_menu import SuggestionMenu
from workbench.ui.canvas.navigation import Navigation
from workbench.ui.canvas.tools.brush_tools import BackgroundBrush, Brush, DontCareBrush, Eraser
from workbench.ui.canvas.tools.crack_tool import CrackTool
from workbench.ui.canvas.tools.fill_tools import FillHolesTool, FillTool
from workbench.ui.canvas.tools.polygon_tool import PolygonTool
from workbench.ui.canvas.tools.region_tool import RegionTool
from workbench.ui.canvas.tools.scissors_tool import ScissorsTool
from workbench.ui.canvas.tools.shape_end import ShapeEnd
from workbench.ui.canvas.tools.shape_tools import BoxCutTool, EllipseTool, LassoTool, RectangleTool
from workbench.ui.canvas.tools.suggestion_tool import SuggestionTool
from workbench.ui.canvas.tools.threshold_tool import ThresholdTool
from workbench.ui.canvas.tools.tool_base import ENDING, PointerEvent, Tool, next_diameter
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.canvas.tools.tool_options import ToolOptions
from workbench.ui.canvas.tools.tool_tasks import ToolTasks
from workbench.ui.canvas.tools.wand_tool import WandTool
from workbench.ui.shortcuts import key_text
from workbench.ui.widgets.editor_keys import TEXTS

_BUTTON = Qt.MouseButton
_WITH = Qt.KeyboardModifier


class Canvas(ImageView):
    """View of the open image that passes events to the current tool."""

    tool_changed = Signal(str)
    brush_changed = Signal(int)  # diameter in image pixels
    hovered = Signal(object)  # (column, row) or None
    refused = Signal(str)  # reason nothing was painted: "no mask", "read-only", "no class", "too large", "locked", …
    told = Signal(str, float)  # name and value of a tool's measurement
    region_chosen = Signal(object)  # Region or None

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Picture"))
        self.setAccessibleDescription(
            self.tr("Current image with labels. Press {key} for keyboard shortcuts.").format(key=key_text("keys"))
        )
        self.diameter = 15
        self.pointer: QPointF | None = None
        self.refuse, self.tell, self.chosen = self.refused.emit, self.told.emit, self.region_chosen.emit
        self.options = ToolOptions(self)
        self.work = ToolTasks(self)
        self.suggestions = SuggestionInteraction(self, self)
        self._desk = ToolContext(self, session, self.work, self.options)
        self.suggestions.bind(self._desk)
        self.suggestions.held.connect(self._show_hold)
        self._tools = {tool.name: tool(self._desk) for tool in TOOLS}
        self._tool: Tool = self._tools["brush"]
        self._space = False
        self._grips = Navigation(self)
        self._pen = 1.0  # pen pressure, 0..1; 1 for a mouse
        self._rubber = False  # the eraser end of the pen is used
        self._painting = False
        self.shape_end = ShapeEnd()
        session.settling.connect(self.work.finish)
        self.work.troubled.connect(session.problem_met)
        self.follow()
        session.mask_changed.connect(lambda: self._tool.mask_changed())

    # --- tools -----------------------------------------------------------------------------------

    @property
    def tool(self) -> str:
        return self._tool.name

    @property
    def current(self) -> Tool:
        return self._tool

    def choose_tool(self, name: str) -> None:
        self._tool.cancel()
        self._tool.hover(None)
        self._tool = self._tools[name]
        if self.pointer is not None:
            self._tool.hover(self.image_point(self.pointer))
        self._choose_cursor()
        self.tool_changed.emit(name)

    def set_diameter(self, diameter: int) -> None:
        """Set the brush diameter in image pixels."""
        self._hover(None)
        self.diameter = diameter
        self._hover(self.pointer)
        self.brush_changed.emit(diameter)

    def change_diameter(self, steps: int) -> None:
        self.set_diameter(next_diameter(self.diameter, steps))

    def pick(self) -> None:
        """Make the class under the pointer the current one."""
        mask = self._session.mask
        if mask is None or self.pointer is None:
            return
        x, y = (int(np.floor(v)) for v in self.image_point(self.pointer))
        if 0 <= x < mask.shape[1] and 0 <= y < mask.shape[0] and BACKGROUND < mask[y, x] <= MAX_CLASS_ID:
            self._session.classes.choose(int(mask[y, x]))

    # --- session events --------------------------------------------------------------------------

    def drop_work(self) -> None:
        self._tool.cancel()
        self.work.cancel()
        self._desk.forget()
        self.shape_end.forget()
        if self._painting:
            self._free()
        self._hover(None)

    def came(self) -> None:
        if self.pointer is not None:  # the pointer may rest on a suggestion
            self.suggestions.hover(self.image_point(self.pointer))

    # --- pointer ---------------------------------------------------------------------------------

    def mousePressEvent(self, event) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        button, keys = event.button(), event.modifiers()
        if self.image is None or self.button != _BUTTON.NoButton:
            return
        if self._space:
            self.suggestions.cancel()
        if button == _BUTTON.MiddleButton or (button == _BUTTON.LeftButton and self._space):
            self._hold("pan", event)
        elif button == _BUTTON.RightButton and keys & _WITH.AltModifier:
            self._hold("size", event)
        elif button == _BUTTON.LeftButton and keys & _WITH.AltModifier:
            self.pointer = event.position()
            self.pick()
        elif button == _BUTTON.RightButton:
            self._ask(event)
        elif button == _BUTTON.LeftButton:
            self._press(event, double=False)

    def mouseDoubleClickEvent(self, event) -> None:
        if event.button() == _BUTTON.LeftButton and self._tool.uses_double and not self._space:
            self._press(event, double=True)
        else:
            self.mousePressEvent(event)

    def _press(self, event, *, double: bool) -> None:
        touch = self._touch(event, double=double)
        why = self._refusal(touch.erase)
        if why:
            self.refused.emit(why)
            return
        self._painting, self.button = True, event.button()
        self.shape_end.watched(self._tool, lambda: self._tool.press(touch))

    def _touch(self, event, *, double: bool = False) -> PointerEvent:
        keys = event.modifiers()
        erase, shift = self._rubber or bool(keys & _WITH.ControlModifier), bool(keys & _WITH.ShiftModifier)
        return PointerEvent(self.image_point(event.position()), erase, double, shift, self._pen)

    def _refusal(self, erase: bool) -> str:
        if self._session.mask is None:
            return "no mask"
        if not self._session.writable:
            return "read-only"
        return "no class" if self._session.class_id == BACKGROUND and not erase and self._tool.needs_class else ""

    def _ask(self, event) -> None:
        """Open the context menu of the suggestion or region under the pointer, unless a tool is in use."""
        self._hover(event.position())
        if self.suggestions.current is not None and not self._tool.busy and not self._refusal(True):
            SuggestionMenu(self.suggestions, self._desk, self).popup(event.globalPosition().toPoint())
            return
        region = self._tools["region"]
        if (self._tool is region or not self._tool.busy) and not self._refusal(True):
            ask(region, self._desk, self, event, lambda: self._tool is region or region.cancel())

    def _free(self) -> None:
        """Release the pointer."""
        self.button, self._painting = _BUTTON.NoButton, False
        self._grips.let_go()

    def mouseMoveEvent(self, event) -> None:
        if self._grips.held:
            self._grips.drag(event.position())
            return
        if self._painting:
            self._tool.move(self._touch(event))
        self.pointer = event.position()
        self._hover(self.pointer)

    def mouseReleaseEvent(self, event) -> None:
        if event.button() != self.button:
            return
        painted = self._painting
        self._free()
        if painted:
            self.shape_end.watched(self._tool, lambda: self._tool.release(self._touch(event)))
        else:
            self._choose_cursor()
            self.pointer = event.position()
            self._hover(self.pointer)

    def wheelEvent(self, event) -> None:
        if self.image is None:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._hover(None)
        self._grips.wheel(event)
        self._hover(event.position())
        event.accept()

    def tabletEvent(self, event) -> None:
        """Store pressure and end of the pen. Pen movements also arrive as mouse events."""
        self._rubber = event.pointerType() == QPointingDevice.PointerType.Eraser
        lifted = event.type() == QEvent.Type.TabletRelease
        self._pen = 1.0 if lifted or not self.options.on("pressure") else event.pressure()
        self.options.meet_pen()
        event.ignore()

    def enterEvent(self, event) -> None:
        self.pointer = event.position()
        # Held keys such as Space should work under the pointer, but typing in a text field keeps the focus.
        if not isinstance(self.window().focusWidget(), TEXTS):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def leaveEvent(self, event) -> None:
        self.pointer = None
        self._hover(None)

    def _hold(self, what: str, event) -> None:
        self._hover(None)
        self.button = event.button()
        self._grips.take(what, event.position())
        if what == "pan":
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def _hover(self, position: QPointF | None) -> None:
        busy_elsewhere = self._grips.held == "pan" or self._space
        point = None if position is None or self.image is None else self.image_point(position)
        self._tool.hover(None if busy_elsewhere else point)
        if self.suggestions.aimed is None:
            self.suggestions.hover(None if busy_elsewhere or self._painting else point)
        self.hovered.emit(None if point is None else (int(np.floor(point[0])), int(np.floor(point[1]))))

    def _choose_cursor(self) -> None:
        moving = self._space and self.suggestions.aimed is None
        shape = Qt.CursorShape.OpenHandCursor if moving else self._tool.cursor
        self.setCursor(shape if self.image is not None else Qt.CursorShape.ArrowCursor)

    def show_image(self, image, *, keep_display: bool = False) -> None:
        super().show_image(image, keep_display=keep_display)
        self._choose_cursor()

    # --- keys ------------------------------------------------------------------------------------

    def event(self, event) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            plain = not event.modifiers() & (_WITH.ControlModifier | _WITH.AltModifier)
            # During a drag no shortcut may change the image. Return closes a drawn shape; it is also accepted if the
            # release has closed the shape already.
            cutting = self._tool.closes and self.work.busy
            ends = event.key() in ENDING and (cutting or self.shape_end.recent)
            if self._painting or ends or (plain and self._tool.wants(event.key())):
                event.accept()
                return True
        elif event.type() == QEvent.Type.NativeGesture and self.image is not None:
            self._hover(None)
            return self._grips.gesture(event) or super().event(event)
        return super().event(event)

    def keyPressEvent(self, event) -> None:
        if event.key() == Qt.Key.Key_Escape and self.work.busy:
            self.work.cancel()
            self._tool.cancel()
            if self._painting:
                self._free()
        elif self.shape_end.watched(self._tool, lambda: self._tool.key(event.key())):
            if self._painting and not self._tool.busy:
                self._free()
        elif event.key() == Qt.Key.Key_Tab:
            self.hide_overlays(True)
        elif event.key() == Qt.Key.Key_Space and not event.isAutoRepeat() and not self._painting:
            self.suggestions.press()
            self._space = True
            self._show_hold()
        elif self.suggestions.key(event, plain_digits=self._tool.name == "proposals"):
            pass
        elif event.key() not in (Qt.Key.Key_Space, Qt.Key.Key_Tab):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event) -> None:
        if event.isAutoRepeat():
            return
        if event.key() == Qt.Key.Key_Tab:
            self.hide_overlays(False)
        elif event.key() == Qt.Key.Key_Space:
            self._space = False
            self.suggestions.release()
            self._show_hold()
        else:
            super().keyReleaseEvent(event)

    def _show_hold(self) -> None:
        """Update pointer and cursor when Space is pressed, released or held long enough."""
        self._hover(self.pointer)
        self._choose_cursor()

    def focusNextPrevChild(self, forward: bool) -> bool:
        # Tab hides the overlays here; F6 and Shift+Tab move the focus.
        return False if forward else super().focusNextPrevChild(forward)

    def focusOutEvent(self, event) -> None:
        self._space = False
        self.suggestions.cancel()
        self.hide_overlays(False)
        self._choose_cursor()
        super().focusOutEvent(event)

    # --- drawing ---------------------------------------------------------------------------------

    def draw_tools(self, painter: QPainter) -> None:
        if self.image is not None:
            for tool in {self._tool, self._tools["region"]}:
                painter.save()
                tool.draw(painter)
                painter.restore()
            painter.save()
            self.suggestions.draw(painter)
            painter.restore()
            return
        text = self.tr("This picture cannot be read") if self._session.key else self.tr("Pictures are labelled here")
        painter.setPen(self.palette().placeholderText().color())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, text)

    @property
    def panning(self) -> bool:
        return self._space

    def busy_overlay(self) -> bool:
        return self._tool.showing or self.suggestions.showing

    def end(self) -> None:
        self.work.end()
        super().end()


TOOLS: tuple[type[Tool], ...] = (
    Brush,
    DontCareBrush,
    BackgroundBrush,
    Eraser,
    ThresholdTool,
    WandTool,
    CrackTool,
    ScissorsTool,
    BoxCutTool,
    PolygonTool,
    LassoTool,
    RectangleTool,
    EllipseTool,
    FillTool,
    FillHolesTool,
    RegionTool,
    SuggestionTool,
)
