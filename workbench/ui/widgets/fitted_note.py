"""Muted note that wraps, and leaves out its last clauses when the space is too small."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

_CLAUSE = re.compile(r"(?:; |；)")  # between the clauses of a note


class FittedNote(QLabel):
    """Note that yields its space to all other widgets of a row. The tooltip has the full text."""

    def __init__(self) -> None:
        super().__init__(objectName="muted")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._text = ""

    def show_text(self, text: str) -> None:
        self._text = text
        self.setToolTip(text)
        self._fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many clauses as fit; nothing if not even the first does."""
        ends = [match.start() for match in _CLAUSE.finditer(self._text)]
        texts = [self._text, *(self._text[:end] for end in reversed(ends))]
        self.setText(next(filter(self._fits, texts), ""))

    def _fits(self, text: str) -> bool:
        metrics, wrap = self.fontMetrics(), Qt.TextFlag.TextWordWrap
        needed = metrics.boundingRect(QRect(0, 0, max(1, self.width() - 2), 10_000), wrap, text)
        return needed.height() <= max(self.height(), metrics.height()) and needed.width() <= self.width()
