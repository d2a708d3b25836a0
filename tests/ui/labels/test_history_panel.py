"""List of the editing steps of the current image."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QDateTime, QSettings, Qt
from PySide6.QtTest import QTest

from tests.conftest import fill_project
from workbench.core.project.project import Project
from workbench.session.session import Session
from workbench.ui.labels.history_panel import HistoryPanel, StateRole, TimeRole, time_text
from workbench.ui.widgets.text_labels import CollapsibleSection
from workbench.ui.widgets.theme import ThemeManager


@pytest.fixture
def session(tmp_path, qtbot):
    root = tmp_path / "p"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        fill_project(project, 3)
    session = Session(save_delay=600)
    session.open_project(root)
    with qtbot.waitSignal(session.images_listed):
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
