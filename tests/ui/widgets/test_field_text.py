"""Number fields: texts with characters of another font are as high as those of buttons."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QImage, QPixmap
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox, QWidget

from workbench.ui.widgets.text_labels import align_text, center_text
from workbench.ui.widgets.theme import FONTS


@pytest.fixture
def font(qapp) -> QFont:
    """Font of the application followed by one with Chinese characters."""
    installed = [name for name in FONTS["zh_CN"] if name in QFontDatabase.families()]
    if not installed:
        pytest.skip("no font with Chinese characters is installed")
    font = qapp.font()
    font.setFamilies([QFontInfo(font).family(), *installed])
    return font


def rows(widget: QWidget) -> tuple[int, int]:
    """Return the first and the last row of the text of a widget."""
    pixmap = QPixmap(widget.size())
    widget.render(pixmap)
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.array(image.constBits()).reshape(image.height(), image.bytesPerLine())
    dark = np.flatnonzero(pixels[6:-6, 12 : widget.width() - 24].min(1) < 128) + 6
    return int(dark[0]), int(dark[-1])


def test_text_is_at_the_height_of_that_of_buttons(qtbot, font, qapp):
    field = QSpinBox(value=5, suffix=" 分钟", readOnly=True, focusPolicy=Qt.FocusPolicy.NoFocus)
    plain = QSpinBox(value=5, suffix=" min")
    button = QPushButton("5 分钟  ", flat=True)
    for widget in (field, plain, button):
        qtbot.addWidget(widget)
        widget.setPalette(qapp.style().standardPalette())
        widget.setFont(font)
        widget.resize(120, 32)
    for box in (field, plain):
        align_text(box)
    field.show()
    button.show()
    assert np.abs(np.subtract(rows(field), rows(button))).max() <= 1
    assert plain.lineEdit().textMargins().top() == 0
    assert field.sizeHint().height() == plain.sizeHint().height()


def test_text_of_a_line_edit_is_centered(qtbot, font, qapp):
    field, other = QLineEdit(readOnly=True, focusPolicy=Qt.FocusPolicy.NoFocus), QPushButton("名称  ", flat=True)
    for widget in (field, other):
        qtbot.addWidget(widget)
        widget.setPalette(qapp.style().standardPalette())
        widget.setFont(font)
        widget.resize(120, 32)
    center_text(field)
    field.setText("    名称")
    field.show()
    other.show()
    assert np.abs(np.subtract(rows(field), rows(other))).max() <= 1
    field.setText("name")
    assert field.textMargins().top() == 0
