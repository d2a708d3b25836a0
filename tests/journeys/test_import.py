"""From a folder with labels of another tool to a trained and evaluated model."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.conftest import scratched
from workbench.core.runs.events import Finished
from workbench.inference.io.image_io import write_png
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.project.new_project_dialog import QuickProjectDialog

# not imported here, since this process runs the window
pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")

IMAGES = 14
SHORT = {"epochs": 20, "widths": [8, 16], "patch": 32, "batch": 8, "validations": 2}


@pytest.fixture
def labeled_folder(tmp_path):
    """Images with a mask file each, in the layout of folders `images` and `masks`."""
    folder = tmp_path / "其他工具 [2]"
    rng = np.random.default_rng(8)
    for number in range(IMAGES):
        image, mask = scratched(rng)
        write_png(folder / "images" / f"p{number:02d}.png", image)
        write_png(folder / "masks" / f"p{number:02d}.png", (mask > 0).astype(np.uint8) * 255)
    return folder


@pytest.mark.slow
def test_from_labels_of_another_tool_to_an_evaluated_model(user, qtbot, tmp_path, labeled_folder, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")  # the project is created there
    session, window = user.session, user.window
    user.drop_folder(labeled_folder)
    quick = user.dialog(QuickProjectDialog)
    qtbot.waitUntil(quick.found.isVisible)
    user.key(Qt.Key.Key_Return)  # the proposed class

    dialog = user.dialog(ImportDialog)
    with qtbot.waitSignal(session.label_import.imported):
        user.click(dialog.import_button)
    user.click(dialog.close_button)
    qtbot.waitUntil(lambda: sum(row.status == "done" for row in session.rows.values()) == IMAGES)
    assert len(session.project.classes) == 1

    user.services.saved_overrides.save("unet", SHORT)
    qtbot.waitUntil(lambda: window.stage_bar.next.text().startswith("Train "))
    with qtbot.waitSignal(user.services.training.ended) as ended:
        user.click(window.stage_bar.next)
    assert isinstance(ended.args[0], Finished), ended.args[0]

    evaluation = user.services.evaluation
    qtbot.waitUntil(lambda: window.stage_bar.stages["evaluate"].isChecked())
    with qtbot.waitSignal(evaluation.evaluated):
        user.click(window.stage_bar.next)
    assert window.center.in_evaluation and evaluation.result.figures.get("recall").total > 0
    assert (user.inputs.clicks, user.inputs.keys, user.inputs.drags) == (4, 1, 1)
