"""Random clicks, drags, wheel turns and keys in the whole window, with all dialogs and menus that they open."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.conftest import application, load_theme, opened, root  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

EVENTS = 2000
PAUSE = 100  # ms between two events
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NONE, CONTROL, SHIFT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
KEYS = [
    *(Qt.Key(code) for code in (*range(Qt.Key.Key_A.value, Qt.Key.Key_Z.value + 1), *range(0x30, 0x3A))),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape),
    *(Qt.Key.Key_Tab, Qt.Key.Key_Delete, Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_F1, Qt.Key.Key_F4),
]
STUCK = 40  # events after which a modal dialog is closed by Esc


class Monkey:
    """Sender of random events. Each starts the timer of the next one, so that nested event loops get them as well."""

    def __init__(self, window: QWidget, seed: int) -> None:
        self._window, self._random = window, random.Random(seed)
        self.sent, self._modal, self._ended = 0, 0, False
        self._next()

    def end(self) -> None:
        self._ended = True
        for widget in QApplication.topLevelWidgets():
            if widget is not self._window:
                widget.close()

    def _next(self) -> None:
        QTimer.singleShot(PAUSE, self._window, self._send)

    def _send(self) -> None:
        if self._ended:
            return
        self._next()
        modal = QApplication.activeModalWidget()
        self._modal = self._modal + 1 if modal is not None else 0
        window = QApplication.activePopupWidget() or modal or QApplication.activeWindow() or self._window
        self.sent += 1
        if self._modal > STUCK:
            self._modal = 0
            QTest.keyClick(window, Qt.Key.Key_Escape)
            return
        target = self._random.choice([window, *self._visible(window)])
        pixel = QPoint(self._random.randrange(target.width()), self._random.randrange(target.height()))
        kind = self._random.random()
        if kind < 0.4:
            QTest.mouseClick(target, self._random.choice([LEFT, LEFT, LEFT, RIGHT]), NONE, pixel)
        elif kind < 0.5:
            QTest.mousePress(target, LEFT, NONE, pixel)
            QTest.mouseMove(target, QPoint(target.width() // 2, target.height() // 2))
            QTest.mouseRelease(target, LEFT, NONE, QPoint(target.width() // 2, target.height() // 2))
        elif kind < 0.55:
            QTest.mouseDClick(target, LEFT, NONE, pixel)
        else:
            key, modifier = self._random.choice(KEYS), self._random.choice([NONE, NONE, NONE, SHIFT, CONTROL])
            if (key, modifier) != (Qt.Key.Key_Q, CONTROL):
                QTest.keyClick(QApplication.focusWidget() or window, key, modifier)

    @staticmethod
    def _visible(window: QWidget) -> Iterator[QWidget]:
        return (
            widget
            for widget in window.findChildren(QWidget)
            if widget.isVisible() and widget.isEnabled() and min(widget.width(), widget.height()) > 3
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_random_events_cause_no_error_and_no_warning(opened, root, qtbot, qtlog, monkeypatch, capfd, seed):  # noqa: F811
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: True)
    session, window = opened.services.session, opened.window
    monkey = Monkey(window, seed)
    while monkey.sent < EVENTS:
        qtbot.wait(PAUSE)
        if not window.isVisible():
            opened.show()
        if session.project is None and QApplication.activeModalWidget() is None and monkey.sent % 50 == 0:
            session.open_project(root)
    monkey.end()
    # The platform plug-in of the tests says what it does not do.
    messages = [record.message for record in qtlog.records if record.type_name != "QtDebugMsg"]
    assert not [message for message in messages if not message.startswith("This plugin does not support")]
    assert not capfd.readouterr().err
