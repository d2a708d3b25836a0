"""Editing of painted polygons and of region outlines; points of the box segmentation."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.canvas.tools.tool_input import choose, wait_for_tasks
from workbench.core import resources
from workbench.ui.canvas.context_menu import RegionMenu
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.shortcuts import key_sequences
from workbench.ui.text.formatting import plain

pytestmark = pytest.mark.usefixtures("one_window")

K = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def square(driver):
    """Polygon over columns and rows 20 to 40, painted with class 1."""
    driver.open("a.png")
    choose(driver, "polygon")
    for point in ((20, 20), (40, 20), (40, 40), (20, 40)):
        driver.click(*point)
    driver.key(K.Key_Return)
    assert driver.session.mask.any() and driver.session.note.status == "started"
    return driver


def box(mask: np.ndarray) -> tuple[int, int, int, int]:
    rows, columns = np.nonzero(mask)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def test_corners_of_a_painted_polygon_are_dragged_as_one_undo_step(square):
    driver, before = square, square.saved()
    driver.drag((40, 40), (50, 50), (60, 60))
    moved = driver.saved()
    left, top, right, bottom = box(moved)
    assert abs(right - 60) <= 1 and abs(bottom - 60) <= 1 and (moved >= before).all()
    driver.drag((60, 60), (30, 30))  # smaller than at first: the former pixels are removed
    smaller = driver.saved()
    assert smaller.sum() < before.sum()
    driver.session.undo()
    assert not driver.saved().any() and not driver.session.can_undo()
    driver.session.redo()
    assert np.array_equal(driver.saved(), smaller)


def test_corners_are_added_and_removed_after_painting(square):
    driver, before = square, square.saved()
    driver.drag((40, 30), (55, 30))  # from an edge
    assert abs(box(driver.saved())[2] - 55) <= 1 and len(driver.canvas.current.edit.points) == 5
    driver.drag((20, 30), (10, 30))  # from the edge that closes the polygon
    assert abs(box(driver.saved())[0] - 10) <= 1 and len(driver.canvas.current.edit.points) == 6
    driver.click(10, 30, SHIFT)
    QTest.mouseMove(driver.canvas, driver.pixel(55, 30))
    driver.key(K.Key_Delete)
    assert len(driver.canvas.current.edit.points) == 4 and np.array_equal(driver.saved(), before)
    driver.click(20, 20, SHIFT)
    driver.click(40, 20, SHIFT)
    assert len(driver.canvas.current.edit.points) == 3  # an outline keeps three corners


def test_click_elsewhere_begins_the_next_polygon_and_escape_hides_the_corners(square):
    driver, before = square, square.saved()
    driver.click(70, 60)
    assert driver.canvas.current.busy and driver.canvas.current.edit is None
    driver.key(K.Key_Escape)
    assert not driver.canvas.current.busy and np.array_equal(driver.saved(), before)
    for point in ((70, 60), (90, 60), (90, 80)):
        driver.click(*point)
    driver.key(K.Key_Return)
    driver.key(K.Key_Escape)
    after = driver.saved()
    driver.drag((90, 60), (90, 50))  # a drag of a hidden corner begins a polygon
    assert driver.canvas.current.busy and np.array_equal(driver.saved(), after)


def test_corners_are_hidden_after_an_undo_and_with_another_tool(square):
    driver = square
    driver.session.undo()
    assert driver.canvas.current.edit is None
    driver.session.redo()
    choose(driver, "brush")
    choose(driver, "polygon")
    assert driver.canvas.current.edit is None


def region(driver) -> np.ndarray:
    """Paint a disc with a hole, of class 2, and return the mask."""
    rows, columns = np.ogrid[: driver.session.mask.shape[0], : driver.session.mask.shape[1]]
    distance = np.hypot(columns - 60, rows - 50)
    driver.session.editor.paint_region((distance < 20) & (distance > 6), (0, 0), 2)
    return driver.saved()


def test_outline_of_a_region_is_edited_by_command(driver):
    driver.open("a.png")
    before = region(driver)
    driver.window.activateWindow()
    choose(driver, "region")
    assert not driver.window.table["edit_outline"].isEnabled()
    driver.click(60, 38)
    driver.qtbot.waitUntil(driver.window.table["edit_outline"].isEnabled)
    driver.key(K.Key_O, SHIFT)
    tool = driver.canvas.current
    assert driver.canvas.tool == "polygon" and 8 < len(tool.edit.points) < 60
    assert np.array_equal(driver.saved(), before)  # nothing is changed yet
    x, y = max(tool.edit.points)
    driver.drag((x, y), (x + 8, y), (x + 15, y))
    after = driver.saved()
    left, top, right, bottom = box(after)
    assert abs(right - (x + 15)) <= 1.5 and (left, top, bottom) == box(before)[:2] + box(before)[3:]
    assert np.array_equal(after[:, :60], before[:, :60])  # the other side and the hole are exact
    x, y = max(tool.edit.points)
    driver.drag((x, y), (x - 9, y + 2))
    driver.session.undo()
    assert np.array_equal(driver.saved(), before)


def test_outline_is_edited_from_the_context_menu(driver):
    driver.open("a.png")
    before = region(driver)
    QTest.mouseClick(driver.canvas, Qt.MouseButton.RightButton, PLAIN, driver.pixel(60, 38))
    menu = driver.window.findChild(RegionMenu)
    texts = [action.text() for action in menu.actions()]
    next(action for action in menu.actions() if action.text() == "Edit outline\tShift+O").trigger()
    menu.close()
    assert "Delete\tDel" in texts and driver.canvas.tool == "polygon"
    x, y = min(driver.canvas.current.edit.points)
    driver.qtbot.wait(1)  # the closed menu drops the region of its tool
    driver.drag((x, y), (x - 12, y))
    assert driver.saved().sum() > before.sum() and driver.session.mask[int(y), int(x) - 8] == 2


def test_outline_of_a_locked_class_is_refused(driver):
    driver.open("a.png")
    before = region(driver)
    driver.session.classes.set_locked(2, True)
    choose(driver, "region")
    driver.click(60, 38)
    driver.key(K.Key_O, SHIFT)
    assert driver.canvas.tools["polygon"].edit is None and np.array_equal(driver.saved(), before)


# --- box segmentation --------------------------------------------------------------------------


@pytest.fixture
def preview(driver):
    """Box segmentation of the disc in preview."""
    driver.open("a.png")
    choose(driver, "box_cut")
    driver.drag((40, 30), (80, 70))
    wait_for_tasks(driver)
    assert not driver.session.mask.any() and not driver.canvas.current.current.selection.empty
    return driver


def selected(driver) -> np.ndarray:
    wait_for_tasks(driver)
    shape = driver.session.mask.shape
    selection = driver.canvas.current.current.selection
    result = np.zeros(shape, bool)
    result[selection.rect.slices] = selection.inside
    return result


def test_points_add_and_remove_areas_before_painting(preview):
    driver, before = preview, selected(preview)
    y, x = next((int(y), int(x)) for y, x in zip(*np.nonzero(before)) if before[y - 2 : y + 3, x - 2 : x + 3].all())
    driver.click(x + 0.5, y + 0.5, CTRL)
    removed = selected(driver)
    assert not removed[y, x] and removed.sum() < before.sum()
    driver.key(K.Key_Backspace)
    assert np.array_equal(selected(driver), before)
    outside = (76.5, 66.5)
    assert not before[66, 76]
    driver.click(*outside)
    added = selected(driver)
    assert added[66, 76] and not driver.session.mask.any()
    driver.key(K.Key_Return)
    assert np.array_equal(driver.saved() > 0, added)
    driver.session.undo()
    assert not driver.saved().any() and not driver.session.can_undo()


def test_escape_discards_and_the_next_box_paints_the_preview(preview):
    driver, before = preview, selected(preview)
    driver.key(K.Key_Escape)
    assert driver.canvas.current.current is None and not driver.session.mask.any()
    driver.drag((40, 30), (80, 70))
    wait_for_tasks(driver)
    driver.drag((2, 2), (14, 14))
    assert np.array_equal(driver.session.mask > 0, before)
    wait_for_tasks(driver)
    assert driver.canvas.current.current is None  # no object there


@pytest.mark.parametrize("leave", ["tool", "image", pytest.param("done", marks=pytest.mark.slow)])
def test_preview_is_painted_before_another_tool_or_image(preview, leave):
    driver, before = preview, selected(preview)
    if leave == "tool":
        driver.key(K.Key_B)
    elif leave == "image":
        driver.key(K.Key_D)
        driver.qtbot.waitUntil(lambda: driver.session.key == "b.png")
        driver.open("a.png")
    else:
        driver.window.table["done_next"].trigger()
        driver.open("a.png")
    assert np.array_equal(driver.saved() > 0, before)


def test_rows_are_complete():
    icons = {path.stem for path in resources.path("icons").glob("*.svg")}
    for name, spec in TOOLS.items():
        assert spec.name == name and issubclass(spec.tool, Tool) and spec.hint
        assert name in icons
        assert bool(spec.title) == bool(spec.tip)
    assert len({spec.tool for spec in TOOLS.values()}) == len(TOOLS)


def test_each_tool_has_a_command_from_its_row(driver):
    table = driver.window.table
    for name, spec in TOOLS.items():
        table.commands[name].run(table.context)
        assert driver.canvas.tool == name and type(driver.canvas.current) is spec.tool
        if spec.title:
            assert plain(table[name].text()) == plain(spec.title) and spec.tip in table[name].toolTip()
            assert table[name].shortcut() == key_sequences(name)[0]
    driver.canvas.choose_tool("brush")


def test_option_fields_exist(driver):
    fields = set(driver.window.options.fields)
    used = {option for spec in TOOLS.values() for option in spec.options}
    assert used == fields
