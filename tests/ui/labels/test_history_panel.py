"""List of the editing steps of the current image."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QDateTime, QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import PALETTE, Project
from workbench.session.session import Session
from workbench.ui.labels.classes_panel import COLOR_NAMES, color_name
from workbench.ui.labels.history_panel import HistoryPanel, StateRole, TimeRole, time_text
from workbench.ui.widgets.text_labels import CollapsibleSection
from workbench.ui.widgets.theme import ThemeManager

pytestmark = pytest.mark.usefixtures("one_window")


@pytest.fixture
def session(tmp_path, qtbot):
    root = tmp_path / "p"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        fill_project(project, 3)
    session = Session(save_delay=600)
    session.open_project(root)
    with qtbot.waitSignal(session.image_list.listed):
        pass
    show(session, qtbot, session.keys[0])
    yield session
    session.close_project()


def show(session, qtbot, key) -> None:
    session.open_image(key)
    qtbot.waitUntil(lambda: session.key == key and session.image is not None)


def step(session, x: int, kind: str = "paint") -> np.ndarray:
    session.editor.begin(kind)
    session.editor.paint_segment((x, 10), (x + 5, 30), 3, 0 if kind == "erase" else 2)
    session.editor.commit()
    return session.mask.copy()


@pytest.fixture
def panel(session, qapp, qtbot):
    panel = HistoryPanel(session, ThemeManager(qapp))
    qtbot.addWidget(panel)
    panel.resize(240, 300)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def rows(panel) -> list[tuple[str, str]]:
    indexes = [panel.model.index(i) for i in range(panel.model.rowCount())]
    return [(index.data(), index.data(StateRole)) for index in indexes]


def click(panel, row: int) -> None:
    position = panel.view.visualRect(panel.model.index(row)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, position)


def test_steps_of_the_current_image_are_listed_newest_first(session, panel, qtbot):
    assert rows(panel) == [] and panel.hint.isVisible() and not panel.view.isVisible()
    step(session, 10)
    step(session, 30, "polygon")
    session.undo()
    assert rows(panel) == [("Polygon", "undone"), ("Brush", "current"), ("Initial state", "done")]
    assert not panel.hint.isVisible() and panel.view.isVisible()
    show(session, qtbot, session.keys[1])
    assert rows(panel) == []
    step(session, 20, "erase")  # nothing was there to erase: no step
    assert rows(panel) == []
    show(session, qtbot, session.keys[0])
    assert [name for name, _ in rows(panel)] == ["Polygon", "Brush", "Initial state"]


def test_click_restores_a_step_and_can_be_undone(session, panel):
    start = session.mask.copy()
    masks = [step(session, x) for x in (10, 30, 50)]
    click(panel, 2)
    assert np.array_equal(session.mask, masks[0])
    assert rows(panel)[0] == ("Step restored", "current") and len(rows(panel)) == 5
    session.undo()
    assert np.array_equal(session.mask, masks[2])
    click(panel, len(rows(panel)) - 1)
    assert np.array_equal(session.mask, start)
    click(panel, 0)  # the current state
    assert np.array_equal(session.mask, start)
    click(panel, 1)
    assert np.array_equal(session.mask, masks[2])
    panel.view.setCurrentIndex(panel.model.index(len(rows(panel)) - 2))
    panel.view.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert np.array_equal(session.mask, masks[0])


def test_only_the_newest_steps_are_listed(session, panel, monkeypatch):
    monkeypatch.setattr("workbench.ui.labels.history_panel.MAX_LISTED", 2)
    masks = [step(session, x) for x in (10, 30, 50)]
    assert rows(panel) == [("Brush", "current"), ("Brush", "done")]
    click(panel, 1)
    assert np.array_equal(session.mask, masks[1])


def test_folded_panel_is_not_updated(session, panel):
    panel.hide()
    step(session, 10)
    assert panel.model.rowCount() == 0
    panel.show()
    assert panel.model.rowCount() == 2


def test_reveal_unfolds_the_panel(session, qapp, qtbot):
    QSettings().setValue("sections/history", False)
    style = ThemeManager(qapp)
    panel = HistoryPanel(session, style)
    section = CollapsibleSection("history", "History", panel, style)
    qtbot.addWidget(section)
    section.show()
    step(session, 10)
    assert not panel.isVisible()
    panel.reveal()
    assert panel.isVisible() and panel.model.rowCount() == 2
    QSettings().remove("sections/history")


def test_history_stays_visible_when_a_section_above_unfolds(driver):
    window = driver.window
    window.resize(1280, 600)
    driver.drag((20, 20), (60, 40))
    layers = window.layers.parentWidget()
    layers._set_expanded(False)
    window.table["history"].trigger()
    view, area = window.history.view, window.side.viewport()

    def visible() -> bool:
        return area.rect().contains(view.rect().translated(view.mapTo(area, QPoint(0, 0))))

    driver.qtbot.waitUntil(visible)
    height = window.side.widget().height()
    layers._set_expanded(True)  # as the first prediction does
    driver.qtbot.waitUntil(lambda: window.side.widget().height() > height and visible())


def test_time_text_shows_time_today_and_date_before(panel, session):
    now = QDateTime.currentDateTime()
    assert time_text(now.toSecsSinceEpoch()) == now.toString("HH:mm")
    assert ":" not in time_text(now.addDays(-2).toSecsSinceEpoch())
    step(session, 10)
    assert panel.model.index(0).data(TimeRole)


def test_history_command_shows_the_panel(opened):
    window = opened.window
    action = window.table["history"]
    assert action.isEnabled()
    action.trigger()
    assert window.history.isVisible() and window.history.view.accessibleName() == "History"


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
    assert session.editor.class_id == 2
    QTest.keyClick(driver.canvas, Qt.Key.Key_1)
    assert session.editor.class_id == 1


@pytest.mark.parametrize(
    ("color", "name"),
    [("#ff0000", "Red"), ("#101010", "Black"), ("#0000c0", "Blue"), ("#959595", "Gray"), ("#00a05a", "Green")],
)
def test_a_color_has_the_name_of_the_nearest_one(color, name):
    assert color_name(color) == name


def test_colors_of_the_palette_have_distinct_names():
    assert set(PALETTE) < set(COLOR_NAMES)
    assert len({color_name(color) for color in PALETTE}) == len(PALETTE)


def test_class_list_names_the_colors(opened):
    panel = opened.window.classes
    item = panel.model.item(0)
    assert item.data(Qt.ItemDataRole.AccessibleDescriptionRole) == "Color: Amber"
    assert "Color: Amber" in item.toolTip()
    panel.recolor(1, "#ff0000")
    assert panel.model.item(0).data(Qt.ItemDataRole.AccessibleDescriptionRole) == "Color: Red"


def test_menu_of_colors_names_them(opened, qtbot):
    panel = opened.window.classes
    panel._show_palette(1, panel.mapToGlobal(panel.rect().center()))
    menu = panel.findChildren(QMenu)[-1]
    names = [action.text() for action in menu.actions()]
    assert names[: len(PALETTE)] == [color_name(color) for color in PALETTE]
    menu.actions()[1].trigger()
    menu.close()
    assert opened.services.session.project.classes[0].color == PALETTE[1]
