"""The sample project: reproducible, labeled exactly, and not solved by a threshold."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest

from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.dataset import collect
from workbench.core.sample_project import best_threshold_dice, make_sample
from workbench.core.synthetic_scene import KINDS, SyntheticScene, make_lot


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with make_sample(tmp_path_factory.mktemp("sample") / "small", small=True) as project:
        yield project


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    calls = []
    root = tmp_path_factory.mktemp("sample") / "whole"
    with make_sample(root, progress=lambda done, total: calls.append((done, total))) as project:
        assert calls[-1] == (321, 321)
        yield project


def pixels_of(project) -> str:
    digest = hashlib.sha256()
    for key in project.images():
        digest.update(key.encode() + read(project.image_path(key)).tobytes())
        mask = annotation.load_mask(project, key)
        digest.update(b"" if mask is None else mask.tobytes())
    return digest.hexdigest()[:16]


def test_the_same_seed_gives_the_same_pixels_on_every_machine(small, tmp_path):
    assert pixels_of(small) == "85f787978525e2ca"
    with make_sample(tmp_path / "again", small=True) as again:
        assert pixels_of(again) == pixels_of(small)
    with make_sample(tmp_path / "other", small=True, seed=8) as other:
        assert pixels_of(other) != pixels_of(small)


def test_the_small_sample_trains_both_models(small):
    for model in ("unet", "resnet"):
        dataset = collect(small, model)
        assert len(dataset.items) == 16 and not dataset.skipped
        assert dataset.of("train") and bool(dataset.of("val")) == (model == "unet")  # too few for five verdicts


@pytest.mark.slow
def test_panels_have_masks_close_ups_have_verdicts_and_every_defect_occurs(whole):
    painted, verdicts = Counter(), Counter()
    for key in whole.images():
        note = annotation.load_note(whole, key)
        mask = annotation.load_mask(whole, key)
        if "panel" in key:
            painted.update({KINDS[id - 1] for id in annotation.ids_in(mask) if id} or {"OK"})
            assert note.verdict is None and note.status == "done"
        elif "close-up" in key:
            verdicts[note.verdict] += 1
            assert mask is None and note.status == "done"
        else:
            assert mask is None and note.verdict is None and note.status == "new"
    assert painted == {"OK": 24, "scratch": 12, "pit": 12, "stain": 12, "dent": 12}
    assert verdicts == dict.fromkeys(("OK", *KINDS), 48)


def test_small_images_have_both_and_they_agree(small):
    for key in small.images():
        painted = {KINDS[id - 1] for id in annotation.ids_in(annotation.load_mask(small, key)) if id}
        verdict = annotation.load_note(small, key).verdict
        assert painted == ({verdict} if verdict != "OK" else set()), key


@pytest.mark.slow
def test_sizes_depths_colors_and_lots_vary(whole):
    images = {key: read(whole.image_path(key)) for key in whole.images()}
    assert len({p.shape[:2] for p in images.values()}) >= 5
    assert {p.dtype.name for p in images.values()} == {"uint8", "uint16"}
    assert 8 <= sum(p.ndim == 3 for p in images.values()) < len(images) / 2
    assert images["large/sheet-4096.png"].shape == (4096, 4096)
    assert len({key.split("/")[0] for key in images}) >= 9
    deep = next(p for p in images.values() if p.dtype == np.uint16)
    assert len(np.unique(deep)) > 1000 and deep.max() > 30_000


@pytest.mark.slow
def test_lots_are_not_divided_and_every_split_has_every_defect(whole):
    for model in ("unet", "resnet"):
        dataset = collect(whole, model)
        sides: dict[str, set[str]] = {}
        for item in dataset.items:
            sides.setdefault(item.key.split("/")[0], set()).add(item.split)
        assert all(len(splits) == 1 for splits in sides.values())
        for split in ("train", "val", "test"):
            if model == "resnet":
                assert {item.verdict for item in dataset.of(split)} == {"OK", *KINDS}
            else:
                assert {id for item in dataset.of(split) for id in item.classes} == {1, 2, 3, 4}
                assert any(not item.classes for item in dataset.of(split))
        assert not dataset.held_out_note


@pytest.mark.parametrize(("size", "dice"), [("small", 0.5), pytest.param("whole", 0.35, marks=pytest.mark.slow)])
def test_neither_a_threshold_nor_a_constant_solves_it(request, size, dice):
    pairs, project = [], request.getfixturevalue(size)
    for key in project.images():
        mask = annotation.load_mask(project, key)
        if mask is not None:
            pairs.append((read(project.image_path(key)), mask))
    assert best_threshold_dice(pairs) < dice
    for id in range(1, 5):
        chosen = [(p, (m == id).astype(np.uint8)) for p, m in pairs if (m == id).any()]
        assert best_threshold_dice(chosen) < dice
    share = sum((m > 0).sum() for _, m in pairs) / sum(m.size for _, m in pairs)
    assert 0.004 < share < 0.1  # a constant prediction of defect has a Dice below 0.2


def test_the_threshold_measure_finds_a_threshold_where_there_is_one():
    rng = np.random.default_rng(0)
    label = (rng.random((60, 60)) > 0.9).astype(np.uint8)
    gray = rng.integers(100, 140, (60, 60))
    for defect in (30, 220):
        assert best_threshold_dice([(np.where(label, defect, gray).astype(np.uint8), label)]) == 1.0
    both = np.where(label, np.where(rng.random((60, 60)) > 0.5, 20, 230), gray)
    assert best_threshold_dice([(both.astype(np.uint8), label)]) == 1.0
    assert best_threshold_dice([(gray.astype(np.uint16) * 257, label)]) < 0.35
    assert best_threshold_dice([(gray.astype(np.uint8), np.zeros_like(label))]) == 0.0


def test_a_mask_covers_what_the_defect_changed():
    """Images of one surface with and without the defect differ most inside the mask."""
    for number, kind in enumerate(KINDS):
        for material in ("brushed", "cast", "painted"):
            lot = make_lot(np.random.default_rng(number), material)
            bare = SyntheticScene(np.random.default_rng(5), lot, (320, 240))
            scene = SyntheticScene(np.random.default_rng(5), lot, (320, 240))
            assert np.array_equal(bare.value, scene.value)
            scene.add(kind)
            change = np.abs(scene.value - bare.value)
            inside = scene.mask == number + 1
            assert inside.sum() > 20
            assert change[inside].mean() > 4 * change[~inside].mean()
            assert change[inside].sum() > 0.5 * change.sum(), (kind, material)


def test_a_folder_with_a_project_is_not_changed(project):
    with pytest.raises(problems.ProjectExists):
        make_sample(project.root)
    assert Project.open(project.root, write=False).file.name == "project"
