"""Image folders, removal, packing and merging in the window."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from tests.project_copy import copy_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.ui.actions.menus import ImageContextMenu
from workbench.ui.project.transfer_dialogs import MergeDialog, PackDialog, SourcesDialog, UnpackDialog
from workbench.ui.widgets.dialogs import Question


@pytest.fixture
def station(opened, tmp_path, qtbot):
    """The open project with an external source of two images, one of them labeled."""
    session = opened.services.session
    for number in range(2):
        write_png(tmp_path / "line" / f"x{number}.png", np.full((80, 96), 90 + number, np.uint8))
    session.add_source(tmp_path / "line")
    qtbot.waitUntil(lambda: len(session.keys) == 7)
    annotation.save_mask(session.project, "@line/x0.png", np.eye(80, 96, dtype=np.uint8))
    return opened


def texts(application):
    return " ".join(application.window.messages.texts)


def reopen(application, qtbot, count):
    session = application.services.session
    assert session.open_project(session.project.root)
    qtbot.waitUntil(lambda: len(session.rows) == count, timeout=10_000)


def test_a_missing_folder_is_shown_and_located(station, tmp_path, qtbot, monkeypatch):
    session = station.services.session
    assert "not available" not in texts(station)
    (tmp_path / "line").rename(tmp_path / "moved")
    reopen(station, qtbot, 5)
    qtbot.waitUntil(lambda: "not available" in texts(station) and str(tmp_path / "line") in texts(station))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(session.project.root / "pictures"))
    station.window.source_commands.locate("line")
    question = station.window.findChild(Question)
    assert "None of the labeled images" in question.text()
    question.buttons["cancel"].click()
    assert session.project.missing_sources()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "moved"))
    station.window.source_commands.locate("line")
    qtbot.waitUntil(lambda: "@line/x0.png" in session.keys)
    assert "not available" not in texts(station)


def test_image_folders_are_listed_removed_and_restored(station, qtbot):
    session = station.services.session
    station.window.table["sources"].trigger()
    dialog = station.window.findChild(SourcesDialog)
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 2)
    assert [dialog.table.item(row, 2).text() for row in range(2)] == ["5", "2"]
    dialog.table.selectRow(0)
    assert not dialog.remove.isEnabled()
    dialog.table.selectRow(1)
    dialog.remove.click()
    dialog.findChild(Question).buttons["remove"].click()
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 1 and dialog.trash.rowCount() == 1, timeout=5000)
    dialog.trash.selectRow(0)
    dialog.restore.click()
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 2 and dialog.trash.rowCount() == 0, timeout=5000)
    assert session.project.mask_path("@line/x0.png").exists()


def test_removed_images_can_be_deleted_permanently(station, qtbot):
    session = station.services.session
    key = session.keys[1]
    session.removal.remove_images([key])
    qtbot.waitUntil(lambda: key not in session.keys and session.can_undo())
    station.window.table["sources"].trigger()
    dialog = station.window.findChild(SourcesDialog)
    qtbot.waitUntil(lambda: dialog.trash.rowCount() == 1)
    dialog.trash.selectRow(0)
    dialog.delete.click()
    qtbot.waitUntil(lambda: dialog.trash.rowCount() == 0)
    assert not session.can_undo() and not list((session.project.root / "journal").glob("trash/*"))


def test_the_current_image_is_removed_and_restored_with_undo(station, qtbot):
    session, table = station.services.session, station.window.table
    key = session.key
    table["remove_image"].trigger()
    question = station.window.findChild(Question)
    assert key in question.text()
    question.buttons["remove"].click()
    qtbot.waitUntil(lambda: key not in session.keys and session.key not in (None, key))
    assert "removed from the project" in texts(station)
    table["undo"].trigger()
    qtbot.waitUntil(lambda: session.key == key and key in session.keys)
    assert session.project.image_path(key).exists() and "restored" in texts(station)


def test_selected_thumbnails_are_removed_from_their_menu(station, qtbot):
    session, images = station.services.session, station.window.images
    images.toggle_thumbnails()
    view = images.thumbnail_view.list_view
    images.thumbnail_view.select_all()
    view.customContextMenuRequested.emit(view.visualRect(images.model.index(2, 0)).center())
    menu = station.window.findChild(ImageContextMenu)
    assert len(menu.keys) == 7
    next(action for action in menu.actions() if action.text() == "Remove from project…").trigger()
    menu.close()
    station.window.findChild(Question).buttons["remove"].click()
    qtbot.waitUntil(lambda: session.keys == [] and session.key is None)
    session.undo()
    qtbot.waitUntil(lambda: len(session.keys) == 7)


def test_a_project_is_packed_and_opened_elsewhere(station, tmp_path, qtbot):
    session, window = station.services.session, station.window
    session.editor.paint_region(np.ones((9, 9), bool), (30, 30), 2)
    window.table["pack"].trigger()
    dialog = window.findChild(PackDialog)
    dialog.file.line.setText(str(tmp_path / "packed"))
    dialog.start_button.click()
    qtbot.waitUntil(lambda: "7 images packed" in dialog.status.text(), timeout=10_000)
    dialog.reject()
    key = session.key
    shutil.rmtree(tmp_path / "line")
    window.project_commands.open(tmp_path / "packed.zip")
    unpack = window.findChild(UnpackDialog)
    assert session.project.root.name in unpack.status.text()
    unpack.folder.line.setText(str(tmp_path / "home"))
    unpack.start_button.click()
    qtbot.waitUntil(lambda: window.findChild(Question) is not None)  # the packed folder exists, too
    window.findChild(Question).buttons["copy"].click()
    qtbot.waitUntil(lambda: session.project.root.parent == tmp_path / "home", timeout=10_000)
    qtbot.waitUntil(lambda: len(session.keys) == 7)
    assert "not available" not in texts(station)
    assert annotation.load_mask(session.project, key)[35, 35] == 2


def test_a_file_that_is_no_packed_project_is_refused(application, tmp_path):
    (tmp_path / "x.zip").write_text("no archive")
    application.window.table["unpack"].trigger()
    dialog = application.window.findChild(UnpackDialog)
    assert not dialog.start_button.isEnabled()
    dialog.file.line.setText(str(tmp_path / "x.zip"))
    assert "is not a packed project" in dialog.status.text()
    dialog.reject()


@pytest.fixture
def colleague(station, tmp_path):
    """Copy of the open project in which another image was labeled, and one of the same differently."""
    session = station.services.session
    session.flush()
    copy_project(session.project.root, tmp_path / "colleague")
    with Project.open(tmp_path / "colleague") as other:
        for key, who in (("lot1/new.png", 40), (session.keys[0], 60)):
            mask = np.zeros((80, 96), np.uint8)
            mask[10:20, who : who + 10] = 2
            note = annotation.load_note(other, key)
            note.status = "done"
            note.history.append(annotation.HistoryEntry(when="2031-01-01T00:00:00", who="B", what="paint"))
            annotation.save_mask(other, key, mask)
            annotation.save_note(other, key, note)
    return tmp_path / "colleague"


def test_the_copy_of_a_colleague_is_merged(station, colleague, qtbot):
    session, window = station.services.session, station.window
    first = session.keys[0]
    session.open_image(first)
    qtbot.waitUntil(lambda: session.key == first)
    session.editor.paint_region(np.ones((9, 9), bool), (30, 30), 1)
    window.table["merge_project"].trigger()
    dialog = window.findChild(MergeDialog)
    assert not dialog.start_button.isEnabled()
    dialog.folder.line.setText(str(colleague))
    qtbot.waitUntil(lambda: "to merge: 2" in dialog.status.text(), timeout=10_000)
    assert "differ: 1" in dialog.status.text() and annotation.load_mask(session.project, "lot1/new.png") is None
    dialog.keep.setCurrentIndex(dialog.keep.findData("mine"))
    qtbot.waitUntil(lambda: "to merge: 1" in dialog.status.text(), timeout=10_000)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: "merged: 1" in dialog.status.text(), timeout=10_000)
    assert annotation.load_mask(session.project, "lot1/new.png")[15, 45] == 2
    qtbot.waitUntil(lambda: session.mask is not None and session.mask[35, 35] == 1)
    assert session.mask[15, 65] != 2
    dialog.reject()
    with qtbot.waitSignal(session.label_import.undone, timeout=10_000):
        session.undo()
    assert annotation.load_mask(session.project, "lot1/new.png") is None
    with qtbot.waitSignal(session.label_import.redone, timeout=10_000):
        session.redo()
    assert annotation.load_mask(session.project, "lot1/new.png")[15, 45] == 2
    assert session.flush()
