"""Explanations beside the controls: shown in the first own project, skippable, repeatable, on the real controls."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest

from workbench.inference.io.image_io import write_png

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def folder(tmp_path):
    for n in range(3):
        write_png(tmp_path / "plates" / f"p{n}.png", np.full((60, 80), 90 + n, np.uint8))
    return tmp_path / "plates"


def create(window, folder, qtbot) -> None:
    """Create a project of a folder in the dialog for it."""
    with qtbot.waitSignal(window.canvas.content.changed):
        dialog = window.project_commands.make_project(folder)
        QTest.keyClicks(dialog.classes, "rust")
        dialog.accept()
    qtbot.waitUntil(lambda: len(window._services.session.rows) == 3)


def test_controls_are_explained_in_the_first_own_project(style_sheet, application, folder, qtbot):
    window = application.window
    application.services.preferences.introduced = False
    create(window, folder, qtbot)
    marks = window.dialogs.coach_marks
    qtbot.waitUntil(marks.isVisible)
    assert "3 images" in marks.text.text() and "p0.png" in marks.text.text()
    for number in range(1, 7):
        assert marks.place.text() == f"{number} of 6"
        control = marks._marks[marks.number].control
        area = QRect(control.mapTo(window, QPoint()), control.size())
        assert window.rect().contains(marks.geometry())
        assert not marks.geometry().intersects(area) or control is window.canvas, "the control is covered"
        assert marks._ring.geometry().contains(area)
        if area.height() < marks.height():  # a button: the others of its row stay free
            rows = range(area.top(), area.bottom() + 1)
            assert marks.geometry().top() not in rows and marks.geometry().bottom() not in rows
        QTest.mouseClick(marks.next, LEFT)
    assert not marks.isVisible() and window.focusWidget() is window.canvas
    assert application.services.preferences.introduced
    window.table["coach_marks"].trigger()
    assert marks.isVisible() and marks.place.text() == "1 of 6"
    QTest.keyClick(marks.next, Qt.Key.Key_Escape)
    assert not marks.isVisible()
    window.table["coach_marks"].trigger()
    QTest.mouseClick(marks.skip, LEFT)
    assert not marks.isVisible()


def test_empty_panels_are_folded_until_they_have_content(application, folder, qtbot):
    window, session = application.window, application.services.session
    create(window, folder, qtbot)
    assert not window.dialogs.coach_marks.isVisible()  # introduced before
    panels = window.verdict, window.suggestions_panel, window.layers, window.display, window.history
    assert not any(panel.isVisible() for panel in panels) and window.classes.isVisible()
    session.classes.add_verdict("OK")
    qtbot.waitUntil(window.verdict.isVisible)
    assert not window.display.isVisible()
