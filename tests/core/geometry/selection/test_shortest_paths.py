"""Shortest paths compared with Dijkstra's algorithm; intelligent scissors; synthetic and real cracks."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.core.geometry.selection.selections import everywhere
from workbench.core.geometry.drawing import Rect, polygon_inside
from workbench.core.geometry.selection import CrackTracer, IntelligentScissors, close_outline, trace_crack
from workbench.core.geometry.selection.shortest_paths import MAX_SEARCH_PIXELS, CheapestPaths, ShortestPathSearch
from workbench.inference.io.image_io import read_image


def shortest_path_costs(cost, start):
    """Return {pixel (column, row): cost of the shortest path} from `start`."""
    height, width = cost.shape
    done, queue = {}, [(0.0, start)]
    while queue:
        total, (x, y) = heappop(queue)
        if (x, y) in done:
            continue
        done[x, y] = total
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if (dx or dy) and 0 <= x + dx < width and 0 <= y + dy < height:
                    step = float(cost[y + dy, x + dx]) * (dx * dx + dy * dy) ** 0.5
                    heappush(queue, (total + step, (x + dx, y + dy)))
    return done


def cost_of(cost, way):
    steps = np.abs(np.diff(way, axis=0))
    assert len(way) == 1 or steps.max() == 1
    lengths = np.sqrt(np.square(steps).sum(axis=1))
    return float((cost[way[1:, 1], way[1:, 0]] * lengths).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 12), st.integers(1, 12))
def test_no_path_has_a_lower_cost(seed, height, width):
    rng = np.random.default_rng(seed)
    cost = (rng.random((height, width)) ** 3).astype(np.float32)
    start = int(rng.integers(0, width)), int(rng.integers(0, height))
    paths, best = CheapestPaths(cost, start), shortest_path_costs(cost, start)
    for end in [(0, 0), (width - 1, height - 1), (int(rng.integers(0, width)), int(rng.integers(0, height)))]:
        way = paths.to(end)
        assert tuple(way[0]) == start and tuple(way[-1]) == end
        assert cost_of(cost, way) == pytest.approx(best[end], rel=1e-3, abs=1e-4)


def test_search_is_extended_beyond_its_window_and_over_long_paths():
    """A lane of low cost through 900 x 3000 pixels, longer than one search at full resolution."""
    columns = np.arange(3000)
    rows = (450 + 150 * np.sin(columns / 300)).astype(int)
    cost = np.ones((900, 3000), np.float32)
    for offset in (-2, -1, 0, 1, 2):
        cost[rows + offset, columns] = 0.02
    requests = []

    def costs(rect, step):
        requests.append((rect, step))
        return (
            np.ascontiguousarray(cost[rect.slices][step // 2 :: step, step // 2 :: step])
            if step > 1
            else cost[rect.slices]
        )

    guide = ShortestPathSearch(costs, (10.5, rows[10] + 0.5), cost.shape)
    for end in (60, 900, 2900):
        way = guide.to((end + 0.5, rows[end] + 0.5))
        assert tuple(way[0]) == (10, rows[10]) and tuple(way[-1]) == (end, rows[end])
        assert np.abs(np.diff(way, axis=0)).max() == 1
        assert np.abs(way[:, 1] - rows[way[:, 0]]).max() <= 4
    assert max(step for _, step in requests) > 1
    assert all(-(-r.width // s) * -(-r.height // s) <= MAX_SEARCH_PIXELS for r, s in requests)
    searched = len(requests)
    assert guide.to((2800.5, rows[2800] + 0.5), exact=False) is not None and len(requests) == searched
    assert guide.to((-3, 5)) is None and guide.to((5, 901)) is None


# --- scissors -------------------------------------------------------------------------------------------


def ellipse(shape=(260, 300), noise=5.0, contrast=30.0, seed=0):
    rows, columns = np.mgrid[: shape[0], : shape[1]] + 0.5
    inside = ((columns - 150) / 90) ** 2 + ((rows - 130) / 60) ** 2 < 1
    image = 120 + contrast * inside + np.random.default_rng(seed).normal(0, noise, shape)
    return np.clip(image, 0, 255).astype(np.uint8), inside


def rim(angle):
    return 150 + 90 * np.cos(angle), 130 + 60 * np.sin(angle)


@pytest.mark.parametrize(("noise", "contrast"), [(3, 40), (5, 10)])
@pytest.mark.parametrize("color", [False, True])
def test_scissors_outline_an_ellipse_from_three_points(noise, contrast, color):
    image, inside = ellipse(noise=noise, contrast=contrast)
    if color:
        image = np.stack([image, np.full_like(image, 90), 255 - image], axis=2)
    scissors = IntelligentScissors(image)
    for angle in (0.2, 2.3, 4.4):
        scissors.anchor(rim(angle))
    selection = everywhere(scissors.closed(), inside.shape)
    assert (selection & inside).sum() / (selection | inside).sum() > 0.97
    wire = np.array(scissors.wire(rim(5.2)))
    off = np.abs(np.hypot((wire[:, 0] - 150) / 90, (wire[:, 1] - 130) / 60) - 1) * 60
    assert off.max() < 5 and off.mean() < 1.5
    assert tuple(wire[0]) == rim(4.4) and tuple(wire[-1]) == rim(5.2)


def test_scissors_remove_points_and_accept_points_outside():
    image, _ = ellipse()
    scissors = IntelligentScissors(image)
    assert scissors.closed().empty and scissors.wire((3, 3)) == [(3, 3)]
    scissors.anchor(rim(0))
    scissors.anchor(rim(1))
    before = scissors.path
    leg = scissors.anchor((-50.0, -60.0))
    assert leg == [rim(1), (-50.0, -60.0)]  # straight, as there is no edge to follow
    scissors.back()
    assert scissors.path == before and scissors.anchors == [rim(0), rim(1)]


def test_scissors_follow_the_image_border_at_a_clipped_defect():
    rows, columns = np.mgrid[:200, :300] + 0.5
    inside = np.hypot(columns - 150, rows) < 70
    image = 150 - 50 * inside + np.random.default_rng(0).normal(0, 6, inside.shape)
    scissors = IntelligentScissors(np.clip(image, 0, 255).astype(np.uint8))
    for point in ((80.5, 0.5), (150.5, 70.5), (220.5, 0.5), (150.5, 0.5)):
        scissors.anchor(point)
    found = everywhere(scissors.closed(), inside.shape)
    assert (found & inside).sum() / (found | inside).sum() > 0.93


def test_a_closed_outline_is_a_polygon():
    found = everywhere(close_outline([(2, 2), (8, 2), (8, 6), (2, 6)], (10, 10)), (10, 10))
    expected = np.zeros((10, 10), bool)
    expected[2:6, 2:8] = True
    assert found[expected].all() and found.sum() - expected.sum() <= 12  # and the pixels under its corners
    assert close_outline([], (5, 5)).empty and close_outline([(-9, -9), (-8, -9), (-8, -8)], (5, 5)).empty


def by_rows(corners, rect):
    """Return the polygon by the even-odd rule, row by row: an algorithm that differs from the tested one."""
    inside = np.zeros((rect.height, rect.width), bool)
    following = np.roll(corners, -1, axis=0)
    columns = np.arange(rect.x, rect.x + rect.width) + 0.5
    for row in range(rect.height):
        y = rect.y + row + 0.5
        crosses = (corners[:, 1] <= y) != (following[:, 1] <= y)
        if crosses.any():
            a, b = corners[crosses], following[crosses]
            cuts = np.sort(a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1]))
            inside[row] = np.searchsorted(cuts, columns, side="right") % 2 == 1
    for x, y in np.floor(corners).astype(int):
        if 0 <= x - rect.x < rect.width and 0 <= y - rect.y < rect.height:
            inside[y - rect.y, x - rect.x] = True
    return inside


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-20, 60), st.integers(-20, 60)), min_size=1, max_size=12), st.sampled_from([1, 2, 3])
)
def test_polygons_equal_the_even_odd_rule(corners, grain):
    """Corners lie on pixel centers, on pixel borders and at thirds of pixels."""
    corners = np.array(corners, float) / grain
    rect = Rect(-3, 2, 25, 30)
    np.testing.assert_array_equal(polygon_inside(corners, rect), by_rows(corners, rect))


# --- cracks ---------------------------------------------------------------------------------------------


def crack(*, dark=True, seed=0, noise=6.0, shape=(240, 400)):
    """Return an image with a wavy line of 2 to 6 pixels width on noise, its row at each column, and its width there."""
    columns = np.arange(shape[1]) + 0.5
    middle = 120 + 40 * np.sin(columns / 45) + 10 * np.sin(columns / 13)
    slope = 40 / 45 * np.cos(columns / 45) + 10 / 13 * np.cos(columns / 13)
    width = 4 + 2 * np.sin(columns / 90)
    rows = np.arange(shape[0])[:, None] + 0.5
    away = np.abs(rows - middle) / np.hypot(1, slope)
    share = np.clip(width / 2 - away + 0.5, 0, 1)
    image = np.random.default_rng(seed).normal(130, noise, shape) + (-45 if dark else 45) * share
    return np.clip(image, 0, 255), middle, width


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("kind", ["uint8", "rgb", "uint16", "nan"])
def test_two_clicks_trace_a_line_and_measure_its_width(dark, kind):
    values, middle, width = crack(dark=dark)
    image = {
        "uint8": values.astype(np.uint8),
        "rgb": np.repeat(values.astype(np.uint8)[:, :, None], 3, axis=2),
        "uint16": (values * 0.9).astype(np.uint16),
        "nan": values.astype(np.float32),
    }[kind]
    if kind == "nan":
        image[np.random.default_rng(1).random(image.shape) < 0.02] = np.nan
    start, end = (20.5, middle[20] + 2), (380.5, middle[380] - 2)  # two pixels beside the line
    found = trace_crack(image, start, end)
    assert found.dark == dark
    columns = np.arange(len(middle)) + 0.5
    inner = found.line[5:-5]
    assert np.abs(np.interp(inner[:, 0], columns, middle) - inner[:, 1]).mean() < 0.8
    measured = found.width[5:-5] - np.interp(inner[:, 0], columns, width)
    assert abs(measured.mean()) < 0.7 and np.abs(measured).mean() < 1.0
    assert np.corrcoef(found.width[5:-5], np.interp(inner[:, 0], columns, width))[0, 1] > 0.8
    rows = np.arange(values.shape[0])[:, None] + 0.5
    slope = np.gradient(middle)
    truth = np.abs(rows - middle) / np.hypot(1, slope) <= width / 2
    truth[:, :20] = truth[:, 381:] = False
    selection = everywhere(found.selection, truth.shape)
    assert (selection & truth).sum() / (selection | truth).sum() > 0.75


def test_the_polarity_can_be_chosen():
    dark, middle, _ = crack()
    image = dark.copy()
    image[30:34] = 220  # and a bright line
    start, end = (20.5, middle[20]), (380.5, middle[380])
    assert trace_crack(image.astype(np.uint8), start, end, polarity="dark").dark
    assert not trace_crack(image.astype(np.uint8), start, end, polarity="bright").dark
    bright = trace_crack(image.astype(np.uint8), (20.5, 31), (380.5, 33), polarity="auto")
    assert not bright.dark and np.abs(bright.line[5:-5, 1] - 32).max() < 1


def test_a_tracer_previews_the_path_before_the_second_click():
    image, middle, _ = crack()
    tracer = CrackTracer(image.astype(np.uint8), (20.5, middle[20]))
    for end in (100, 260, 380):
        way, dark = tracer.path((end + 0.5, middle[end]), exact=False)
        assert dark and np.abs(way[:, 1] + 0.5 - middle[way[:, 0]]).mean() < 2
    assert tracer.path((500, 20)) is None and tracer.trace((500, 20)).selection.empty
    assert len(trace_crack(image.astype(np.uint8), (20.5, middle[20]), (20.5, middle[20])).line) >= 1


def geodesic_ends(inside):
    """Return two pixels (x, y) with the longest shortest path inside a label, found by two searches."""

    def walk(start):
        seen, ring = {start}, [start]
        while ring:
            last = ring[0]
            ring = [
                n
                for x, y in ring
                for n in ((x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
                if 0 <= n[0] < inside.shape[1] and 0 <= n[1] < inside.shape[0] and inside[n[1], n[0]]
                if n not in seen and not seen.add(n)
            ]
        return last

    row, column = np.argwhere(inside)[0]
    first = walk((int(column), int(row)))
    return first, walk(first)


def crackforest(folder):
    """Yield (image, largest labeled crack) of every seventh image, read from the run lengths of the label files."""
    for path in sorted((folder / "crackforest" / "seg").glob("*.seg"))[::7]:
        mask = np.zeros((320, 480), np.uint8)
        text = path.read_text("latin-1").split("\ndata\n")[1]
        for segment, row, first, last in (map(int, line.split()) for line in text.split("\n") if line.strip()):
            mask[row, first : last + 1] = segment == 1
        count, parts = cv2_components(mask)
        largest = max(range(1, count), key=lambda part: (parts == part).sum())
        yield read_image(folder / "crackforest" / "image" / f"{path.stem}.jpg"), parts == largest


def cv2_components(mask):
    import cv2

    return cv2.connectedComponents(mask, connectivity=8)


def test_two_clicks_follow_real_cracks(shared_data):
    """F1 with a tolerance of 2 pixels, for the whole crack including branches, which two clicks do not select."""
    scores, straight = [], []
    for image, truth in crackforest(shared_data):
        ends = [(x + 0.5, y + 0.5) for x, y in geodesic_ends(truth)]
        found = everywhere(trace_crack(image, *ends).selection, truth.shape)
        line = np.zeros_like(truth)
        for t in np.linspace(0, 1, 1000):
            x, y = (round(a + t * (b - a) - 0.5) for a, b in zip(*ends))
            line[y, x] = True
        scores.append(tolerant_f1(found, truth))
        straight.append(tolerant_f1(line, truth))
    assert len(scores) >= 8
    assert np.mean(scores) > 0.8 and np.mean(scores) > np.mean(straight) + 0.4


def tolerant_f1(found, truth):
    import cv2

    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    near = [cv2.dilate(m.astype(np.uint8), disc) > 0 for m in (found, truth)]
    precision, recall = (found & near[1]).sum() / found.sum(), (truth & near[0]).sum() / truth.sum()
    return 2 * precision * recall / (precision + recall)
