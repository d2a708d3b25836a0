"""Every labeling tool by mouse events in the window, compared with independently computed pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolButton

from tests.ui.canvas.tools.tool_input import (
    COLUMNS,
    CRACK,
    DISC,
    HALO,
    HEIGHT,
    HOLE,
    ROWS,
    WIDTH,
    choose,
    wait_for_tasks,
)
from tests.ui.conftest import LEFT
from workbench.core.geometry.drawing import Rect
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.shell.tool_strip import ToolGroupButton

pytestmark = pytest.mark.usefixtures("one_window")

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
K = Qt.Key
# The click segmentation needs networks of the user, see test_click_tool.py.
NAMES = [name for name, spec in TOOLS.items() if spec.title and name != "click"]


def painted(driver, image: str = "a.png") -> np.ndarray:
    wait_for_tasks(driver)
    return driver.saved()


def paint(driver, where: np.ndarray, id: int = 1) -> None:
    """Paint pixels with the editor."""
    driver.session.editor.paint_region(where, (0, 0), id)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    return (a & b).sum() / max(1, (a | b).sum())


@pytest.mark.parametrize("image", ["a.png", "e.png"])
def test_wand_selects_similar_values_and_ctrl_erases(driver, image):
    driver.open(image)
    choose(driver, "wand")
    driver.click(50.5, 50.5)
    assert np.array_equal(painted(driver) > 0, DISC)  # with its hole, which is filled by default
    driver.canvas.options.switch("fill_inside", False)
    driver.click(50.5, 50.5, keys=CTRL)
    assert np.array_equal(painted(driver) > 0, HOLE)
    for _ in range(2):
        driver.key(K.Key_Z, CTRL)
    assert not painted(driver).any()


def test_wand_drag_sets_the_tolerance(driver):
    driver.open("a.png")
    choose(driver, "wand")
    driver.canvas.options.switch("tolerance_auto", False)
    driver.canvas.options.set("tolerance", 10)
    start = driver.pixel(50.5, 50.5)
    QTest.mousePress(driver.canvas, LEFT, pos=start)
    driver.qtbot.waitUntil(lambda: driver.canvas.current.selection_preview is not None, timeout=5000)
    assert np.array_equal(driver.canvas.current.selection_preview.selection.within(Rect(0, 0, WIDTH, HEIGHT)), DISC)
    QTest.mouseMove(driver.canvas, start + QPoint(110, 0))
    QTest.mouseRelease(driver.canvas, LEFT, pos=start + QPoint(110, 0))
    wide = driver.canvas.options["tolerance"]
    assert 20 < wide < 35  # lightness of the disc differs by 19.6 from the halo and by 35 from the background
    assert np.array_equal(painted(driver) > 0, DISC | HALO)


def test_wand_respects_locked_classes(driver):
    driver.open("a.png")
    left = COLUMNS < 60
    paint(driver, left, 2)
    driver.session.classes.set_locked(2, True)
    choose(driver, "wand")
    driver.click(70.5, 50.5)
    assert np.array_equal(painted(driver), np.where(left, 2, np.where(DISC, 1, 0)))


def test_threshold_brush_paints_only_its_gray_range(driver):
    driver.open("a.png")
    driver.canvas.set_diameter(24)
    choose(driver, "threshold")
    points = driver.drag((48, 50), (60, 60), (85, 62))
    covered = np.zeros((HEIGHT, WIDTH), bool)
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        dx, dy = bx - ax, by - ay
        t = np.clip(((COLUMNS - ax) * dx + (ROWS - ay) * dy) / (dx * dx + dy * dy), 0, 1)
        covered |= (COLUMNS - ax - t * dx) ** 2 + (ROWS - ay - t * dy) ** 2 <= 12**2
    assert np.array_equal(painted(driver) > 0, covered & DISC & ~HOLE)


def test_threshold_brush_previews_the_histogram(driver):
    driver.open("a.png")
    driver.canvas.set_diameter(40)
    choose(driver, "threshold")
    before = driver.canvas.grab().toImage()
    QTest.mouseMove(driver.canvas, driver.pixel(50, 50))
    tool = driver.canvas.current
    driver.qtbot.waitUntil(lambda: tool.tones is not None and tool.selection_preview is not None, timeout=5000)
    assert tool.tones.low <= 60 <= tool.tones.high < 110
    after = driver.canvas.grab().toImage()
    spot = QPoint(30, driver.canvas.height() - 60)
    assert before.pixel(spot) != after.pixel(spot)
    choose(driver, "brush")
    assert tool.tones is None and tool.selection_preview is None


def test_box_segmentation_selects_the_defect(driver):
    driver.open("a.png")
    choose(driver, "box_cut")
    driver.drag((40, 30), (80, 70))
    wait_for_tasks(driver)
    assert not driver.session.mask.any() and driver.canvas.current.showing  # a preview
    driver.click(60, 31, Qt.KeyboardModifier.ControlModifier)  # corrected by the network
    wait_for_tasks(driver)
    driver.key(K.Key_Return)
    assert overlap(painted(driver) > 0, DISC) > 0.75
    assert driver.session.note.status == "started"
    driver.drag((3, 3), (12, 12))
    wait_for_tasks(driver)
    assert any("in this box" in text for text in driver.window.messages.texts)


def test_magnetic_lasso_follows_the_outline(driver):
    driver.open("a.png")
    choose(driver, "smart_edge")
    for x, y in ((45, 50), (60, 35), (75, 50)):
        driver.click(x, y)
        wait_for_tasks(driver)
    driver.click(100, 90)
    wait_for_tasks(driver)
    driver.key(K.Key_Backspace)
    driver.click(60, 65)
    wait_for_tasks(driver)
    assert not driver.session.mask.any()
    driver.key(K.Key_Return)
    assert overlap(painted(driver) > 0, DISC) > 0.9
    assert driver.session.note.status == "started"


def test_crack_tracer_traces_between_clicks(driver):
    driver.open("b.png")
    choose(driver, "crack")
    driver.click(*_on_line(5))
    QTest.mouseMove(driver.canvas, driver.pixel(*_on_line(60)))
    driver.qtbot.waitUntil(lambda: len(driver.canvas.current.path) > 40, timeout=10_000)
    driver.click(*_on_line(60))
    wait_for_tasks(driver)
    half = driver.session.mask > 0
    assert half.any() and not half[:, 66:].any()
    driver.click(*_on_line(114))
    got = painted(driver) > 0
    driver.key(K.Key_Return)
    between = CRACK & (COLUMNS > 5) & (COLUMNS < 114)
    assert (got & between).sum() / between.sum() > 0.9 and (got & CRACK).sum() / got.sum() > 0.85
    assert not driver.canvas.current.busy and driver.session.note.status == "started"


def test_undo_of_a_traced_path_ends_the_line(driver):
    driver.open("b.png")
    choose(driver, "crack")
    for x in (5, 60):
        driver.click(*_on_line(x))
        wait_for_tasks(driver)
    assert driver.session.mask.any() and driver.canvas.current.busy  # the next click continues
    driver.session.undo()
    assert not driver.session.mask.any() and not driver.canvas.current.busy
    QTest.mouseMove(driver.canvas, driver.pixel(*_on_line(90)))
    driver.qtbot.wait(50)
    assert driver.canvas.current.path == []


def _on_line(x: float) -> tuple[float, float]:
    return x, 30 + 8 * np.sin(x / 14)


@pytest.mark.parametrize(("keys", "zoom"), [(Qt.KeyboardModifier.NoModifier, 64.0), (SHIFT, None)])
def test_ellipse_is_inscribed_in_its_box(driver, keys, zoom):
    driver.open("a.png")
    ends = ((20.5, 20.5), (70.5, 44.5))
    if zoom:
        driver.canvas.set_view(driver.canvas.view.at_scale(zoom))
        x, y = driver.canvas.view.to_image(driver.canvas.width() / 2, driver.canvas.height() / 2)
        ends = ((x - 3, y - 2), (x + 2, y + 2))
    choose(driver, "ellipse")
    (ax, ay), (bx, by) = driver.drag(*ends, keys=keys)
    if keys == SHIFT:
        side = max(bx - ax, by - ay)
        bx, by = ax + side, ay + side
    left, top, right, bottom = np.floor([ax, ay, bx, by]) + (0, 0, 1, 1)
    across, up = (COLUMNS - (left + right) / 2) / (right - left), (ROWS - (top + bottom) / 2) / (bottom - top)
    assert np.array_equal(painted(driver) > 0, across**2 + up**2 <= 0.25)


def test_lasso_beyond_the_border_and_with_ctrl(driver):
    driver.open("a.png")
    choose(driver, "lasso")
    driver.drag((-5, -5), (WIDTH + 5, -5), (WIDTH + 5, HEIGHT + 5), (-5, HEIGHT + 5))
    assert (painted(driver) == 1).all()  # to the last row and column
    points = driver.drag((20, 20), (80, 20), (80, 70), (20, 70), keys=CTRL)
    (left, top), (right, bottom) = points[0], points[2]
    inside = (left < COLUMNS) & (right > COLUMNS) & (top < ROWS) & (bottom > ROWS)
    away = painted(driver) == 0
    assert away[inside].all() and away.sum() - inside.sum() <= 4  # and the pixels under its corners


def test_polygon_corners_are_added_and_removed(driver):
    driver.open("a.png")
    choose(driver, "polygon")
    corners = [driver.click(*p) for p in ((20, 20), (90, 20), (90, 80), (50, 90), (20, 80))]
    driver.click(50, 90, keys=SHIFT)
    driver.drag((90, 50), (60, 50))  # from the middle of a side
    driver.key(K.Key_Return)
    assert len(corners) == 5
    mask = painted(driver) > 0
    assert mask[50, 40] and not mask[50, 80] and mask[25, 80] and mask[75, 80] and not mask[85, 50]


def test_closed_stroke_is_filled_if_enabled(driver):
    driver.open("a.png")
    driver.canvas.set_diameter(3)
    square = ((30, 30), (60, 30), (90, 30), (90, 70), (30, 70), (30, 32))
    driver.drag(*square)
    assert not driver.session.mask[50, 50]
    driver.canvas.options.switch("encircle", True)
    driver.drag(*square, keys=CTRL)
    driver.drag(*square)
    assert (painted(driver)[30:70, 31:89] == 1).all()
    driver.key(K.Key_Z, CTRL)  # stroke and inside are one step
    assert not painted(driver).any()


def test_fill_and_holes(driver):
    driver.open("a.png")
    paint(driver, DISC & ~HOLE, 2)
    choose(driver, "holes")
    driver.click(50.5, 50.5)
    assert np.array_equal(painted(driver), np.where(DISC, 2, 0))
    driver.key(K.Key_Z, CTRL)
    choose(driver, "fill")
    driver.click(60, 50)
    assert np.array_equal(painted(driver), np.where(HOLE, 1, np.where(DISC, 2, 0)))
    choose(driver, "holes")
    driver.click(50.5, 50.5, keys=CTRL)
    assert not painted(driver).any()
    driver.click(5, 5)
    assert any("No region" in text for text in driver.window.messages.texts)


def test_ignore_and_background_brushes(driver):
    driver.open("a.png")
    driver.canvas.set_diameter(9)
    choose(driver, "background")
    driver.window.options.checks["explicit"].click()
    assert (driver.session.mask == 255).all()
    driver.drag((20, 20), (60, 20))
    choose(driver, "ignore_brush")
    driver.drag((20, 60), (60, 60))
    choose(driver, "brush")
    driver.drag((20, 80), (60, 80))
    driver.drag((40, 80), (60, 80), keys=CTRL)
    mask = painted(driver)
    assert [mask[y, 30] for y in (20, 40, 60, 80)] == [0, 255, 254, 1]
    assert mask[80, 60] == 255  # erased: unlabeled, which differs from good


class TestRegion:
    """Region tool."""

    @pytest.fixture
    def regions(self, driver):
        driver.open("a.png")
        paint(driver, DISC & ~HOLE, 1)
        paint(driver, (COLUMNS < 10) & (ROWS < 10), 2)
        choose(driver, "region")
        return driver

    def test_move_by_drag_and_arrow_keys(self, regions):
        (ax, ay), (bx, by) = regions.drag((50.5, 50.5), (60.5, 42.5))
        dx, dy = round(bx - ax), round(by - ay)
        moved = np.roll(DISC & ~HOLE, (dy, dx), (0, 1))
        expected = np.where(moved, 1, 0) + np.where((COLUMNS < 10) & (ROWS < 10), 2, 0)
        assert np.array_equal(painted(regions), expected)
        regions.key(K.Key_Left)
        assert np.array_equal(painted(regions) == 1, np.roll(moved, -1, 1))
        regions.key(K.Key_Z, CTRL)
        regions.key(K.Key_Z, CTRL)
        assert np.array_equal(painted(regions) == 1, DISC & ~HOLE)
        assert regions.canvas.current.region is None  # the chosen region was moved

    def test_move_beyond_the_border_keeps_the_inside(self, regions):
        regions.drag((50.5, 50.5), (50.5, 98.5))
        mask = painted(regions)
        assert mask[-1].any() and 0 < (mask == 1).sum() < (DISC & ~HOLE).sum()

    def test_reclass_grow_shrink_and_delete_by_keys(self, regions):
        regions.click(50.5, 50.5)
        regions.key(K.Key_2)
        assert np.array_equal(painted(regions) == 2, (DISC & ~HOLE) | ((COLUMNS < 10) & (ROWS < 10)))
        assert regions.session.editor.class_id == 1  # the digit applied to the region, not to the brush
        regions.key(K.Key_Plus)
        one = cv2.dilate((DISC & ~HOLE).astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))) > 0
        assert np.array_equal(painted(regions)[20:] == 2, one[20:])
        regions.key(K.Key_Minus)
        regions.key(K.Key_Delete)
        assert np.array_equal(painted(regions) == 2, (COLUMNS < 10) & (ROWS < 10))
        regions.key(K.Key_2)
        assert regions.session.editor.class_id == 2  # without a chosen region it applies to the brush

    def test_option_bar_shows_the_measures(self, regions):
        regions.click(50.5, 50.5)
        note = regions.window.options.note
        regions.qtbot.waitUntil(lambda: "×" in note.toolTip(), timeout=5000)
        assert note.toolTip().startswith(f"{(DISC & ~HOLE).sum()} px") and " 31." in note.toolTip()

    def test_thin_regions_are_chosen_nearby_and_hidden_ones_are_not(self, regions):
        regions.session.editor.paint_region(np.ones((1, 100), bool), (10, 90), 2)
        regions.click(60, 91.2)
        assert regions.canvas.current.region.selection.rect == Rect(10, 90, 100, 1)
        regions.key(K.Key_Escape)
        regions.session.classes.set_hidden(2, True)
        regions.click(60, 90.5)
        assert regions.canvas.current.region is None

    def test_region_of_a_locked_class_is_unchanged(self, regions):
        regions.session.classes.set_locked(1, True)
        before = painted(regions).copy()
        regions.drag((50.5, 50.5), (70.5, 50.5))
        regions.key(K.Key_Delete)
        assert np.array_equal(painted(regions), before)
        assert any("locked" in text for text in regions.window.messages.texts)

    def test_moved_region_does_not_cover_kept_classes(self, regions):
        regions.session.editor.set_keep_other(True)
        regions.drag((5.5, 5.5), (50.5, 50.5))
        mask = painted(regions)
        assert np.array_equal(mask == 1, DISC & ~HOLE) and not mask[:10, :10].any()

    def test_region_menu_works_with_any_tool(self, regions):
        choose(regions, "brush")
        QTest.mouseClick(regions.canvas, Qt.MouseButton.RightButton, pos=regions.pixel(50.5, 50.5))
        menu = next(m for m in regions.canvas.findChildren(QMenu) if m.isVisible())
        texts = {action.text().split("\t")[0]: action for action in menu.actions()}
        assert {"Change class", "Grow", "Shrink", "Smooth", "Fill holes", "Delete"} <= set(texts)
        texts["Fill holes"].trigger()
        menu.close()
        regions.qtbot.wait(20)
        assert np.array_equal(painted(regions) == 1, DISC)
        assert regions.canvas.tool == "brush" and not regions.canvas.tools["region"].busy


def test_esc_cancels_a_running_computation(driver):
    driver.open("a.png")
    choose(driver, "wand")
    driver.click(50.5, 50.5)
    driver.key(K.Key_Escape)
    driver.qtbot.wait(200)
    assert not driver.session.mask.any() and not driver.canvas.tasks.busy


def test_pending_result_is_painted_before_the_next_image_opens(driver):
    driver.open("a.png")
    choose(driver, "wand")
    driver.click(50.5, 50.5)
    driver.session.open_image("e.png")
    driver.qtbot.waitUntil(lambda: driver.session.key == "e.png", timeout=10_000)
    assert not driver.session.mask.any()
    driver.open("a.png")
    assert np.array_equal(painted(driver) > 0, DISC)


@pytest.mark.parametrize("image", ["c.png", "d.png"])
def test_every_tool_works_on_very_small_and_very_long_images(driver, image):
    driver.open(image)
    height, width = driver.session.image.shape
    assert driver.session.mask.shape == (height, width) and height == 1
    for tool in NAMES:
        choose(driver, tool)
        driver.click(width / 2, 0.5)
        driver.drag((width / 2, 0.5), (width - 0.1, 0.9))
        if driver.canvas.current.wants(K.Key_Return):
            driver.key(K.Key_Return)
        driver.key(K.Key_Escape)
        wait_for_tasks(driver)
        assert driver.session.key == image, tool
    choose(driver, "fill")
    driver.session.editor.paint_region(np.ones((1, width), bool), (0, 0), 2)
    driver.click(width / 2, 0.5)
    assert (painted(driver) == 1).all()


@pytest.mark.parametrize("pixel", [(60, 50), pytest.param((0, 0), marks=pytest.mark.slow), (WIDTH - 1, HEIGHT - 1)])
def test_tools_at_6400_percent_change_the_pixel_under_the_pointer(driver, pixel):
    """In the middle and in the corners of the image, at any position inside the pixel."""
    driver.open("a.png")
    canvas, (x, y) = driver.canvas, pixel
    canvas.set_diameter(1)
    canvas.set_view(canvas.view.at_scale(64.0).centered(x + 0.5, y + 0.5))
    assert canvas.view.scale == 64.0
    for tool, id, dx, dy in (
        ("brush", 1, 0.02, 0.98),
        ("eraser", 0, 0.98, 0.5),
        ("ignore_brush", 254, 0.5, 0.02),
        ("brush", 1, 0.5, 0.5),
        ("background", 0, 0.1, 0.1),
        ("rectangle", 1, 0.98, 0.98),
        ("eraser", 0, 0.02, 0.02),
        ("ellipse", 1, 0.5, 0.9),
    ):
        choose(driver, tool)
        driver.click(x + dx, y + dy)
        wait_for_tasks(driver)
        mask = painted(driver)
        assert mask[y, x] == id and (mask > 0).sum() == (id > 0), tool
    for tool in NAMES:
        choose(driver, tool)
        driver.click(x + 0.5, y + 0.5)
        driver.drag((x + 0.1, y + 0.1), (x + 0.9, y + 0.9))
        if driver.canvas.current.wants(K.Key_Return):
            driver.key(K.Key_Return)
        driver.key(K.Key_Escape)
        wait_for_tasks(driver)
        assert driver.session.key == "a.png", tool


def test_tool_group_shows_the_last_used_tool(driver):
    buttons = {
        tuple(a.objectName() for a in button.menu().actions()): button
        for button in driver.window.workspace.findChildren(ToolGroupButton)
    }
    boxes = next(button for tools, button in buttons.items() if {"rectangle", "ellipse"} <= {*tools})
    assert boxes.defaultAction().objectName() == "rectangle"
    choose(driver, "ellipse")
    driver.qtbot.waitUntil(boxes.isChecked, timeout=2000)
    assert boxes.defaultAction().objectName() == "ellipse" and "Shift+R" in boxes.accessibleName()
    choose(driver, "brush")
    driver.qtbot.waitUntil(lambda: not boxes.isChecked(), timeout=2000)
    QTest.mouseClick(boxes, LEFT)
    assert driver.canvas.tool == "ellipse"
    strip = boxes.parentWidget()
    assert all(button.isVisible() for button in strip.findChildren(QToolButton) if button.defaultAction())


def test_option_bar_shows_the_options_of_the_tool(driver):
    driver.open("a.png")
    bar, widths = driver.window.options, set()
    for tool in NAMES:
        choose(driver, tool)
        driver.qtbot.wait(5)
        shown = {name for name, widgets in bar.fields.items() if all(w.isVisible() for w in widgets)}
        assert shown == set(TOOLS[tool].options) - {"pressure"}, "no pen has been used"
        assert bar.note.toolTip()
        widths.add(driver.canvas.width())
    assert len(widths) == 1
    choose(driver, "wand")
    bar.spins["tolerance"].setValue(20)
    assert driver.canvas.options["tolerance"] == 20 and not driver.canvas.options.on("tolerance_auto")
