"""Incremental PNG: equal to the mask for two other decoders after any edits; only changed bands are encoded."""

from __future__ import annotations

import io
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation, incremental_png
from workbench.core.project.incremental_png import IncrementalPng
from workbench.core.project.project import ClassInfo

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
    monkeypatch.setattr(incremental_png, "BAND", 500)


edits = st.lists(
    st.tuples(
        st.integers(-20, 110), st.integers(-20, 130), st.integers(0, 60), st.integers(0, 60), st.integers(0, 255)
    ),
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 97), st.integers(1, 120), st.lists(edits, max_size=5), st.integers(20, 3000))
def test_file_equals_mask_after_any_edits(width, height, rounds, band):
    before, incremental_png.BAND = incremental_png.BAND, band
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
        incremental_png.BAND = before


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
    encode_band = incremental_png.encode_band
    monkeypatch.setattr(incremental_png, "encode_band", lambda part: rows.append(len(part)) or encode_band(part))
    data = png.encode(mask, dirty)
    monkeypatch.setattr(incremental_png, "encode_band", encode_band)
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
    encode_band, calls = incremental_png.encode_band, []

    def failing(rows):
        calls.append(rows)
        if len(calls) == 3:
            raise MemoryError
        return encode_band(rows)

    monkeypatch.setattr(incremental_png, "encode_band", failing)
    with pytest.raises(MemoryError):
        png.encode(mask, [Rect(0, 0, 50, 90)])
    monkeypatch.setattr(incremental_png, "encode_band", encode_band)
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
    combined = incremental_png.combine_adler32(zlib.adler32(first), zlib.adler32(second), len(second))
    assert combined == zlib.adler32(first + second)
