"""Separation of good and defective images: keys at typing speed, keys that come too early, painting afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.ui.images.image_delegate import CELL

pytestmark = pytest.mark.usefixtures("one_window")

COUNT = 24
G, B, SPACE, RETURN = Qt.Key.Key_G, Qt.Key.Key_B, Qt.Key.Key_Space, Qt.Key.Key_Return


@pytest.fixture
def root(tmp_path):
    """Project with unlabeled images."""
    root = tmp_path / "plates"
    with Project.create(root, classes=["rust"]) as project:
        for n in range(COUNT):
            write_png(project.image_path(f"p{n:02}.png"), np.full((60, 80), 100 + n, np.uint8))
    return root


@pytest.fixture
def wall(application, root, qtbot):
    """Thumbnail view on the first image, opened by the next step."""
    session, window = application.services.session, application.window
    with qtbot.waitSignal(session.current.opened):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == COUNT)
    qtbot.waitUntil(lambda: window.stage_bar.next.text() == "Separate good and defective")
    QTest.mouseClick(window.stage_bar.next, Qt.MouseButton.LeftButton)
    view = window.images.thumbnail_view
    qtbot.waitUntil(view.list_view.hasFocus)
    return view


def statuses(session) -> dict[str, str]:
    """Statuses on the disk, of the images that have one, by number of the image."""
    session.verdict_steps.finish()
    assert session.flush()
    notes = {key: annotation.load_note(session.project, key).status for key in session.keys}
    return {key[1:3]: status for key, status in notes.items() if status != "new"}


def shown(view) -> str:
    return view.model.key_at(view.list_view.currentIndex().row())[1:3]


def press(view, qtbot, key) -> None:
    """Press a key once the image is shown, as a person does."""
    qtbot.waitUntil(lambda: view.preview.painted == view.preview.key)
    QTest.keyClick(QApplication.focusWidget(), key)


def test_each_key_decides_on_the_shown_image(wall, application, qtbot):
    session = application.services.session
    for key in (G, B, SPACE, G, Qt.Key.Key_Right, B):
        press(wall, qtbot, key)
    decided = {"00": "done", "01": "started", "03": "done", "05": "started"}
    assert statuses(session) == decided and shown(wall) == "06"
    assert not annotation.read_mask(session.project.mask_path("p00.png")).any()
    qtbot.waitUntil(lambda: wall.separation.counts.full_text == "Good: 2 · Defects to paint: 2 · Not decided: 20")
    session.undo()
    qtbot.waitUntil(lambda: session.key == "p05.png")  # undo shows what it changed
    assert statuses(session) == {"00": "done", "01": "started", "03": "done"}


def test_wall_begins_at_the_first_undecided_image_beside_other_panels(wall, application, qtbot):
    """The panels on the right disappear as the wall appears, so that its rows become longer."""
    window = application.window
    window.resize(1366, 600)
    for _ in range(14):
        press(wall, qtbot, G)
    press(wall, qtbot, B)
    qtbot.waitUntil(lambda: wall.separation.paint.text() == "Paint 1 defective image")
    QTest.mouseClick(wall.separation.paint, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.images.browsing)
    qtbot.wait(300)
    window.table["separate"].trigger()
    qtbot.wait(300)
    area, cell = wall.list_view.viewport().rect(), wall.list_view.visualRect(wall.list_view.currentIndex())
    assert shown(wall) == "15" and area.intersected(cell).height() > 100


def test_several_images_are_decided_together(wall, application, qtbot):
    session = application.services.session
    press(wall, qtbot, Qt.Key.Key_Down)  # not used: the selection below begins at the first image
    wall.show_undecided()
    for _ in range(9):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert wall.selected() == [f"p{n:02}.png" for n in range(10)]
    press(wall, qtbot, G)
    assert statuses(session) == {f"{n:02}": "done" for n in range(10)} and shown(wall) == "10"
    assert application.window.messages.texts[-1] == "10 images marked as good"
    session.undo()
    assert not statuses(session)


def test_sixty_images_a_minute_lose_no_key(wall, application, qtbot):
    session = application.services.session
    for n in range(COUNT):
        press(wall, qtbot, B if n % 6 == 5 else G)
    assert statuses(session) == {f"{n:02}": "started" if n % 6 == 5 else "done" for n in range(COUNT)}


def test_keys_that_come_before_their_image_stop(wall, application, qtbot):
    """Keys that arrive together act on the shown image; none of the others reaches a wrong one."""
    session, window = application.services.session, application.window
    now = [1000.0]
    wall.separation.clock = lambda: now[0]
    qtbot.waitUntil(lambda: wall.preview.painted == "p00.png")
    for key in (G, G, B, G, G, B, G, G):
        QApplication.sendEvent(wall.list_view, QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier))
    assert statuses(session) == {"00": "done"} and shown(wall) == "01"
    assert any(text.startswith("Stopped at p01.png") for text in window.messages.texts)
    qtbot.waitUntil(lambda: wall.preview.painted == "p01.png")
    press(wall, qtbot, B)  # still part of those typed too early
    assert statuses(session) == {"00": "done"}
    now[0] += 1.0
    press(wall, qtbot, B)
    assert statuses(session) == {"00": "done", "01": "started"}


def test_enter_on_the_canvas_marks_shown_images_only(application, root, qtbot):
    session, window = application.services.session, application.window
    with qtbot.waitSignal(session.current.opened):
        session.open_project(root)
    qtbot.waitUntil(lambda: window.canvas.content.seen and len(session.rows) == COUNT)
    window.canvas.setFocus()
    for _ in range(8):
        window.table["done_next"].trigger()  # eight keys before the window has time to paint
    qtbot.waitUntil(lambda: window.canvas.content.seen)
    done = statuses(session)
    assert done == {"00": "done"} and session.key == "p01.png"
    assert any(text.startswith("Stopped at p01.png: it is not shown yet.") for text in window.messages.texts)
    window.table["next"].trigger()
    window.table["verdict_next_1"].trigger()
    qtbot.waitUntil(lambda: window.canvas.content.seen)
    assert session.key == "p02.png" and not session.rows["p02.png"].verdict


def test_defective_images_are_painted_one_after_the_other(wall, application, qtbot):
    session, window = application.services.session, application.window
    for key in (G, B, G, B):
        press(wall, qtbot, key)
    qtbot.waitUntil(lambda: window.stage_bar.next.text() == "Label 2 images with defects")
    qtbot.waitUntil(lambda: wall.separation.paint.text() == "Paint 2 defective images")
    QTest.mouseClick(wall.separation.paint, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.key == "p01.png" and window.canvas.content.seen)
    assert not wall.isVisible() and window.side.isVisible()
    assert window.images.model.keys == ["p00.png", "p01.png", "p03.png"] or window.images.model.rowCount() == 2
    session.editor.paint_segment((10, 10), (30, 20), 4, 1)
    window.table["done_next"].trigger()
    qtbot.waitUntil(lambda: session.key == "p03.png")
    assert statuses(session) == {"00": "done", "01": "done", "02": "done", "03": "started"}


def test_enter_marks_no_defective_image_without_a_painted_defect(wall, application, qtbot):
    """A stroke may have been missed; the image would be a good one."""
    session, window = application.services.session, application.window
    press(wall, qtbot, B)
    window.images.paint_defective()
    qtbot.waitUntil(lambda: window.canvas.content.seen and session.key == "p00.png")
    QTest.keyClick(window.canvas, RETURN)
    assert statuses(session) == {"00": "started"} and session.opening == "p00.png"
    message = window.messages.shown[-1]
    assert message.text == "No defect is painted on p00.png, so it is not marked as done."
    session.open_image("p01.png")  # the button is for the image that the message names
    qtbot.waitUntil(lambda: session.key == "p01.png")
    message.findChild(QPushButton).click()
    assert statuses(session) == {"00": "done"}


def test_last_painted_image_leads_to_the_one_that_was_left_out_and_then_to_new_images(wall, application, qtbot):
    session, window = application.services.session, application.window
    for key in (G, B, G, B):
        press(wall, qtbot, key)
    qtbot.waitUntil(lambda: wall.separation.paint.text() == "Paint 2 defective images")
    for _ in range(2):  # the second one leaves out the first image
        window.table["paint_defective"].trigger()
        qtbot.waitUntil(lambda: window.canvas.isVisible() and window.canvas.content.seen)
    for key in ("p03.png", "p01.png"):
        qtbot.waitUntil(lambda key=key: session.key == key and window.canvas.content.seen)
        session.editor.paint_segment((10, 10), (30, 20), 4, 1)
        window.table["done_next"].trigger()
    qtbot.waitUntil(lambda: window.images.model.next_where("status:open", None, 1) is None)
    window.table["next_open"].trigger()
    qtbot.waitUntil(lambda: session.key == "p04.png")
    assert window.images.model.rowCount() == COUNT


def test_a_turn_of_the_wheel_is_one_row_of_thumbnails(wall, qtbot):
    bar, viewport = wall.list_view.verticalScrollBar(), wall.list_view.viewport()
    qtbot.waitUntil(lambda: bar.maximum() > 2 * CELL.height())
    assert bar.value() == 0
    turn = QPoint(0, -120)
    at, no = QPointF(40, 40), (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(
        viewport, QWheelEvent(at, viewport.mapToGlobal(at), QPoint(), turn, *no, Qt.ScrollPhase.NoScrollPhase, False)
    )
    assert abs(bar.value() - CELL.height()) < 3


def test_painted_images_are_no_good_images(wall, application, qtbot):
    session, window = application.services.session, application.window
    window.images.open("p00.png")
    qtbot.waitUntil(lambda: window.canvas.content.seen)
    session.editor.paint_segment((10, 10), (30, 20), 4, 1)
    assert session.flush()
    qtbot.waitUntil(lambda: wall.separation.counts.full_text.endswith("Not decided: 23 · Painted: 1"))
    window.images.separate()
    assert shown(wall) == "01"
    wall.show_current()
    press(wall, qtbot, G)
    assert statuses(session) == {"00": "started"} and shown(wall) == "01"
    assert any("painted defects" in text for text in window.messages.texts)
