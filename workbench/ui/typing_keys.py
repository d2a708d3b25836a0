"""Keys that belong to whoever types: Enter in a text field must not mark a picture done."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit

_THEIRS = frozenset((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown))


class TypingKeys(QObject):
    """An event filter for the application: text fields keep these keys from the window's shortcuts."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        typing = event.type() == QEvent.Type.ShortcutOverride and isinstance(watched, (QLineEdit, QAbstractSpinBox))
        if typing and event.key() in _THEIRS:
            event.accept()
            return True
        return super().eventFilter(watched, event)
