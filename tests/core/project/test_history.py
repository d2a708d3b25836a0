"""Patches: exact to the pixel, small, and checked when read from a file."""

from __future__ import annotations

import io
import sys
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from workbench.core.geometry.drawing import Paint, Rect, draw_polygon, draw_segment, polygon_rect, segment_rect
from workbench.core.project import annotation
from workbench.core.project.history import TILE, StepRecording
from workbench.core.project.project import ClassInfo
from workbench.session import label
from workbench.session.journal import decode_records, encode_record
from workbench.session.label import IncrementalPng

coordinate = st.floats(-40, 200)


def stroke(mask, x, y, radius, id, key="a"):
    """Record one stroke. Return its patch, None without a change."""
    recording = StepRecording(key, "paint", mask)
    recording.touch(segment_rect((x, y), (x + 20, y), radius, mask.shape))
    draw_segment(mask, (x, y), (x + 20, y), radius, Paint(id))
    return recording.finish()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(coordinate, coordinate, st.floats(0.5, 150), st.integers(0, 3)), min_size=1, max_size=12),
    st.booleans(),
)
def test_revert_and_apply_restore_mask(strokes, noisy):
    mask = np.zeros((150, 170), np.uint8)
    if noisy:
        mask[...] = np.random.default_rng(0).integers(0, 4, mask.shape)
    patches, states = [], [mask.copy()]
    for x, y, radius, id in strokes:
        patch = stroke(mask, x, y, radius, id)
        if patch is not None:
            patches.append(patch)
            states.append(mask.copy())
    for patch, state in zip(reversed(patches), states[-2::-1]):
        patch.revert(mask)
        assert np.array_equal(mask, state)
    for patch, state in zip(patches, states[1:]):
        patch.apply(mask)
        assert np.array_equal(mask, state)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate, st.floats(0.5, 150), st.integers(0, 3)), min_size=1, max_size=5))
def test_patch_covers_the_changes_and_its_inverse_reverts_them(strokes):
    mask = np.random.default_rng(1).integers(0, 2, (150, 170)).astype(np.uint8)
    mask[:, :100] = 3
    before = mask.copy()
    recording = StepRecording("a", "paint", mask)
    for x, y, radius, id in strokes:
        recording.touch(segment_rect((x, y), (x + 20, y), radius, mask.shape))
        draw_segment(mask, (x, y), (x + 20, y), radius, Paint(id))
    patch, after = recording.finish(), mask.copy()
    if patch is None:
        assert np.array_equal(before, after)
        return
    covered = np.zeros(mask.shape, bool)
    for rect in patch.rects:
        covered[rect.slices] = True
    bands = np.zeros(mask.shape, bool)
    for band in patch.bands:
        bands[band.slices] = True
    assert bands[covered].all() and len(patch.bands) <= len(patch.rects)
    assert covered[before != after].all() and covered[patch.rect.slices].sum() == covered.sum()
    for side, state in enumerate((before, after)):
        for rect, content in patch.contents(side):
            assert (state[rect.slices] == content).all()
    patch.inverse().apply(mask)
    assert np.array_equal(mask, before)
    patch.inverse().inverse().apply(mask)
    assert np.array_equal(mask, after)
    assert [decoded for decoded, _ in decode_records(encode_record(patch, (170, 150)))] == [patch]


def test_cancel_restores_mask():
    mask = np.zeros((100, 100), np.uint8)
    recording = StepRecording("a", "paint", mask)
    recording.touch(polygon_rect([(0, 0), (90, 0), (0, 90)], mask.shape))
    draw_polygon(mask, [(0, 0), (90, 0), (0, 90)], Paint(1))
    assert recording.cancel() == Rect(0, 0, 100, 100)
    assert not mask.any() and recording.finish() is None


def test_patch_of_whole_mask_is_small():
    mask = np.zeros((2000, 3001), np.uint8)
    mask[500:520, 700:900] = 5
    before = mask.copy()
    recording = StepRecording("a", "all", mask)
    recording.touch(Rect(0, 0, 3001, 2000))
    mask[mask == 0] = 255
    patch = recording.finish()
    assert len(patch.rects) < 3 * (2000 // TILE + 1) and patch.nbytes < 10_000
    patch.revert(mask)
    assert np.array_equal(mask, before)


@pytest.mark.parametrize(
    ("side", "count", "most"), [(2048, 200, 1_000_000), pytest.param(8192, 1000, 5_000_000, marks=pytest.mark.slow)]
)
def test_many_patches_of_a_large_mask_need_little_memory(side, count, most):
    mask = np.zeros((side, side), np.uint8)
    rng = np.random.default_rng(0)
    patches = []
    for _ in range(count):
        recording = StepRecording("a", "paint", mask)
        point, radius = rng.uniform(0, side, 2), rng.uniform(3, 40)
        for _ in range(rng.integers(6, 18)):
            following = point + rng.normal(0, 35, 2)
            recording.touch(segment_rect(tuple(point), tuple(following), radius, mask.shape))
            draw_segment(mask, tuple(point), tuple(following), radius, Paint(int(rng.integers(1, 4))))
            point = following
        patch = recording.finish()
        if patch:
            patches.append(patch)
    assert sum(patch.nbytes for patch in patches) <= most
    held = sum(sys.getsizeof(part) for patch in patches for part in (patch, patch.__dict__, *vars(patch).values()))
    assert held <= most
    final = zlib.crc32(mask)
    for patch in reversed(patches):
        patch.revert(mask)
    assert not mask.any()
    for patch in patches:
        patch.apply(mask)
    assert zlib.crc32(mask) == final


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[:, 0].__iadd__(170),
        lambda rows: rows[:, 1].__isub__(1),
        lambda rows: rows[:, 2].__imul__(0),
        lambda rows: rows[:, 3].__iadd__(2**20),
        lambda rows: rows[:, 2].__iadd__(2**31 - 100),
        lambda rows: rows[:, 4].__imul__(300),
        lambda rows: rows[:, 5].__isub__(5),
        lambda rows: rows[:, 2:4].__isub__(1),
    ],
)
def test_check_rejects_invalid_areas(spoil):
    mask = np.zeros((150, 170), np.uint8)
    mask[:64, :64] = 7
    patch = stroke(mask, 0, 50, 40, 1)
    patch.check((170, 150))
    rows = patch.rows.copy()
    spoil(rows)
    spoiled = type(patch)(patch.key, patch.what, rows.tobytes(), patch.before, patch.after)
    with pytest.raises(ValueError, match="area"):
        spoiled.check((170, 150))
    for cut in (
        type(patch)(patch.key, patch.what, patch.areas[:-1], patch.before, patch.after),
        type(patch)(patch.key, patch.what, patch.areas, patch.before, b""),
        type(patch)(patch.key, patch.what, patch.areas, patch.before, b"X" + patch.after[1:]),
        type(patch)(patch.key, patch.what, patch.areas, patch.before, b"R" + zlib.compress(b"\1\xff\xff\xff\xff")),
        type(patch)(patch.key, patch.what, patch.areas, b"P" + zlib.compress(bytes(10**6)), patch.after),
    ):
        with pytest.raises(ValueError, match="area"):
            cut.check((170, 150))


CLASSES = [ClassInfo(id=1, name="scratch", color="#ff0000"), ClassInfo(id=7, name="pit", color="#0080ff")]


def by_pillow(data):
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "P"
        image.load()
        return np.array(image), image.getpalette("RGB")


def by_opencv(data):
    """Return RGB colors, as OpenCV decodes no palette indices."""
    return cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def check(data, mask):
    indices, palette = by_pillow(data)
    np.testing.assert_array_equal(indices, mask)
    np.testing.assert_array_equal(by_opencv(data), np.array(palette, np.uint8).reshape(-1, 3)[mask])


@pytest.fixture
def small_bands(monkeypatch):
    monkeypatch.setattr(label, "BAND", 500)


edits = st.lists(
    st.tuples(
        st.integers(-20, 110), st.integers(-20, 130), st.integers(0, 60), st.integers(0, 60), st.integers(0, 255)
    ),
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 97), st.integers(1, 120), st.lists(edits, max_size=5), st.integers(20, 3000))
def test_file_equals_mask_after_any_edits(width, height, rounds, band):
    before, label.BAND = label.BAND, band
    try:
        mask = np.random.default_rng(width).integers(0, 3, (height, width)).astype(np.uint8)
        png = IncrementalPng(CLASSES)
        check(png.encode(mask), mask)
        for changes in rounds:
            dirty = []
            for x, y, w, h, id in changes:
                rect = Rect(x, y, w, h)
                mask[rect.clipped(width, height).slices] = id
                dirty.append(rect)
            data = png.encode(mask, dirty)
            check(data, mask)
            assert data == IncrementalPng(CLASSES).encode(mask)
            assert png.foreground_counts() == annotation.foreground_counts(mask)
    finally:
        label.BAND = before


def test_file_equals_plain_encoder(tmp_path):
    mask = np.random.default_rng(0).choice([0, 1, 7, 254, 255], (700, 900)).astype(np.uint8)
    plain, banded = annotation.encode_mask(mask, CLASSES), IncrementalPng(CLASSES).encode(mask)
    assert by_pillow(plain)[1] == by_pillow(banded)[1]
    np.testing.assert_array_equal(by_opencv(plain), by_opencv(banded))
    path = tmp_path / "mask.png"
    path.write_bytes(banded)
    np.testing.assert_array_equal(annotation.read_mask(path), mask)


def packed_rows(png, mask, dirty, monkeypatch):
    """Numbers of rows that are encoded, by call."""
    rows = []
    encode_band = label.encode_band
    monkeypatch.setattr(label, "encode_band", lambda part: rows.append(len(part)) or encode_band(part))
    data = png.encode(mask, dirty)
    monkeypatch.setattr(label, "encode_band", encode_band)
    check(data, mask)
    return sum(rows)


def test_only_changed_bands_are_encoded(monkeypatch):
    mask = np.zeros((1500, 2000), np.uint8)
    png = IncrementalPng(CLASSES)
    assert packed_rows(png, mask, None, monkeypatch) == 1500
    assert packed_rows(png, mask, [], monkeypatch) == 0
    mask[700:710, 100:120] = 7
    assert 0 < packed_rows(png, mask, [Rect(100, 700, 20, 10)], monkeypatch) <= 2 * 131
    assert packed_rows(png, mask, [Rect(-50, -50, 20, 20), Rect(2000, 5, 9, 9)], monkeypatch) == 0
    assert packed_rows(png, mask[:1000], [], monkeypatch) == 1000  # all bands, since the shape differs
    png.classes = [ClassInfo(id=7, name="pit", color="#00ff00")]
    recoloured = png.encode(mask[:1000], [])
    assert by_pillow(recoloured)[1][21:24] == [0, 255, 0]


def test_remaining_bands_are_encoded_after_error(monkeypatch, small_bands):
    mask = np.zeros((90, 50), np.uint8)
    png = IncrementalPng(CLASSES)
    png.encode(mask)
    mask[:] = 1
    encode_band, calls = label.encode_band, []

    def failing(rows):
        calls.append(rows)
        if len(calls) == 3:
            raise MemoryError
        return encode_band(rows)

    monkeypatch.setattr(label, "encode_band", failing)
    with pytest.raises(MemoryError):
        png.encode(mask, [Rect(0, 0, 50, 90)])
    monkeypatch.setattr(label, "encode_band", encode_band)
    check(png.encode(mask, []), mask)


def test_file_requires_all_bands(small_bands):
    mask = np.random.default_rng(0).integers(0, 3, (60, 40)).astype(np.uint8)
    png = IncrementalPng(CLASSES)
    with pytest.raises(ValueError, match="encoded"):
        png.file()
    png.encode_changed(mask)
    check(png.file(), mask)
    mask[5:9] = 7
    png.invalidate([Rect(0, 5, 40, 4)])
    with pytest.raises(ValueError, match="encoded"):
        png.file()
    png.encode_changed(mask)
    check(png.file(), mask)


@pytest.mark.parametrize("shape", [(1, 1), (1, 20000), (20000, 1)])
def test_narrow_masks(shape, small_bands):
    mask = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    check(IncrementalPng(CLASSES).encode(mask), mask)


def test_mask_view(small_bands):
    mask = np.random.default_rng(0).integers(0, 256, (64, 80)).astype(np.uint8)[3:60, 5:70]
    check(IncrementalPng(CLASSES).encode(mask), mask)


@pytest.mark.parametrize(
    "mask", [np.zeros((4, 4), np.int32), np.zeros((4, 4, 3), np.uint8), np.zeros((0, 4), np.uint8)]
)
def test_invalid_masks_are_refused(mask):
    with pytest.raises(ValueError, match="uint8"):
        IncrementalPng(CLASSES).encode(mask)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=300))
def test_checksums_combine(first, second):
    combined = label.combine_adler32(zlib.adler32(first), zlib.adler32(second), len(second))
    assert combined == zlib.adler32(first + second)
