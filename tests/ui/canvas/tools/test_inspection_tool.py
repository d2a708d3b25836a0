"""Inspection area drawn in the window."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from tests.ui.canvas.tools.tool_input import choose, draw_area, stored_areas
from workbench.ui.canvas.option_bar import OptionBar

pytestmark = pytest.mark.usefixtures("one_window")

K, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier


def shown(driver, x: int, y: int) -> int:
    """Return the lightness of a point of the image on the screen."""
    return driver.canvas.grab().toImage().pixelColor(driver.pixel(x, y)).lightness()


def test_polygons_become_the_area_and_each_is_one_step(driver):
    driver.open("a.png")
    height, width = driver.session.image.shape[:2]
    before = shown(driver, 4, 60), shown(driver, 30, 75)
    draw_area(driver, 10, 10, width - 10, height - 10)
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)) == 1)
    draw_area(driver, 20, 20, 40, 40, keys=CTRL)
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)[0].polygons) == 2)
    inside = stored_areas(driver)[0].inside((height, width))
    assert inside[15, 15] and not inside[30, 30] and not inside[5, 5] and not driver.session.mask.any()
    assert shown(driver, 4, 60) < before[0] and shown(driver, 30, 75) == before[1]
    path = driver.canvas.area_outline.path
    assert path.contains(path.boundingRect().center()) == bool(inside[height // 2, width // 2])
    driver.session.undo()
    assert len(stored_areas(driver)[0].polygons) == 1
    driver.session.undo()
    assert not stored_areas(driver) and driver.canvas.area_outline.path is None
    driver.session.redo()
    driver.session.areas.remove("a.png")
    driver.qtbot.waitUntil(lambda: not stored_areas(driver))


def test_a_zone_only_marks_and_its_name_is_typed_in_the_option_bar(driver):
    driver.open("a.png")
    choose(driver, "inspection_area")
    field = driver.window.findChild(OptionBar).zone
    assert field.isVisible() and not field.currentText()
    field.lineEdit().setFocus()
    QTest.keyClicks(field.lineEdit(), "ed,ge")
    QTest.keyClick(field.lineEdit(), K.Key_Return)
    assert driver.canvas.options.zone == "edge"
    before = shown(driver, 4, 60)
    draw_area(driver, 10, 10, 40, 40)
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)) == 1)
    area = stored_areas(driver)[0]
    assert area.zones == ("edge",) and area.inside((80, 80)).all() and shown(driver, 4, 60) == before
    assert driver.canvas.area_outline.paths["edge"].boundingRect().width() == pytest.approx(30, abs=0.1)
    assert [field.itemText(row) for row in range(field.count())] == ["", "edge"]
    field.setCurrentIndex(0)
    field.activated.emit(0)
    assert driver.canvas.options.zone == ""


def test_an_area_that_leaves_defects_outside_is_used_once_it_is_accepted(driver):
    driver.open("a.png")
    driver.session.editor.begin("polygon")
    driver.session.editor.paint_polygon([(60, 60), (70, 60), (70, 70), (60, 70)], 1)
    driver.session.editor.commit()
    assert driver.session.flush()
    draw_area(driver, 10, 10, 40, 40)
    messages = driver.window.messages
    driver.qtbot.waitUntil(lambda: any("1 labeled defect lies outside" in each.text for each in messages.shown))
    assert not stored_areas(driver)
    found = next(each for each in messages.shown if each.topic == "area")
    next(button for button in found.findChildren(QAbstractButton) if button.text() == "Use it").click()
    assert len(stored_areas(driver)) == 1 and not np.array_equal(
        stored_areas(driver)[0].inside((80, 80)), np.ones((80, 80))
    )
