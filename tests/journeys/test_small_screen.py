"""Labeling, prediction, evaluation and export options in a window of 1280 x 720: every control can be clicked."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.session.mask_run import SPOT, make_mask_project
from tests.ui.layout_faults import cut
from workbench.ui.dialogs.preferences_dialog import PreferencesDialog
from workbench.ui.training.export_options_dialog import ExportOptionsDialog
from workbench.ui.training.settings_dialog import TrainingSettingsDialog

SIZE = (1280, 720)


@pytest.fixture
def size():
    return SIZE


def test_every_stage_on_a_small_screen(hand, qtbot, tmp_path):
    window, session = hand.window, hand.session
    hand.open_project(make_mask_project(tmp_path / "小屏幕").project_root)
    qtbot.waitUntil(lambda: cut(window) == [])
    assert (window.width(), window.height()) == SIZE

    # Label: tool, class, stroke, done.
    hand.click_tool("brush")
    hand.key(Qt.Key.Key_1)  # another class than the present one
    before, key = session.mask.copy(), session.key
    area = np.zeros_like(session.mask)
    area[SPOT] = 1
    hand.scribble(area)
    print(
        "TOOL",
        hand.canvas.tool,
        session.class_id,
        session.note,
        hand.at(60, 5),
        hand.canvas.size(),
        hand.window.tools.geometry(),
    )
    assert (session.mask != before).any()
    strokes = hand.inputs.drags - 1
    hand.click(window.header.done)  # the image was done: it is not any more
    qtbot.waitUntil(lambda: session.note.status != "done")
    hand.click(window.header.done)
    qtbot.waitUntil(lambda: session.rows[key].status == "done" and session.key != key)

    # Train: the panel opens, its settings fit on the screen.
    hand.show_training()
    qtbot.waitUntil(lambda: cut(window) == [])
    hand.click(window.training.controls.settings)
    dialog = hand.dialog(TrainingSettingsDialog)
    assert _fits(dialog)
    hand.key(Qt.Key.Key_Escape)

    # Predict and accept a suggestion.
    hand.choose("predict")
    qtbot.waitUntil(lambda: window.overlay.maps is not None)
    qtbot.waitUntil(lambda: cut(window) == [])

    # Evaluate.
    with qtbot.waitSignal(hand.services.evaluation.evaluated):
        hand.click(window.stage_bar.stages["evaluate"])
    qtbot.waitUntil(lambda: cut(window) == [])
    hand.click(window.evaluation.back)

    # Export options and settings.
    hand.click(window.stage_bar.stages["export"])
    assert _fits(hand.dialog(ExportOptionsDialog))
    hand.key(Qt.Key.Key_Escape)
    hand.choose("settings")
    assert _fits(hand.dialog(PreferencesDialog))
    hand.key(Qt.Key.Key_Escape)
    assert (hand.inputs.clicks, hand.inputs.keys) == (12, 4) and strokes >= 4
    assert (window.width(), window.height()) == SIZE


def _fits(dialog) -> bool:
    return dialog.width() <= SIZE[0] and dialog.height() <= SIZE[1] - 40 and cut(dialog) == []
