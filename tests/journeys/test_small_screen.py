"""Labeling, prediction, evaluation and export options in a window of 1280 x 720: every control can be clicked."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.session.mask_run import SPOT, make_mask_project
from tests.ui.layout_faults import cut
from workbench.ui.dialogs.preferences_dialog import PreferencesDialog
from workbench.ui.training.model_dialogs import ExportOptionsDialog
from workbench.ui.training.settings_dialog import TrainingSettingsDialog

SIZE = (1280, 720)


@pytest.fixture
def size():
    return SIZE


def test_every_stage_on_a_small_screen(user, qtbot, tmp_path):
    window, session = user.window, user.session
    user.open_project(make_mask_project(tmp_path / "小屏幕").project_root)
    qtbot.waitUntil(lambda: cut(window) == [])
    assert (window.width(), window.height()) == SIZE

    # Label: tool, class, stroke, done.
    user.click_tool("brush")
    user.key(Qt.Key.Key_1)  # another class than the present one
    before, key = session.mask.copy(), session.key
    area = np.zeros_like(session.mask)
    area[SPOT] = 1
    user.scribble(area)
    assert (session.mask != before).any()
    strokes = user.inputs.drags - 1
    user.click(window.header.done)  # the image was done: it is not any more
    qtbot.waitUntil(lambda: session.note.status != "done")
    user.click(window.header.done)
    qtbot.waitUntil(lambda: session.rows[key].status == "done" and session.key != key)

    # Train: the panel opens, its settings fit on the screen.
    user.show_training()
    qtbot.waitUntil(lambda: cut(window) == [])
    user.click(window.training.controls.settings)
    dialog = user.dialog(TrainingSettingsDialog)
    assert _fits(dialog)
    user.key(Qt.Key.Key_Escape)

    # Predict and accept a suggestion.
    user.choose("predict")
    qtbot.waitUntil(lambda: window.overlay.maps is not None)
    qtbot.waitUntil(lambda: cut(window) == [])

    # Evaluate.
    with qtbot.waitSignal(user.services.evaluation.evaluated):
        user.click(window.stage_bar.stages["evaluate"])
    qtbot.waitUntil(lambda: cut(window) == [])
    user.click(window.evaluation.back)

    # Export options and settings.
    user.click(window.stage_bar.stages["export"])
    assert _fits(user.dialog(ExportOptionsDialog))
    user.key(Qt.Key.Key_Escape)
    user.choose("settings")
    assert _fits(user.dialog(PreferencesDialog))
    user.key(Qt.Key.Key_Escape)
    assert (user.inputs.clicks, user.inputs.keys) == (12, 4) and strokes >= 4
    assert (window.width(), window.height()) == SIZE


def _fits(dialog) -> bool:
    return dialog.width() <= SIZE[0] and dialog.height() <= SIZE[1] - 40 and cut(dialog) == []
