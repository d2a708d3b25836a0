"""Computed multiplications of a network equal those of the built network."""

from __future__ import annotations

import paddle
import pytest
from paddle import nn

from workbench.core.project.project import ClassInfo
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.network_stats import multiplications
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training import networks

DATASETS = {
    "unet": Dataset(model="unet", classes=[ClassInfo(id=1, name="scratch", color="#ff0000")]),
    "resnet": Dataset(model="resnet", verdicts=["NG", "OK"]),
}
RECIPES = {
    "full resolution": TrainingSettings(model="unet", patch=64, channels=3, local_contrast=False),
    "stem of 4": TrainingSettings(model="unet", patch=128, stem=4, widths=[24, 48, 96, 128]),
    "stem of 2": TrainingSettings(model="unet", patch=64, stem=2, widths=[16, 32]),
    "resnet inside": TrainingSettings(model="unet", patch=64, encoder="resnet18", width=0.5),
    "18": TrainingSettings(model="resnet", depth=18, width=0.5, input_size=128),
    "34 and small": TrainingSettings(model="resnet", depth=34, width=0.25, input_size=64, channels=3),
    "50": TrainingSettings(model="resnet", depth=50, width=0.25, input_size=128),
}


@pytest.mark.parametrize("name", RECIPES)
def test_multiplications_are_those_of_the_built_network(name):
    settings = RECIPES[name]
    net = networks.build(settings, DATASETS[settings.model])
    counted = []

    def count(layer: nn.Layer, inputs: tuple[paddle.Tensor], output: paddle.Tensor) -> None:
        way = inputs[0] if isinstance(layer, nn.Conv2DTranspose) else output
        counted.append(layer.weight.size * way.shape[2] * way.shape[3])

    for part, layer in net.named_sublayers():
        if isinstance(layer, (nn.Conv2D, nn.Conv2DTranspose)) and part != "head":
            layer.register_forward_post_hook(count)
    side = settings.patch if settings.model == "unet" else settings.input_size
    net.eval()
    net(paddle.zeros([1, settings.channels, side, side]))
    assert multiplications(settings) == sum(counted) > 0
