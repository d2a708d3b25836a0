"""Owner of the pointer: the button that started a gesture owns it until it is released."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QEvent, QPoint

from tests.ui.canvas.pointer_input import B, M, paints_without_a_button
from workbench.session.spot_finder import SpotFinder
from workbench.ui.canvas.context_menu import ContextMenu


def test_left_press_during_a_pan_starts_no_stroke(mouse):
    mouse.move(40, 40)
    mouse.press(B.MiddleButton)
    mouse.press(B.LeftButton)
    mouse.release(B.LeftButton)
    view = mouse.driver.canvas.view
    mouse.at += QPoint(9, 5)
    mouse.send(QEvent.Type.MouseMove, B.NoButton)
    assert mouse.driver.canvas.view != view, "it still pans"
    mouse.release(B.MiddleButton)
    assert not mouse.driver.session.mask.any() and not paints_without_a_button(mouse)


@pytest.mark.parametrize(
    "offered, modifiers",
    [
        (False, M.NoModifier),
        (True, M.AltModifier),
        pytest.param(True, M.NoModifier, marks=pytest.mark.slow),
        pytest.param(False, M.ShiftModifier, marks=pytest.mark.slow),
    ],
)
def test_two_buttons_in_any_order_leave_no_stroke(mouse, offered, modifiers, monkeypatch):
    """offered: the bar that offers spots is shown, as it is until the labeled images are counted."""
    monkeypatch.setattr(SpotFinder, "offered", offered)
    monkeypatch.setattr(ContextMenu, "press", lambda *_: False)  # a menu would wait for an answer
    pairs = itertools.permutations([B.LeftButton, B.MiddleButton, B.RightButton], 2)
    for (first, second), crossed in itertools.product(pairs, (False, True)):
        mouse.move(40, 40)
        mouse.keys = modifiers
        mouse.press(first)
        mouse.move(44, 44)
        mouse.press(second)
        mouse.move(48, 48)
        for button in (first, second) if crossed else (second, first):
            mouse.release(button)
        mouse.keys = M.NoModifier
        assert not paints_without_a_button(mouse), (first, second, crossed)
        mouse.driver.session.mask[:] = 0


def test_press_after_a_missed_release_ends_the_first_stroke(mouse):
    """A modal dialog can swallow the release of a button."""
    session = mouse.driver.session
    mouse.move(20, 20)
    mouse.press(B.LeftButton)
    mouse.move(40, 20)
    mouse.down = B.NoButton  # the release does not arrive
    mouse.move(20, 60)
    mouse.press(B.LeftButton)
    mouse.move(40, 60)
    mouse.release(B.LeftButton)
    assert session.mask[20, 30] and session.mask[60, 30]
    session.undo()
    assert session.mask[20, 30] and not session.mask[60, 38], "two strokes are two undo steps"
    session.undo()
    assert not session.mask.any() and not paints_without_a_button(mouse)


def test_change_of_the_tool_during_a_stroke_ends_its_ownership(mouse):
    canvas = mouse.driver.canvas
    mouse.move(20, 20)
    mouse.press(B.LeftButton)
    mouse.move(40, 20)
    canvas.choose_tool("rectangle")
    assert not mouse.driver.session.mask.any(), "the unfinished stroke is discarded"
    mouse.move(60, 40)
    mouse.release(B.LeftButton)
    assert not mouse.driver.session.mask.any() and not canvas.current.busy
    canvas.choose_tool("brush")
    assert not paints_without_a_button(mouse)
