"""Style of messages: rules for frames must not apply to labels, which are frames for the style sheet."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QLabel

from workbench.core import resources


def test_frame_styles_do_not_apply_to_the_labels_of_messages(application):
    sheet = resources.path("style.qss").read_text(encoding="utf-8")
    frames = set(re.findall(r"QFrame#(\w+)", sheet))
    application.window.messages.show_message("problem", "The label could not be saved", "No space left on device")
    labels = application.window.findChildren(QLabel)
    assert any(label.text() == "The label could not be saved" for label in labels) and "message" in frames
    assert not {label.objectName() for label in labels} & frames
