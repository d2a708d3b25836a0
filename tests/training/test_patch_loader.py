"""Patches for the training: reproducible, correct at borders, and robust against broken files."""

from __future__ import annotations

from typing import get_args

import numpy as np
import paddle
import pytest

from tests.training.conftest import make_run
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.dataset import AddedImage
from workbench.core.runs.training_settings import Augmentation
from workbench.inference.io.image_io import write_png
from workbench.training import networks
from workbench.training.augment import PatchPose, augment_intensity, cut_patch, draw_pose
from workbench.training.losses import IGNORED
from workbench.training.patch_loader import ImageCache, PatchLoader, PatchSampler, defect_positions, shrink_mask


def sampler_of(project: Project, model: str = "unet", most_bytes: int = 0, **choices) -> PatchSampler:
    run = make_run(project, model, **choices)
    training_settings, dataset = run.settings(), run.dataset()
    settings = networks.settings(training_settings, dataset, name="n", run="r")
    return PatchSampler(training_settings, dataset, settings, ImageCache(project, dataset, settings, most_bytes))


@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_patches_do_not_depend_on_the_number_of_threads(labeled_project, model):
    ways = ["flip_horizontal", "rotate_90", "rotate", "zoom", "brightness", "contrast", "noise"]
    few = PatchLoader(sampler_of(labeled_project, model, augment=ways), batch=4, threads=1)
    many = PatchLoader(sampler_of(labeled_project, model, augment=ways), batch=4, threads=4)
    try:
        batches = [few.take(step) for step in range(3)]
        many.take(7)  # the same steps in another order
        many.restart()
        for step in (2, 0, 1):
            images, truth = many.take(step)
            assert (images == batches[step][0]).all() and (truth == batches[step][1]).all()
        assert not (batches[0][0] == batches[1][0]).all()
    finally:
        few.close()
        many.close()


@pytest.mark.parametrize("memory", [True, False])
def test_batches_are_copied_to_a_gpu_from_page_locked_memory_without_waiting(labeled_project, monkeypatch, memory):
    """They are arrays if there is no memory for them: the step, which needs more, then reports it to all processes."""
    copied = []

    def cuda(tensor, *, blocking):
        if not memory:
            raise OSError("(External) CUDA error(2), out of memory.")
        copied.append((tensor, blocking))
        return tensor.clone()

    monkeypatch.setattr(paddle, "CUDAPinnedPlace", paddle.CPUPlace)
    monkeypatch.setattr(paddle.Tensor, "cuda", cuda)
    sampler = sampler_of(labeled_project)
    plain, pinned = (PatchLoader(sampler, batch=4, threads=1, pinned=on) for on in (False, True))
    for step in range(2):
        batches = plain.take(step), pinned.take(step)
        for expected, found in zip(*batches):
            assert isinstance(expected, np.ndarray) and isinstance(found, paddle.Tensor if memory else np.ndarray)
            assert np.array_equal(np.asarray(found), expected) and np.asarray(found).dtype == expected.dtype
    assert [blocking for _, blocking in copied] == [False] * (4 if memory else 0)
    assert not memory or all(source is one for source, (one, _) in zip(pinned._sources, copied[2:], strict=True))
    plain.close()
    pinned.close()


@pytest.mark.parametrize("way", get_args(Augmentation))
def test_each_augmentation_changes_a_pose_or_the_pixels(way):
    pixels = np.random.default_rng(0).random((1, 16, 16), np.float32)
    changed = False
    for number in range(20):
        pose = draw_pose(np.random.default_rng(number), [way])
        patch = augment_intensity(pixels.copy(), np.random.default_rng(number), [way])
        changed |= pose != PatchPose() or not np.array_equal(patch, pixels)
    assert changed


def test_gradients_of_the_lighting_exceed_the_tested_one():
    """The table of changed lighting adds a gradient of a tenth of the range of pixel values, which is half of a usual
    standard deviation; smaller ones in training do not prepare for it."""
    black, white = -0.4 / 0.21, 0.6 / 0.21
    edges = []
    for number in range(200):
        even = np.zeros((1, 32, 32), np.float32)
        image = augment_intensity(even, np.random.default_rng(number), ["lighting"], black=black, white=white)
        left, right = image[0, 16, [3, -4]]  # where no blur reaches the border
        edges.append((right - left) / 2 * (31 / 25) / (white - black))
    assert 0.1 < np.abs(edges).max() <= 0.106


def test_patches_hold_defects_as_often_as_requested(labeled_project):
    sampler = sampler_of(labeled_project, foreground_share=0.5, batch=4)
    with_defect = np.array([[(sampler.sample(step, p)[1] == 1).any() for p in range(4)] for step in range(10)])
    assert with_defect[:, :2].all() and not with_defect[:, 2:].all()
    image, truth = sampler.sample(0, 0)
    assert image.shape == (1, 64, 64) and image.dtype == np.float32 and set(np.unique(truth)) <= {0, 1, IGNORED}


def test_unlabeled_areas_and_areas_outside_are_ignored(project):
    for number in range(4):
        image = np.full((40, 50), 100 + number, np.uint8)
        mask = np.zeros((40, 50), np.uint8)
        mask[10:20, 10:20], mask[:, 30:40], mask[:, 40:] = 1, 254, 255
        write_png(project.image_path(f"{number}.png"), image)
        annotation.save_mask(project, f"{number}.png", mask)
    sampler = sampler_of(project, augment=[], batch=2)
    for place in range(2):
        _, truth = sampler.sample(0, place)
        labeled_project = truth != IGNORED
        assert labeled_project.sum() == 40 * 30 and (truth[labeled_project] == 1).sum() == 100


def test_patch_is_rotated_with_its_mask():
    image = np.zeros((60, 80), np.uint16)
    image[20:30, 50:60] = 40000
    mask = (image > 0).astype(np.uint8)
    for pose in (
        PatchPose(),
        PatchPose(quarters=1, flip_vertical=True),
        PatchPose(angle=15.0, zoom=1.2),
        PatchPose(zoom=0.7),
    ):
        patch, truth = cut_patch(image, mask, (25.0, 55.0), 32, pose)
        assert patch.shape == truth.shape == (32, 32) and patch.dtype == np.uint16
        inside = (patch > 20000) == (truth == 1)
        assert inside.mean() > 0.97 and abs(int((truth == 1).sum()) - 100 * pose.zoom**2) < 25
    patch, truth = cut_patch(image, mask, (0.0, 0.0), 32, PatchPose())
    assert (truth[:16] == 255).all() and (truth[16:, 16:] == 0).all()
    assert (patch[16:32, 16:32] == image[:16, :16]).all()


def test_thin_lines_survive_reduction_and_small_defects_are_drawn_as_often_as_large_ones():
    mask = np.zeros((200, 200), np.uint8)
    mask[101, :] = 5
    mask[150:180, 20:90] = 7
    mask[0, 0] = 255
    small = shrink_mask(mask, 50, 50)
    assert (small == 5).any(axis=0).mean() > 0.95 and small.shape == (50, 50)
    assert not np.isin(small[30:36, 30:50], [254, 255]).any()
    mask[10:12, 190:192] = 7
    spots = defect_positions(mask, seed=1)[7]
    speck = (spots[:, 0] < 20).mean()
    assert 0.3 < speck < 0.7 and (mask[tuple(spots.T)] == 7).all()


def test_a_broken_image_is_skipped_reproducibly(labeled_project):
    sampler = sampler_of(labeled_project)
    victim = sampler.items[0].key
    labeled_project.image_path(victim).write_bytes(b"no picture")
    samples = [sampler.sample(step, place) for step in range(6) for place in range(4)]
    assert list(sampler.cache.broken) == [victim]
    again = [sampler.sample(step, place) for step in range(6) for place in range(4)]  # now known to be broken
    assert all((a[0] == b[0]).all() for a, b in zip(samples, again))


def test_broken_images_only_are_a_problem(labeled_project):
    sampler = sampler_of(labeled_project)
    for item in sampler.items:
        labeled_project.image_path(item.key).unlink()
    with pytest.raises(problems.NoLabels):
        sampler.sample(0, 0)


def test_cache_is_bounded_and_every_stratum_is_drawn(labeled_project):
    roomy = sampler_of(labeled_project)
    tight = sampler_of(labeled_project, most_bytes=5 * 25_000)
    for step in range(0, 100, 20):
        for place in range(4):
            tight.sample(step, place)
        assert tight.cache._bytes <= 5 * 25_000
        strata = tight.strata_of(step)
        assert strata[1] and len(strata[None]) < len(roomy.strata_of(step)[None])
    assert {number for step in range(0, 2000, 50) for number in tight.strata_of(step)[None]} == set(range(12))


def test_a_changed_label_is_used(labeled_project):
    sampler = sampler_of(labeled_project, foreground_share=1.0, augment=[])
    key = sampler.items[0].key
    sampler.sample(0, 0)
    for item in sampler.items:
        mask = annotation.load_mask(labeled_project, item.key)
        mask[:] = 0
        if item.key == key:
            mask[30:50, 40:60] = 1
        annotation.save_mask(labeled_project, item.key, mask)
        now = item.model_copy(update={"classes": [1] if item.key == key else []})
        sampler.dataset.joined.append(AddedImage(step=1, item=now))
        sampler.reload(item.key)
    # The only image with a defect is drawn whenever a defect is requested.
    assert all((sampler.sample(step, 0)[1] == 1).any() for step in range(5))


def test_a_label_that_changes_while_it_is_read_is_read_again(labeled_project, monkeypatch):
    cache = sampler_of(labeled_project).cache
    key = "lot0/p000.png"
    load = cache._load

    def changed_meanwhile(key):
        loaded = load(key)
        annotation.save_mask(labeled_project, key, np.full(loaded.mask.shape, 1, np.uint8))
        cache.remove(key)
        return loaded

    monkeypatch.setattr(cache, "_load", changed_meanwhile)
    assert (cache.get(key).mask == 0).any()
    monkeypatch.setattr(cache, "_load", load)
    assert (cache.get(key).mask == 1).all()


def test_an_epoch_covers_the_images_once(labeled_project):
    assert sampler_of(labeled_project, "resnet", batch=4).steps_per_epoch == 3
    sampler = sampler_of(labeled_project, batch=4)  # 12 images of 96 x 80, patches of 64 x 64
    assert sampler.steps_per_epoch == 6
