"""First day: from a folder of images to the first training, then to an export, by the blue button and strokes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.conftest import scratched
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import MODEL_FILE
from workbench.ui.project.new_project_dialog import QuickProjectDialog
from workbench.ui.widgets.dialogs import Question

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


@pytest.mark.slow
def test_blue_button_leads_on_to_an_export_with_known_false_alarms(user, qtbot, tmp_path):
    """The project has two images with defects and ten good ones as after the first test, and ten more."""
    session, window, step = user.session, user.window, user.window.stage_bar.next
    rng, masks = np.random.default_rng(4), {}
    with Project.create(tmp_path / "plates", classes=["rust"]) as project:
        for n in range(22):
            image, mask = scratched(rng, defects=1 if n < 2 or n > 11 else 0)
            key = f"lot{n}/plate.png"
            masks[key] = mask
            write_png(project.image_path(key), image)
            if n < 12:
                annotation.save_mask(project, key, mask)
                annotation.save_note(project, key, annotation.Note(status="done"))
    with qtbot.waitSignal(session.current.opened):
        session.open_project(tmp_path / "plates")
    user.services.saved_overrides.save("unet", SHORT | {"epochs": 20, "widths": [8, 16]})
    exports: list[object] = []
    user.services.export_job.finished.connect(exports.append)
    user.services.export_job.failed.connect(exports.append)

    steps: list[str] = []
    while not exports:
        qtbot.waitUntil(step.isEnabled)
        steps.append(step.text())
        assert len(steps) < 60, steps
        if step.text().startswith("Train "):
            with qtbot.waitSignal(user.services.training.ended):
                user.click(step)
            qtbot.waitUntil(lambda: not step.text().startswith(("Train", "Continue")))
        elif step.text().startswith(("Look at ", "Evaluate ")):
            with qtbot.waitSignal(user.services.evaluation.evaluated):
                user.click(step)
            false = window.evaluation.segmentation.images.false.number
            qtbot.waitUntil(lambda false=false: " of " in false.text())  # known, as good images are held out
            assert f" of {user.services.workflow.state().run.good} " in false.text()
        elif step.text() == "Export the model":
            assert steps[-2].startswith(("Look at ", "Evaluate "))
            remarks = user.services.workflow.workflow.remarks
            user.click(step)
            if remarks:
                user.click(user.dialog(Question).buttons["export"])
            qtbot.waitUntil(lambda: bool(exports))
        else:
            user.click(step)
            qtbot.waitUntil(lambda: window.canvas.isVisible() and window.canvas.content.seen)
            key = session.key
            if masks[key].any() and not session.mask.any():
                user.scribble(masks[key])
            user.key(Qt.Key.Key_Return)
            qtbot.waitUntil(lambda key=key: session.rows[key].status == "done")
            user.services.workflow.update_now()
    assert isinstance(exports[0], dict), (steps, exports)
    assert list((tmp_path / "plates" / "exports").glob(f"*/{MODEL_FILE}"))
