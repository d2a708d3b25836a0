"""Banner of a project folder that is not available."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project


@pytest.fixture
def banner(opened):
    """Return a function that returns the texts of the shown messages and their buttons by text."""
    messages = opened.window.messages

    def read() -> tuple[str, dict[str, QPushButton]]:
        buttons = {b.text(): b for m in messages.shown for b in m.findChildren(QPushButton)}
        return " ".join(messages.texts), buttons

    return read


def paint(driver) -> np.ndarray:
    driver.open("lot1/new.png")
    driver.drag((20, 20), (40, 30))
    return driver.session.mask.copy()


def test_banner_finds_a_project_moved_while_painting(driver, root, tmp_path, banner, qtbot, monkeypatch):
    driver.open("lot1/new.png")
    moved = tmp_path / "moved"
    root.rename(moved)
    paint(driver)
    qtbot.waitUntil(lambda: driver.session.save_state == "failed", timeout=10_000)
    text, buttons = banner()
    assert f"The project folder {root} is not available." in text and set(buttons) == {"Find folder…", "Try again"}
    assert "Unsaved changes: 1. Changes are kept in memory and in a recovery journal." in text
    driver.drag((50, 50), (60, 60))
    mask = driver.session.mask.copy()
    assert "Unsaved changes: 2." in banner()[0] and banner()[1] == buttons  # the canvas keeps the focus
    for number in range(5):  # other messages do not replace it
        driver.window.messages.show_message("problem", f"message {number}")
    assert "is not available" in banner()[0]
    buttons["Try again"].click()
    assert "is not available" in banner()[0] and not root.exists()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(moved))
    buttons["Find folder…"].click()
    qtbot.waitUntil(lambda: driver.session.key == "lot1/new.png" and driver.session.image is not None, timeout=10_000)
    assert "is not available" not in banner()[0] and "All changes are saved" in banner()[0]
    assert np.array_equal(annotation.read_mask(moved / "masks" / "lot1" / "new.png.png"), mask) and not root.exists()
    driver.session.undo()
    assert not np.array_equal(driver.session.mask, mask)


def test_banner_of_a_folder_moved_while_its_images_are_listed(driver, root, tmp_path, banner, qtbot):
    driver.open("lot1/new.png")
    keys = list(driver.session.keys)
    root.rename(tmp_path / "moved")
    driver.session.refresh_images()
    qtbot.waitUntil(lambda: "is not available" in banner()[0], timeout=10_000)
    assert "damaged" not in banner()[0] and driver.session.keys == keys and not root.exists()


def test_banner_is_shown_in_a_rebuilt_window(opened, driver, root, tmp_path, qtbot):
    driver.open("lot1/new.png")
    root.rename(tmp_path / "moved")
    paint(driver)
    qtbot.waitUntil(lambda: driver.session.save_state == "failed", timeout=10_000)
    for language in ("zh_CN", "en"):
        old = opened.window
        old.table[f"language_{language}"].trigger()
        qtbot.waitUntil(lambda: opened.window is not old, timeout=5000)  # noqa: B023
    assert str(root) in " ".join(opened.window.messages.texts)
    (tmp_path / "moved").rename(root)
    qtbot.waitUntil(lambda: not opened.window.messages.texts or opened.services.session.folder.check(), timeout=20_000)
    assert str(root) not in " ".join(opened.window.messages.texts) and opened.services.session.flush()


def test_lost_lock_is_shown_in_the_title(driver, root, banner, qtbot):
    driver.open("lot1/new.png")
    lock = root / "project.lock"
    lock.unlink()
    with Project.open(root) as other:
        fill_project(other, 1, seed=5)
        paint(driver)
        qtbot.waitUntil(lambda: driver.session.save_state == "failed", timeout=10_000)
        text, buttons = banner()
        assert str(root) in text and "recovery journal" in text and not buttons
        assert "(read-only)" in driver.window.windowTitle()


def test_classes_added_by_another_program_are_listed(driver, root):
    content = (root / "project.json").read_text("utf-8")
    other = '"classes": [ {"id": 9, "name": "by_editor", "color": "#112233"}, '
    (root / "project.json").write_text(content.replace('"classes": [', other, 1), encoding="utf-8")
    driver.session.classes.add("mine")
    model = driver.window.classes.view.model()
    assert "by_editor" in [model.index(row, 0).data() for row in range(model.rowCount())]


def test_images_are_read_again_when_the_folder_is_back(driver, root, tmp_path, banner, qtbot):
    session = driver.session
    driver.open("lot1/new.png")
    damaged = {key for key in session.keys if session.rows[key].broken}
    root.rename(tmp_path / "moved")
    paint(driver)
    qtbot.waitUntil(lambda: session.save_state == "failed", timeout=10_000)
    for key in session.keys:
        session.open_image(key)
        qtbot.waitUntil(lambda: session.key == key, timeout=10_000)  # noqa: B023
    unreadable = {key for key in session.keys if session.rows[key].broken} - damaged
    assert unreadable and session.image is None
    (tmp_path / "moved").rename(root)
    banner()[1]["Try again"].click()
    qtbot.waitUntil(lambda: session.image is not None, timeout=10_000)
    assert session.key == session.keys[-1] and not any(session.rows[key].broken for key in unreadable)
