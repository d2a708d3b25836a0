"""The review of a run of verdicts, as a person uses it: cells, lists, splits, the unsure band."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.session.conftest import session  # noqa: F401  a session that saves quickly
from tests.session.verdict_run import make_verdict_project
from workbench.core.images.image_files import read
from workbench.inference.model_settings import MODEL_FILE, UNSURE, load_settings
from workbench.inference.predictor import Predictor
from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage
from workbench.ui.widgets.theme import ThemeManager

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def run(tmp_path):
    return make_verdict_project(tmp_path / "项目 [v]")


@pytest.fixture
def review(session, run, qtbot):  # noqa: F811
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


def click_cell(widget, truth, said):
    QTest.mouseClick(widget.matrix, LEFT, Qt.KeyboardModifier.NoModifier, widget.matrix.cell_rect(truth, said).center())


def test_it_begins_with_test_pictures_and_their_mistakes(review):
    assert review.split.currentData() == ("test",) and [review.split.itemText(i)[-4:] for i in range(3)] == [
        "(20)",
        "(10)",
        "(30)",
    ]
    assert "20 judged right" in review.numbers.text() and "–" in review.numbers.text()
    assert review.mistakes.isChecked() and review.gallery.keys == ["线 [1]/p003.png"]
    assert "temperature" not in review.note.text()
    review.split.setCurrentIndex(1)
    assert "temperature" in review.note.text() and review.gallery.keys == ["线 [1]/p001.png"]


def test_a_cell_shows_its_pictures_and_a_click_on_one_opens_it(review, qtbot):
    review.split.setCurrentIndex(2)
    click_cell(review, "NG", "OK")
    assert review.matrix.at == ("NG", "OK") and not review.mistakes.isChecked()
    assert "Labelled NG, judged OK: 2" in review.which.text() and len(review.gallery.keys) == 2
    click_cell(review, "OK", "OK")
    assert len(review.gallery.keys) == 15
    index = review.gallery.model().index(3, 0)
    with qtbot.waitSignal(review.image_wanted) as wanted:
        place = review.gallery.visualRect(index).center()
        QTest.mouseClick(review.gallery.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
    assert wanted.args == [review.gallery.keys[3]]
    QTest.keyClick(review.matrix, Qt.Key.Key_Down)
    QTest.keyClick(review.matrix, Qt.Key.Key_Right)
    assert review.matrix.at == ("NG", "NG") and len(review.gallery.keys) == 13
    qtbot.waitUntil(lambda: review.thumbnails.get(review.gallery.keys[0]) is not None, timeout=5000)
    assert not review.grab().toImage().isNull()


def test_the_band_says_what_it_costs_and_is_kept_with_the_run(review, run, qtbot):
    review.split.setCurrentIndex(2)
    assert "All 30 pictures get a verdict; 2 of them are wrong." in review.band.says.text()
    assert not review.band.store.isEnabled()
    QTest.mouseClick(review.band.none_left, LEFT)
    least = review.band.least
    assert 0.5 < least < 1 and ", 0 are wrong" in review.band.says.text()
    QTest.mouseClick(review.unsure, LEFT)
    expected = {one.key for one in review._whole.images if one.sure < least}
    assert set(review.gallery.keys) == expected >= {"线 [1]/p001.png", "线 [1]/p003.png"}
    with qtbot.waitSignal(review.stored, timeout=5000):
        QTest.mouseClick(review.band.store, LEFT)
    assert load_settings(run.best / MODEL_FILE).unsure == least
    assert "kept with the run" in review.band.says.text() and not review.band.store.isEnabled()
    predictor = Predictor.open(run.best)
    said = {key: predictor.predict(read(run.project_root / "pictures" / key)).verdict for key in expected}
    assert set(said.values()) == {UNSURE}
    QTest.mouseClick(review.band.off, LEFT)
    assert review.band.least == 0 and review.band.store.isEnabled()
    review.show_run(run)  # again, without another wish for the slider
    qtbot.wait(300)
    assert review.band.least == 0


def test_every_cell_tells_what_it_means(review):
    review.split.setCurrentIndex(2)
    assert "labelled NG and judged OK" in review.matrix._tip(1, 0) and "13 pictures of NG" in review.matrix._tip(1, 1)
    assert review.matrix._cell_at(QPoint(1, 1)) is None


def test_a_project_without_a_held_out_picture_says_so(review, run, session, qtbot):  # noqa: F811
    text = run.dataset_path.read_text("utf-8")
    for split in ("val", "test"):
        text = text.replace(f'"split": "{split}"', '"split": "train"')
    run.dataset_path.write_text(text, "utf-8")
    review.show_run(run)
    qtbot.waitUntil(lambda: "nothing to review" in review.note.text(), timeout=5000)
    assert not review.matrix.isVisible() and review.gallery.keys == []
    session.close_project()
    assert not review.band.isVisible()


def test_in_the_window_a_picture_shows_where_the_model_looked_and_when_it_is_unsure(application, run, qtbot):
    window, engine = application.window, application.rooms.session
    said = []
    window.overlay.text_changed.connect(said.append)
    assert engine.open_project(run.project_root)
    qtbot.waitUntil(lambda: any("Model says: OK" in text for text in said), timeout=15_000)
    window.canvas.scene.prediction_style.mode = "heat"
    layer = window.canvas.scene.predictions
    assert layer is not None and window.overlay.seen.scores.max() == 255 and not window.overlay.seen.mask.any()
    heat = window.overlay.seen.scores
    assert heat[5:11, 30:38].mean() > 1.1 * heat[20:, :20].mean()  # the bright spot spoke for OK
    assert not window.overlay.seen.uncertainty().any()
    qtbot.waitUntil(lambda: window.table["review"].isEnabled(), timeout=5000)
    window.table["review"].trigger()
    page = window.review.verdicts
    qtbot.waitUntil(lambda: page.matrix.isVisible(), timeout=15_000)
    page.band.set_least(0.999)
    said.clear()
    page.band.store.click()
    qtbot.waitUntil(lambda: any("Model is unsure: perhaps OK" in text for text in said), timeout=15_000)
    page.split.setCurrentIndex(2)
    key = page.gallery.keys[-1]
    page.gallery.wanted.emit(key)
    qtbot.waitUntil(lambda: engine.key == key and not page.isVisible(), timeout=10_000)
