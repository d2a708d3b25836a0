"""OK and NG at the top of the evaluation: cells open their images, errors with counts, cost, unsure images."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from tests.session.mask_run import MISSED, make_mask_project
from tests.session.stored_result import store_result, stored_result
from tests.ui.evaluation.evaluation_windows import choose_rule, open_project
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.verdict_rules import RuleChoice


def counts(panel) -> dict:
    return {cell: button.text() for cell, button in panel.cells.items() if not button.isHidden()}


def test_cells_open_their_images_and_errors_have_a_cost(page, verdicts, application, qtbot):
    panel, session = page.images, application.services.session
    qtbot.waitUntil(lambda: panel.confusion is not None)
    assert page.findChildren(type(panel))[0].y() < page.summary.y() < page.details.y()
    assert counts(panel) == {(False, "OK"): "2", (True, "OK"): "0", (False, "NG"): "0", (True, "NG"): "6"}
    figures = application.services.evaluation.result.figures
    assert panel.false.number.text() == "0 of 2  ·  0%" and panel.missed.number.text() == "0 of 6  ·  0%"
    assert (panel.confusion.missed.hits, panel.confusion.false.hits) == (
        figures.get("missed_images").hits,
        figures.get("false_alarm_images", "good").hits,
    )
    assert "no 95% CI" in panel.false.detail.text() and not panel.note.isHidden()
    assert panel.cost.text() == "Cost of these errors: 0 false alarms; a missed image counts as 10"
    assert not panel.cells[False, "NG"].isEnabled()
    QTest.mouseClick(panel.cells[True, "NG"], Qt.MouseButton.LeftButton)
    cards = page.browser.gallery.cards
    assert len(cards) == 6 and page.browser.tabs["cell"].text() == "Defective → NG  6"
    assert page.browser.gallery.hasFocus() and not panel.cells[True, "OK"].isEnabled()
    page.browser.gallery.setCurrentIndex(page.browser.gallery.model().index(0, 0))
    QTest.keyClick(page.browser.gallery, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.key == MISSED)  # the worst one is the first


def test_images_between_two_thresholds_are_unsure_and_the_band_is_stored(page, verdicts, application, run, qtbot):
    rule, panel, evaluation = page.verdict, page.images, application.services.evaluation
    scores = sorted(image.score for image in evaluation.result.images if image.defective)
    choose_rule(rule, "mass")
    rule.values["mass"].setValue((scores[2] + scores[3]) / 2)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    missed = verdicts.result.rule.missed.hits
    assert missed == 3 and (False, "unsure") not in counts(panel) and panel.note.isHidden()
    QTest.mouseClick(rule.no_missed, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.choice.unsure is not None)
    found = verdicts.result.rule
    assert found.missed.hits == 0 and found.outcomes.count("unsure") >= missed
    assert (
        rule.band.text().startswith(f"Unsure: {found.outcomes.count('unsure')} image")
        and panel.missed.number.text()[0] == "0"
    )
    assert counts(panel)[True, "unsure"] == str(missed) and panel.cells[True, "OK"].text() == "0"
    QTest.mouseClick(panel.cells[True, "unsure"], Qt.MouseButton.LeftButton)
    assert len(page.browser.gallery.cards) == missed
    QTest.mouseClick(page.points.store, Qt.MouseButton.LeftButton)
    stored = operating_point.read(run).rule
    chosen = RuleChoice("mass", rule.values["mass"].value(), unsure=rule.unsure.value())
    assert stored.choice == chosen and stored.rule.unsure == chosen.unsure
    rule.unsure.setValue(5000)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.choice.unsure == 5000)
    assert "no effect" in rule.band.text() and verdicts.result.rule.rule.unsure is None


def test_masks_and_curves_are_details(page, verdicts, qtbot):
    heads = [page.classes.horizontalHeaderItem(column).text() for column in range(page.classes.columnCount())]
    assert "Dice" not in heads and page.masks.isHidden() is False and not page.masks.isVisible()
    assert not page.verdict.curves.isVisible() and "curve" not in vars(page)
    page.details.heading.click()
    heads = [page.classes.horizontalHeaderItem(column).text() for column in range(page.classes.columnCount())]
    assert "Dice" in heads and page.masks.isVisible() and page.curve.isVisible() and page.verdict.curves.isVisible()
    page.details.heading.click()
    assert not page.curve.isVisible()


def test_missing_good_images_are_named(page, verdicts, qtbot):
    qtbot.waitUntil(lambda: page.images.confusion is not None)
    from workbench.core.evaluation.split_evaluation import ImageConfusion
    from workbench.core.evaluation.verdict_rules import GroupedProportion

    nothing, shown = GroupedProportion.of([], []), page.images.confusion
    page.images.show_confusion(ImageConfusion(shown.cells, shown.missed, nothing), ruled=False)
    assert (page.images.false.number.text(), page.images.false.detail.text()) == (
        "Not measured",
        "no good image held out",
    )


def test_gallery_shows_two_rows_on_a_small_screen(style_sheet, application, tmp_path, qtbot):
    window = open_project(application, store_result(make_mask_project(tmp_path / "p"), **stored_result()), qtbot)
    window.resize(1366, 744)  # below a title bar
    with qtbot.waitSignal(application.services.evaluation.evaluated, timeout=20_000):
        window.table["evaluation"].trigger()
    browser = window.evaluation.segmentation.browser
    browser.tabs["images"].click()
    QCoreApplication.processEvents()
    assert window.evaluation.expectation.isVisible() and len(browser.gallery.cards) == 8
    cards = [browser.gallery.visualRect(browser.gallery.model().index(row, 0)) for row in range(8)]
    assert len({card.y() for card in cards}) == 2
    assert all(browser.gallery.viewport().rect().contains(card) for card in cards)
