"""Position of the text in number fields, and height of lines with characters of several fonts."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QFont, QTextLayout
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSpinBox

_INDENT = 5  # px


def align_text(field: QSpinBox | QDoubleSpinBox) -> None:
    """Indent the text of a number field and keep it centered, also in a language with characters of another font."""
    editor = field.lineEdit()
    editor.textChanged.connect(partial(_align, editor))
    _align(editor)


def center_text(editor: QLineEdit) -> None:
    """Keep the text of a line edit centered, also in a language with characters of another font."""
    editor.textChanged.connect(partial(_align, editor, indent=0))
    _align(editor, indent=0)


def line_height(text: str, font: QFont) -> float:
    """Return the height in px of a line, which is larger if characters of the text are drawn with another font."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    return line.height()


def _align(editor: QLineEdit, _text: str = "", *, indent: int = _INDENT) -> None:
    """Center a text such as "5 分钟", whose unit is drawn with another font than its digits.

    Qt places the baseline of an editor by its font alone, and that of buttons and lists by the tallest font in the
    text: in a row with them the text of the editor would be too high by half the difference.
    """
    excess = line_height(editor.text(), editor.font()) - editor.fontMetrics().height()
    shift = max(0, round(excess / 2))
    editor.setTextMargins(indent, shift, 0, -shift)
