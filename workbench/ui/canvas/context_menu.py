"""Context menus of the suggestion or the region under the pointer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.tools.region_tool import RegionTool
from workbench.ui.canvas.tools.suggestion_interactor import SuggestionInteractor
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.shortcuts import key_text


class ContextMenu(Interactor):
    """Right click: menu of the suggestion, else of the region, else of the image, unless the tool is in use."""

    claims_pointer = False
    bounded = False

    def __init__(
        self,
        context: ToolContext,
        suggestions: SuggestionInteractor,
        region_tool: RegionTool,
        current_tool: Callable[[], Tool],
        request_image_menu: Callable[[QPoint], None],
        parent: QWidget,
    ) -> None:
        """request_image_menu: called with the position on the screen if there is nothing under the pointer."""
        self._request_image_menu = request_image_menu
        self._context, self._suggestions, self._parent = context, suggestions, parent
        self._region_tool, self._current_tool = region_tool, current_tool

    def press(self, event: PointerEvent) -> bool:
        if event.button != Qt.MouseButton.RightButton:
            return False
        self._suggestions.hover(event.point)
        tool = self._current_tool()
        menu: QMenu | None = None
        if self._context.refusal():
            self._request_image_menu(event.global_position)
            return True
        if self._suggestions.current is not None and not tool.busy:
            menu = SuggestionMenu(self._suggestions, self._context, self._parent)
        elif (tool is self._region_tool or not tool.busy) and self._region_tool.choose(event.point):
            menu = RegionMenu(self._region_tool, self._context, self._parent)
            # The menu hides before its action runs.
            menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self._deselect))
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.global_position)
        elif not tool.busy and not self._context.tasks.busy:
            self._request_image_menu(event.global_position)
        return True

    def _deselect(self) -> None:
        """Drop the region after the chosen action, unless its tool is the current one."""
        if self._current_tool() is not self._region_tool:
            self._region_tool.cancel()

    @property
    def showing(self) -> bool:
        return self._region_tool.showing

    def draw(self, painter: QPainter) -> None:
        """Draw the region of an open menu."""
        if self._current_tool() is not self._region_tool:
            self._region_tool.draw(painter)


class SuggestionMenu(QMenu):
    """Menu to accept, reject or change the highlighted suggestion."""

    def __init__(self, suggestions: SuggestionInteractor, context: ToolContext, parent: QWidget) -> None:
        super().__init__(parent)
        suggestion = suggestions.current
        assert suggestion is not None
        self.addAction(
            self.tr("Accept") + "\t" + key_text("accept_suggestion"), partial(suggestions.accept, suggestion)
        )
        self.addAction(
            self.tr("Reject") + "\t" + key_text("reject_suggestion"), partial(suggestions.reject, suggestion)
        )
        self.addSeparator()
        classes = self.addMenu(self.tr("Change class"))
        _add_classes(
            classes, context, suggestion.class_id, "suggestion_class", partial(suggestions.reclass, suggestion)
        )
        self.addAction(self.tr("Grow") + "\t" + key_text("grow"), partial(suggestions.grow, suggestion))
        self.addAction(self.tr("Shrink") + "\t" + key_text("shrink"), partial(suggestions.shrink, suggestion))


class RegionMenu(QMenu):
    """Menu of the region chosen by the region tool."""

    def __init__(self, tool: RegionTool, context: ToolContext, parent: QWidget) -> None:
        super().__init__(parent)
        region = tool.region
        assert region is not None
        _add_classes(self.addMenu(self.tr("Change class")), context, region.id, "class", tool.reclass)
        self.addSeparator()
        self.addAction(self.tr("Grow") + "\t" + key_text("grow"), tool.grow)
        self.addAction(self.tr("Shrink") + "\t" + key_text("shrink"), tool.shrink)
        self.addAction(self.tr("Edit outline") + "\t" + key_text("edit_outline"), tool.edit_outline)
        self.addAction(self.tr("Smooth"), tool.smooth)
        self.addAction(self.tr("Fill holes"), tool.fill_holes)
        self.addSeparator()
        self.addAction(self.tr("Delete") + "\t" + key_text("delete_region"), tool.delete)


def _add_classes(menu: QMenu, context: ToolContext, current: int, command: str, choose: Callable[[int], None]) -> None:
    """Add one action for each class. command: prefix of the digit shortcuts. current: id of the disabled class."""
    for id, name, key in context.classes:
        swatch = QPixmap(32, 32)
        swatch.fill(QColor(context.color_of(id)))
        text = name.replace("&", "&&") + ("\t" + key_text(f"{command}_{key}") if key else "")
        action = menu.addAction(QIcon(swatch), text, partial(choose, id))
        action.setEnabled(id != current)
