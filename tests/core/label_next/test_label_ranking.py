"""Label queue: uncertainty of regions, similarity of images, order with reasons, and the image scan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import fill_project, scratched
from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, spotted, write_onnx
from workbench.core.geometry.drawing import Rect
from workbench.core.images.image_files import read
from workbench.core.label_next import label_ranking
from workbench.core.label_next.image_features import (
    DESCRIPTOR_SIZE,
    SALIENCE_SIZE,
    ImageScanner,
    describe,
    saliency_features,
    spread_keys,
)
from workbench.core.label_next.label_issues import (
    LabelIssue,
    RegionCertainty,
    certain_share,
    image_uncertainty,
    region_certainties,
    uncertain_regions,
)
from workbench.core.label_next.label_ranking import Candidate, LabeledImage, rank
from workbench.core.messages import Message
from workbench.core.project.grouping import groups_by_name
from workbench.core.project.project import Grouping
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import save_settings

BOX = Rect(0, 0, 9, 9)


def planes(*shapes: tuple[int, Rect, int]) -> np.ndarray:
    """Return scores of two classes, given as (index of the class, rectangle, 255 times the probability)."""
    scores = np.zeros((2, 60, 80), np.uint8)
    for place, rect, score in shapes:
        scores[place][rect.slices] = score
    return scores


# --- uncertainty ------------------------------------------------------------------------------------------


def test_a_region_near_its_threshold_is_uncertain():
    settings = gray_settings(thresholds=(0.5, 0.9))
    at, clear, faint = Rect(5, 5, 9, 9), Rect(30, 5, 9, 9), Rect(55, 5, 9, 9)
    certainties = region_certainties(planes((0, at, 128), (0, clear, 252), (1, faint, 20)), settings)
    assert [(each.rect, each.class_id) for each in certainties] == [(at, 3), (clear, 3)]  # 20 of 255 is background
    assert certainties[0].uncertainty == pytest.approx(0.5, abs=0.01) and certainties[1].uncertainty < 0.02
    # A probability that is certain for a threshold of 0.5 is uncertain for one of 0.9.
    high = region_certainties(planes((1, at, round(0.9 * 255))), settings)
    assert high[0].class_id == 7 and high[0].uncertainty == pytest.approx(0.5, abs=0.02)


def test_uncertainty_between_two_classes_names_the_second_class():
    certainties = region_certainties(planes((0, BOX, 150), (1, BOX, 140)), gray_settings(thresholds=(0.5, 0.5)))
    assert len(certainties) == 1 and (certainties[0].class_id, certainties[0].rival) == (3, 7)
    assert certainties[0].uncertainty > 0.4


def test_uncertainty_of_a_region_does_not_depend_on_the_image_size():
    one = planes((0, BOX, 128))
    large = np.zeros((2, 600, 800), np.uint8)
    large[:, :60, :80] = one
    small, wide = (region_certainties(scores, gray_settings()) for scores in (one, large))
    assert small == wide and image_uncertainty(small) == image_uncertainty(wide) == pytest.approx(0.5, abs=0.01)
    two = region_certainties(planes((0, BOX, 128), (0, Rect(40, 30, 9, 9), 128)), gray_settings())
    assert len(uncertain_regions(two)) == 2 and image_uncertainty(two) > image_uncertainty(small)


def test_regions_below_half_the_minimum_area_are_ignored_and_offsets_are_added():
    settings = gray_settings(min_area=(200, 0))
    assert region_certainties(planes((0, BOX, 128)), settings) == []
    certainties = region_certainties(planes((0, Rect(3, 4, 11, 11), 128)), settings, corner=(4096, 100))
    assert certainties[0].rect == Rect(4099, 104, 11, 11) and certainties[0].area == 121


# --- similarity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gray", "colour", "sixteen", "float", "thin", "flat", "broken"])
def test_every_image_has_a_descriptor(kind):
    rng = np.random.default_rng(1)
    gray = spotted(rng)
    image = {
        "gray": gray,
        "colour": np.dstack([gray] * 3),
        "sixteen": gray.astype(np.uint16) * 257,
        "float": gray.astype(np.float32) / 255,
        "thin": gray[:1],
        "flat": np.full((40, 30), 7, np.uint8),
        "broken": np.where(gray > 128, np.nan, gray).astype(np.float32),
    }[kind]
    feature = describe(image)
    assert feature.shape == (DESCRIPTOR_SIZE,) and np.isfinite(feature).all()
    assert np.linalg.norm(feature) == pytest.approx(1, abs=1e-5)
    if kind in ("colour", "sixteen", "float"):
        assert feature @ describe(gray) > 0.98  # the same scene


def test_similar_images_have_a_smaller_distance():
    rng = np.random.default_rng(2)
    one = spotted(rng)
    again = np.clip(one + rng.normal(0, 4, one.shape), 0, 255).astype(np.uint8)
    other = np.tile(np.uint8([60, 200]), (150, 115))
    assert describe(one) @ describe(again) > 0.97 > 0.9 > describe(one) @ describe(other)


# --- order --------------------------------------------------------------------------------------


def directions(count: int, seed: int = 0) -> np.ndarray:
    found = np.abs(np.random.default_rng(seed).normal(size=(count, DESCRIPTOR_SIZE))).astype(np.float32) ** 3
    return found / np.linalg.norm(found, axis=1, keepdims=True)


NOTHING = LabeledImage(np.zeros((0, DESCRIPTOR_SIZE), np.float32), names={3: "dark", 7: "bright"})
MANY = LabeledImage(np.zeros((0, DESCRIPTOR_SIZE), np.float32), counts={3: 100, 7: 100}, names={3: "dark", 7: "bright"})
HALF = RegionCertainty(3, 0, 0.5, 0.5, BOX, 81)
CLEAR = RegionCertainty(7, 0, 0.99, 0.01, BOX, 81)


def test_detections_of_rare_classes_and_uncertain_ones_of_common_classes_come_first():
    features = directions(4)
    requests = [
        Candidate("sure", features[0], regions=()),
        Candidate("one", features[1], regions=(HALF,)),
        Candidate("three", features[2], regions=(HALF, HALF, HALF)),
        Candidate("found", features[3], regions=(CLEAR,)),
    ]
    rare, common = (rank(requests, labeled_project, 4) for labeled_project in (NOTHING, MANY))
    assert rare[0].key == "found"
    assert str(rare[0].reasons[0]) == "Possibly bright; only 0 images of it are labeled"
    assert [entry.key for entry in common] == ["three", "one", "found", "sure"]
    assert [str(entry.reasons[0]) for entry in common[:3]] == [
        "Unsure about 3 regions",
        "Unsure about 1 region",
        "Probably bright",
    ]
    for entries in (rare, common):
        assert [entry.value for entry in entries] == sorted((entry.value for entry in entries), reverse=True)


def test_a_single_salient_spot_comes_before_many_specks():
    features = directions(2)
    specks = tuple(RegionCertainty(7, 0, 0.95 - 0.1 * n, 0.05 + 0.1 * n, BOX, 81) for n in range(6))
    requests = [Candidate("specks", features[0], regions=specks), Candidate("clear", features[1], regions=(CLEAR,))]
    assert [entry.key for entry in rank(requests, NOTHING, 2)] == ["clear", "specks"]
    assert (
        certain_share(()) == 0
        and certain_share((HALF,)) == 0
        and certain_share((CLEAR,)) > 0.95 > certain_share(specks) > 0
    )


def spotted_with(*spots: tuple[int, int, int], seed: int = 0) -> np.ndarray:
    """Return a rough surface with discs, each given by radius, contrast in gray levels, and column."""
    rng = np.random.default_rng(seed)
    gray = cv2.GaussianBlur(rng.normal(0, 30, (160, 200)).astype(np.float32), (0, 0), 1.5) + 128
    for radius, level, x in spots:
        disc = np.zeros_like(gray)
        cv2.circle(disc, (x, 80), radius, 1.0, -1)
        gray += level * disc
    return gray.clip(0, 255).astype(np.uint8)


def test_a_spot_is_salient_at_its_own_scale_and_sign():
    plain, small, large = (
        saliency_features(spotted_with(*spots)) for spots in ((), ((3, -60, 100),), ((12, -60, 100),))
    )
    assert plain.shape == (SALIENCE_SIZE,) and plain.dtype == np.float32
    bright, dark = plain[::2], plain[1::2]
    assert np.argmax(small[1::2] - dark) < np.argmax(large[1::2] - dark)
    assert (small[1::2] - dark).max() > 4 * abs(small[::2] - bright).max()  # no bright spot occurs
    again = saliency_features(spotted_with((12, -60, 100)).astype(np.uint16) * 257)
    np.testing.assert_allclose(again, large, atol=0.02)


@pytest.mark.parametrize("kind", ["colour", "float", "thin", "point", "flat", "broken", "large"])
def test_every_image_has_a_salience(kind):
    gray = spotted_with((5, 70, 60))
    image = {
        "colour": np.dstack([gray] * 3),
        "float": gray.astype(np.float32) / 255,
        "thin": gray[:1],
        "point": gray[:1, :1],
        "flat": np.full((40, 30), 7, np.uint8),
        "large": cv2.resize(gray, (1600, 1280)),
        "broken": np.where(gray > 200, np.nan, gray).astype(np.float32),
    }[kind]
    found = saliency_features(image)
    assert found.shape == (SALIENCE_SIZE,) and np.isfinite(found).all()


def test_salience_like_that_of_labeled_defects_comes_first_with_a_reason():
    dark = [saliency_features(spotted_with((4, -50, 60 + n), seed=n)) for n in range(3)]
    good = [saliency_features(spotted_with(seed=10 + n)) for n in range(6)]
    bright = saliency_features(spotted_with((4, 50, 90), seed=30))
    features = directions(20)
    candidates = [
        Candidate(f"good {n}", features[n], salience=saliency_features(spotted_with(seed=40 + n))) for n in range(17)
    ]
    candidates += [
        Candidate("bright", features[17], salience=bright),
        Candidate("dark", features[18], salience=dark[2]),
    ]
    labeled_project = LabeledImage(features[19:], counts={3: 2}, names={3: "dark"}, defective=dark[:2], good=good)
    for certainties in (None, ()):  # without a model, and with one that finds nothing
        requests = [replace(each, regions=certainties) for each in candidates]
        first = rank(requests, labeled_project, 2)[0]
        assert first.key == "dark" and "Contains a spot similar to labeled defects" in map(str, first.reasons)
        for less in (
            replace(labeled_project, good=()),
            replace(labeled_project, defective=()),
        ):  # labels of one kind only give no information
            assert not any("Spot" in str(why) for entry in rank(requests, less, 19) for why in entry.reasons)


def test_ten_equal_images_do_not_fill_the_queue():
    features = directions(11)
    same = [Candidate(f"same {n}", features[0], regions=(HALF, HALF)) for n in range(10)]
    others = [
        Candidate(f"other {n}", features[n], regions=(RegionCertainty(3, 0, 0.3, 0.3, BOX, 81),)) for n in range(1, 11)
    ]
    first = [entry.key for entry in rank(same + others, NOTHING, 11)]
    assert first[0] == "same 0" and first[1:] == [key for key in first[1:] if key.startswith("other")]


def test_images_of_one_part_alternate_with_other_parts():
    features = directions(6)
    candidates = [
        Candidate(f"{part}{n}", features[2 * i + n], group=part, regions=(CLEAR,))
        for i, part in enumerate("abc")
        for n in range(2)
    ]
    entries = rank(candidates, NOTHING, 6)
    assert {entry.key[0] for entry in entries[:3]} == {"a", "b", "c"}


def test_queue_without_a_model_is_ordered_by_diversity():
    rng = np.random.default_rng(4)
    kinds = directions(3, seed=9)
    candidates = []
    for kind, count in enumerate((60, 25, 5)):
        for n in range(count):
            feature = kinds[kind] + rng.normal(0, 0.004, DESCRIPTOR_SIZE).astype(np.float32)
            candidates.append(Candidate(f"{kind} {n}", feature / np.linalg.norm(feature)))
    entries = rank(candidates, NOTHING, 3)
    assert [entry.key[0] for entry in entries] == ["0", "1", "2"]
    assert str(entries[0].reasons[0]) == "Representative of about 60 similar images"
    known = LabeledImage(kinds[:1])
    entries = rank(candidates, known, 2)
    assert [entry.key[0] for entry in entries] == ["1", "2"]


def test_image_unlike_all_labeled_ones_is_reported():
    features = directions(21)
    labeled_project = LabeledImage(features[:20])
    candidates = [Candidate(f"known {n}", features[n]) for n in range(20)] + [Candidate("new", features[20])]
    first = rank(candidates, labeled_project, 1)[0]
    assert first.key == "new" and str(first.reasons[0]) == "Unlike all labeled images"


def test_image_above_the_limit_of_the_unlike_score_comes_first():
    features = directions(3)
    candidates = [Candidate(f"{n}", features[n], regions=(), unlike=score) for n, score in enumerate((0.9, 1.75, 0.5))]
    first, second = rank(candidates, NOTHING, 2)
    assert first.key == "1" and str(first.reasons[0]) == "Unlike the training images: unlike score 1.8, limit 1"
    assert "Unlike" not in str(second.reasons[0])


def test_a_contradiction_comes_before_uncertainty():
    issue = LabelIssue("missing", 3, 0, 0.97, BOX, 81)
    features = directions(2)
    entries = rank(
        [
            Candidate("doubt", features[0], regions=(HALF,)),
            Candidate("good", features[1], regions=(CLEAR,), issues=(issue,), started=True),
        ],
        NOTHING,
        2,
    )
    assert entries[0].key == "good" and str(entries[0].reasons[0]) == "dark predicted, labeled as good"


def test_verdicts_are_ranked_by_their_margin():
    features = directions(2)
    entries = rank(
        [
            Candidate("sure", features[0], probabilities={"OK": 0.98, "NG": 0.02}),
            Candidate("torn", features[1], probabilities={"OK": 0.52, "NG": 0.48}),
        ],
        NOTHING,
        2,
    )
    assert [entry.key for entry in entries] == ["torn", "sure"]
    assert str(entries[0].reasons[0]) == "Unsure whether OK or NG"
    scarce = LabeledImage(np.zeros((0, DESCRIPTOR_SIZE), np.float32), counts={"OK": 40, "NG": 1})
    entries = rank(
        [
            Candidate("torn", features[0], probabilities={"OK": 0.7, "NG": 0.3}),
            Candidate("bad", features[1], probabilities={"OK": 0.05, "NG": 0.95}),
        ],
        scarce,
        2,
    )
    assert [entry.key for entry in entries] == ["bad", "torn"]


def test_nothing_to_rank():
    assert rank([], NOTHING, 5) == [] and rank([Candidate("a", directions(1)[0])], NOTHING, 0) == []
    assert len(rank([Candidate("a", directions(1)[0], regions=())], NOTHING, 5)[0].reasons) == 1


def test_ten_thousand_images_are_ranked():
    features = directions(10_000)
    candidates = [Candidate(f"{n}", feature, group=f"{n // 7}") for n, feature in enumerate(features)]
    entries = rank(candidates, LabeledImage(features[:50]), 30)
    assert len({entry.key for entry in entries}) == 30


def test_reason_is_its_message():
    reason = label_ranking.RankReason("rare", {"name": "dent", "n": 2})
    assert str(reason) == Message("queue.rare", name="dent", n=2) == "Possibly dent; only 2 images of it are labeled"


# --- image scan -------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(), folder / "model.json")
    return folder


def scan(project, model, **options):
    surveyor = ImageScanner(project, model)
    try:
        return surveyor.scan(project.images(), **options)
    finally:
        surveyor.close()


def test_scan_is_limited_continues_and_is_cached(project, model):
    keys = fill_project(project, 9)
    received = []
    first = scan(project, model, most=4, progress=lambda done, total: received.append((done, total)))
    assert len(first.results) == 4 and first.requested == 9 and not first.complete and received[-1] == (4, 4)
    second = scan(project, model, most=20, progress=lambda done, total: received.append((done, total)))
    assert second.complete and set(second.results) == set(keys) and received[-1] == (5, 5)
    again = scan(project, model, most=0)
    assert again.complete
    for key in keys:
        assert again.results[key].prediction == second.results[key].prediction
        assert np.allclose(again.results[key].feature, second.results[key].feature, atol=1e-3)
    write_png(project.image_path(keys[2]), scratched(np.random.default_rng(9))[0])
    assert set(keys) - set(scan(project, model, most=0).results) == {keys[2]}  # the image was replaced
    write_onnx(model / "network.onnx", GRAY_WEIGHTS * 2, GRAY_BIAS)
    assert not scan(project, model, most=0).results  # another model
    assert len(scan(project, None, most=0).results) == 8  # features that need no model are still cached


def test_scan_can_be_cancelled_and_skips_broken_images(project, model):
    keys = fill_project(project, 6)
    project.image_path(keys[1]).write_bytes(b"?")
    found = scan(project, model)
    assert found.complete and found.skipped == 1 and keys[1] not in found.results
    (project.root / ".cache" / "looks.sqlite").write_bytes(b"no database")
    calls = iter([False, False] + [True] * 100)
    stopped = scan(project, model, cancelled=lambda: next(calls))
    assert len(stopped.results) < 3 and not stopped.complete


def test_a_large_image_is_examined_in_parts(project, model, monkeypatch):
    import workbench.core.label_next.image_features as module

    image = np.full((100, 230), 128, np.uint8)
    image[10:20, 10:20] = image[60:70, 200:215] = 10
    write_png(project.image_path("large.png"), image)
    whole = scan(project, model).results["large.png"].prediction
    monkeypatch.setattr(module, "PART_SIDE", 96)
    (project.root / ".cache" / "looks.sqlite").unlink()
    inparts = scan(project, model).results["large.png"].prediction
    assert {(each.rect, each.class_id) for each in inparts.regions} == {
        (each.rect, each.class_id) for each in whole.regions
    }
    assert len(whole.regions) == 2 and read(project.image_path("large.png")).shape == (100, 230)


def test_scan_starts_with_evenly_spread_images():
    keys = [str(n) for n in range(1000)]
    order = spread_keys(keys)
    assert sorted(order, key=int) == keys
    places = sorted(int(key) for key in order[:100])
    assert (
        max(b - a for a, b in zip(places, places[1:])) <= 16 and spread_keys(["a"]) == ["a"] and spread_keys([]) == []
    )


def test_groups_come_from_notes_patterns_and_numbers():
    keys = [f"lot{n // 10}/p{n * 100 + m}.png" for n in range(20) for m in range(3)]
    auto = groups_by_name(keys, Grouping(), {keys[0]: "mine"})
    assert auto[keys[0]] == "mine" and auto[keys[1]] == auto[keys[2]] != auto[keys[30]]
    assert groups_by_name(keys, Grouping(rule="folder"), {})[keys[4]] == "lot0"
    assert groups_by_name(keys, Grouping(rule="pattern", pattern=r"lot(\d)"), {})[keys[-1]] == "1"
    assert groups_by_name(keys, Grouping(rule="each"), {})[keys[7]] == keys[7]
