"""Bar over the canvas: position of its text."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from workbench.ui.canvas.canvas_items import END, HEIGHT, bar_width, draw_bar


@pytest.mark.parametrize("ends", [1, 2])
def test_text_is_in_the_middle_of_the_space_beside_the_ends(qapp, ends):
    width = bar_width(QFontMetrics(qapp.font()), "MMMM", ends=ends)
    image = QImage(width, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.setFont(qapp.font())
    draw_bar(painter, QRect(0, 0, width, HEIGHT), "MMMM", ends=ends)
    painter.end()
    gray = np.frombuffer(image.constBits(), np.uint8).reshape(HEIGHT, width, 4)[..., 0]
    columns = np.flatnonzero(gray[:, 2:-2].max(0) > 120) + 2
    left, right = columns[0], width - 1 - columns[-1]
    assert abs(left - (right - END if ends == 1 else right)) <= 2 and left < END + 12
