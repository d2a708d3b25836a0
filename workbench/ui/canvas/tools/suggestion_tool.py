"""Suggestion tool: a click accepts one, a box accepts all inside; Ctrl rejects instead."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.core.geometry.drawing import Rect
from workbench.core.suggestions.suggestions import in_box
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.region_tool import SLACK
from workbench.ui.canvas.tools.shape_tools import RectangleTool
from workbench.ui.canvas.tools.tool_context import ERASING

ACCEPTING = QColor("#6fd08c")


class SuggestionTool(RectangleTool):
    """Tool that paints accepted suggestions only. Keys 1 to 9 change the class of the suggestion under the pointer."""

    cursor = Qt.CursorShape.ArrowCursor
    needs_class = False

    def start(self, event: PointerEvent) -> None:
        super().start(event)
        self._rejects = event.erase

    def apply(self, box: Rect) -> None:
        hand = self.context.suggestions
        if self.view.to_length(max(box.width, box.height) - 1) < SLACK:
            one = hand.at((box.x + 0.5, box.y + 0.5))
            found = [one] if one is not None else []
        else:
            found = in_box(hand.suggestions, box)
        if found:
            (hand.rejected if self._rejects else hand.accepted).emit(found)
        else:
            self.context.refuse("no proposal")

    def wants(self, key: int) -> bool:
        digit = Qt.Key.Key_1 <= key <= Qt.Key.Key_9
        return super().wants(key) or bool(digit and self.context.suggestions.current is not None)

    @property
    def color(self) -> QColor:
        return ERASING if self._rejects else ACCEPTING
