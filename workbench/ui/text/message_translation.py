"""Messages of `core` and `training` in the language of the user interface."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from workbench.core import messages


def translate_message(text: str) -> str:
    """Return a message in the language of the user interface; any other text unchanged."""
    return messages.render(text, QCoreApplication.translate)
