"""Several buttons at once on the canvas: the first one owns the pointer until it is released."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from workbench.ui.canvas.interactions.context_menu import ContextMenu

B, M = Qt.MouseButton, Qt.KeyboardModifier
NEW = "lot1/new.png"


class Mouse:
    """A mouse whose events carry the buttons that are down."""

    def __init__(self, hand) -> None:
        self.hand, self.down, self.keys = hand, B.NoButton, M.NoModifier
        self.at = QPoint()

    def _send(self, kind: QEvent.Type, button: Qt.MouseButton) -> None:
        canvas = self.hand.canvas
        place = QPointF(self.at)
        event = QMouseEvent(kind, place, QPointF(canvas.mapToGlobal(self.at)), button, self.down, self.keys)
        QApplication.sendEvent(canvas, event)

    def move(self, x: float, y: float) -> None:
        self.at = self.hand.pixel(x, y)
        self._send(QEvent.Type.MouseMove, B.NoButton)

    def press(self, button: Qt.MouseButton) -> None:
        self.down |= button
        self._send(QEvent.Type.MouseButtonPress, button)

    def release(self, button: Qt.MouseButton) -> None:
        self.down &= ~button
        self._send(QEvent.Type.MouseButtonRelease, button)


@pytest.fixture
def mouse(hand):
    hand.open(NEW)
    hand.canvas.set_diameter(10)
    return Mouse(hand)


def paints_without_a_button(mouse) -> bool:
    """Whether moves paint with no button down, or a stroke does not paint."""
    mask = mouse.hand.session.mask
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


def test_a_left_press_while_the_middle_button_pans_begins_no_stroke(mouse):
    mouse.move(40, 40)
    mouse.press(B.MiddleButton)
    mouse.press(B.LeftButton)
    mouse.release(B.LeftButton)
    view = mouse.hand.canvas.view
    mouse.at += QPoint(9, 5)
    mouse._send(QEvent.Type.MouseMove, B.NoButton)
    assert mouse.hand.canvas.view != view, "it still pans"
    mouse.release(B.MiddleButton)
    assert not mouse.hand.session.mask.any() and not paints_without_a_button(mouse)


@pytest.mark.parametrize("first, second", itertools.permutations([B.LeftButton, B.MiddleButton, B.RightButton], 2))
@pytest.mark.parametrize("modifiers", [M.NoModifier, M.ShiftModifier, M.AltModifier])
@pytest.mark.parametrize("crossed", [False, True])
def test_no_order_of_two_buttons_leaves_the_brush_stuck(mouse, first, second, modifiers, crossed, monkeypatch):
    monkeypatch.setattr(ContextMenu, "press", lambda *_: False)  # a menu would wait for an answer
    mouse.move(40, 40)
    mouse.keys = modifiers
    mouse.press(first)
    mouse.move(44, 44)
    mouse.press(second)
    mouse.move(48, 48)
    for button in (first, second) if crossed else (second, first):
        mouse.release(button)
    mouse.keys = M.NoModifier
    assert not paints_without_a_button(mouse)
