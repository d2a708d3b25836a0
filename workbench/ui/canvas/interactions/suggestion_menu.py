"""Context menu of the suggestion under the pointer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from workbench.ui.canvas.interactions.suggestion_interaction import SuggestionInteraction
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.shortcuts import key_text


class SuggestionMenu(QMenu):
    """Menu to accept, reject or change a suggestion."""

    def __init__(self, hand: SuggestionInteraction, desk: ToolContext, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        one = hand.current
        assert one is not None
        self.addAction(self.tr("Accept") + "\t" + key_text("accept_suggestion"), partial(hand.accept, one))
        self.addAction(self.tr("Reject") + "\t" + key_text("reject_suggestion"), partial(hand.reject, one))
        self.addSeparator()
        change = self.addMenu(self.tr("Change class"))
        for id, name, key in desk.classes:
            swatch = QPixmap(32, 32)
            swatch.fill(QColor(desk.color_of(id)))
            text = name.replace("&", "&&") + (f"\t{key_text(f'suggestion_class_{key}')}" if key else "")
            action = change.addAction(QIcon(swatch), text, partial(hand.reclass, one, id))
            action.setEnabled(id != one.class_id)
        self.addAction(self.tr("Grow") + "\t" + key_text("grow"), partial(hand.grow, one))
        self.addAction(self.tr("Shrink") + "\t" + key_text("shrink"), partial(hand.shrink, one))
