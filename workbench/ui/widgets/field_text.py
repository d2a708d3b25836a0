"""Position of the text in number fields."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSpinBox

_INDENT = 5  # px


def align_text(field: QSpinBox | QDoubleSpinBox) -> None:
    """Indent the text of a number field and keep it centered, also in a language with characters of another font."""
    field.lineEdit().setTextMargins(_INDENT, 0, 0, 0)
    _CenteredText(field.lineEdit())


class _CenteredText(QObject):
    """Centers a text such as "5 分钟", whose unit is drawn with another font than its digits.

    Qt centers a line by the height of the tallest font in it, but places its baseline by the font of the field: the
    text is too high by half the difference.
    """

    def __init__(self, editor: QLineEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        editor.textChanged.connect(self._center)
        editor.installEventFilter(self)
        self._center()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.Show):
            self._center()
        return False

    def _center(self) -> None:
        editor = self._editor
        layout = QTextLayout(editor.text(), editor.font())
        layout.beginLayout()
        height = layout.createLine().height()
        layout.endLayout()
        shift, margins = max(0, round((height - editor.fontMetrics().height()) / 2)), editor.textMargins()
        if margins.top() != shift:
            editor.setTextMargins(margins.left(), shift, margins.right(), -shift)
