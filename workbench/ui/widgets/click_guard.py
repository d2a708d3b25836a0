"""Guard against a click that was meant for the button which was in this place until now."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QAbstractButton

PAUSE = 500  # ms, longer than a person needs to notice that the button has changed
_CLICKS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)


class ClickGuard(QObject):
    """Event filter that discards mouse clicks on some buttons for `PAUSE` after `start`; keys keep their effect."""

    def __init__(self, buttons: Sequence[QAbstractButton], parent: QObject) -> None:
        super().__init__(parent)
        self._buttons, self._running = buttons, {}
        self.timer = QTimer(self, singleShot=True, interval=PAUSE)
        for button in buttons:
            button.installEventFilter(self)

    def follow(self, what: str, running: bool) -> None:
        """Start when something that a click would stop has ended. what: its name."""
        if self._running.get(what, False) and not running:
            self.start()
        self._running[what] = running

    def start(self) -> None:
        """Discard clicks from now on, also one whose button is already pressed."""
        for button in self._buttons:
            button.setDown(False)
        self.timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return event.type() in _CLICKS and self.timer.isActive()
