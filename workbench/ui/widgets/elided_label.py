"""Label whose text is elided when the space is too narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class ElidedLabel(QLabel):
    """Single-line label.

    `set_text` sets the full text; if it is elided, the tooltip shows it, unless `tip` is False, and then the details.
    as_wide_as_text: the label takes the width of its full text if the row has it, else it takes what the row leaves.
    """

    def __init__(
        self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, *, tip: bool = True, as_wide_as_text: bool = False
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy.Policy.Preferred if as_wide_as_text else QSizePolicy.Policy.Ignored
        self.setSizePolicy(policy, QSizePolicy.Policy.Preferred)
        self._mode, self._tip, self.full_text, self._short, self._details = mode, tip, "", (), ""

    def set_text(self, text: str, *, short: Sequence[str] = (), details: str = "") -> None:
        """Show a text. short: texts for less space, ever shorter. details: more text for the tooltip."""
        if (text, tuple(short), details) != (self.full_text, self._short, self._details):
            self.full_text, self._short, self._details = text, tuple(short), details
            self._elide()
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the size of the full text, however much of it is shown: eliding it requests no other layout."""
        return QSize(self.fontMetrics().horizontalAdvance(self.full_text), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()

    def _elide(self) -> None:
        metrics, texts = self.fontMetrics(), (self.full_text, *self._short)
        fitting = (text for text in texts if metrics.horizontalAdvance(text) <= self.width())
        shown = next(fitting, None)  # `elidedText` may elide a text of exactly this width
        if shown is None:
            shown = metrics.elidedText(texts[-1], self._mode, self.width())
        self.setText(shown)
        if self._tip:
            elided = self.full_text if shown != self.full_text else ""
            self.setToolTip("\n".join(filter(None, (elided, self._details))))
