"""Done and next: when Return means it, the message with Undo, and undo of a status across images."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from workbench.core.project import annotation

NEW, FIRST = "lot1/new.png", "lot0/p000.png"
RETURN, CTRL = Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier


class Clock:
    """Seconds that pass only when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(hand) -> Clock:
    hand.canvas.context.shape_end.clock = Clock()
    return hand.canvas.context.shape_end.clock


@pytest.fixture
def listed(hand):
    """The list goes from one labelled image to the next."""
    keys = hand.window.images.model.order
    assert len(hand.session.keys) == 5 and keys is not None
    return hand


def status_of(hand, key: str) -> str:
    hand.session.judging.finish()
    assert hand.session.flush()
    return annotation.load_note(hand.session.project, key).status


@pytest.mark.parametrize(
    "tool, close",
    [
        ("box_cut", "drag"),
        ("rectangle", "drag"),
        ("lasso", "drag"),
        ("polygon", "return"),
        ("smart_edge", "return"),
        ("crack", "return"),
    ],
)
def test_return_right_after_a_closed_shape_is_not_done(hand, clock, tool, close):
    hand.open(FIRST)
    before = hand.session.note.status
    hand.session.notes.set_status("started")
    hand.canvas.choose_tool(tool)
    if close == "drag":
        hand.drag((20, 20), (50, 20), (50, 50), (20, 50))
    else:
        for point in ((20, 20), (50, 20), (50, 50)):
            hand.click(*point)
        hand.key(RETURN)
        assert not hand.canvas.current.busy
    hand.key(RETURN)
    assert hand.session.key == FIRST and hand.session.note.status == "started", before
    hand.canvas.tasks.finish()
    clock.now += 0.4
    hand.key(RETURN)
    assert hand.session.key == FIRST and hand.session.note.status == "started"
    clock.now += 0.2
    hand.key(RETURN)
    hand.qtbot.waitUntil(lambda: hand.session.key != FIRST, timeout=10_000)
    assert status_of(hand, FIRST) == "done"


def test_return_right_after_a_stroke_is_done(hand, clock):
    hand.open(NEW)
    hand.drag((20, 20), (60, 40))
    hand.key(RETURN)
    assert status_of(hand, NEW) == "done"


def test_done_is_announced_and_its_button_takes_it_back(listed, qtbot):
    hand, messages = listed, listed.window.messages
    hand.open(FIRST)
    hand.session.notes.set_status("started")
    hand.key(RETURN)
    qtbot.waitUntil(lambda: hand.session.key != FIRST, timeout=10_000)
    assert any("p000.png marked done" in text for text in messages.texts)
    button = next(b for b in messages.findChildren(QPushButton) if b.text() == "Undo" and b.isVisible())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: hand.session.key == FIRST, timeout=10_000)
    assert hand.session.note.status == "started" and status_of(hand, FIRST) == "started"
    assert hand.session.rows[FIRST].status == "started"
    assert any(text.startswith("Undone: p000.png marked done") for text in messages.texts)
    hand.session.redo()
    assert status_of(hand, FIRST) == "done"


def test_ctrl_z_takes_done_back_in_the_order_of_the_steps(listed, qtbot):
    """A stroke, done, a stroke on the next image: undone one by one, each on its own image."""
    hand, session = listed, listed.session
    hand.open(NEW)
    hand.drag((20, 20), (60, 40))
    painted = session.mask.copy()
    hand.key(RETURN)
    assert status_of(hand, NEW) == "done"
    hand.open(FIRST)
    clean = session.mask.copy()
    hand.drag((10, 70), (60, 70))
    assert (session.mask != clean).any()
    assert not any("marked done" in text for text in hand.window.messages.texts), "Undo would undo the stroke"
    hand.key(Qt.Key.Key_Z, CTRL)
    assert session.key == FIRST and (session.mask == clean).all() and status_of(hand, NEW) == "done"
    hand.key(Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: session.key == NEW and session.mask is not None, timeout=10_000)
    assert session.note.status == "started" and (session.mask == painted).all()
    hand.key(Qt.Key.Key_Z, CTRL)
    assert not session.mask.any()
    for _ in range(3):
        hand.key(Qt.Key.Key_Y, CTRL)
        qtbot.wait(1)
    qtbot.waitUntil(lambda: session.key == FIRST and (session.mask != clean).any(), timeout=10_000)
    assert status_of(hand, NEW) == "done"


def test_undo_on_another_image_says_what_it_undid(listed, qtbot):
    hand, session = listed, listed.session
    hand.open(NEW)
    hand.drag((20, 20), (60, 40))
    hand.open(FIRST)
    qtbot.waitUntil(hand.window.table["undo"].isEnabled, timeout=10_000)
    hand.key(Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: session.key == NEW, timeout=10_000)
    assert "Undone on new.png: Brush" in hand.window.messages.texts


def test_not_done_is_undone_too(hand):
    hand.open(NEW)
    hand.session.judging.set_status("done")
    hand.session.judging.set_status("started")
    assert hand.session.can_undo()
    hand.session.undo()
    assert status_of(hand, NEW) == "done"
    hand.session.undo()
    assert status_of(hand, NEW) == "new"
