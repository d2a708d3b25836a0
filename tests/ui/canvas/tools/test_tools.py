"""Every labeling tool by mouse events in the window, compared with independently computed pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolButton

from tests.ui.conftest import LEFT
from workbench.core.geometry.drawing import Rect
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.widgets.tool_group_button import ToolGroupButton

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
K = Qt.Key
WIDTH, HEIGHT = 120, 100
ROWS, COLUMNS = np.mgrid[:HEIGHT, :WIDTH] + 0.5
DISC = (COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 15**2
HOLE = (COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 4**2
HALO = ((COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 22**2) & ~DISC
CRACK = np.abs(ROWS - (30 + 8 * np.sin(COLUMNS / 14))) <= 1.5
NAMES = [name for name, spec in TOOLS.items() if spec.title]


@pytest.fixture(autouse=True)
def default_tool_options(qapp):
    """Remove the tool options stored by earlier tests."""
    QSettings().remove("tools")


@pytest.fixture
def root(tmp_path):
    """a: a dark disc in a halo, with a bright hole; b: a thin dark line; c: one pixel; d and e: strips, and color."""
    root = tmp_path / "工具 [2]"
    with Project.create(root, classes=["scratch", "pit"]) as project:
        spot = np.full((HEIGHT, WIDTH), 150, np.uint8)
        spot[HALO], spot[DISC], spot[HOLE] = 110, 60, 150
        line = np.full((HEIGHT, WIDTH), 160, np.uint8)
        line[CRACK] = 70
        color = np.dstack([spot, spot, np.full_like(spot, 90)])
        for name, image in {
            "a": spot,
            "b": line,
            "c": np.full((1, 1), 9, np.uint8),
            "d": np.arange(20_000, dtype=np.uint16).reshape(1, -1),
            "e": color,
        }.items():
            write_png(project.image_path(f"{name}.png"), image)
    return root


def choose(hand, tool: str) -> None:
    hand.window.table[tool].trigger()
    assert hand.canvas.tool == tool


def wait_for_tasks(hand) -> None:
    hand.qtbot.waitUntil(lambda: not hand.canvas.tasks.busy, timeout=10_000)


def painted(hand, image: str = "a.png") -> np.ndarray:
    wait_for_tasks(hand)
    return hand.saved()


def paint(hand, where: np.ndarray, id: int = 1) -> None:
    """Paint pixels with the editor."""
    hand.session.editor.paint_region(where, (0, 0), id)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    return (a & b).sum() / max(1, (a | b).sum())


@pytest.mark.parametrize("image", ["a.png", "e.png"])
def test_wand_selects_similar_values_and_ctrl_erases(hand, image):
    hand.open(image)
    choose(hand, "wand")
    hand.click(50.5, 50.5)
    assert np.array_equal(painted(hand) > 0, DISC)  # with its hole, as asked by default
    hand.canvas.options.switch("fill_inside", False)
    hand.click(50.5, 50.5, keys=CTRL)
    assert np.array_equal(painted(hand) > 0, HOLE)
    for _ in range(2):
        hand.key(K.Key_Z, CTRL)
    assert not painted(hand).any()


def test_wand_drag_sets_the_tolerance(hand):
    hand.open("a.png")
    choose(hand, "wand")
    hand.canvas.options.switch("tolerance_auto", False)
    hand.canvas.options.set("tolerance", 10)
    start = hand.pixel(50.5, 50.5)
    QTest.mousePress(hand.canvas, LEFT, pos=start)
    hand.qtbot.waitUntil(lambda: hand.canvas.current._preview is not None, timeout=5000)
    assert np.array_equal(hand.canvas.current._preview.selection.within(Rect(0, 0, WIDTH, HEIGHT)), DISC)
    QTest.mouseMove(hand.canvas, start + QPoint(110, 0))
    QTest.mouseRelease(hand.canvas, LEFT, pos=start + QPoint(110, 0))
    wide = hand.canvas.options["tolerance"]
    assert 20 < wide < 35  # tones of the disc and the halo are 19.6 apart, those of the disc and the ground 35
    assert np.array_equal(painted(hand) > 0, DISC | HALO)


def test_wand_respects_locked_classes(hand):
    hand.open("a.png")
    left = COLUMNS < 60
    paint(hand, left, 2)
    hand.session.classes.set_locked(2, True)
    choose(hand, "wand")
    hand.click(70.5, 50.5)
    assert np.array_equal(painted(hand), np.where(left, 2, np.where(DISC, 1, 0)))


def test_threshold_brush_paints_only_its_gray_range(hand):
    hand.open("a.png")
    hand.canvas.set_diameter(24)
    choose(hand, "threshold")
    points = hand.drag((48, 50), (60, 60), (85, 62))
    covered = np.zeros((HEIGHT, WIDTH), bool)
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        dx, dy = bx - ax, by - ay
        t = np.clip(((COLUMNS - ax) * dx + (ROWS - ay) * dy) / (dx * dx + dy * dy), 0, 1)
        covered |= (COLUMNS - ax - t * dx) ** 2 + (ROWS - ay - t * dy) ** 2 <= 12**2
    assert np.array_equal(painted(hand) > 0, covered & DISC & ~HOLE)


def test_threshold_brush_previews_the_histogram(hand):
    hand.open("a.png")
    hand.canvas.set_diameter(40)
    choose(hand, "threshold")
    before = hand.canvas.grab().toImage()
    QTest.mouseMove(hand.canvas, hand.pixel(50, 50))
    tool = hand.canvas.current
    hand.qtbot.waitUntil(lambda: tool._tones is not None and tool._preview is not None, timeout=5000)
    assert tool._tones.low <= 60 <= tool._tones.high < 110
    after = hand.canvas.grab().toImage()
    spot = QPoint(30, hand.canvas.height() - 60)
    assert before.pixel(spot) != after.pixel(spot)
    choose(hand, "brush")
    assert tool._tones is None and tool._preview is None


def test_box_segmentation_selects_the_defect(hand):
    hand.open("a.png")
    choose(hand, "box_cut")
    hand.drag((40, 30), (80, 70))
    assert overlap(painted(hand) > 0, DISC) > 0.75
    hand.drag((3, 3), (12, 12))
    wait_for_tasks(hand)
    assert any("in this box" in text for text in hand.window.messages.texts)


def test_magnetic_lasso_follows_the_outline(hand):
    hand.open("a.png")
    choose(hand, "smart_edge")
    for x, y in ((45, 50), (60, 35), (75, 50)):
        hand.click(x, y)
        wait_for_tasks(hand)
    hand.click(100, 90)
    wait_for_tasks(hand)
    hand.key(K.Key_Backspace)
    hand.click(60, 65)
    wait_for_tasks(hand)
    assert not hand.session.mask.any()
    hand.key(K.Key_Return)
    assert overlap(painted(hand) > 0, DISC) > 0.9
    assert hand.session.note.status == "started"


def test_crack_tracer_traces_between_clicks(hand):
    hand.open("b.png")
    choose(hand, "crack")
    hand.click(*_on_line(5))
    QTest.mouseMove(hand.canvas, hand.pixel(*_on_line(60)))
    hand.qtbot.waitUntil(lambda: len(hand.canvas.current._path) > 40, timeout=10_000)
    hand.click(*_on_line(60))
    wait_for_tasks(hand)
    half = hand.session.mask > 0
    assert half.any() and not half[:, 66:].any()
    hand.click(*_on_line(114))
    got = painted(hand) > 0
    hand.key(K.Key_Return)
    between = CRACK & (COLUMNS > 5) & (COLUMNS < 114)
    assert (got & between).sum() / between.sum() > 0.9 and (got & CRACK).sum() / got.sum() > 0.85
    assert not hand.canvas.current.busy and hand.session.note.status == "started"


def _on_line(x: float) -> tuple[float, float]:
    return x, 30 + 8 * np.sin(x / 14)


@pytest.mark.parametrize("keys", [Qt.KeyboardModifier.NoModifier, SHIFT])
@pytest.mark.parametrize("zoom", [None, 64.0])
def test_ellipse_is_inscribed_in_its_box(hand, keys, zoom):
    hand.open("a.png")
    ends = ((20.5, 20.5), (70.5, 44.5))
    if zoom:
        hand.canvas.set_view(hand.canvas.view.at_scale(zoom))
        x, y = hand.canvas.view.to_image(hand.canvas.width() / 2, hand.canvas.height() / 2)
        ends = ((x - 3, y - 2), (x + 2, y + 2))
    choose(hand, "ellipse")
    (ax, ay), (bx, by) = hand.drag(*ends, keys=keys)
    if keys == SHIFT:
        side = max(bx - ax, by - ay)
        bx, by = ax + side, ay + side
    left, top, right, bottom = np.floor([ax, ay, bx, by]) + (0, 0, 1, 1)
    across, up = (COLUMNS - (left + right) / 2) / (right - left), (ROWS - (top + bottom) / 2) / (bottom - top)
    assert np.array_equal(painted(hand) > 0, across**2 + up**2 <= 0.25)


def test_lasso_beyond_the_border_and_with_ctrl(hand):
    hand.open("a.png")
    choose(hand, "lasso")
    hand.drag((-5, -5), (WIDTH + 5, -5), (WIDTH + 5, HEIGHT + 5), (-5, HEIGHT + 5))
    assert (painted(hand) == 1).all()  # to the last row and column
    points = hand.drag((20, 20), (80, 20), (80, 70), (20, 70), keys=CTRL)
    (left, top), (right, bottom) = points[0], points[2]
    inside = (left < COLUMNS) & (right > COLUMNS) & (top < ROWS) & (bottom > ROWS)
    away = painted(hand) == 0
    assert away[inside].all() and away.sum() - inside.sum() <= 4  # and the pixels under its corners


def test_polygon_corners_are_added_and_removed(hand):
    hand.open("a.png")
    choose(hand, "polygon")
    corners = [hand.click(*p) for p in ((20, 20), (90, 20), (90, 80), (50, 90), (20, 80))]
    hand.click(50, 90, keys=SHIFT)
    hand.drag((90, 50), (60, 50))  # out of the middle of a side
    hand.key(K.Key_Return)
    assert len(corners) == 5
    mask = painted(hand) > 0
    assert mask[50, 40] and not mask[50, 80] and mask[25, 80] and mask[75, 80] and not mask[85, 50]


def test_closed_stroke_is_filled_if_enabled(hand):
    hand.open("a.png")
    hand.canvas.set_diameter(3)
    square = ((30, 30), (60, 30), (90, 30), (90, 70), (30, 70), (30, 32))
    hand.drag(*square)
    assert not hand.session.mask[50, 50]
    hand.canvas.options.switch("encircle", True)
    hand.drag(*square, keys=CTRL)
    hand.drag(*square)
    assert (painted(hand)[30:70, 31:89] == 1).all()
    hand.key(K.Key_Z, CTRL)  # stroke and inside are one step
    assert not painted(hand).any()


def test_fill_and_holes(hand):
    hand.open("a.png")
    paint(hand, DISC & ~HOLE, 2)
    choose(hand, "holes")
    hand.click(50.5, 50.5)
    assert np.array_equal(painted(hand), np.where(DISC, 2, 0))
    hand.key(K.Key_Z, CTRL)
    choose(hand, "fill")
    hand.click(60, 50)
    assert np.array_equal(painted(hand), np.where(HOLE, 1, np.where(DISC, 2, 0)))
    choose(hand, "holes")
    hand.click(50.5, 50.5, keys=CTRL)
    assert not painted(hand).any()
    hand.click(5, 5)
    assert any("no region" in text for text in hand.window.messages.texts)


def test_ignore_and_background_brushes(hand):
    hand.open("a.png")
    hand.canvas.set_diameter(9)
    choose(hand, "background")
    hand.window.options._checks["explicit"].click()
    assert (hand.session.mask == 255).all()
    hand.drag((20, 20), (60, 20))
    choose(hand, "dont_care")
    hand.drag((20, 60), (60, 60))
    choose(hand, "brush")
    hand.drag((20, 80), (60, 80))
    hand.drag((40, 80), (60, 80), keys=CTRL)
    mask = painted(hand)
    assert [mask[y, 30] for y in (20, 40, 60, 80)] == [0, 255, 254, 1]
    assert mask[80, 60] == 255  # taken away: not labelled again, which is not the same as good


class TestRegion:
    """Region tool."""

    @pytest.fixture
    def regions(self, hand):
        hand.open("a.png")
        paint(hand, DISC & ~HOLE, 1)
        paint(hand, (COLUMNS < 10) & (ROWS < 10), 2)
        choose(hand, "region")
        return hand

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
        assert regions.canvas.current.region is None  # what was chosen lies elsewhere now

    def test_move_beyond_the_border_keeps_the_inside(self, regions):
        regions.drag((50.5, 50.5), (50.5, 98.5))
        mask = painted(regions)
        assert mask[-1].any() and 0 < (mask == 1).sum() < (DISC & ~HOLE).sum()

    def test_reclass_grow_shrink_and_delete_by_keys(self, regions):
        regions.click(50.5, 50.5)
        regions.key(K.Key_2)
        assert np.array_equal(painted(regions) == 2, (DISC & ~HOLE) | ((COLUMNS < 10) & (ROWS < 10)))
        assert regions.session.class_id == 1  # the digit was the region's, not the brush's
        regions.key(K.Key_Plus)
        one = cv2.dilate((DISC & ~HOLE).astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))) > 0
        assert np.array_equal(painted(regions)[20:] == 2, one[20:])
        regions.key(K.Key_Minus)
        regions.key(K.Key_Delete)
        assert np.array_equal(painted(regions) == 2, (COLUMNS < 10) & (ROWS < 10))
        regions.key(K.Key_2)
        assert regions.session.class_id == 2  # with nothing chosen it is the brush's again

    def test_option_bar_shows_the_measures(self, regions):
        regions.click(50.5, 50.5)
        note = regions.window.options.note
        regions.qtbot.waitUntil(lambda: "×" in note.toolTip(), timeout=5000)
        assert note.toolTip().startswith(f"{(DISC & ~HOLE).sum()} px") and " 31." in note.toolTip()

    def test_thin_regions_are_chosen_nearby_and_hidden_ones_are_not(self, regions):
        regions.session.editor.paint_region(np.ones((1, 100), bool), (10, 90), 2)
        regions.click(60, 91.6)
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
        assert regions.canvas.tool == "brush" and not regions.canvas._tools["region"].busy


def test_esc_cancels_a_running_computation(hand):
    hand.open("a.png")
    choose(hand, "wand")
    hand.click(50.5, 50.5)
    hand.key(K.Key_Escape)
    hand.qtbot.wait(200)
    assert not hand.session.mask.any() and not hand.canvas.tasks.busy


def test_pending_result_is_painted_before_the_next_image_opens(hand):
    hand.open("a.png")
    choose(hand, "wand")
    hand.click(50.5, 50.5)
    hand.session.open_image("e.png")
    hand.qtbot.waitUntil(lambda: hand.session.key == "e.png", timeout=10_000)
    assert not hand.session.mask.any()
    hand.open("a.png")
    assert np.array_equal(painted(hand) > 0, DISC)


@pytest.mark.parametrize("image", ["c.png", "d.png"])
def test_every_tool_works_on_very_small_and_very_long_images(hand, image):
    hand.open(image)
    height, width = hand.session.image.shape
    assert hand.session.mask.shape == (height, width) and height == 1
    for tool in NAMES:
        choose(hand, tool)
        hand.click(width / 2, 0.5)
        hand.drag((width / 2, 0.5), (width - 0.1, 0.9))
        if hand.canvas.current.wants(K.Key_Return):
            hand.key(K.Key_Return)
        hand.key(K.Key_Escape)
        wait_for_tasks(hand)
        assert hand.session.key == image, tool
    choose(hand, "fill")
    hand.session.editor.paint_region(np.ones((1, width), bool), (0, 0), 2)
    hand.click(width / 2, 0.5)
    assert (painted(hand) == 1).all()


@pytest.mark.parametrize("pixel", [(60, 50), (0, 0), (WIDTH - 1, HEIGHT - 1)])
def test_tools_at_6400_percent_change_the_pixel_under_the_pointer(hand, pixel):
    """In the middle and in the corners of the image, at any position inside the pixel."""
    hand.open("a.png")
    canvas, (x, y) = hand.canvas, pixel
    canvas.set_diameter(1)
    canvas.set_view(canvas.view.at_scale(64.0).centered(x + 0.5, y + 0.5))
    assert canvas.view.scale == 64.0
    for tool, id, dx, dy in (
        ("brush", 1, 0.02, 0.98),
        ("eraser", 0, 0.98, 0.5),
        ("dont_care", 254, 0.5, 0.02),
        ("brush", 1, 0.5, 0.5),
        ("background", 0, 0.1, 0.1),
        ("rectangle", 1, 0.98, 0.98),
        ("eraser", 0, 0.02, 0.02),
        ("ellipse", 1, 0.5, 0.9),
    ):
        choose(hand, tool)
        hand.click(x + dx, y + dy)
        wait_for_tasks(hand)
        mask = painted(hand)
        assert mask[y, x] == id and (mask > 0).sum() == (id > 0), tool
    for tool in NAMES:
        choose(hand, tool)
        hand.click(x + 0.5, y + 0.5)
        hand.drag((x + 0.1, y + 0.1), (x + 0.9, y + 0.9))
        if hand.canvas.current.wants(K.Key_Return):
            hand.key(K.Key_Return)
        hand.key(K.Key_Escape)
        wait_for_tasks(hand)
        assert hand.session.key == "a.png", tool


def test_tool_group_shows_the_last_used_tool(hand):
    buttons = {
        tuple(a.objectName() for a in button.menu().actions()): button
        for button in hand.window.workspace.findChildren(ToolGroupButton)
    }
    boxes = buttons["rectangle", "ellipse"]
    assert boxes.defaultAction().objectName() == "rectangle"
    choose(hand, "ellipse")
    hand.qtbot.waitUntil(boxes.isChecked, timeout=2000)
    assert boxes.defaultAction().objectName() == "ellipse" and "Shift+R" in boxes.accessibleName()
    choose(hand, "brush")
    hand.qtbot.waitUntil(lambda: not boxes.isChecked(), timeout=2000)
    QTest.mouseClick(boxes, LEFT)
    assert hand.canvas.tool == "ellipse"
    strip = boxes.parentWidget()
    assert all(button.isVisible() for button in strip.findChildren(QToolButton) if button.defaultAction())


def test_option_bar_shows_the_options_of_the_tool(hand):
    hand.open("a.png")
    bar, widths = hand.window.options, set()
    for tool in NAMES:
        choose(hand, tool)
        hand.qtbot.wait(5)
        shown = {name for name, widgets in bar._fields.items() if all(w.isVisible() for w in widgets)}
        assert shown == set(TOOLS[tool].options) - {"pressure"}, "no pen has been used"
        assert bar.note.toolTip()
        widths.add(hand.canvas.width())
    assert len(widths) == 1
    choose(hand, "wand")
    bar._spins["tolerance"].setValue(20)
    assert hand.canvas.options["tolerance"] == 20 and not hand.canvas.options.on("tolerance_auto")
