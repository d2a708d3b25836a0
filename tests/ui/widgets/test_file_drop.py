"""Drops on the window: accepted files and actions, and messages about rejected files."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDragLeaveEvent
from PySide6.QtWidgets import QApplication, QLineEdit

from tests.ui.file_drops import A, drop


@pytest.fixture
def files(tmp_path, root):
    """Images, a text file, folders with and without images, another project."""
    image = (root / "pictures" / "lot1" / "new.png").read_bytes()
    for name in ("a.png", "图 b.PNG", "folder/c.png", "folder/deep/d.png"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image + name.encode())
    (tmp_path / "in" / "notes.txt").write_text("a text")
    (tmp_path / "in" / "empty").mkdir()
    other = tmp_path / "in" / "other"
    (other / "masks").mkdir(parents=True)
    (other / "masks" / "m.png").write_bytes(image)
    (other / "project.json").write_text('{"format": 1, "name": "other"}')
    return tmp_path / "in"


@pytest.mark.parametrize(
    "names",
    [
        ["图 b.PNG", "a.png"],
        ["folder"],
        ["a.png", "notes.txt"],
        *(pytest.param(names, marks=pytest.mark.slow) for names in (["a.png"], ["empty"])),
    ],
)
def test_images_and_folders_are_accepted_as_a_copy(opened, files, names):
    assert drop(opened.window, *(files / name for name in names)) == [A.CopyAction] * 3
    assert all((files / name).exists() for name in names)


def test_unusable_drops_are_rejected(opened, files):
    remote = QUrl("https://example.com/a.png")
    for urls in ([files / "notes.txt"], [remote], [files / "gone.png"], [remote, files / "notes.txt"]):
        assert drop(opened.window, *urls) == [None] * 3, urls
        assert any("Drop images" in text for text in opened.window.messages.texts)
    assert any("a.png is not on this computer; notes.txt is not an image" in t for t in opened.window.messages.texts)


def test_images_are_not_accepted_without_a_project(application, files):
    assert drop(application.window, files / "a.png")[-1] is None
    assert any("project first" in text for text in application.window.messages.texts)


def test_mixed_drop_adds_the_images_and_reports_the_rest(opened, files, qtbot):
    session, messages = opened.services.session, opened.window.messages
    remote = QUrl("https://example.com/far.png")
    names = ("a.png", "notes.txt", "folder", "empty", "other")
    assert drop(opened.window, *(files / name for name in names), remote) == [A.CopyAction] * 3
    qtbot.waitUntil(lambda: {"a.png", "folder/c.png", "folder/deep/d.png"} <= set(session.keys), timeout=10_000)
    qtbot.waitUntil(lambda: any("3 images copied into the project" in text for text in messages.texts), timeout=10_000)
    message = next(text for text in messages.texts if "3 images" in text)
    for part in (
        "notes.txt is not an image",
        "other is a project",
        "far.png is not on this computer",
        "1 more skipped",
    ):
        assert part in message
    assert not any("m.png" in key for key in session.keys), "the masks of a project are not images"
    drop(opened.window, files / "a.png")
    qtbot.waitUntil(lambda: any("already in the project: 1" in text for text in messages.texts), timeout=10_000)


def test_text_fields_leave_files_to_the_window(opened):
    assert not any(field.acceptDrops() for field in opened.window.findChildren(QLineEdit))


def test_drag_is_reported_from_its_start_to_its_end(application, files):
    window, marks = application.window, []
    window.file_drop.dragged.connect(marks.append)
    drop(window, files / "notes.txt")
    assert True not in marks
    drop(window, files / "empty")
    assert marks[-2:] == [True, False]
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert marks[-1] is False


def test_area_on_the_welcome_page_is_marked_and_unmarked(application):
    welcome = application.window.welcome
    for on in (True, False):
        application.window.file_drop.dragged.emit(on)
        assert welcome.drop_area.property("dragged") is on
