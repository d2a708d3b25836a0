"""Reordering, merging and deleting classes: preview, progress and undo."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.core.project import annotation


def test_class_merge_shows_a_preview_and_can_be_undone(driver):
    session, panel, qtbot = driver.session, driver.window.classes, driver.qtbot
    driver.open(session.keys[0])
    driver.canvas.set_diameter(9)
    driver.key(Qt.Key.Key_2)
    driver.drag((10, 10), (30, 10))
    before = driver.saved().copy()
    qtbot.waitUntil(lambda: any(id == 2 for id, _ in session.rows[session.key].regions), timeout=10_000)
    dialog = panel.change(2, merge=True)
    assert dialog.target.currentText() == "scratch" and "1 region (" in dialog.effect.text()
    assert f"({int((before == 2).sum()):,} pixels)" in dialog.effect.text() and "MB" in dialog.backup.text()
    with qtbot.waitSignal(session.class_merge.ended, timeout=10_000):
        dialog.confirm.click()
        assert panel.card.isVisible() and panel.card.cancel.isVisible()
    assert [info.name for info in session.project.classes] == ["scratch"]
    assert panel.model.rowCount() == 2 and "merged" in panel.card.text.text() and panel.card.undo.isVisible()
    assert np.array_equal(driver.saved(), np.where(before == 2, 1, before))
    qtbot.waitUntil(driver.window.table["undo"].isEnabled)
    with qtbot.waitSignal(session.class_merge.ended, timeout=10_000):
        driver.window.table["undo"].trigger()
    assert np.array_equal(driver.saved(), before) and panel.model.rowCount() == 3 and not panel.card.isVisible()


def test_unused_class_is_deleted(driver):
    session, panel = driver.session, driver.window.classes
    dialog = panel.change(2, merge=False)
    assert "not used in any image" in dialog.effect.text()
    with driver.qtbot.waitSignal(session.class_merge.ended, timeout=10_000):
        dialog.confirm.click()
    assert session.project.file.retired_ids == [2]
    key = session.keys[0]
    assert annotation.load_mask(session.project, key) is not None


def test_classes_are_reordered_by_menu_and_by_drag_and_drop(driver):
    session, panel = driver.session, driver.window.classes
    panel.move(2, -1)
    assert [info.id for info in session.project.classes] == [2, 1]
    panel.move(2, -1)  # at the top already
    assert [panel.model.item(i).text() for i in range(2)] == ["pit", "scratch"]
    data = panel.model.mimeData([panel.model.index(0, 0)])
    panel.model.dropMimeData(data, Qt.DropAction.MoveAction, 2, 0, panel.model.index(-1, -1))
    panel.model.removeRow(0)  # as the view does after a move
    driver.qtbot.waitUntil(lambda: [info.id for info in session.project.classes] == [1, 2], timeout=5000)
    driver.key(Qt.Key.Key_2)
    assert session.class_id == 2
    QTest.keyClick(driver.canvas, Qt.Key.Key_1)
    assert session.class_id == 1
