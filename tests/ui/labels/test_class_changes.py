"""Classes moved, merged and deleted by hand: shown before, told while it goes, taken back."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.core.project import annotation


def test_merging_shows_what_it_changes_and_one_undo_takes_it_back(hand):
    session, panel, qtbot = hand.session, hand.window.classes, hand.qtbot
    hand.open(session.keys[0])
    hand.canvas.set_diameter(9)
    hand.key(Qt.Key.Key_2)
    hand.drag((10, 10), (30, 10))
    was = hand.saved().copy()
    qtbot.waitUntil(lambda: any(id == 2 for id, _ in session.rows[session.key].regions), timeout=10_000)
    dialog = panel.change(2, merge=True)
    assert dialog.target.currentText() == "scratch" and "1 regions in 1 pictures" in dialog.what.text()
    assert f"{int((was == 2).sum()):,} painted" in dialog.what.text() and "MB" in dialog.cost.text()
    with qtbot.waitSignal(session.class_work.ended, timeout=10_000):
        dialog.go.click()
        assert panel.card.isVisible() and panel.card.cancel.isVisible()
    assert [info.name for info in session.project.classes] == ["scratch"]
    assert panel.model.rowCount() == 2 and "merged" in panel.card.text.text() and panel.card.back.isVisible()
    assert np.array_equal(hand.saved(), np.where(was == 2, 1, was))
    qtbot.waitUntil(hand.window.table["undo"].isEnabled)
    with qtbot.waitSignal(session.class_work.ended, timeout=10_000):
        hand.window.table["undo"].trigger()
    assert np.array_equal(hand.saved(), was) and panel.model.rowCount() == 3 and not panel.card.isVisible()


def test_a_class_that_nobody_painted_is_deleted(hand):
    session, panel = hand.session, hand.window.classes
    dialog = panel.change(2, merge=False)
    assert "No picture holds it" in dialog.what.text()
    with hand.qtbot.waitSignal(session.class_work.ended, timeout=10_000):
        dialog.go.click()
    assert session.project.file.retired_ids == [2]
    key = session.keys[0]
    assert annotation.load_mask(session.project, key) is not None


def test_classes_change_places_by_menu_and_by_drop(hand):
    session, panel = hand.session, hand.window.classes
    panel.move(2, -1)
    assert [info.id for info in session.project.classes] == [2, 1]
    panel.move(2, -1)  # at the top already
    assert [panel.model.item(i).text() for i in range(2)] == ["pit", "scratch"]
    data = panel.model.mimeData([panel.model.index(0, 0)])
    panel.model.dropMimeData(data, Qt.DropAction.MoveAction, 2, 0, panel.model.index(-1, -1))
    panel.model.removeRow(0)  # as the view does after a move
    hand.qtbot.waitUntil(lambda: [info.id for info in session.project.classes] == [1, 2], timeout=5000)
    hand.key(Qt.Key.Key_2)
    assert session.class_id == 2
    QTest.keyClick(hand.canvas, Qt.Key.Key_1)
    assert session.class_id == 1
