"""Pointer input with several buttons."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

B, M = Qt.MouseButton, Qt.KeyboardModifier


NEW = "lot1/new.png"


class Mouse:
    """Mouse whose events carry the pressed buttons."""

    def __init__(self, driver) -> None:
        self.driver, self.down, self.keys = driver, B.NoButton, M.NoModifier
        self.at = QPoint()

    def send(self, kind: QEvent.Type, button: Qt.MouseButton) -> None:
        canvas = self.driver.canvas
        place = QPointF(self.at)
        event = QMouseEvent(kind, place, QPointF(canvas.mapToGlobal(self.at)), button, self.down, self.keys)
        QApplication.sendEvent(canvas, event)

    def move(self, x: float, y: float) -> None:
        self.at = self.driver.pixel(x, y)
        self.send(QEvent.Type.MouseMove, B.NoButton)

    def press(self, button: Qt.MouseButton) -> None:
        self.down |= button
        self.send(QEvent.Type.MouseButtonPress, button)

    def release(self, button: Qt.MouseButton) -> None:
        self.down &= ~button
        self.send(QEvent.Type.MouseButtonRelease, button)


@pytest.fixture
def mouse(driver):
    driver.open(NEW)
    driver.canvas.set_diameter(10)
    return Mouse(driver)


def paints_without_a_button(mouse) -> bool:
    """Show the whole image. Return whether moves paint without a pressed button, or a stroke does not paint.

    The points are away from the bars over the canvas, which take presses and may appear at any time.
    """
    mouse.driver.canvas.view_state.fit()
    mask = mouse.driver.session.mask
    before = mask.copy()
    mouse.move(15, 15)
    mouse.move(80, 15)
    loose = (mask != before).any()
    mask[:] = 0
    mouse.move(15, 60)
    mouse.press(B.LeftButton)
    mouse.move(60, 60)
    mouse.release(B.LeftButton)
    return bool(loose or not mask.any())
