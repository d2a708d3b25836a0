"""First day: from a folder of images to the first training, by the blue button, keys and two strokes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.conftest import scratched
from workbench.inference.io.image_io import write_png
from workbench.ui.project.new_project_dialog import QuickProjectDialog

pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")

MOST = 20  # actions: clicks, keys, strokes, one drop
SHORT = {"epochs": 1, "widths": [4, 8], "patch": 32, "batch": 4}


@pytest.fixture
def folder(tmp_path):
    """Return (folder, {name: mask}) of two images with a defect and ten good ones."""
    rng, masks = np.random.default_rng(11), {}
    for n in range(12):
        image, mask = scratched(rng, 160, 128, defects=1 if n < 2 else 0)
        masks[f"plate{n:02}.png"] = mask
        write_png(tmp_path / "plates" / f"plate{n:02}.png", image)
    return tmp_path / "plates", masks


def stroke(user, mask: np.ndarray) -> None:
    """Paint along the defect with one stroke of the brush."""
    rows, columns = np.nonzero(mask)
    ends = user.at(columns.min() + 0.5, rows[columns.argmin()] + 0.5), user.at(columns.max(), rows[columns.argmax()])
    user.inputs.drags += 1
    QTest.mousePress(user.canvas, Qt.MouseButton.LeftButton, pos=ends[0])
    QTest.mouseMove(user.canvas, (ends[0] + ends[1]) / 2)
    QTest.mouseMove(user.canvas, ends[1])
    QTest.mouseRelease(user.canvas, Qt.MouseButton.LeftButton, pos=ends[1])


def test_from_a_folder_to_the_first_training(user, qtbot, folder, tmp_path, monkeypatch):
    images, masks = folder
    session, window = user.session, user.window
    user.services.preferences.introduced = False
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")  # the project is created there
    step = window.stage_bar.next

    # A project of the folder, and the explanations, which are skipped.
    user.drop_folder(images)
    dialog = user.dialog(QuickProjectDialog)
    qtbot.waitUntil(lambda: dialog.count.text() == "12 images")
    with qtbot.waitSignal(session.current.opened):
        user.key(Qt.Key.Key_Return)  # the proposed class is kept
    user.activate()
    qtbot.waitUntil(lambda: len(session.rows) == 12 and window.dialogs.coach_marks.isVisible())
    user.key(Qt.Key.Key_Escape)

    # Good and defective images: two keys, ten images selected by a click with Shift, one key.
    qtbot.waitUntil(lambda: step.text() == "Separate good and defective")
    user.click(step)
    wall = window.images.thumbnail_view
    for _ in range(2):
        qtbot.waitUntil(lambda: wall.preview.painted == wall.preview.key)
        user.key(Qt.Key.Key_B)
    last = wall.model.index(11, 0)
    wall.list_view.scrollTo(last)
    user.inputs.clicks += 1
    place = wall.list_view.visualRect(last).center()
    QTest.mouseClick(wall.list_view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, place)
    assert len(wall.selected()) == 10
    user.key(Qt.Key.Key_G)
    qtbot.waitUntil(lambda: step.text() == "Label 2 images with defects")

    # Two strokes.
    user.click(step)
    for n in range(2):
        key = session.keys[n]
        qtbot.waitUntil(lambda key=key: session.key == key and window.canvas.content.seen)
        stroke(user, masks[key.rpartition("/")[2]])
        user.key(Qt.Key.Key_Return)
        qtbot.waitUntil(lambda key=key: session.rows[key].status == "done" and session.rows[key].counts != ())
    qtbot.waitUntil(lambda: step.text() == "Train 5 minutes")

    user.services.saved_overrides.save("unet", SHORT)
    events: list[object] = []
    user.services.training.reported.connect(events.append)
    user.click(step)
    qtbot.waitUntil(lambda: bool(events), timeout=60_000)
    classes = [item.classes for item in user.services.training.run.dataset().items]
    assert (classes.count([1]), classes.count([])) == (2, 10)
    actions = user.inputs.clicks + user.inputs.keys + user.inputs.drags
    assert actions == 14 <= MOST
    assert not window.training.body.isVisible()
    qtbot.waitUntil(lambda: not user.services.training.busy, timeout=90_000)
