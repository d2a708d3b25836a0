"""Number fields: digits have the same height in the field with any unit."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QImage, QPixmap
from PySide6.QtWidgets import QSpinBox

from workbench.ui.widgets.field_text import align_text
from workbench.ui.widgets.theme import FONTS


@pytest.fixture
def font(qapp) -> QFont:
    """Font of the application followed by one with Chinese characters."""
    installed = [name for name in FONTS["zh_CN"] if name in QFontDatabase.families()]
    if not installed:
        pytest.skip("no font with Chinese characters is installed")
    font = qapp.font()
    font.setFamilies([font.family(), *installed])
    return font


def digit_rows(field: QSpinBox) -> list[int]:
    """Return the rows of the field's digit that contain dark pixels."""
    pixmap = QPixmap(field.size())
    field.render(pixmap)
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.array(image.constBits()).reshape(image.height(), image.bytesPerLine())
    left = field.lineEdit().x() + field.lineEdit().textMargins().left()
    digit = pixels[4:-4, left : left + field.fontMetrics().horizontalAdvance("5")]
    return np.flatnonzero(digit.min(1) < 128).tolist()


def test_digits_are_as_high_with_a_unit_in_chinese(qtbot, font, qapp):
    def field(suffix: str) -> QSpinBox:
        box = QSpinBox(value=5, suffix=suffix, readOnly=True, focusPolicy=Qt.FocusPolicy.NoFocus)
        qtbot.addWidget(box)
        box.setPalette(qapp.style().standardPalette())
        box.setFont(font)
        align_text(box)
        box.resize(120, 32)
        box.show()
        return box

    latin, chinese = field(" min"), field(" 分钟")
    assert digit_rows(latin) and digit_rows(chinese) == digit_rows(latin)
    assert chinese.sizeHint().height() == latin.sizeHint().height()
