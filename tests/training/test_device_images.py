"""Normalization of 8-bit batches on a GPU. Computed on the CPU, by the same operations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import paddle
import pytest

from tests.training.conftest import make_run
from workbench.core.images.image_files import read
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import normalize
from workbench.training import training_context
from workbench.training.augment import Intensity, apply_intensity, draw_intensity
from workbench.training.control_channel import ControlChannel
from workbench.training.device_images import prepare_images
from workbench.training.device_loader import DeviceLoader
from workbench.training.patch_loader import PatchLoader, RawPatch
from workbench.training.reporter import Clock, Reporter

WAYS = ("lighting", "contrast", "brightness", "noise")
TONES = (-0.4 / 0.2, 0.6 / 0.2)


def settings_of(channels: int, **changes: object) -> ModelSettings:
    values: dict = {
        "task": "classification",
        "name": "x",
        "run": "y",
        "channels": channels,
        "mean": (0.4, 0.5, 0.3)[:channels],
        "std": (0.2, 0.25, 0.3)[:channels],
        "verdicts": ("OK", "NG"),
        "input_size": 32,
        **changes,
    }
    return ModelSettings(**values)


def changes_of(count: int, ways: tuple[str, ...]) -> list[Intensity]:
    return [draw_intensity(np.random.default_rng(number), ways) for number in range(count)]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("ways", [(), WAYS[:1], WAYS[1:3], WAYS[:3]])
def test_images_are_those_of_the_cpu_within_a_hundredth_of_a_gray_level(channels, color, ways):
    shape = (6, 24, 40, 3) if color else (6, 24, 40)
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    settings, changes = settings_of(channels, low=0.1, high=0.8), changes_of(6, ways)
    found = prepare_images(pixels, changes, settings, ways, TONES, 0).numpy()
    assert found.shape == (6, channels, 24, 40) and found.dtype == np.float32
    generator = np.random.default_rng(0)
    for image, change, one in zip(pixels, changes, found):
        expected = apply_intensity(normalize(image, settings), change, generator, ways, *TONES)
        gray_level = (1 / 255) / (0.8 - 0.1) / max(settings.std)
        assert np.abs(one - expected).max() < 0.01 * gray_level
    assert "lighting" not in ways or {bool(change.sigma) for change in changes} == {True, False}


def test_gradients_of_the_lighting_exceed_the_tested_one():
    """The table of changed lighting adds a gradient of a tenth of the range of pixel values, which is half of a usual
    standard deviation; smaller ones in training do not prepare for it."""
    black, white = (-0.4 / 0.21, 0.6 / 0.21)
    even, edges = np.zeros((1, 32, 32), np.float32), []
    for number in range(200):
        generator = np.random.default_rng(number)
        change = draw_intensity(generator, WAYS[:1])
        image = apply_intensity(even.copy(), replace(change, sigma=0.0), generator, WAYS[:1], black, white)
        edges.append((image[0, 16, -1] - image[0, 16, 0]) / 2 / (white - black))
    assert 0.1 < np.abs(edges).max() <= 0.106


def test_noise_is_that_of_the_step_and_as_strong_as_on_the_cpu():
    pixels = np.full((4, 64, 64), 128, np.uint8)
    changes = [Intensity(noise=noise) for noise in (0.0, 0.05, 0.1, 0.15)]
    one, again, other = (prepare_images(pixels, changes, settings_of(1), WAYS[3:], TONES, s).numpy() for s in (7, 7, 8))
    assert (one == again).all() and (one[1:] != other[1:]).any() and np.ptp(one[0]) == 0
    assert [image.std() for image in one[1:]] == pytest.approx([0.05, 0.1, 0.15], rel=0.05)


def context_of(project, ways=WAYS[:3]) -> training_context.TrainingContext:
    run = make_run(project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=6, augment=list(ways))
    context = training_context.prepare(run, Reporter(None, Clock()), ControlChannel(None), Clock())
    context.loader.close()
    return context


def test_patches_without_normalization_are_those_of_the_cpu_when_it_normalizes_them(labeled_project):
    sampler = context_of(labeled_project, WAYS).sampler
    expected = [sampler.sample(step, place) for step in range(3) for place in range(6)]
    sampler.raw = True
    raw = [sampler.sample(step, place) for step in range(3) for place in range(6)]
    for (patch, truth), (known, other) in zip(raw, expected):
        assert isinstance(patch, RawPatch) and patch.pixels.dtype == np.uint8
        assert (sampler.finish(patch) == known).all() and (truth == other).all()


def test_batch_with_other_than_8_bits_is_normalized_on_the_cpu(labeled_project):
    context = context_of(labeled_project)
    for item in context.dataset.of("train")[::2]:
        path = labeled_project.image_path(item.key)
        write_png(path, read(path).astype(np.uint16) * 257)
        context.sampler.reload(item.key)
    plain = PatchLoader(context.sampler, batch=6, threads=1)
    expected = [plain.take(step) for step in range(4)]
    plain.close()
    loader = DeviceLoader(context.sampler, batch=6, threads=1)
    mixed = 0
    for step, (images, truth) in enumerate(expected):
        raw = sum(isinstance(context.sampler.sample(step, place)[0], RawPatch) for place in range(6))
        mixed += 0 < raw < 6
        found = loader.take(step)
        np.testing.assert_allclose(found[0].numpy(), images, atol=1e-4 if raw == 6 else 0)
        assert (found[1].numpy() == truth).all()
    loader.close()
    assert mixed


def test_batch_for_which_memory_is_insufficient_is_an_array(labeled_project, monkeypatch):
    """The step reports it to all processes of a run."""
    context = context_of(labeled_project)
    loader = DeviceLoader(context.sampler, batch=6, threads=1)

    def full(array: np.ndarray) -> paddle.Tensor:
        raise OSError("(External) CUDA error(2), out of memory.")

    monkeypatch.setattr(loader, "_upload", full)
    loader.prefetch(0)
    images, truth = loader.take(0)
    monkeypatch.undo()
    plain = PatchLoader(context.sampler, batch=6, threads=1)
    assert all((one == other).all() for one, other in zip((images, truth), plain.take(0)))
    assert isinstance(images, np.ndarray) and isinstance(loader.take(1)[0], paddle.Tensor)
    loader.close()
    plain.close()
