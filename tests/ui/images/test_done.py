"""Done and next: when Return means it, the message with Undo, and undo of a status across images."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from workbench.core.project import annotation

pytestmark = pytest.mark.usefixtures("one_window")

NEW, FIRST = "lot1/new.png", "lot0/p000.png"
RETURN, CTRL = Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier


class Clock:
    """Clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(driver) -> Clock:
    driver.canvas.context.shape_end.clock = Clock()
    return driver.canvas.context.shape_end.clock


@pytest.fixture
def listed(driver):
    """Window whose list holds labeled images only."""
    keys = driver.window.images.model.order
    assert len(driver.session.keys) == 5 and keys is not None
    return driver


def status_of(driver, key: str) -> str:
    driver.session.verdict_steps.finish()
    assert driver.session.flush()
    return annotation.load_note(driver.session.project, key).status


@pytest.mark.parametrize(
    "tool, close",
    [
        ("box_cut", "drag"),
        pytest.param("rectangle", "drag", marks=pytest.mark.slow),
        pytest.param("lasso", "drag", marks=pytest.mark.slow),
        ("polygon", "return"),
        pytest.param("smart_edge", "return", marks=pytest.mark.slow),
        ("crack", "return"),
    ],
)
def test_return_that_closes_an_outline_does_not_mark_as_done(driver, clock, tool, close):
    driver.open(FIRST)
    before = driver.session.note.status
    driver.session.notes.set_status("started")
    driver.canvas.choose_tool(tool)
    if close == "drag":
        driver.drag((20, 20), (50, 20), (50, 50), (20, 50))
    else:
        for point in ((20, 20), (50, 20), (50, 50)):
            driver.click(*point)
        driver.key(RETURN)
        assert not driver.canvas.current.busy
    driver.key(RETURN)
    assert driver.session.key == FIRST and driver.session.note.status == "started", before
    driver.canvas.tasks.finish()
    clock.now += 0.4
    driver.key(RETURN)
    assert driver.session.key == FIRST and driver.session.note.status == "started"
    clock.now += 0.2
    driver.key(RETURN)
    driver.qtbot.waitUntil(lambda: driver.session.key != FIRST, timeout=10_000)
    assert status_of(driver, FIRST) == "done"


def test_return_after_a_stroke_marks_as_done(driver, clock):
    driver.open(NEW)
    driver.drag((20, 20), (60, 40))
    driver.key(RETURN)
    assert status_of(driver, NEW) == "done"


def test_message_for_done_offers_undo(listed, qtbot):
    driver, messages = listed, listed.window.messages
    driver.open(FIRST)
    driver.session.notes.set_status("started")
    driver.key(RETURN)
    qtbot.waitUntil(lambda: driver.session.key != FIRST, timeout=10_000)
    assert any("p000.png marked as done" in text for text in messages.texts)
    button = next(b for b in messages.findChildren(QPushButton) if b.text() == "Undo" and b.isVisible())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: driver.session.key == FIRST, timeout=10_000)
    assert driver.session.note.status == "started" and status_of(driver, FIRST) == "started"
    assert driver.session.rows[FIRST].status == "started"
    assert any(text.startswith("Undone: p000.png marked as done") for text in messages.texts)
    driver.session.redo()
    assert status_of(driver, FIRST) == "done"


def test_undo_reverts_done_in_the_order_of_the_steps(listed, qtbot):
    """A stroke, done, a stroke on the next image: undone one by one, each on its own image."""
    driver, session = listed, listed.session
    driver.open(NEW)
    driver.drag((20, 20), (60, 40))
    painted = session.mask.copy()
    driver.key(RETURN)
    assert status_of(driver, NEW) == "done"
    driver.open(FIRST)
    clean = session.mask.copy()
    driver.drag((10, 70), (60, 70))
    assert (session.mask != clean).any()
    assert not any("marked as done" in text for text in driver.window.messages.texts), "Undo would undo the stroke"
    driver.key(Qt.Key.Key_Z, CTRL)
    assert session.key == FIRST and (session.mask == clean).all() and status_of(driver, NEW) == "done"
    driver.key(Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: session.key == NEW and session.mask is not None, timeout=10_000)
    assert session.note.status == "started" and (session.mask == painted).all()
    driver.key(Qt.Key.Key_Z, CTRL)
    assert not session.mask.any()
    for _ in range(3):
        driver.key(Qt.Key.Key_Y, CTRL)
        qtbot.wait(1)
    qtbot.waitUntil(lambda: session.key == FIRST and (session.mask != clean).any(), timeout=10_000)
    assert status_of(driver, NEW) == "done"


def test_undo_on_another_image_shows_the_undone_step(listed, qtbot):
    driver, session = listed, listed.session
    driver.open(NEW)
    driver.drag((20, 20), (60, 40))
    driver.open(FIRST)
    qtbot.waitUntil(driver.window.table["undo"].isEnabled, timeout=10_000)
    driver.key(Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: session.key == NEW, timeout=10_000)
    assert "Undone on new.png: Brush" in driver.window.messages.texts


def test_mark_as_not_done_can_be_undone(driver):
    driver.open(NEW)
    driver.session.verdict_steps.set_status("done")
    driver.session.verdict_steps.set_status("started")
    assert driver.session.can_undo()
    driver.session.undo()
    assert status_of(driver, NEW) == "done"
    driver.session.undo()
    assert status_of(driver, NEW) == "new"
