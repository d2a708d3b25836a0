"""Scene and renderer of the canvas: partial repaints are exact, thin regions stay visible, costs follow the stroke."""

from __future__ import annotations

import itertools
import math
import threading

import numpy as np
import pytest
from PySide6.QtCore import QPoint

from tests.ui.canvas.canvas_images import RED, on_screen, textured
from workbench.core.geometry.drawing import Paint, Rect, draw_segment
from workbench.core.geometry.selection import Selection
from workbench.core.images.display import Display
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.canvas_layers import PredictionLayer, PredictionStyle
from workbench.ui.canvas.layers.image_pyramid import IDS, RANKS, MaskPyramid, halvings
from workbench.ui.canvas.layers.suggestion_layer import codes_of
from workbench.ui.canvas.layers.view_state import Viewport

TYPES = (np.uint8, np.uint16)
ZOOMS = [(0.21, np.uint16), (0.5, np.uint8), (1.0, np.uint16), (1.3, np.uint8), (4.0, np.uint8)]
OTHER_ZOOMS = [case for case in itertools.product((0.21, 0.5, 0.7, 1.0, 1.3, 3.7, 4.0), TYPES) if case not in ZOOMS]


@pytest.mark.parametrize("zoom, dtype", [*ZOOMS, *(pytest.param(*c, marks=pytest.mark.slow) for c in OTHER_ZOOMS)])
def test_partial_repaints_equal_a_full_one(view, qtbot, zoom, dtype):
    """After strokes (partial repaints) and pans (scrolling), no pixel differs from a full repaint."""
    image = textured(501, 703, dtype)
    mask = np.zeros(image.shape, np.uint8)
    view.scene.show_image(image)
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    view.set_view(view.view.at_scale(zoom))
    qtbot.wait(10)
    rng = np.random.default_rng(int(zoom * 100))
    for i in range(12):
        start, end = rng.uniform(0, 500, 2), rng.uniform(0, 500, 2)
        rect = draw_segment(mask, tuple(start), tuple(end), float(rng.uniform(0.5, 9)), Paint(1 + i % 2))
        view.scene.mask_changed(rect)
        qtbot.wait(1)
        if i % 4 == 3:
            view.set_view(view.view.moved(int(rng.integers(-40, 40)), int(rng.integers(-40, 40))))
            qtbot.wait(1)
    partial = on_screen(view)
    view.update()
    qtbot.wait(10)
    assert np.array_equal(partial, on_screen(view))
    assert (partial != partial[0, 0]).any()


def test_each_device_pixel_shows_its_own_source_pixel(view, qtbot):
    """Above 100% each device pixel shows its nearest source pixel at any image position."""
    image = textured(40, 60)
    view.scene.show_image(image)
    view.set_view(Viewport(400, 300, 60, 40, scale=3.7, x=31, y=17))
    qtbot.wait(10)
    shown = on_screen(view)[:, :, 0]
    for y, x in ((17, 31), (60, 100), (150, 240), (17 + 147, 31 + 221)):
        source = image[int((y + 0.5 - 17) / 3.7), int((x + 0.5 - 31) / 3.7)]
        assert shown[y, x] == source


@pytest.mark.parametrize("scale", [0.9, 0.37, 0.11, 0.06])
def test_every_single_pixel_is_visible_when_zoomed_out(view, qtbot, scale):
    """Each of 150 single painted pixels is visible at its position."""
    image = np.full((2011, 3007), 128, np.uint8)
    mask = np.zeros(image.shape, np.uint8)
    rng = np.random.default_rng(1)
    spots = np.column_stack((rng.integers(0, 3007, 150), rng.integers(0, 2011, 150)))
    spots = np.vstack((spots, [[0, 0], [3006, 2010], [3006, 0], [0, 2010]]))
    mask[spots[:, 1], spots[:, 0]] = 1
    view.scene.show_image(image)
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    assert view.scene.reading, "the levels of a large mask are made in a thread"
    qtbot.waitUntil(lambda: not view.scene.reading, timeout=10_000)
    for x, y in spots:
        view.set_view(view.view.at_scale(scale, 0, 0))
        sx, sy = view.view.to_screen(x + 0.5, y + 0.5)
        target = Rect(int(sx) - 3, int(sy) - 3, 7, 7)
        shown = view.view.shown
        part = Rect(target.x - shown.x, target.y - shown.y, 7, 7).clipped(shown.width, shown.height)
        image = view.scene.labels.image(view.view, Rect(part.x + shown.x, part.y + shown.y, part.width, part.height))
        assert image is not None, (x, y)


def test_fit_shows_every_defect(view, qtbot):
    mask = np.zeros((1500, 2000), np.uint8)
    places = [(x, y) for x in range(50, 2000, 100) for y in range(50, 1500, 100)]
    for x, y in places:
        mask[y, x] = 1
    view.scene.show_image(np.full(mask.shape, 128, np.uint8))
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    view.view_state.fit()
    qtbot.wait(10)
    shown = on_screen(view).astype(int)
    red = (shown[:, :, 0] - shown[:, :, 1]) > 40
    count, _ = cv2.connectedComponents(red.astype(np.uint8))
    assert count - 1 == len(places)


def test_ignored_pixels_do_not_hide_a_defect_when_zoomed_out(view, qtbot):
    mask = np.full((1024, 1024), 255, np.uint8)
    mask[500:524] = 254
    mask[512, 512] = 1
    pyramid = MaskPyramid(mask)
    for level in pyramid.levels[1:]:
        assert 1 in IDS[level] and sorted(set(IDS[level].ravel())) == [1, 254, 255]
    assert np.array_equal(IDS[RANKS], np.arange(256))


def test_updated_pyramid_equals_a_new_one():
    rng = np.random.default_rng(2)
    mask = np.zeros((777, 1033), np.uint8)
    pyramid = MaskPyramid(mask)
    for _ in range(60):
        x, y, id = int(rng.integers(0, 1033)), int(rng.integers(0, 777)), int(rng.choice([0, 1, 2, 254, 255]))
        pyramid.update(draw_segment(mask, (x, y), (x + 30, y - 20), float(rng.uniform(0.5, 20)), Paint(id)))
    for kept, fresh in zip(pyramid.levels, MaskPyramid(mask.copy()).levels, strict=True):
        assert np.array_equal(kept, fresh)


def test_cost_of_a_stroke_does_not_depend_on_the_image_size():
    """Bytes written per stroke grow by the number of levels only."""
    touched = []
    for size in (512, 8192):
        mask = np.zeros((size, size), np.uint8)
        pyramid = MaskPyramid(mask)
        pyramid.touched = 0
        pyramid.update(draw_segment(mask, (300, 300), (340, 310), 10, Paint(1)))
        touched.append(pyramid.touched)
    assert touched[1] <= 1.2 * touched[0]


def test_zooming_keeps_the_point_under_the_pointer(view):
    view.scene.show_image(textured(400, 500))
    for factor in (1.25, 1.25, 0.8, 3.0, 0.1):
        before = view.view.to_image(123, 77)
        view.set_view(view.view.zoomed(factor, 123, 77))
        after = view.view.to_image(123, 77)
        assert np.abs(np.subtract(before, after)).max() <= 0.51 / view.view.scale
        assert isinstance(view.view.x, int) and isinstance(view.view.y, int)


def test_display_window_does_not_change_16_bit_values(view, qtbot):
    image = np.linspace(1000, 3000, 200 * 100).reshape(100, 200).astype(np.uint16)
    copy = image.copy()
    view.scene.show_image(image)
    view.view_state.actual_size()
    view.scene.set_display(Display(1500, 2500, 1.0))
    qtbot.wait(10)
    shown = on_screen(view)[:, :, 0]
    x, y = view.view.x, view.view.y
    assert shown[y, x] == 0 and shown[y + 99, x + 199] == 255
    expected = round((float(image[50, 100]) - 1500) / 1000 * 255)
    assert abs(int(shown[y + 50, x + 100]) - expected) <= 1
    view.scene.set_display(Display(1500, 2500, 2.0))
    qtbot.wait(10)
    assert on_screen(view)[y + 30, x + 100, 0] > shown[y + 30, x + 100]
    assert np.array_equal(image, copy)


def test_color_images_keep_their_channels(view, qtbot):
    image = np.zeros((60, 80, 3), np.uint8)
    image[:, :, 0], image[:, :, 2] = 200, 50
    view.scene.show_image(image)
    for scale in (2.0, 0.5):
        view.set_view(view.view.at_scale(scale))
        qtbot.wait(10)
        shown = on_screen(view)
        assert shown[150, 200].tolist() == [200, 0, 50]


def test_halvings_are_area_averages():
    image = np.arange(301 * 203, dtype=np.uint16).reshape(203, 301)
    levels = halvings(image)
    assert [level.shape for level in levels[:3]] == [(203, 301), (102, 151), (51, 76)]
    assert levels[1][10, 20] == round(image[20:22, 40:42].mean())


def test_hidden_overlays_and_hidden_classes_are_not_drawn(view, qtbot):
    mask = np.zeros((100, 100), np.uint8)
    mask[20:40], mask[60:80] = 1, 2
    view.scene.show_image(np.full((100, 100), 100, np.uint8))
    view.scene.show_labels(mask)
    view.scene.set_colors(RED, hidden={2})
    view.view_state.actual_size()
    qtbot.wait(10)
    x, y = view.view.x + 50, view.view.y
    shown = on_screen(view)
    assert shown[y + 30, x, 0] > shown[y + 30, x, 1] and len(set(shown[y + 70, x])) == 1
    view.scene.hide_overlays(True)
    qtbot.wait(10)
    assert len(set(on_screen(view)[y + 30, x])) == 1


def test_predictions_are_outlines_until_they_are_filled(view, qtbot):
    mask = np.zeros((100, 100), np.uint8)
    mask[30:70, 30:70] = 2
    view.scene.show_image(np.full((100, 100), 100, np.uint8))
    view.scene.set_colors(RED)
    view.scene.show_predictions(mask)
    view.view_state.actual_size()
    qtbot.wait(10)
    x, y = view.view.x, view.view.y

    def green(px: int, py: int) -> bool:
        pixel = on_screen(view)[y + py, x + px].astype(int)
        return pixel[1] - pixel[0] > 30

    assert green(30, 50) and green(50, 69) and not green(50, 50)
    view.scene.prediction_style.mode = "filled"
    view.scene.restyle()
    qtbot.wait(10)
    assert green(50, 50)
    assert view.rect().contains(QPoint(x + 50, y + 50))


def test_large_prediction_replaces_the_previous_one_when_ready(view, qtbot):
    """Levels and maps prepared in a thread equal those prepared synchronously."""
    small, large = np.zeros((1000, 1200), np.uint8), np.zeros((1000, 1200), np.uint8)
    small[10, 10], large[700:703, ::40], large[300:600, 200:900] = 1, 1, 2
    requests = []

    def maps(mode: str) -> np.ndarray:
        requests.append((mode, threading.current_thread() is threading.main_thread()))
        return large * 60

    view.scene.show_image(np.full(large.shape, 100, np.uint8))
    view.scene.set_colors(RED)
    view.view_state.fit()
    view.scene.show_predictions(small)
    qtbot.waitUntil(lambda: view.scene.predictions is not None, timeout=5000)
    before = view.scene.predictions
    view.scene.show_predictions(large, maps)
    assert view.scene.predictions is before and view.scene.reading
    qtbot.waitUntil(lambda: not view.scene.reading, timeout=5000)
    assert view.scene.predictions.pyramid.mask is large
    for kept, fresh in zip(view.scene.predictions.pyramid.levels, MaskPyramid(large).levels, strict=True):
        assert np.array_equal(kept, fresh)
    outlines = view.grab().toImage()
    assert not requests
    view.scene.prediction_style.mode = "heat"
    view.scene.restyle()
    qtbot.waitUntil(lambda: view.scene.predictions.ready, timeout=5000)
    qtbot.wait(20)
    assert requests == [("heat", False)] and view.grab().toImage() != outlines
    view.scene.show_predictions(small, maps)
    view.scene.show_predictions(None)
    qtbot.wait(100)
    assert view.scene.predictions is None and not view.scene.reading  # the superseded result was dropped


def test_large_image_is_shown_before_its_halvings_are_computed(view, qtbot):
    image = textured(2000, 2400)
    view.scene.show_image(image)
    assert len(view.scene.image.levels) == 1
    view.view_state.fit()
    qtbot.wait(5)
    qtbot.waitUntil(lambda: len(view.scene.image.levels) > 3, timeout=5000)


def test_stroke_during_level_construction_is_shown(view, qtbot, monkeypatch):
    mask = np.zeros((2100, 2600), np.uint8)
    mask[100:110, 100:110] = 1
    build, painted = MaskPyramid.build, []

    def slow(self) -> None:
        build(self)
        painted.append(draw_segment(mask, (1500.5, 1200.5), (1500.5, 1200.5), 0.5, Paint(1)))  # a stroke, meanwhile

    monkeypatch.setattr(MaskPyramid, "build", slow)
    view.scene.show_image(np.full(mask.shape, 128, np.uint8))
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    view.view_state.fit()
    view.repaint()
    qtbot.waitUntil(lambda: bool(painted), timeout=10_000)
    view.scene.mask_changed(painted[0])
    qtbot.waitUntil(lambda: not view.scene.reading, timeout=10_000)
    qtbot.wait(10)
    shown = on_screen(view).astype(int)
    count, _ = cv2.connectedComponents(((shown[:, :, 0] - shown[:, :, 1]) > 40).astype(np.uint8))
    assert count - 1 == 2
    fresh = MaskPyramid(mask.copy())
    assert all(np.array_equal(a, b) for a, b in zip(view.scene.labels.pyramid.levels, fresh.levels, strict=True))


@pytest.fixture
def selections() -> list[Selection]:
    """Small, thin and perforated regions, and one that is too large for the pixel by pixel drawing."""
    rng = np.random.default_rng(3)
    sizes = [(1, 1), (1, 40), (33, 2), (17, 23), (48, 31), (120, 110)]
    found = [Selection(Rect(5 + 37 * i, 3 + 11 * i, w, h), rng.random((h, w)) < 0.9) for i, (h, w) in enumerate(sizes)]
    return [*found, Selection(Rect(250, 90, 9, 9), np.ones((9, 9), bool))]


def device_rect(selection: Selection, scale: float) -> Rect:
    box = selection.rect
    x, y = math.floor(box.x * scale), math.floor(box.y * scale)
    return Rect(x, y, math.ceil((box.x + box.width) * scale) - x, math.ceil((box.y + box.height) * scale) - y)


def expected_codes(selection: Selection, rect: Rect, scale: float, ratio: float) -> np.ndarray:
    """Codes by the rule: a device pixel shows any selected pixel in it and is outline if a neighbor shows none."""
    box, inside, reach = selection.rect, selection.inside, max(2, round(2 * ratio))

    def shows(row: int, column: int) -> bool:
        spans = []
        for place, first, length in ((row, box.y, box.height), (column, box.x, box.width)):
            low = math.floor((place + (0.5 if scale >= 1 else 0)) / scale)
            high = low + 1 if scale >= 1 else max(low + 1, math.floor((place + 1) / scale))
            spans.append(slice(max(0, low - first), min(length, max(0, high - first))))
        return bool(inside[spans[0], spans[1]].any())

    on = np.array(
        [
            [shows(rect.y + r, rect.x + c) for c in range(-reach, rect.width + reach)]
            for r in range(-reach, rect.height + reach)
        ]
    )
    codes = np.zeros((rect.height, rect.width), np.uint8)
    for r in range(rect.height):
        for c in range(rect.width):
            if on[r + reach, c + reach]:
                stripe = (2 * (rect.y + r) + 3 * (rect.x + c)) // round(15 * ratio) & 1
                codes[r, c] = 1 if on[r : r + 2 * reach + 1, c : c + 2 * reach + 1].all() else 2 + stripe
    return codes


@pytest.mark.parametrize(
    ("scale", "ratio"),
    [
        (0.13, 1.0),
        (0.4, 2.0),
        pytest.param(0.95, 1.0, marks=pytest.mark.slow),
        (1.0, 1.5),
        pytest.param(2.3, 1.0, marks=pytest.mark.slow),
    ],
)
def test_shared_sheet_equals_the_pixel_rule(selections, scale, ratio):
    rects = [device_rect(one, scale) for one in selections]
    together = codes_of(selections, rects, scale, ratio)
    assert {*np.unique(np.concatenate([codes.ravel() for codes in together]))} >= {1, 2, 3}
    for one, rect, codes in zip(selections, rects, together, strict=True):
        assert np.array_equal(codes, expected_codes(one, rect, scale, ratio))


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.3])
def test_drawn_part_equals_the_part_of_the_whole(selections, scale):
    """Only the visible part of a large region is drawn."""
    large = selections[-2]
    rect = device_rect(large, scale)
    part = Rect(rect.x + rect.width // 4, rect.y + rect.height // 3, rect.width // 2, rect.height // 2)
    (codes,), (cut,) = codes_of([large], [rect], scale, 1.0), codes_of([large], [part], scale, 1.0)
    top, left = part.y - rect.y, part.x - rect.x
    assert np.array_equal(cut, codes[top : top + part.height, left : left + part.width])
    assert codes_of([], [], scale, 1.0) == []


def test_outlines_of_predictions_are_smoothed_on_the_screen_only():
    mask = np.zeros((30, 40), np.uint8)
    for row in range(12):
        mask[4 + row, 2 : 3 + row] = 1  # its long side is a staircase
    mask[25, 5:35], mask[4, 30] = 1, 2  # a thin line and a single pixel
    before, style = mask.copy(), PredictionStyle()
    style.mode = "filled"
    layer, view = PredictionLayer(mask, style), Viewport(320, 240, 40, 30, scale=8.0)
    layer.color({1: "#ff0000", 2: "#00ff00"})

    def drawn(rect: Rect) -> np.ndarray:
        image = layer.image(view, rect)
        return np.frombuffer(image.constBits(), np.uint32).reshape(rect.height, rect.width).copy()

    whole = Rect(0, 0, 320, 240)
    smooth = drawn(whole)
    style.exact = True
    exact = drawn(whole)
    style.exact = False
    assert np.array_equal(exact > 0, np.kron(mask > 0, np.ones((8, 8))) > 0) and np.array_equal(mask, before)
    stairs = slice(40, 120), slice(16, 110)
    corners = [np.count_nonzero(cv2.Laplacian((image[stairs] > 0).astype(np.int16), -1)) for image in (smooth, exact)]
    assert corners[0] < 0.8 * corners[1]  # the staircase has become a line
    assert np.count_nonzero(smooth[stairs]) == pytest.approx(np.count_nonzero(exact[stairs]), rel=0.05)
    assert smooth[200:208, 44:276].any(axis=0).all() and smooth[32:40, 240:248].any()
    part = Rect(33, 21, 120, 95)
    assert np.array_equal(drawn(part), smooth[part.slices])


@pytest.mark.parametrize("scale", [0.3, 0.7, 1.0, 1.3, 2.0, 3.0, 3.5, 8.0])
def test_outlines_of_predictions_are_smoothed_at_every_scale(scale):
    size = round(300 / scale)
    rows, columns = np.arange(size)[:, None] + 0.5, np.arange(size)[None] + 0.5
    mask = (rows > 60 / scale + 0.61 * columns).astype(np.uint8)
    dots = [(round(10 / scale), round(place / scale)) for place in range(150, 290, 10)]
    for row, column in dots:
        mask[row, column] = 1
    before, style = mask.copy(), PredictionStyle()
    style.mode, style.opacity = "filled", 1.0
    layer, view = PredictionLayer(mask, style), Viewport(300, 300, size, size, scale=scale)
    layer.prepare()
    layer.color({1: "#ffffff"})

    def coverage(rect: Rect) -> np.ndarray:
        image = layer.image(view, rect)
        return np.frombuffer(image.constBits(), np.uint8).reshape(rect.height, rect.width, 4)[:, :, 3] / 255

    def roughness(shown: np.ndarray) -> float:
        """Deviation of the edge from a straight line, device pixels."""
        places, heights = np.arange(20, 290), shown[40:, 20:290].sum(axis=0)
        return float(np.std(heights - np.polyval(np.polyfit(places, heights, 1), places)))

    whole, part = Rect(0, 0, 300, 300), Rect(33, 21, 171, 155)
    smooth = coverage(whole)
    assert np.array_equal(coverage(part), smooth[part.slices])
    for row, column in dots:  # a single pixel of the image stays a dot
        top, left = math.floor(row * scale) - 2, math.floor(column * scale) - 2
        assert smooth[top : top + math.ceil(scale) + 4, left : left + math.ceil(scale) + 4].sum() > 0.4 * scale**2
    style.exact = True
    exact = coverage(whole)
    assert set(np.unique(exact)) == {0.0, 1.0} and np.array_equal(mask, before)
    assert roughness(smooth) < 0.75 * roughness(exact)


def test_a_finely_perforated_area_of_a_prediction_has_no_holes():
    mask, style = np.zeros((40, 40), np.uint8), PredictionStyle()
    mask[10:30, 10:30] = np.indices((20, 20)).sum(axis=0) % 2
    style.mode = "filled"
    layer, view, inner = PredictionLayer(mask, style), Viewport(100, 100, 40, 40, scale=2.5), Rect(30, 30, 40, 40)
    layer.color({1: "#ffffff"})

    def holes() -> float:
        image = layer.image(view, inner)
        return float(np.mean(np.frombuffer(image.constBits(), np.uint32) == 0))

    assert holes() == 0
    style.exact = True
    assert holes() == pytest.approx(0.5, abs=0.1)
