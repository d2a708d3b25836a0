"""Tiled prediction of a UNet equals the prediction of the whole image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import paddle
import pytest

from workbench.core.project.project import ClassInfo
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.network_stats import receptive_field
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.predictor import Predictor
from workbench.training import networks
from workbench.training.evaluator import DygraphEngine

CLASSES = [ClassInfo(id=1, name="scratch", color="#ff0000")]


def network(recipe: TrainingSettings) -> paddle.nn.Layer:
    """Return an untrained network whose norms let every pixel affect the result."""
    paddle.seed(0)
    net = networks.build(recipe, Dataset(model="unet", classes=CLASSES))
    net.train()
    for _ in range(3):
        net(paddle.rand([2, 1, 256, 256]))
    net.eval()
    return net


@pytest.mark.parametrize(
    "choices",
    [
        {"stem": 4, "widths": [8, 8, 8, 8]},
        {"stem": 2, "widths": [8, 8, 8], "local_contrast": False},
        {"stem": 1, "widths": [8, 8, 8, 8]},
    ],
)
def test_overlap_equals_the_receptive_field(choices):
    recipe = TrainingSettings(model="unet", **choices)
    net = network(recipe)
    width = 128 * (2 * receptive_field(recipe) // 128 + 2)  # a strip: the receptive field is measured along its length
    image = np.random.default_rng(0).random((1, 1, 128, width), np.float32)
    far = 0
    for x in (width // 2, width // 2 + 7, width // 2 + 15, width // 2 + 31):
        shown = paddle.to_tensor(image, stop_gradient=False)
        net(shown)[0, 1, 32:96, x].sum().backward()
        counts = np.flatnonzero(np.abs(shown.grad.numpy()[0, 0]).any(axis=0))
        assert counts[0] > 0 and counts[-1] < width - 1
        far = max(far, x - counts[0], counts[-1] - x)
    assert 0.8 * receptive_field(recipe) <= far <= receptive_field(recipe)


# 3,584: three tiles overlap there, the border of the middle one at the end of the last one.
@pytest.mark.parametrize("size", [pytest.param((2200, 2200), marks=pytest.mark.slow), (200, 3584), (3584, 200)])
def test_tiled_prediction_equals_that_of_the_whole_image(size):
    recipe = TrainingSettings(model="unet", stem=4, widths=[4, 8, 8, 8])
    recipe = recipe.model_copy(update={"overlap": 2 * receptive_field(recipe) + 32})
    dataset = Dataset(model="unet", classes=CLASSES)
    settings = networks.settings(recipe, dataset, name="seams", run="seams")
    requests: list[tuple[int, ...]] = []
    engine = DygraphEngine(network(recipe))

    def recording(batch: np.ndarray) -> np.ndarray:
        requests.append(batch.shape[2:])
        return engine(batch)

    photo = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    tiled = Predictor(settings, recording).probabilities(photo)
    assert len(requests) > 1 and set(requests) == {tuple(min(settings.tile, -(-side // 32) * 32) for side in size)}
    whole = Predictor(replace(settings, tile=3584, overlap=0), engine).probabilities(photo)
    assert np.ptp(whole[1]) > 0.05  # the result is not constant
    assert np.abs(tiled - whole).max() < 1e-4
