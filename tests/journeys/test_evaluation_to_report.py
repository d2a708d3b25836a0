"""From the evaluation of a model over a corrected label to a report."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from tests.session.mask_run import FALSE, SPOT, make_mask_project
from workbench.core.project import annotation

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def test_from_a_false_alarm_over_a_new_label_to_a_report(user, qtbot, tmp_path):
    run = make_mask_project(tmp_path / "检查 [1]")
    user.open_project(run.project_root)
    session, evaluation, page = user.session, user.services.evaluation, user.window.evaluation
    with qtbot.waitSignals([evaluation.evaluated, evaluation.sweep_finished]):
        user.click(user.window.stage_bar.stages["evaluate"])
    assert page.splits["test"].isChecked()

    # The false alarm is a defect without a label.
    browser = page.segmentation.browser
    user.click(browser.tabs["false"])
    (card,) = browser.gallery.cards
    assert card.prediction.key == FALSE
    gallery = browser.gallery
    with qtbot.waitSignal(session.current.opened):
        user.click(gallery.viewport(), gallery.visualRect(gallery.model().index(0, 0)).center())
    qtbot.waitUntil(lambda: session.key == FALSE and session.mask is not None)
    assert not user.window.center.in_evaluation
    spot = np.zeros_like(session.mask)
    spot[SPOT] = 1
    user.key(Qt.Key.Key_2)
    user.scribble(spot)
    assert (session.mask[SPOT] == 2).mean() > 0.5
    strokes = user.inputs.drags - 1

    # The evaluation regards the new label.
    qtbot.waitUntil(lambda: evaluation.stale)
    user.key(Qt.Key.Key_R, CONTROL_SHIFT)
    qtbot.waitUntil(lambda: user.window.center.in_evaluation)
    qtbot.waitUntil(lambda: browser.tabs["false"].text() == "False alarms  0")
    assert (annotation.load_mask(session.project, FALSE)[SPOT] == 2).any()

    # The report has the proposed name.
    user.accept_file_dialog()
    with qtbot.waitSignal(user.services.evaluation_report.saved):
        user.click(page.save_report)
    (report,) = tmp_path.glob("*.html")
    assert run.name in report.name and "test" in report.name and "<svg" in report.read_text("utf-8")
    assert (user.inputs.clicks, user.inputs.keys) == (4, 3) and strokes >= 4
