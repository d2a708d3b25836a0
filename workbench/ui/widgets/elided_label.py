"""Labels whose text is elided when the space is too narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class ElidedLabel(QLabel):
    """Single-line label.

    `set_text` sets the full text; if it is elided, the tooltip shows it, unless `tip` is False, and then the details.
    """

    def __init__(self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, *, tip: bool = True) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._mode, self._tip, self.full_text, self._short, self._details = mode, tip, "", (), ""

    def set_text(self, text: str, *, short: Sequence[str] = (), details: str = "") -> None:
        """Show a text. short: texts for less space, ever shorter. details: more text for the tooltip."""
        if (text, tuple(short), details) != (self.full_text, self._short, self._details):
            self.full_text, self._short, self._details = text, tuple(short), details
            self._elide()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics, texts = self.fontMetrics(), (self.full_text, *self._short)
        text = next((text for text in texts if metrics.horizontalAdvance(text) <= self.width()), texts[-1])
        shown = metrics.elidedText(text, self._mode, self.width())
        self.setText(shown)
        if self._tip:
            elided = self.full_text if shown != self.full_text else ""
            self.setToolTip("\n".join(filter(None, (elided, self._details))))


class ShrinkingLabel(QLabel):
    """Single-line label as wide as its text, which yields to the other widgets of a row. The tooltip has the text."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        self.setToolTip(self.text() if shown != self.text() else "")
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        with QPainter(self) as painter:
            self.style().drawItemText(
                painter, self.rect(), flags, self.palette(), self.isEnabled(), shown, self.foregroundRole()
            )
