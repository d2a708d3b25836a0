"""Label queues in the window: list with reasons, order, search, suspected label errors."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.inference.conftest import gray_settings, write_onnx
from tests.label_queue_network import BIAS, WEIGHTS
from tests.ui.layout_faults import layout_rounds
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.label_next import label_ranking
from workbench.core.label_next.label_issues import LabelIssue
from workbench.core.project import annotation
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import collect
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.suggestions.suggestions import Suggestion
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.session.label_queue import LabelIssueReview
from workbench.ui.images.image_model import ReasonRole
from workbench.ui.text import image_texts

pytestmark = pytest.mark.usefixtures("one_window")

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def with_model(opened, qtbot):
    """A usable run that detects every defect; the label of the second image lacks its defect."""
    session = opened.services.session
    project, keys = session.project, session.keys
    run = Run(project.root / "runs" / "20260101-000000-unet")
    write_onnx(run.best / "network.onnx", WEIGHTS, BIAS)
    settings = gray_settings(classes=(ClassSettings(1, "scratch", "#ff0000"),), thresholds=(0.5,), min_area=(6,))
    save_settings(settings, run.best / "model.json")
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))
    write_json(run.dataset_path, collect(project, "unet").model_dump(mode="json"))
    annotation.save_mask(project, keys[1], np.zeros((80, 96), np.uint8))
    with qtbot.waitSignal(session.image_list.finished, timeout=10_000):
        session.refresh_images()
    opened.window.table.refresh()
    qtbot.waitUntil(lambda: opened.window.table["label_errors"].isEnabled(), timeout=5000)
    return opened


def wait_for_queue(application, qtbot) -> None:
    queue = application.services.label_queue
    qtbot.waitUntil(lambda: not queue.running and queue.result is not None, timeout=20_000)


def test_ctrl_l_lists_images_to_label_next(with_model, driver, qtbot):
    window, session, panel = driver.window, driver.session, driver.window.images
    driver.key(Qt.Key.Key_L, CTRL)
    assert not panel.queue_header.isHidden()
    assert len(panel.model.keys) == 5 and not panel.filters.isHidden()  # all images, until the queue is computed
    wait_for_queue(with_model, qtbot)
    assert panel.filters.isHidden()
    assert panel.model.keys == ["lot1/new.png"]  # all others are done or broken
    qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)  # the first image is opened
    place = panel.model.index_of("lot1/new.png")
    assert place.data(ReasonRole) and place.data(ReasonRole) in place.data(Qt.ItemDataRole.ToolTipRole)
    assert "1 of 1" in panel.queue_header.text.text() and window.table["label_next"].isChecked()
    driver.key(Qt.Key.Key_Return)  # done, so the image is removed when another one is opened
    driver.open(session.keys[0])
    assert panel.model.keys == []
    assert panel.pages.currentWidget() is panel.empty_queue_page
    driver.key(Qt.Key.Key_L, CTRL)
    assert panel.queue_header.isHidden() and not panel.filters.isHidden() and len(panel.model.keys) == 5


def test_label_error_is_shown_and_resolved_by_shortcut(with_model, driver, qtbot):
    session, canvas, advice = driver.session, driver.canvas, driver.window.label_next
    wrong = session.keys[1]
    driver.key(Qt.Key.Key_L, CTRL | SHIFT)
    wait_for_queue(with_model, qtbot)
    qtbot.waitUntil(lambda: session.key == wrong, timeout=5000)
    assert not advice.bar.isHidden() and "scratch" in advice.bar.text.text() and advice.marker.area is not None
    shown = f"Mean probability of this region: {advice.errors.issue.probability:.0%}"
    assert advice.bar.certainty.text().startswith(shown) and "training image" in advice.bar.certainty.text()
    middle = advice.marker.area.center()
    assert canvas.rect().contains(middle) and not advice.bar.geometry().contains(middle)
    canvas.set_view(canvas.view.at_scale(40))
    minimap = canvas.minimap.area
    assert minimap is not None and not minimap.intersects(advice.bar.geometry())
    driver.key(Qt.Key.Key_Y)
    assert session.mask.any() and advice.bar.isHidden() and advice.marker.area is None
    assert canvas.minimap.area.bottom() > minimap.bottom()  # back in the corner
    session.undo()
    assert not session.mask.any() and not advice.bar.isHidden()
    driver.key(Qt.Key.Key_K)
    assert advice.bar.isHidden() and not session.mask.any() and session.note.confirmed
    assert any("Label kept" in text for text in driver.window.messages.texts)
    advice.errors.undo(wrong)
    assert not advice.bar.isHidden()
    driver.window.images.toggle_thumbnails()  # covers the canvas: nothing may be painted
    advice.accept_model()
    assert not session.mask.any()
    driver.window.images.toggle_thumbnails()
    driver.window.images.queue_header.leave.click()
    assert advice.bar.isHidden() and advice.marker.area is None


@pytest.mark.parametrize("top", [0, 70], ids=["above", "below"])
def test_bar_of_a_suspected_verdict_does_not_cover_the_predicted_region(
    style_sheet, with_model, driver, qtbot, monkeypatch, top
):
    canvas, advice = driver.canvas, driver.window.label_next
    issue = LabelIssue("verdict", verdict="OK", predicted_verdict="NG", certainty=0.9)
    monkeypatch.setattr(LabelIssueReview, "issues", property(lambda _: (issue,)))
    driver.open(driver.session.keys[0])
    canvas.view_state.fit()
    selection = Selection(Rect(40, top, 20, 10), np.ones((10, 20), bool))
    origin = SuggestionDecision(what="rejected", model="run", class_id=1, x=40, y=top, width=20, height=10, area=200)
    advice.errors.changed.emit()
    canvas.suggestions.show([Suggestion(selection, 1, 0.9, "run", origin)])
    area = canvas.view_state.to_widget_rect(selection.rect).toAlignedRect()
    assert advice.bar.isVisible() and canvas.rect().contains(area) and not advice.bar.geometry().intersects(area)
    canvas.suggestions.show([])
    assert advice.bar.isVisible() and advice.bar.geometry().center().y() > canvas.height() / 2  # at its usual place


def test_bar_moves_off_the_flagged_region_when_the_view_changes(with_model, driver, qtbot):
    canvas, advice = driver.canvas, driver.window.label_next
    driver.key(Qt.Key.Key_L, CTRL | SHIFT)
    wait_for_queue(with_model, qtbot)
    qtbot.waitUntil(lambda: not advice.bar.isHidden() and advice.marker.area is not None, timeout=5000)
    region = advice.errors.issue.rect
    x, y = region.x + region.width / 2, region.y + region.height / 2
    scale = canvas.view.scale
    for share in (0.4, -0.4, 0.4):  # the region at the bottom, at the top and at the bottom again
        canvas.set_view(canvas.view.at_scale(scale).centered(x, y - share * canvas.height() / scale))
        assert canvas.rect().contains(advice.marker.area) and canvas.rect().contains(advice.bar.geometry())
        assert not advice.bar.geometry().contains(advice.marker.area.center())
    with qtbot.waitSignal(canvas.view_state.changed):
        canvas.set_view(canvas.view.translated(0, 20))
    assert canvas.rect().contains(advice.bar.geometry())


def test_search_filters_queue(with_model, driver, qtbot):
    panel = driver.window.images
    driver.key(Qt.Key.Key_L, CTRL)
    wait_for_queue(with_model, qtbot)
    panel.search.setText("no such name")
    qtbot.waitUntil(lambda: panel.model.keys == [], timeout=5000)
    assert panel.pages.currentWidget() is panel.no_match_page


def test_queue_without_model_is_ordered_by_diversity(opened, qtbot):
    panel = opened.window.images
    panel.filters.label_next.click()
    wait_for_queue(opened, qtbot)
    assert panel.model.keys == ["lot1/new.png"] and "No model yet" in panel.queue_header.text.text()
    assert not panel.queue_header.errors.isEnabled()


def test_queue_does_not_move_the_canvas(style_sheet, opened, qtbot):
    window = opened.window
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: window.width() == 1440)
    before = window.images.width()
    window.table["label_next"].trigger()
    wait_for_queue(opened, qtbot)
    qtbot.waitUntil(window.images.filters.isHidden)
    layout_rounds(window)
    assert window.images.width() == before


def test_reasons_have_texts():
    lines = image_texts.issue_text(
        [
            label_ranking.RankReason("unsure", {"n": 3}),
            label_ranking.RankReason("unlike"),
            label_ranking.RankReason("quiet"),
        ]
    )
    assert lines == "Unsure about 3 regions\nUnlike all labeled images"
