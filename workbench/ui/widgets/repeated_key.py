"""Guard against a repeated key: after Return or Space has pressed a button, the next press must not run a command."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

_PAUSE = 1.0  # seconds after a press in which a further press counts as its repetition
_MODIFIERS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)


class RepeatedKeyGuard(QObject):
    """Event filter for the widget that got the focus from a button which was pressed by a key.

    The first further press of that key is held back, and those that follow one another quickly. Another key, a mouse
    button or a change of focus ends this.
    """

    held_back = Signal(int, str)  # key, name of the button

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.clock: Callable[[], float] = time.monotonic  # returns seconds; can be replaced
        self._target: QWidget | None = None
        self._key, self._name = 0, ""
        self._reported = False
        self._pressed_at = 0.0

    def watch(self, target: QWidget, key: int, name: str) -> None:
        """Hold back the key that has pressed the button of that name."""
        self.stop()
        self._target, self._key, self._name = target, key, name
        self._reported, self._pressed_at = False, self.clock()
        target.installEventFilter(self)

    def stop(self) -> None:
        if self._target is not None:
            self._target.removeEventFilter(self)
        self._target = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.FocusOut):
            self.stop()
        elif kind in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return self._hold_back(event, pressed=kind == QEvent.Type.KeyPress)
        return False

    def _hold_back(self, event: QKeyEvent, *, pressed: bool) -> bool:
        if event.key() in _MODIFIERS:
            return False
        repeated = event.isAutoRepeat() or not self._reported or self.clock() - self._pressed_at < _PAUSE
        if event.key() != self._key or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or not repeated:
            self.stop()
            return False
        event.accept()
        if pressed:
            self._pressed_at = self.clock()
            if not self._reported and not event.isAutoRepeat():
                self._reported = True
                self.held_back.emit(self._key, self._name)
        return True
