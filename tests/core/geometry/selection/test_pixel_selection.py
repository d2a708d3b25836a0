"""Magic wand and threshold brush compared with plain implementations, and on real blowholes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.core.geometry.selection.selections import everywhere, flooded
from workbench.core.geometry.drawing import Paint, Rect, draw_region, draw_segment
from workbench.core.geometry.selection import (
    LIVE,
    fill_holes,
    histogram,
    levels_of,
    magic_wand,
    select_band,
    smooth,
    suggest_tolerance,
    tone_band_at,
)
from workbench.inference.io.image_io import read_image


def lab(rgb):
    """Return CIE L*a*b* (D65) of sRGB bytes (..., 3), computed by the definition."""
    linear = rgb / 255
    linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
    xyz = linear @ np.array(to_xyz).T / (0.950456, 1.0, 1.088754)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def mean_around(values, pixel):
    x, y = pixel
    part = values[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2].reshape(-1, *values.shape[2:])
    part = part.reshape(len(part), -1)
    return part[np.isfinite(part).all(axis=1)].mean(axis=0)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_wand_selects_connected_pixels_within_the_tolerance(data):
    height, width = data.draw(st.integers(1, 14)), data.draw(st.integers(1, 14))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    picture = rng.integers(0, 6, (height, width)).astype(np.uint8) * 40
    pixel = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    connectivity, tolerance = data.draw(st.sampled_from([4, 8])), data.draw(st.floats(0.5, 60))
    selection = magic_wand(picture, (pixel[0] + 0.7, pixel[1] + 0.2), tolerance, connectivity=connectivity)
    values = picture * 100.0 / 255
    away = np.abs(values - mean_around(values, pixel))
    unclear = np.abs(away - tolerance) < 1e-3
    member = away <= tolerance
    member[pixel[1], pixel[0]] = True
    if not unclear.any():
        np.testing.assert_array_equal(everywhere(selection, picture.shape), flooded(member, pixel, connectivity))
    assert not selection.cut


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), st.floats(5, 80))
def test_colors_are_compared_in_lab(seed, tolerance):
    rng = np.random.default_rng(seed)
    palette = rng.integers(0, 256, (3, 3))
    picture = palette[rng.integers(0, 3, (9, 11))].astype(np.uint8)
    pixel = int(rng.integers(0, 11)), int(rng.integers(0, 9))
    values = lab(picture.astype(float))
    away = np.sqrt(np.square(values - mean_around(values, pixel)).sum(axis=2))
    member = away <= tolerance
    member[pixel[1], pixel[0]] = True
    if (np.abs(away - tolerance) > 0.5).all():  # OpenCV's conversion is not exact to the last digit
        found = magic_wand(picture, (pixel[0] + 0.5, pixel[1] + 0.5), tolerance)
        np.testing.assert_array_equal(everywhere(found, picture.shape), flooded(member, pixel, 4))


def snake(height, width, turn=40):
    """Return an image with a dark winding band on a bright background."""
    picture = np.full((height, width), 200, np.uint8)
    for i, top in enumerate(range(2, height - turn, turn)):
        picture[top : top + 8, 3 : width - 3] = 50
        side = slice(3, 11) if i % 2 else slice(width - 11, width - 3)
        picture[top : top + turn, side] = 50
    return picture


def test_the_computed_window_grows_with_the_region_and_the_result_is_exact():
    picture = snake(900, 1300)
    selection = magic_wand(picture, (700.5, 4.5), 10)
    np.testing.assert_array_equal(everywhere(selection, picture.shape), picture == 50)
    assert not selection.cut
    live = magic_wand(picture, (700.5, 4.5), 10, limit=LIVE)
    assert live.cut and live.rect.width * live.rect.height <= LIVE
    assert not (everywhere(live, picture.shape) & (picture != 50)).any()


def test_a_strip_is_selected_from_end_to_end():
    strip = np.full((1, 20000), 90, np.uint8)
    strip[0, 15000] = 250
    selection = magic_wand(strip, (2.5, 0.5), 5)
    assert selection.rect == Rect(0, 0, 15000, 1) and selection.inside.all()
    turned = magic_wand(np.ascontiguousarray(strip.T), (0.5, 19999.9), 5)
    assert turned.rect == Rect(0, 15001, 1, 4999) and turned.inside.all()


@pytest.mark.parametrize("kind", ["uint16", "float32", "nan", "rgb16"])
def test_16_bit_and_float_images_give_the_selection_of_8_bits(kind):
    """The tolerance refers to the range of values in the image: 0..235 of 16 bits, floats far from 0..1."""
    rng = np.random.default_rng(5)
    plain = np.full((60, 80), 180.0)
    plain[20:40, 30:60] = 60
    plain[0, :8], plain[-1, :8] = 0, 235
    picture = {
        "uint16": plain.astype(np.uint16),
        "float32": (plain * 1e-4 - 3).astype(np.float32),
        "nan": plain.astype(np.float32),
        "rgb16": np.repeat(plain.astype(np.uint16)[:, :, None], 3, 2),
    }[kind]
    expected = plain == 60
    if kind == "nan":
        holes = rng.random(plain.shape) < 0.1
        holes[30, 45] = False
        picture[holes] = np.nan
        expected = flooded(expected & ~holes, (45, 30), 4)
        x, y = np.argwhere(holes)[0][::-1]
        assert magic_wand(picture, (x + 0.5, y + 0.5), 30).empty
    found = magic_wand(picture, (45.5, 30.5), 15)
    np.testing.assert_array_equal(everywhere(found, plain.shape), expected)


def test_smoothing_rounds_corners_and_keeps_the_component_of_the_click():
    picture = np.full((80, 80), 200, np.uint8)
    picture[20:50, 20:50] = 60
    picture[35, 50:70] = 60  # a line one pixel wide, which smoothing removes
    picture[60:63, 10:13] = 60
    picture[30:32, 30:32] = 200
    rough = magic_wand(picture, (25.5, 25.5), 10)
    soft = magic_wand(picture, (25.5, 25.5), 10, smoothing=3, fill=True)
    assert everywhere(rough, picture.shape)[35, 65] and not everywhere(rough, picture.shape)[31, 31]
    assert not everywhere(soft, picture.shape)[35, 55:].any()
    assert everywhere(soft, picture.shape)[31, 31]
    on_hair = magic_wand(picture, (66.5, 35.5), 25, smoothing=3)
    assert everywhere(on_hair, picture.shape)[35, 66]


def test_a_click_outside_selects_nothing():
    picture = np.zeros((5, 5), np.uint8)
    for point in ((-0.1, 2), (5, 2), (2, 5.0), (float("nan"), 1)):
        assert magic_wand(picture, point, 10).empty
        assert tone_band_at(picture, point) is None


def test_automatic_tolerance_separates_a_spot_from_an_uneven_background():
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:200, :200] + 0.5
    spot = np.hypot(columns - 90, rows - 110) < 12
    picture = 140 + 0.2 * columns + rng.normal(0, 4, spot.shape) - 60 * spot
    picture = np.clip(picture, 0, 255).astype(np.uint8)
    tolerance = suggest_tolerance(picture, (90, 110))
    found = everywhere(magic_wand(picture, (90, 110), tolerance), spot.shape)
    assert (found & spot).sum() / (found | spot).sum() > 0.9
    wide = np.hypot(columns - 100, rows - 100) < 75
    picture = np.where(wide, 80, 150).astype(np.uint8)
    found = everywhere(magic_wand(picture, (100, 100), suggest_tolerance(picture, (100, 100))), wide.shape)
    assert (found & wide).sum() / (found | wide).sum() > 0.97


# --- the threshold brush ------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16), st.floats(-5, 35), st.floats(-5, 25), st.floats(0.4, 9), st.floats(1, 50))
def test_the_threshold_brush_selects_the_pixels_of_a_plain_brush_within_its_range(seed, x, y, radius, tolerance):
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 256, (20, 30)).astype(np.uint8)
    band = tone_band_at(picture, (15.5, 10.5), tolerance)
    plain = np.zeros(picture.shape, np.uint8)
    draw_segment(plain, (15.5, 10.5), (x, y), radius, Paint(1))
    values = picture * 100.0 / 255
    away = np.abs(values - mean_around(values, (15, 10)))
    taken = everywhere(select_band(picture, (15.5, 10.5), (x, y), radius, band), picture.shape)
    clear = np.abs(away - tolerance) > 1e-3
    np.testing.assert_array_equal(taken[clear], ((plain > 0) & (away <= tolerance))[clear])


def test_the_histogram_counts_the_values_under_the_brush():
    rng = np.random.default_rng(1)
    picture = rng.integers(1000, 1236, (40, 50)).astype(np.uint16)
    band = tone_band_at(picture, (20.5, 20.5), 10)
    found = histogram(picture, (20.5, 20.5), (30.5, 25.5), 6, band)
    plain = np.zeros(picture.shape, np.uint8)
    draw_segment(plain, (20.5, 20.5), (30.5, 25.5), 6, Paint(1))
    under = picture[plain > 0]
    assert found.counts.sum() == under.size and not found.color
    assert found.edges[0] <= under.min() and found.edges[-1] >= under.max() - 1
    levels = levels_of(picture)
    middle = picture[19:22, 19:22].mean()
    assert found.low == pytest.approx(middle - (levels.high - levels.low) / 10, abs=0.1)
    assert found.high - found.low == pytest.approx((levels.high - levels.low) / 5, abs=0.1)
    taken = select_band(picture, (20.5, 20.5), (30.5, 25.5), 6, band)
    assert taken.inside.sum() == ((under >= found.low) & (under <= found.high)).sum()


def test_the_histogram_of_a_color_image_counts_color_distances():
    picture = np.zeros((20, 20, 3), np.uint8)
    picture[:, 10:] = (200, 30, 30)
    band = tone_band_at(picture, (3.5, 10.5), 12)
    found = histogram(picture, (3.5, 10.5), (16.5, 10.5), 3, band, bins=16)
    assert found.color and (found.low, found.high) == (0.0, 12)
    assert found.counts[0] > 0 and found.counts[-1] > 0 and found.counts[1:-1].sum() == 0
    assert histogram(picture, (-50, -50), (-40, -40), 3, band).counts.sum() == 0


# --- real defects ---------------------------------------------------------------------------------------


def blowholes(folder):
    """Yield (image, defect) of every second blowhole of the magnetic tiles."""
    for path in sorted((folder / "magnetic-tile" / "MT_Blowhole" / "Imgs").glob("*.jpg"))[::2]:
        mask = cv2.imdecode(np.fromfile(path.with_suffix(".png"), np.uint8), cv2.IMREAD_GRAYSCALE) >= 128
        count, parts = cv2.connectedComponents(mask.astype(np.uint8))
        for part in range(1, count):
            if (parts == part).sum() >= 12:
                yield read_image(path), parts == part


def iou(selection, truth):
    found = everywhere(selection, truth.shape)
    return (found & truth).sum() / (found | truth).sum()


def clicks(picture, defect):
    """Return its darkest and its innermost pixel."""
    smooth_image = np.where(defect, cv2.GaussianBlur(picture, (0, 0), 1), 255)
    depth = cv2.distanceTransform(defect.astype(np.uint8), cv2.DIST_L2, 5)
    for row, column in (divmod(int(a), picture.shape[1]) for a in (smooth_image.argmin(), depth.argmax())):
        yield column + 0.5, row + 0.5


def test_one_click_of_the_wand_selects_a_real_blowhole(shared_data):
    found = [[], []]
    for picture, defect in blowholes(shared_data):
        for scores, point in zip(found, clicks(picture, defect)):
            tolerance = suggest_tolerance(picture, point)
            scores.append(iou(magic_wand(picture, point, tolerance, smoothing=1.5, fill=True), defect))
    darkest, innermost = map(np.array, found)
    assert len(darkest) > 20
    assert (darkest >= 0.6).mean() > 0.9 and np.median(darkest) > 0.75
    assert (innermost >= 0.6).mean() > 0.8 and np.median(innermost) > 0.7


def test_one_click_of_the_threshold_brush_selects_a_real_blowhole(shared_data):
    found = []
    for picture, defect in blowholes(shared_data):
        point = next(clicks(picture, defect))
        rows, columns = np.nonzero(defect)
        middle = columns.mean() + 0.5, rows.mean() + 0.5
        radius = np.hypot(columns + 0.5 - middle[0], rows + 0.5 - middle[1]).max() + 2
        taken = select_band(picture, point, middle, radius, tone_band_at(picture, point))
        found.append(iou(fill_holes(smooth(taken, 1.5, picture.shape)), defect))
    assert (np.array(found) >= 0.6).mean() > 0.85


def test_a_selection_is_painted_as_a_region():
    picture = np.full((30, 30), 200, np.uint8)
    picture[5:9, 7:20] = 20
    selection = magic_wand(picture, (10, 6), 5)
    mask = np.zeros(picture.shape, np.uint8)
    assert draw_region(mask, selection.inside, selection.corner, Paint(4)) == selection.rect == Rect(7, 5, 13, 4)
    np.testing.assert_array_equal(mask == 4, picture == 20)
