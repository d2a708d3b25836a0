"""Suggestion tool: a click accepts one, a box accepts all inside; Ctrl rejects instead."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.core.geometry.drawing import Rect
from workbench.core.suggestions.suggestions import in_box
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.region_tool import DRAG_DISTANCE
from workbench.ui.canvas.tools.shape_tools import RectangleTool
from workbench.ui.canvas.tools.tool_context import ERASING

ACCEPTING = QColor("#6fd08c")
_DIGITS = range(Qt.Key.Key_1, Qt.Key.Key_9 + 1)


class SuggestionTool(RectangleTool):
    """Tool that paints accepted suggestions only. Keys 1 to 9 change the class of the suggestion under the pointer."""

    cursor = Qt.CursorShape.ArrowCursor
    needs_class = False

    def start(self, event: PointerEvent) -> None:
        super().start(event)
        self._rejects = event.erase

    def apply(self, box: Rect) -> None:
        suggestions = self.context.suggestions
        if self.view.to_length(max(box.width, box.height) - 1) < DRAG_DISTANCE:
            suggestion = suggestions.at((box.x + 0.5, box.y + 0.5))
            chosen = [suggestion] if suggestion is not None else []
        else:
            chosen = in_box(suggestions.suggestions, box)
        if chosen:
            (suggestions.rejected if self._rejects else suggestions.accepted).emit(chosen)
        else:
            self.context.refuse("no proposal")

    def wants(self, key: int) -> bool:
        return super().wants(key) or (key in _DIGITS and self.context.suggestions.current is not None)

    def handle_key(self, key: int) -> bool:
        if key in _DIGITS:
            return self.context.suggestions.reclass_by_digit(key)
        return super().handle_key(key)

    @property
    def color(self) -> QColor:
        return ERASING if self._rejects else ACCEPTING
