"""Undo, redo and going back are exact to the pixel, small, and know a picture's own steps from another's."""

from __future__ import annotations

import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.geometry.drawing import Paint, Rect, draw_segment, segment_rect
from workbench.core.geometry.polygons import draw_polygon, polygon_rect
from workbench.core.project.history import TILE, History, StepRecording
from workbench.session.journal import decode_records, encode_record

coordinate = st.floats(-40, 200)


def stroke(mask, x, y, radius, id, key="a"):
    """One recorded stroke; its patch, or None."""
    recording = StepRecording(key, "paint", mask)
    recording.touch(segment_rect((x, y), (x + 20, y), radius, mask.shape))
    draw_segment(mask, (x, y), (x + 20, y), radius, Paint(id))
    return recording.finish()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(coordinate, coordinate, st.floats(0.5, 150), st.integers(0, 3)), min_size=1, max_size=12),
    st.booleans(),
)
def test_undo_and_redo_are_exact(strokes, noisy):
    mask = np.zeros((150, 170), np.uint8)
    if noisy:
        mask[...] = np.random.default_rng(0).integers(0, 4, mask.shape)
    history, states = History(), [mask.copy()]
    for x, y, radius, id in strokes:
        patch = stroke(mask, x, y, radius, id)
        if patch is not None:
            history.add(patch)
            states.append(mask.copy())
    for state in states[-2::-1]:
        history.undo(mask)
        assert np.array_equal(mask, state)
    for state in states[1:]:
        history.redo(mask)
        assert np.array_equal(mask, state)
    assert history.next_redo is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate, st.floats(0.5, 150), st.integers(0, 3)), min_size=1, max_size=5))
def test_a_patch_says_what_changed_and_its_inverse_takes_it_back(strokes):
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
    told = np.zeros(mask.shape, bool)
    for rect in patch.rects:
        told[rect.slices] = True
    around = np.zeros(mask.shape, bool)
    for band in patch.bands:
        around[band.slices] = True
    assert around[told].all() and len(patch.bands) <= len(patch.rects)
    assert told[before != after].all() and told[patch.rect.slices].sum() == told.sum()
    for side, state in enumerate((before, after)):
        for rect, content in patch.contents(side):
            assert (state[rect.slices] == content).all()
    patch.inverse().apply(mask)
    assert np.array_equal(mask, before)
    patch.inverse().inverse().apply(mask)
    assert np.array_equal(mask, after)
    assert [found for found, _ in decode_records(encode_record(patch, (170, 150)))] == [patch]


def test_a_cancelled_stroke_leaves_no_trace():
    mask = np.zeros((100, 100), np.uint8)
    recording = StepRecording("a", "paint", mask)
    recording.touch(polygon_rect([(0, 0), (90, 0), (0, 90)], mask.shape))
    draw_polygon(mask, [(0, 0), (90, 0), (0, 90)], Paint(1))
    assert recording.cancel() == Rect(0, 0, 100, 100)
    assert not mask.any() and recording.finish() is None


def test_a_change_of_everything_is_kept_as_a_few_numbers():
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


def test_history_is_bounded_by_bytes():
    mask = np.zeros((640, 640), np.uint8)
    history = History(limit=20_000)
    rng = np.random.default_rng(0)
    for _ in range(200):
        recording = StepRecording("a", "noise", mask)
        recording.touch(Rect(0, 0, 64, 64))
        mask[:64, :64] = rng.integers(0, 255, (64, 64))
        history.add(recording.finish())
    steps = 0
    while history.next_undo:
        history.undo(mask)
        steps += 1
    assert 1 <= steps < 10


def test_a_thousand_strokes_on_8k_fit_in_five_megabytes():
    mask = np.zeros((8192, 8192), np.uint8)
    rng = np.random.default_rng(0)
    history, patches = History(), []
    for _ in range(1000):
        recording = StepRecording("a", "paint", mask)
        point, radius = rng.uniform(0, 8192, 2), rng.uniform(3, 40)
        for _ in range(rng.integers(6, 18)):
            following = point + rng.normal(0, 35, 2)
            recording.touch(segment_rect(tuple(point), tuple(following), radius, mask.shape))
            draw_segment(mask, tuple(point), tuple(following), radius, Paint(int(rng.integers(1, 4))))
            point = following
        patch = recording.finish()
        if patch:
            history.add(patch)
            patches.append(patch)
    assert sum(patch.nbytes for patch in patches) <= 5_000_000
    held = sum(sys.getsizeof(part) for patch in patches for part in (patch, patch.__dict__, *vars(patch).values()))
    assert held <= 5_000_000
    final = zlib.crc32(mask)
    while history.next_undo:
        history.undo(mask)
    assert not mask.any()
    while history.next_redo:
        history.redo(mask)
    assert zlib.crc32(mask) == final


def test_every_step_of_a_picture_can_be_gone_to_and_the_other_pictures_stay():
    rng = np.random.default_rng(5)
    masks = {"a": np.zeros((150, 170), np.uint8), "b": np.zeros((90, 80), np.uint8)}
    history, stood = History(), {}
    for number in range(30):
        key = "ab"[number % 2]
        patch = stroke(masks[key], *rng.uniform(-10, 160, 2), rng.uniform(2, 60), 1 + number % 3, key)
        if patch is not None:
            history.add(patch)
            stood[id(patch)] = masks[key].copy()
    for _ in range(7):
        history.undo(masks[history.next_undo.key])
    now = {key: mask.copy() for key, mask in masks.items()}
    done, undone = history.steps("a")
    assert len(done) > 5 and len(undone) >= 3 and {patch.key for patch in done + undone} == {"a"}
    for step in [None, *done, *undone]:
        mask = now["a"].copy()
        for patch in history.route("a", step):
            patch.apply(mask)
        assert np.array_equal(mask, stood[id(step)] if step else np.zeros_like(mask))
    assert history.route("a", done[-1]) == []
    stranger = history.steps("b")[0][0]
    assert history.route("a", stranger) == []


def test_history_forgets_one_picture_only():
    history, mask = History(), np.zeros((150, 170), np.uint8)
    for number, key in enumerate("aab"):
        history.add(stroke(mask, 30 * number, 50, 9, number + 1, key))
    history.forget("b")
    assert history.next_undo.key == "a"
    history.forget("a")
    assert history.next_undo is None and history.next_redo is None


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
def test_areas_from_a_file_are_checked(spoil):
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
