"""From a folder with labels of another tool over a corrected label to an export, by keyboard alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.conftest import scratched
from tests.ui.evaluation.evaluation_windows import CONTROL_SHIFT
from workbench.core.project import annotation
from workbench.core.runs.events import Finished
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import MODEL_FILE
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog
from workbench.ui.widgets.dialogs import Question

# not imported here, since this process runs the window
pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")

IMAGES, GOOD = 14, 4
CONTROL = Qt.KeyboardModifier.ControlModifier
SHORT = {"epochs": 20, "widths": [8, 16], "patch": 32, "batch": 8, "validations": 2}


@pytest.fixture
def labeled_folder(tmp_path):
    """Return (folder, region of the wrong label) of images with mask files in the folders `images` and `masks`.

    The first label has a second region where there is no defect; the last images are good.
    """
    folder = tmp_path / "其他工具 [2]"
    rng = np.random.default_rng(8)
    for number in range(IMAGES):
        image, mask = scratched(rng, defects=1 if number < IMAGES - GOOD else 0)
        if not number:
            wrong = (slice(0, 6), slice(0, 9)) if not mask[:8, :11].any() else (slice(-6, None), slice(-9, None))
            mask[wrong] = 1
        write_png(folder / "images" / f"p{number:02d}.png", image)
        write_png(folder / "masks" / f"p{number:02d}.png", (mask > 0).astype(np.uint8) * 255)
    return folder, wrong


@pytest.mark.slow
def test_labels_of_another_tool_are_corrected_and_exported_by_keyboard(
    user, qtbot, tmp_path, labeled_folder, monkeypatch
):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")  # the project is created there
    session, window, (folder, wrong) = user.session, user.window, labeled_folder

    # A project: name, folder and images are fields in the order of Tab; Enter creates it, and Enter imports the labels.
    user.key(Qt.Key.Key_N, CONTROL)
    dialog = user.dialog(NewProjectDialog)
    for _ in range(9):
        if not dialog.images.hasFocus():
            user.key(Qt.Key.Key_Tab)
    assert dialog.images.hasFocus()
    user.type(str(folder))
    qtbot.waitUntil(dialog.found.isVisible)
    user.key(Qt.Key.Key_Return)
    imported = user.dialog(ImportDialog)
    qtbot.waitUntil(lambda: imported.import_button.isEnabled() and imported.import_button.hasFocus())
    with qtbot.waitSignal(session.label_import.imported):
        user.key(Qt.Key.Key_Return)
    qtbot.waitUntil(imported.close_button.hasFocus)
    user.key(Qt.Key.Key_Return)
    user.activate()
    qtbot.waitUntil(lambda: sum(row.status == "done" for row in session.rows.values()) == IMAGES)

    # The wrong region: the region tool chooses the one that N shows, and Del deletes it.
    key = session.keys[0]
    qtbot.waitUntil(lambda: session.key == key and window.canvas.content.seen)
    right = session.mask.copy()
    right[wrong] = 0
    user.key(Qt.Key.Key_V)
    for _ in range(2):
        user.key(Qt.Key.Key_N)
        region = window.canvas.region.selection.rect
        if (session.mask > 0)[wrong].all() and not right[region.slices].any():
            user.key(Qt.Key.Key_Delete)
    assert np.array_equal(session.mask, right)
    assert session.flush() and np.array_equal(annotation.load_mask(session.project, key), right)

    # Training, evaluation, and the export with its question.
    user.services.saved_overrides.save("unet", SHORT)
    with qtbot.waitSignal(user.services.training.ended) as ended:
        user.key(Qt.Key.Key_T, CONTROL)
    assert isinstance(ended.args[0], Finished), ended.args[0]
    qtbot.waitUntil(lambda: user.services.run_list.in_use is not None)
    with qtbot.waitSignal(user.services.evaluation.evaluated):
        user.key(Qt.Key.Key_R, CONTROL_SHIFT)
    browser = window.evaluation.segmentation.browser
    assert browser.gallery.hasFocus()
    user.key(Qt.Key.Key_Escape)
    exports: list[object] = []
    user.services.export_job.finished.connect(exports.append)
    user.services.export_job.failed.connect(exports.append)
    user.key(Qt.Key.Key_E, CONTROL)
    question = next((found for found in window.findChildren(Question) if found.isVisible()), None)
    if question is not None:  # what is not known about the model
        user.key(Qt.Key.Key_Tab)
        user.key(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(exports), timeout=120_000)
    assert isinstance(exports[0], dict), exports[0]
    assert list((session.project.root / "exports").glob(f"*/{MODEL_FILE}"))
    assert (user.inputs.clicks, user.inputs.drags) == (0, 0)
