"""Style of messages: rules for frames must not apply to labels, which are frames for the style sheet; colored edge."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFrame, QLabel

from workbench.core import resources
from workbench.ui.widgets.theme import ThemeManager


def test_frame_styles_do_not_apply_to_the_labels_of_messages(application):
    sheet = resources.path("style.qss").read_text(encoding="utf-8")
    frames = set(re.findall(r"QFrame#(\w+)", sheet))
    application.window.messages.show_message("problem", "The label could not be saved", "No space left on device")
    labels = application.window.findChildren(QLabel)
    assert any(label.text() == "The label could not be saved" for label in labels) and "message" in frames
    assert not {label.objectName() for label in labels} & frames


@pytest.mark.parametrize("scale", [1, 2])
def test_colored_edge_of_a_message_is_straight(qapp, qtbot, scale):
    font, sheet, palette = QApplication.font(), qapp.styleSheet(), qapp.palette()
    style = ThemeManager(qapp)
    style.apply("light")
    try:
        message = QFrame(objectName="message")
        message.setProperty("kind", "problem")
        message.resize(200, 50)
        qtbot.addWidget(message)
        message.show()
        image = QImage(message.size() * scale, QImage.Format.Format_ARGB32)
        image.setDevicePixelRatio(scale)
        image.fill(0)
        message.render(image)
    finally:
        qapp.setFont(font)
        qapp.setStyleSheet(sheet)
        qapp.setPalette(palette)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[..., :3].astype(int)
    color = style.theme.color("danger")
    colored = (np.abs(pixels - [color.blue(), color.green(), color.red()]).max(2) < 40).sum(0)
    assert (colored[: 3 * scale] >= image.height() - 4 * scale).all() and not colored[3 * scale :].any()
