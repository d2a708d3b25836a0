"""Mouse events on the canvas; the saved mask is compared with an independent computation."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from tests.ui.conftest import LEFT
from workbench.inference.io.opencv import cv2

pytestmark = pytest.mark.usefixtures("one_window")

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
NEW = "lot1/new.png"
WIDTH, HEIGHT = 96, 80


def centers() -> tuple[np.ndarray, np.ndarray]:
    return np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)


def brushed(points: list[tuple[float, float]], radius: float) -> np.ndarray:
    """Pixels whose center is within the radius of a polyline, and those under its points, computed by distances."""
    xs, ys = centers()
    inside = np.zeros((HEIGHT, WIDTH), bool)
    for (ax, ay), (bx, by) in zip(points, points[1:] or points):
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy
        t = np.clip(((xs - ax) * dx + (ys - ay) * dy) / length, 0, 1) if length else np.zeros_like(xs)
        inside |= (xs - ax - t * dx) ** 2 + (ys - ay - t * dy) ** 2 <= radius * radius
    for x, y in points:
        if 0 <= x < WIDTH and 0 <= y < HEIGHT:
            inside[int(y), int(x)] = True
    return inside


def enclosed(points: list[tuple[float, float]]) -> np.ndarray:
    """Pixels inside a polygon by the even-odd rule, and the pixels under its corners."""
    xs, ys = centers()
    inside = np.zeros((HEIGHT, WIDTH), bool)
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        if ay == by:
            continue
        crosses = (np.minimum(ay, by) <= ys) & (ys < np.maximum(ay, by))
        inside ^= crosses & (xs >= ax + (ys - ay) * (bx - ax) / (by - ay))
    for x, y in points:
        inside[int(y), int(x)] = True
    return inside


@pytest.fixture
def blank(driver):
    """Canvas driver on an image without labels."""
    driver.open(NEW)
    assert not driver.session.mask.any()
    return driver


def test_stroke_equals_its_geometry(blank):
    fitted = blank.canvas.view
    for diameter, zoom in ((1, None), (2, 1.0), (7, 2.5), (15, None), (40, 1.0)):
        blank.canvas.set_view(fitted if zoom is None else fitted.at_scale(zoom))
        blank.canvas.set_diameter(diameter)
        points = blank.drag((20, 20), (70, 35), (60, 60))
        assert np.array_equal(blank.saved(), np.where(brushed(points, diameter / 2), 1, 0)), diameter
        blank.session.undo_stack.undo()
        assert not blank.session.mask.any()


def test_strokes_are_clipped_at_the_image_border(blank):
    blank.canvas.set_diameter(12)
    points = blank.drag((90, 10), (96 + 20, 12), (97, 78))
    assert np.array_equal(blank.saved(), np.where(brushed(points, 6), 1, 0))


def test_eraser_and_ctrl_erase(blank):
    blank.canvas.set_diameter(30)
    whole = brushed(blank.drag((20, 40), (80, 40)), 15)
    blank.canvas.set_diameter(8)
    first = brushed(blank.drag((30, 30), (70, 30), keys=CTRL), 4)
    blank.key(Qt.Key.Key_E)
    second = brushed(blank.drag((30, 50), (70, 50)), 4)
    assert np.array_equal(blank.saved() > 0, whole & ~first & ~second)
    for _ in range(2):
        blank.key(Qt.Key.Key_Z, CTRL)
    assert np.array_equal(blank.saved() > 0, whole)


def test_polygon_with_a_moved_and_a_removed_corner(blank):
    blank.key(Qt.Key.Key_P)
    corners = [blank.click(*p) for p in ((20, 20), (70, 18), (75, 60))]
    blank.click(10, 70)
    blank.key(Qt.Key.Key_Backspace)
    moved = blank.drag((70, 18), (80, 30))[-1]
    assert not blank.session.mask.any()
    blank.key(Qt.Key.Key_Return)
    assert np.array_equal(blank.saved() > 0, enclosed([corners[0], moved, corners[2]]))
    assert blank.session.note.status == "started"  # Enter closed the polygon and did not mark the image as done


@pytest.mark.parametrize("ending", ["double click", "first corner"])
def test_polygon_is_closed_by_the_mouse(blank, ending):
    blank.key(Qt.Key.Key_P)
    corners = [blank.click(*p) for p in ((20, 20), (70, 25), (40, 60))]
    if ending == "first corner":
        blank.click(20, 20)
    else:
        QTest.mouseDClick(blank.canvas, LEFT, pos=blank.pixel(40, 60))
    assert np.array_equal(blank.saved() > 0, enclosed(corners))


def test_esc_discards_a_polygon(blank):
    blank.key(Qt.Key.Key_P)
    for p in ((20, 20), (70, 25), (40, 60)):
        blank.click(*p)
    blank.key(Qt.Key.Key_Escape)
    blank.key(Qt.Key.Key_Return)
    assert not blank.session.mask.any()


def test_rectangle_includes_both_corner_pixels(blank):
    blank.key(Qt.Key.Key_R)
    (ax, ay), (bx, by) = blank.drag((60.5, 50.5), (20.5, 30.5))
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[int(by) : int(ay) + 1, int(bx) : int(ax) + 1] = True
    assert np.array_equal(blank.saved() > 0, expected)
    single = blank.drag((5.5, 5.5), (5.6, 5.6), keys=CTRL)
    assert np.array_equal(blank.saved() > 0, expected)  # there was nothing to erase
    assert len(single) == 2


def test_fill_changes_the_connected_area_only(blank):
    blank.canvas.set_diameter(4)
    for x, y in ((20, 20), (50, 50)):
        blank.drag((x, y), (x + 8, y))
    ring = blank.session.mask.copy()
    blank.key(Qt.Key.Key_F)
    blank.key(Qt.Key.Key_2)
    blank.click(22, 20)
    _, parts = cv2.connectedComponents(ring, connectivity=4)
    expected = np.where(parts == parts[20, 22], 2, ring)
    assert np.array_equal(blank.saved(), expected)


def test_keep_other_classes(blank):
    blank.canvas.set_diameter(20)
    first = brushed(blank.drag((20, 40), (50, 40)), 10)
    blank.key(Qt.Key.Key_2)
    blank.key(Qt.Key.Key_X)
    second = brushed(blank.drag((40, 40), (80, 40)), 10)
    assert np.array_equal(blank.saved(), np.where(first, 1, np.where(second, 2, 0)))


def test_pick_chooses_the_class_under_the_pointer(blank):
    blank.canvas.set_diameter(10)
    blank.key(Qt.Key.Key_2)
    blank.drag((20, 20), (40, 20))
    blank.key(Qt.Key.Key_1)
    blank.click(30, 20, ALT)
    assert blank.session.editor.class_id == 2
    blank.key(Qt.Key.Key_1)
    QTest.mouseMove(blank.canvas, blank.pixel(30, 20))
    blank.key(Qt.Key.Key_I)
    assert blank.session.editor.class_id == 2


def test_esc_during_a_stroke_restores_the_mask(blank):
    blank.canvas.set_diameter(10)
    blank.drag((20, 20), (40, 20))
    before = blank.session.mask.copy()
    QTest.mousePress(blank.canvas, LEFT, pos=blank.pixel(50, 50))
    QTest.mouseMove(blank.canvas, blank.pixel(70, 60))
    assert not np.array_equal(blank.session.mask, before)
    blank.key(Qt.Key.Key_Escape)
    QTest.mouseRelease(blank.canvas, LEFT, pos=blank.pixel(70, 60))
    assert np.array_equal(blank.session.mask, before)


def test_shortcuts_are_blocked_during_a_stroke(blank):
    key = blank.session.key
    QTest.mousePress(blank.canvas, LEFT, pos=blank.pixel(50, 50))
    for shortcut in (Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_Return):
        blank.key(shortcut)
    blank.key(Qt.Key.Key_Z, CTRL)
    QTest.mouseRelease(blank.canvas, LEFT, pos=blank.pixel(50, 50))
    blank.qtbot.wait(50)
    assert blank.session.key == key and blank.session.mask.any()
    assert blank.session.note.status == "started"


def test_space_and_middle_button_pan_without_painting(blank):
    canvas = blank.canvas
    start = canvas.view
    QTest.keyPress(canvas, Qt.Key.Key_Space)
    blank.drag((40, 40), (50, 45))
    QTest.keyRelease(canvas, Qt.Key.Key_Space)
    assert (canvas.view.x, canvas.view.y) != (start.x, start.y)
    now = canvas.view
    QTest.mousePress(canvas, Qt.MouseButton.MiddleButton, pos=QPoint(100, 100))
    QTest.mouseMove(canvas, QPoint(130, 90))
    QTest.mouseRelease(canvas, Qt.MouseButton.MiddleButton, pos=QPoint(130, 90))
    assert (canvas.view.x - now.x, canvas.view.y - now.y) == (30, -10)
    assert not blank.session.mask.any()


def wheel(canvas, at: QPoint, turns: int, keys=Qt.KeyboardModifier.NoModifier) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(canvas.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    canvas.wheelEvent(event)


def test_wheel_and_keys_zoom_and_size_the_brush(blank):
    canvas = blank.canvas
    at = blank.pixel(30, 30)
    before, size = canvas.view.to_image(at.x(), at.y()), canvas.diameter
    wheel(canvas, at, 2)
    assert canvas.view.to_image(at.x(), at.y()) == pytest.approx(before, abs=0.2)
    wheel(canvas, at, 1, CTRL | SHIFT)
    assert canvas.diameter > size
    for _ in range(9):
        blank.key(Qt.Key.Key_BracketLeft)
    assert canvas.diameter < size
    blank.key(Qt.Key.Key_0, CTRL)
    assert canvas.view.scale == 1.0
    blank.key(Qt.Key.Key_F, CTRL)
    assert canvas.view == canvas.view.fitted()
    QTest.mousePress(canvas, Qt.MouseButton.RightButton, ALT, QPoint(100, 100))
    QTest.mouseMove(canvas, QPoint(160, 100))
    QTest.mouseRelease(canvas, Qt.MouseButton.RightButton, ALT, QPoint(160, 100))
    assert canvas.diameter > size


def test_tab_hides_the_overlays_while_held(blank):
    QTest.keyPress(blank.canvas, Qt.Key.Key_Tab)
    assert blank.canvas.scene.overlays_hidden and blank.canvas.hasFocus()
    QTest.keyRelease(blank.canvas, Qt.Key.Key_Tab)
    assert not blank.canvas.scene.overlays_hidden


@pytest.mark.parametrize("diameter", [5, 4000])
def test_stroke_and_hover_repaint_changed_parts_only(blank, diameter):
    """Each move of a stroke repaints its new part only; a hovering brush repaints nothing of the scene."""
    canvas = blank.canvas
    canvas.set_diameter(diameter)
    QTest.mouseMove(canvas, blank.pixel(20, 20))
    blank.qtbot.wait(10)
    view, before = canvas.width() * canvas.height(), canvas.renderer.backing.repainted
    for x in range(20, 60, 4):
        QTest.mouseMove(canvas, blank.pixel(x, 30))
        blank.qtbot.wait(1)
    assert canvas.renderer.backing.repainted == before
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=blank.pixel(20, 20))
    blank.qtbot.wait(10)
    before = canvas.renderer.backing.repainted
    for x in (22, 24, 26):
        QTest.mouseMove(canvas, blank.pixel(x, 20))
        blank.qtbot.wait(1)
    repainted = canvas.renderer.backing.repainted - before
    assert 0 < repainted < 3 * view / 8 if diameter == 5 else repainted == 0  # the press has painted everything
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=blank.pixel(26, 20))
    assert blank.session.mask[20, 24] == 1


def test_refused_strokes_show_a_message(driver):
    messages = driver.window.messages
    driver.session.project.mask_path(NEW).parent.mkdir(parents=True, exist_ok=True)
    driver.session.project.mask_path(NEW).write_bytes(b"not a mask")
    driver.open(NEW)
    assert any("mask" in text and "cannot be read" in text for text in messages.texts)
    messages.clear()
    driver.drag((20, 20), (40, 20))
    assert any("cannot be read" in text for text in messages.texts)
    assert driver.session.project.mask_path(NEW).read_bytes() == b"not a mask"
    driver.open("lot1/bad.png")
    assert any("bad.png" in text for text in messages.texts)


def test_brush_without_a_class_shows_a_message(application, qtbot, tmp_path, root):
    session, window = application.services.session, application.window
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.create_project(tmp_path / "bare", images=root / "pictures")
    QTest.mouseClick(window.canvas, LEFT, pos=window.canvas.rect().center())
    assert any("no class" in text for text in window.messages.texts)
    assert not session.mask.any()
    window.classes.add()
    QTest.mouseClick(window.canvas, LEFT, pos=window.canvas.rect().center())
    assert session.mask.any()
