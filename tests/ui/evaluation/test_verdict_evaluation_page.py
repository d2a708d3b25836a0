"""Evaluation of a ResNet run: confusion matrix, image lists, splits, reject probability."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from tests.session.conftest import retry_delay, save_delay, session  # noqa: F401  a session that saves quickly
from tests.session.verdict_run import make_verdict_project
from workbench.core.images.image_files import read
from workbench.core.project.project import Project
from workbench.inference.model_settings import MODEL_FILE, UNSURE, load_settings
from workbench.inference.predictor import Predictor
from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage
from workbench.ui.widgets.theme import ThemeManager

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def run(tmp_path):
    return make_verdict_project(tmp_path / "项目 [v]")


@pytest.fixture
def page(session, run, qtbot):  # noqa: F811
    assert session.open_project(run.project_root)
    qtbot.waitUntil(lambda: len(session.rows) == 40, timeout=10_000)
    style = ThemeManager(QApplication.instance())
    style.apply("dark")
    widget = VerdictEvaluationPage(session, style)
    qtbot.addWidget(widget)
    widget.resize(1000, 700)
    widget.show()
    widget.show_run(run)
    qtbot.waitUntil(lambda: widget.matrix.isVisible(), timeout=10_000)
    yield widget
    widget.end()


def click_cell(page, truth, predicted):
    position = page.matrix.cell_rect(truth, predicted).center()
    QTest.mouseClick(page.matrix.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, position)


def test_first_list_shows_errors_on_test_images(page):
    assert page.split.currentData() == ("test",) and [page.split.itemText(i)[-4:] for i in range(3)] == [
        "(20)",
        "(10)",
        "(30)",
    ]
    accuracy = page.summary.metrics["accuracy"]
    assert accuracy.number.text() == "95%" and "19 of 20" in accuracy.detail.text() and "–" in accuracy.detail.text()
    assert page.browser.errors.isChecked() and page.browser.gallery.keys == ["线 [1]/p003.png"]
    assert "20 images of 20 parts. These images were not used in training" in page.notices.texts[0]
    page.split.setCurrentIndex(1)
    assert "temperature" in page.notices.texts[0] and page.browser.gallery.keys == ["线 [1]/p001.png"]


def test_page_begins_with_ok_and_ng_and_links_to_the_rule_of_parts(page, qtbot):
    panel = page.images
    assert panel.y() < page.summary.y() < page.reject.y() < page.details.y()
    assert [panel.cells[cell].text() for cell in ((False, "OK"), (False, "NG"), (True, "OK"), (True, "NG"))] == [
        "10",
        "0",
        "1",
        "9",
    ]
    assert panel.missed.number.text() == "1 of 10  ·  10%" and panel.false.number.text() == "0 of 10  ·  0%"
    assert "95% CI" in panel.missed.detail.text() and panel.note.isHidden() and panel.cost.isHidden()
    QTest.mouseClick(panel.cells[True, "OK"], LEFT)
    assert page.browser.gallery.keys == ["线 [1]/p003.png"] and page.browser.heading.text() == "Defective → OK  1"
    page.reject.set_minimum(0.99)  # images below it are left to a person
    assert int(panel.cells[True, "unsure"].text()) and page.browser.heading.text() == "Defective → OK  0"
    link = next(button for button in page.notices.findChildren(QPushButton) if "parts" in button.text())
    with qtbot.waitSignal(page.notices.part_rule_requested):
        QTest.mouseClick(link, LEFT)


def test_good_verdict_can_be_chosen(page):
    assert page.good.isHidden()
    shown = replace(page._all_splits, names=("A", "B"))
    images = [replace(image, truth={"OK": "A", "NG": "B"}[image.truth]) for image in shown.images]
    page._all_splits = replace(shown, images=tuple(images))
    page.split.setCurrentIndex(1)
    assert page.good.isVisible() and page.images.isHidden() and page.matrix.isVisible()
    page.good.setCurrentIndex(1)
    page.good.activated.emit(1)
    assert page.images.isVisible() and page.images.cells[False, "OK"].text() == "5"
    project = page._session.project
    assert Project.open(project.root, write=False, trusted=True).file.good_verdict == "A"
    page.good.clear()
    page.split.setCurrentIndex(0)
    assert page.good.currentText() == "A" and page.images.isVisible()


def test_cell_filters_gallery_and_click_opens_image(page, qtbot):
    page.split.setCurrentIndex(2)
    click_cell(page, "NG", "OK")
    assert page.matrix.cell == ("NG", "OK") and not page.browser.errors.isChecked()
    assert "Labeled NG, predicted OK: 2" in page.browser.heading.text() and len(page.browser.gallery.keys) == 2
    click_cell(page, "OK", "OK")
    assert len(page.browser.gallery.keys) == 15
    index = page.browser.gallery.model().index(3, 0)
    with qtbot.waitSignal(page.image_requested) as requested:
        place = page.browser.gallery.visualRect(index).center()
        QTest.mouseClick(page.browser.gallery.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
    assert requested.args == [page.browser.gallery.keys[3]]
    QTest.keyClick(page.matrix, Qt.Key.Key_Down)
    QTest.keyClick(page.matrix, Qt.Key.Key_Right)
    assert page.matrix.cell == ("NG", "NG") and len(page.browser.gallery.keys) == 13
    qtbot.waitUntil(lambda: page.thumbnails.get(page.browser.gallery.keys[0]) is not None, timeout=5000)
    assert not page.grab().toImage().isNull()


def test_reject_probability_shows_effect_and_is_stored(page, run, qtbot):
    page.split.setCurrentIndex(2)
    assert "All 30 images get a verdict, 2 of them wrong." in page.reject.effect.text()
    assert not page.reject.store.isEnabled()
    QTest.mouseClick(page.reject.no_errors, LEFT)
    minimum = page.reject.minimum
    assert 0.5 < minimum < 1 and ", 0 are wrong" in page.reject.effect.text()
    QTest.mouseClick(page.browser.unsure, LEFT)
    expected = {image.key for image in page._all_splits.images if image.probability < minimum}
    assert set(page.browser.gallery.keys) == expected >= {"线 [1]/p001.png", "线 [1]/p003.png"}
    with qtbot.waitSignal(page.stored, timeout=5000):
        QTest.mouseClick(page.reject.store, LEFT)
    assert load_settings(run.best / MODEL_FILE).unsure == minimum
    assert "saved with the run" in page.reject.effect.text() and not page.reject.store.isEnabled()
    predictor = Predictor.open(run.best)
    verdicts = {key: predictor.predict(read(run.project_root / "pictures" / key)).verdict for key in expected}
    assert set(verdicts.values()) == {UNSURE}
    QTest.mouseClick(page.reject.off, LEFT)
    assert page.reject.minimum == 0 and page.reject.store.isEnabled()
    page.show_run(run)  # the slider keeps its value
    qtbot.wait(300)
    assert page.reject.minimum == 0


def test_cells_have_tooltips_and_recall_is_not_selectable(page):
    page.split.setCurrentIndex(2)
    assert page.matrix.item(1, 1).toolTip() == "2 images labeled NG but predicted as OK"
    assert page.matrix.item(1, 2).toolTip() == "13 images labeled NG and predicted correctly"
    click_cell(page, "NG", "OK")
    for _ in range(3):
        QTest.keyClick(page.matrix, Qt.Key.Key_Right)
    assert page.matrix.cell == ("NG", "NG")
    QTest.mouseClick(page.browser.errors, LEFT)
    assert page.matrix.cell is None


def test_reliability_bins_have_tooltips(page):
    page.split.setCurrentIndex(2)
    bins = page._shown.reliability()
    assert sum(entry.images for entry in bins) == 30
    assert all(f"{entry.correct} of {entry.images} images correct" in page.reliability.tip(entry) for entry in bins)


def test_run_without_validation_images(page, run, session, qtbot):  # noqa: F811
    text = run.dataset_path.read_text("utf-8")
    for split in ("val", "test"):
        text = text.replace(f'"split": "{split}"', '"split": "train"')
    run.dataset_path.write_text(text, "utf-8")
    page.show_run(run)
    qtbot.waitUntil(lambda: "no validation or test images" in page.message.text(), timeout=5000)
    assert not page.matrix.isVisible() and page.browser.gallery.keys == []
    session.close_project()
    assert not page.reject.isVisible()


def test_window_shows_activation_map_and_unsure_verdict(application, run, qtbot):
    window, session_ = application.window, application.services.session
    texts = []
    window.overlay.text_changed.connect(texts.append)
    assert session_.open_project(run.project_root)
    qtbot.waitUntil(lambda: any("Prediction: OK" in text for text in texts), timeout=15_000)
    window.canvas.scene.prediction_style.mode = "heat"
    layer = window.canvas.scene.predictions
    assert layer is not None and window.overlay.maps.scores.max() == 255 and not window.overlay.maps.mask.any()
    heat = window.overlay.maps.scores
    assert heat[5:11, 30:38].mean() > 1.1 * heat[20:, :20].mean()  # the bright spot is evidence for OK
    assert not window.overlay.maps.uncertainty().any()
    qtbot.waitUntil(lambda: window.table["evaluation"].isEnabled(), timeout=5000)
    window.table["evaluation"].trigger()
    page = window.evaluation.verdicts
    qtbot.waitUntil(lambda: page.matrix.isVisible(), timeout=15_000)
    page.reject.set_minimum(0.999)
    texts.clear()
    page.reject.store.click()
    qtbot.waitUntil(lambda: any("Prediction: unsure, most likely OK" in text for text in texts), timeout=15_000)
    page.split.setCurrentIndex(2)
    key = page.browser.gallery.keys[-1]
    page.browser.gallery.image_chosen.emit(key)
    qtbot.waitUntil(lambda: session_.key == key and not page.isVisible(), timeout=10_000)
