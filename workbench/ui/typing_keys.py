"""Keys that belong to whoever types: Enter in a text field must not mark a picture done."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

_THEIRS = frozenset((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown))


class TypingKeys(QObject):
    """Keeps these keys of a text field or spin box from the window's shortcuts."""

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and event.key() in _THEIRS:
            event.accept()
            return True
        return super().eventFilter(watched, event)
