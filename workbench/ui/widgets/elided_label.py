"""Label whose text is elided when the space is too narrow."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy


class ElidedLabel(QLabel):
    """Single-line label.

    `set_text` sets the full text; if it is elided, the tooltip shows it, unless `tip` is False.
    """

    def __init__(self, where: Qt.TextElideMode = Qt.TextElideMode.ElideRight, *, tip: bool = True) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._where, self._tip, self.whole = where, tip, ""

    def set_text(self, text: str) -> None:
        if text != self.whole:
            self.whole = text
            self._fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(self.whole, self._where, self.width())
        self.setText(shown)
        if self._tip:
            self.setToolTip(self.whole if shown != self.whole else "")
