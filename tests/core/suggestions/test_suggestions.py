"""Suggestions from predicted regions, and their files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.core.geometry.drawing import Rect
from workbench.core.problems import ProjectReadOnly, SuggestionsBroken
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.project import DONT_CARE, ClassInfo, Project
from workbench.core.suggestions.suggestion_files import (
    load_stored,
    save_stored,
    suggestions_path,
    without_decided,
    write_stored,
)
from workbench.core.suggestions.suggestions import class_table, first_match, in_box, merged, open_ones, suggest_regions
from workbench.inference.regions import find_regions

DARK, BRIGHT = 3, 7
SAME = {DARK: DARK, BRIGHT: BRIGHT}


def predicted(rng, height=120, width=160):
    """Return a mask of blobs, some inside holes of others, with scores, and its regions."""
    mask = np.zeros((height, width), np.uint8)
    rows, columns = np.ogrid[:height, :width]
    for _ in range(12):
        y, x, r = rng.integers(0, height), rng.integers(0, width), rng.integers(2, 14)
        away = (rows - y) ** 2 + (columns - x) ** 2
        mask[away <= r * r] = rng.choice([DARK, BRIGHT])
        mask[away <= (r // 2) ** 2] = rng.choice([0, DARK, BRIGHT])
    scores = rng.integers(120, 256, mask.shape, np.uint8)
    return mask, find_regions(mask, scores, gray_settings())


@pytest.mark.parametrize("seed", range(5))
def test_suggestions_equal_the_predicted_regions(seed):
    """Painted one after another they give the predicted mask, and no pixel is painted twice."""
    mask, regions = predicted(np.random.default_rng(seed))
    found = suggest_regions(mask, regions, SAME, "r").suggestions
    assert len(found) == len(regions) and suggest_regions(mask, regions, SAME, "r").left_out == 0
    painted = np.zeros_like(mask)
    for one in found:
        view = painted[one.selection.rect.slices]
        assert not view[one.selection.inside].any()  # no pixel belongs to two
        view[one.selection.inside] = one.class_id
        assert one.area == one.origin.area and not one.edited
    assert np.array_equal(painted, mask)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_ring_and_a_region_inside_are_separate():
    mask = np.zeros((40, 40), np.uint8)
    mask[5:30, 5:30] = DARK
    mask[8:27, 8:27] = 0
    mask[15:18, 15:18] = DARK
    regions = find_regions(mask, mask * 10, gray_settings())
    ring, dot = sorted(suggest_regions(mask, regions, SAME, "r").suggestions, key=lambda one: -one.area)
    assert not ring.selection.inside[10:13, 10:13].any() and ring.area == 25 * 25 - 19 * 19
    assert dot.area == 9 and first_match([ring], dot.origin) is None


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (4, 4), (1, 3)])
def test_boxes_of_any_shape(shape):
    mask = np.zeros((9, 9), np.uint8)
    mask[2 : 2 + shape[0], 3 : 3 + shape[1]] = BRIGHT
    regions = find_regions(mask, mask * 10, gray_settings())
    (one,) = suggest_regions(mask, regions, SAME, "r").suggestions
    assert one.selection.inside.shape == shape and one.area == shape[0] * shape[1]
    assert open_ones([one], mask, []) == [] and open_ones([one], mask * 0, []) == [one]
    assert in_box([one], Rect(0, 0, 9, 9)) == [one]


def test_classes_are_matched_by_id_in_the_project_of_the_run_and_by_name_in_others():
    _, regions = predicted(np.random.default_rng(1))
    classes = [ClassInfo(id=3, name="亮点", color="#112233"), ClassInfo(id=9, name="other", color="#112233")]
    assert class_table(classes, regions, own=True) == {3: 3}
    assert class_table(classes, regions, own=False) == {7: 3}


def test_labeled_regions_are_not_suggested():
    mask = np.zeros((50, 80), np.uint8)
    mask[10:20, 10:30], mask[30:40, 10:30], mask[10:20, 50:70] = DARK, DARK, BRIGHT
    regions = find_regions(mask, np.full_like(mask, 200), gray_settings())
    proposals = suggest_regions(mask, regions, SAME, "r").suggestions

    def left(labels, **options):
        return sorted((one.origin.x, one.origin.y) for one in open_ones(proposals, labels, [], **options))

    every = [(10, 10), (10, 30), (50, 10)]
    assert left(None) == left(np.zeros_like(mask)) == every
    labels = np.zeros_like(mask)
    labels[10:20, 10:20] = DARK  # exactly half of the region is labeled
    assert left(labels) == [(10, 30), (50, 10)]
    labels[10:20, 19] = 0  # a column less
    assert left(labels) == every
    labels[10:20, 10:30] = BRIGHT  # labels of another class do not count
    assert left(labels) == every
    labels[30:40, 10:30] = DONT_CARE
    assert left(labels) == [(10, 10), (50, 10)]
    explicit = np.full_like(mask, 255)
    explicit[10:20, 50:70] = 0
    assert left(explicit) == every and left(explicit, painted_only=True) == [(10, 10), (10, 30)]
    assert left(np.zeros((5, 5), np.uint8)) == []  # labels of another image


def test_decisions_apply_to_their_model_and_to_similar_regions():
    mask = np.zeros((50, 80), np.uint8)
    mask[10:20, 10:30], mask[30:40, 10:30] = DARK, DARK
    regions = find_regions(mask, np.full_like(mask, 200), gray_settings())
    first, second = suggest_regions(mask, regions, SAME, "r").suggestions
    no = first.origin
    assert open_ones([first, second], None, [no]) == [second]
    assert open_ones([first, second], None, [no.model_copy(update={"model": "another"})]) == [first, second]
    grown = first.origin.model_copy(update={"x": 9, "width": 22, "area": 220})
    assert open_ones([first], None, [grown]) == []
    for other in ({"class_id": BRIGHT}, {"area": 90}, {"x": 22}, {"width": 60}):
        assert open_ones([first], None, [no.model_copy(update=other)]) == [first]


def test_a_box_selects_regions_that_are_mostly_inside():
    mask = np.zeros((50, 80), np.uint8)
    mask[10:20, 10:30], mask[30:40, 10:30] = DARK, BRIGHT
    regions = find_regions(mask, np.full_like(mask, 200), gray_settings())
    dark, bright = sorted(suggest_regions(mask, regions, SAME, "r").suggestions, key=lambda one: one.class_id)
    assert in_box([dark, bright], Rect(0, 0, 21, 50)) == [dark, bright]
    assert in_box([dark, bright], Rect(0, 0, 20, 50)) == []  # exactly half is not enough
    assert in_box([dark, bright], Rect(0, 25, 80, 25)) == [bright]


def test_equal_regions_of_two_models_are_suggested_once():
    mask = np.zeros((50, 80), np.uint8)
    mask[10:20, 10:30], mask[30:40, 10:30] = DARK, DARK
    regions = find_regions(mask, np.full_like(mask, 200), gray_settings())
    old, new = (suggest_regions(mask, regions, SAME, name).suggestions for name in ("old", "new"))
    assert merged(new[:1], old) == [new[0], old[1]] and merged([], old) == list(old)


def test_stored_suggestions_survive_a_round_trip(project):
    rng = np.random.default_rng(4)
    mask, regions = predicted(rng)
    proposals = suggest_regions(mask, regions, SAME, "20260101-unet").suggestions
    key = "lot 1/图片 [2].png"
    save_stored(project, key, proposals, model="20260101-unet", fingerprint="f", size=(160, 120))
    stored, back = load_stored(project, key)
    assert (stored.model, stored.fingerprint, stored.width, stored.height) == ("20260101-unet", "f", 160, 120)
    assert [one.origin for one in back] == [one.origin for one in proposals]
    assert all(np.array_equal(a.selection.inside, b.selection.inside) for a, b in zip(back, proposals))
    assert suggestions_path(project, key) == project.root / "proposals" / "lot 1" / "图片 [2].png.json"
    write_stored(project, key, without_decided(stored, back, back[2:]))
    assert [one.origin for one in load_stored(project, key)[1]] == [one.origin for one in proposals[2:]]
    assert load_stored(project, "never.png") is None
    with Project.open(project.root, write=False) as reader, pytest.raises(ProjectReadOnly):
        save_stored(reader, key, proposals, model="r", fingerprint="", size=(160, 120))


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"width": 8},
        {"regions": 5},
        {"model": None},
        *(
            {
                "regions": [
                    {"class_id": 1, "x": 1, "y": 1, "width": 4, "height": 4, "score": 0.5, "pixels": "AAAA", **bad}
                ]
            }
            for bad in (
                {"pixels": ""},
                {"pixels": "€"},
                {"pixels": "eJwDAAAAAAE="},
                {"width": 10**9},
                {"x": -1},
                {"score": 2},
                {"class_id": 255},
            )
        ),
    ],
)
def test_a_broken_file_is_reported(project, change):
    mask, regions = predicted(np.random.default_rng(0))
    proposals = suggest_regions(mask, regions, SAME, "r").suggestions
    save_stored(project, "a.png", proposals, model="r", fingerprint="", size=(160, 120))
    path = suggestions_path(project, "a.png")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(SuggestionsBroken):
        load_stored(project, "a.png")
    path.write_bytes(b"\xff{")
    with pytest.raises(SuggestionsBroken):
        load_stored(project, "a.png")


def test_a_decompression_bomb_is_not_unpacked(project):
    import base64
    import zlib

    save_stored(project, "a.png", [], model="r", fingerprint="", size=(160, 120))
    path = suggestions_path(project, "a.png")
    pixels = base64.b64encode(zlib.compress(bytes(50 << 20), 9)).decode()
    region = {"class_id": 1, "x": 0, "y": 0, "width": 160, "height": 120, "score": 0.5, "pixels": pixels}
    path.write_text(json.dumps({**json.loads(path.read_text()), "regions": [region]}))
    with pytest.raises(SuggestionsBroken, match="fill its bounding box"):
        load_stored(project, "a.png")


def test_decisions_are_stored_in_the_note(project):
    from workbench.core.project import annotation

    one = SuggestionDecision(what="rejected", model="r", class_id=1, x=1, y=2, width=3, height=4, area=5)
    note = annotation.Note(decided=[one])
    note.add("accept proposal", "run r: scratch 0.93")
    note.add("accept proposal", "run r: scratch 0.93")
    note.add("accept proposal", "run r: scratch 0.91")
    annotation.save_note(project, "a.png", note)
    back = annotation.load_note(project, "a.png")
    assert back.decided == [one]
    assert [act.detail for act in back.history] == ["run r: scratch 0.93", "run r: scratch 0.91"]
