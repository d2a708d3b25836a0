"""Question before a project or data set of somebody else reads images from outside of its folder."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.project.foreign_project import foreign
from workbench.inference.io.image_io import write_png
from workbench.ui.label_files.import_dialog import ImportDialog
from workbench.ui.widgets.question_dialog import SourceQuestion


@pytest.fixture
def private(tmp_path):
    write_png(tmp_path / "private" / "x.png", np.zeros((20, 20), np.uint8))
    (tmp_path / "private" / "x.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    return tmp_path / "private"


def test_project_is_opened_after_the_places_are_allowed(application, tmp_path, private, qtbot):
    root, session = foreign(tmp_path, path=str(private)), application.services.session
    application.window.project_commands.open(root)
    question = application.window.findChild(SourceQuestion)
    assert str(private) in question.text() and "another computer" not in question.text()
    question.buttons["cancel"].click()
    assert session.project is None
    assert not session.open_project(root)  # without the question, for example by another way
    application.window.project_commands.open(root)
    qtbot.waitUntil(lambda: len(application.window.findChildren(SourceQuestion)) == 1)
    application.window.findChild(SourceQuestion).buttons["allow"].click()
    qtbot.waitUntil(lambda: session.project is not None and len(session.keys) == 2)
    session.close_project()
    qtbot.waitUntil(lambda: not application.window.findChildren(SourceQuestion))
    application.window.project_commands.open(root)
    assert session.project is not None and not application.window.findChildren(SourceQuestion)


def test_address_of_another_computer_is_explained(application, tmp_path):
    application.window.project_commands.open(foreign(tmp_path, path="//evil.example/share"))
    assert "another computer" in application.window.findChild(SourceQuestion).text()


def test_data_set_is_read_after_its_places_are_allowed(opened, tmp_path, private, qtbot):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "data.yaml").write_text(f"path: {private}\ntrain: .\nnames: [dent]\n", "utf-8")
    opened.window.label_files.show_import(tmp_path / "set" / "data.yaml")
    dialog = opened.window.findChild(ImportDialog)
    question = dialog.findChild(SourceQuestion)
    assert str(private) in question.text() and not opened.services.session.label_import.running
    question.buttons["allow"].click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.report.labeled == 1)
