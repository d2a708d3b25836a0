"""Interactors of the canvas: order, ownership of the pointer, hover, cursor, keys and partial repaints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest

from tests.ui.conftest import LEFT
from workbench.ui.canvas.interactor import Interactor

NEW = "lot1/new.png"
MIDDLE, NONE = Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.NoModifier


class Recorder(Interactor):
    """Interactor that records its calls and handles presses inside its area."""

    cursor = Qt.CursorShape.WhatsThisCursor

    def __init__(self, area: QRect) -> None:
        self._area = area
        self.calls: list[str] = []
        self.points: list[object] = []

    @property
    def area(self) -> QRect | None:
        return self._area

    def covers(self, position) -> bool:
        return self._area.contains(position.toPoint())

    def press(self, event) -> bool:
        self.calls.append("press")
        return self.covers(event.position)

    def move(self, event) -> None:
        self.calls.append("move")

    def release(self, event) -> None:
        self.calls.append("release")

    def hover(self, point) -> None:
        self.points.append(point)

    def key(self, event) -> bool:
        return event.key() == Qt.Key.Key_Escape

    def draw(self, painter) -> None:
        self.calls.append("draw")


@pytest.fixture
def recorder(driver):
    """Canvas driver on an image without labels, and an interactor in the corner of the canvas above all others."""
    driver.open(NEW)
    driver.canvas.set_diameter(10)
    recorder = Recorder(QRect(4, 4, 60, 40))
    driver.canvas.add_item(recorder)
    QTest.mouseMove(driver.canvas, driver.pixel(40, 40))
    driver.qtbot.wait(20)
    recorder.calls.clear()
    return recorder


def test_claimed_pointer_belongs_to_its_owner_until_the_release(driver, recorder):
    canvas, inside, outside = driver.canvas, QPoint(20, 20), driver.pixel(40, 40)
    view = canvas.view
    QTest.mousePress(canvas, LEFT, NONE, inside)
    QTest.mousePress(canvas, MIDDLE, NONE, inside)
    QTest.mouseMove(canvas, outside)
    QTest.mouseRelease(canvas, MIDDLE, NONE, outside)
    QTest.mouseRelease(canvas, LEFT, NONE, outside)
    assert [call for call in recorder.calls if call != "draw"] == ["press", "move", "release"]
    assert not driver.session.mask.any() and canvas.view == view
    driver.drag((30, 40), (60, 40))
    assert driver.session.mask[40, 45] == 1, "a press outside reaches the tool"
    assert recorder.calls.count("move") == 1


def test_covering_interactor_hides_the_pointer_from_the_tool(driver, recorder):
    canvas = driver.canvas
    assert canvas.cursor().shape() == Qt.CursorShape.BlankCursor and canvas.current.showing
    QTest.mouseMove(canvas, QPoint(20, 20))
    assert canvas.cursor().shape() == Qt.CursorShape.WhatsThisCursor and not canvas.current.showing
    assert recorder.points[-1] is not None
    QTest.mouseMove(canvas, driver.pixel(40, 40))
    assert canvas.cursor().shape() == Qt.CursorShape.BlankCursor and canvas.current.showing


def test_stroke_continues_below_a_covering_interactor(driver, recorder):
    canvas = driver.canvas
    canvas.set_view(replace(canvas.view.at_scale(8), x=0, y=0))
    driver.drag(driver.point(QPoint(200, 30)), driver.point(QPoint(20, 30)))
    x, y = driver.point(QPoint(40, 30))
    assert driver.session.mask[int(y), int(x)] == 1
    assert "move" not in recorder.calls and "release" not in recorder.calls


def test_keys_are_offered_from_the_top_but_during_a_stroke_to_the_tool_only(driver, recorder):
    driver.key(Qt.Key.Key_P)
    driver.click(30, 30)
    driver.key(Qt.Key.Key_Escape)
    assert driver.canvas.current.busy, "the interactor above has handled the key"
    driver.canvas.choose_tool("brush")
    QTest.mousePress(driver.canvas, LEFT, NONE, driver.pixel(30, 50))
    QTest.mouseMove(driver.canvas, driver.pixel(50, 50))
    assert driver.session.mask.any()
    driver.key(Qt.Key.Key_Escape)
    assert not driver.session.mask.any()
    QTest.mouseRelease(driver.canvas, LEFT, NONE, driver.pixel(50, 50))


def test_bounded_interactor_is_drawn_only_if_its_area_is_exposed(driver, recorder):
    driver.drag((60, 60), (80, 60))
    driver.qtbot.wait(20)
    assert "draw" not in recorder.calls
    repainted = driver.canvas.renderer.backing.repainted
    driver.canvas.renderer.update_overlay(recorder.area)
    driver.qtbot.waitUntil(lambda: "draw" in recorder.calls, timeout=2000)
    assert driver.canvas.renderer.backing.repainted == repainted, "the cached scene is not redrawn"


def test_middle_press_on_the_minimap_does_not_pan(driver):
    driver.open(NEW)
    canvas = driver.canvas
    canvas.set_view(canvas.view.at_scale(32).centered(10, 10))
    view, spot = canvas.view, canvas.minimap.area.center()
    QTest.mouseMove(canvas, spot)
    assert canvas.cursor().shape() == Qt.CursorShape.ArrowCursor and not canvas.current.showing
    QTest.mousePress(canvas, MIDDLE, NONE, spot)
    QTest.mouseMove(canvas, spot - QPoint(200, 100))
    QTest.mouseRelease(canvas, MIDDLE, NONE, spot - QPoint(200, 100))
    assert canvas.view == view


def test_brush_ring_stays_visible_while_alt_right_drag_sizes_it(driver):
    driver.open(NEW)
    canvas = driver.canvas
    QTest.mouseMove(canvas, driver.pixel(40, 40))
    QTest.mousePress(canvas, Qt.MouseButton.RightButton, Qt.KeyboardModifier.AltModifier, driver.pixel(40, 40))
    QTest.mouseMove(canvas, driver.pixel(50, 40))
    assert canvas.current.showing and canvas.diameter > 15
    QTest.mouseRelease(canvas, Qt.MouseButton.RightButton, Qt.KeyboardModifier.AltModifier, driver.pixel(50, 40))
    assert not driver.session.mask.any()
