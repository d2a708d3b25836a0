"""The banner of a project folder that is not available: it stays, counts, and leads on."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project


@pytest.fixture
def banner(opened):
    """A function: the texts of the messages shown, and the buttons on them by text."""
    messages = opened.window.messages

    def look() -> tuple[str, dict[str, QPushButton]]:
        buttons = {b.text(): b for m in messages._shown for b in m.findChildren(QPushButton)}
        return " ".join(messages.texts), buttons

    return look


def paint(hand) -> np.ndarray:
    hand.open("lot1/new.png")
    hand.drag((20, 20), (40, 30))
    return hand.session.mask.copy()


def test_moved_while_painting_and_found(hand, root, tmp_path, banner, qtbot, monkeypatch):
    hand.open("lot1/new.png")
    moved = tmp_path / "moved"
    root.rename(moved)
    paint(hand)
    qtbot.waitUntil(lambda: hand.session.save_state == "failed", timeout=10_000)
    text, buttons = banner()
    assert f"The project folder {root} is not available." in text and set(buttons) == {"Find folder…", "Try again"}
    assert "Unsaved changes: 1. They are kept in memory and in a rescue journal." in text
    hand.drag((50, 50), (60, 60))
    mask = hand.session.mask.copy()
    assert "Unsaved changes: 2." in banner()[0] and banner()[1] == buttons  # they keep the focus
    for number in range(5):  # other messages do not push it away
        hand.window.messages.show_message("problem", f"message {number}")
    assert "is not available" in banner()[0]
    buttons["Try again"].click()
    assert "is not available" in banner()[0] and not root.exists()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(moved))
    buttons["Find folder…"].click()
    qtbot.waitUntil(lambda: hand.session.key == "lot1/new.png" and hand.session.image is not None, timeout=10_000)
    assert "is not available" not in banner()[0] and "everything is saved" in banner()[0]
    assert np.array_equal(annotation.read_mask(moved / "masks" / "lot1" / "new.png.png"), mask) and not root.exists()
    hand.session.undo()
    assert not np.array_equal(hand.session.mask, mask)


def test_the_banner_is_in_a_window_that_is_built_anew(opened, hand, root, tmp_path, qtbot):
    hand.open("lot1/new.png")
    root.rename(tmp_path / "moved")
    paint(hand)
    qtbot.waitUntil(lambda: hand.session.save_state == "failed", timeout=10_000)
    for language in ("zh_CN", "en"):
        old = opened.window
        old.table[f"language_{language}"].trigger()
        qtbot.waitUntil(lambda: opened.window is not old, timeout=5000)  # noqa: B023
    assert str(root) in " ".join(opened.window.messages.texts)
    (tmp_path / "moved").rename(root)
    qtbot.waitUntil(lambda: not opened.window.messages.texts or opened.rooms.session.folder.check(), timeout=20_000)
    assert str(root) not in " ".join(opened.window.messages.texts) and opened.rooms.session.flush()


def test_a_lost_lock_is_shown_in_the_title_and_stays(hand, root, banner, qtbot):
    hand.open("lot1/new.png")
    lock = root / "project.lock"
    lock.unlink()
    (root / ".cache" / "lock").unlink()
    with Project.open(root) as other:
        fill_project(other, 1, seed=5)
        paint(hand)
        qtbot.waitUntil(lambda: hand.session.save_state == "failed", timeout=10_000)
        text, buttons = banner()
        assert "The lock of the project" in text and "rescue journal" in text and not buttons
        assert "(read-only)" in hand.window.windowTitle()


def test_classes_of_another_program_come_into_the_list(hand, root):
    content = (root / "project.json").read_text("utf-8")
    other = '"classes": [ {"id": 9, "name": "by_editor", "color": "#112233"}, '
    (root / "project.json").write_text(content.replace('"classes": [', other, 1), encoding="utf-8")
    hand.session.classes.add("mine")
    model = hand.window.classes.view.model()
    assert "by_editor" in [model.index(row, 0).data() for row in range(model.rowCount())]
