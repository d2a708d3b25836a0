"""EfficientNet-Lite0 as the encoder of a UNet, and as a network for verdicts (order of computation: `core.lite0`)."""

from __future__ import annotations

import operator

import paddle
from paddle import nn

from workbench.core import lite0
from workbench.core.runs.network_stats import LITE0_LEVELS
from workbench.training.network_state import Arrays
from workbench.training.resnet import Standardized

STATISTICS = 3  # of a channel in `Lite0Classifier`
EPSILON = 1e-5  # added to a variance by the normalization
HEAD_RATE = 0.05  # learning rate of its last layer, whose many inputs all change with each step


class ScaledConvolution(nn.Layer):
    """Convolution of `core.lite0` with its factors and summands of the channels, which are trained like the weights."""

    def __init__(self, layer: lite0.Convolution, inputs: int) -> None:
        super().__init__()
        self.layer = layer
        kernel = [layer.outputs, inputs // layer.groups, layer.kernel, layer.kernel]
        self.weight = self.create_parameter(kernel, default_initializer=nn.initializer.KaimingNormal())
        self.gain = self.create_parameter([layer.outputs], default_initializer=nn.initializer.Constant(1.0))
        self.shift = self.create_parameter([layer.outputs], is_bias=True)
        self.register_buffer("mean", paddle.zeros([layer.outputs]), persistable=False)
        self.register_buffer("variance", paddle.full([layer.outputs], 1.0 - EPSILON), persistable=False)

    @property
    def padding(self) -> list[int]:
        """Rows of zeros above and below, columns left and right."""
        return [*self.layer.margins, *self.layer.margins]

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        layer = self.layer
        x = nn.functional.conv2d(x, self.weight, stride=layer.stride, padding=self.padding, groups=layer.groups)
        # A normalization of mean 0 and variance 1: on a CPU, Paddle adds a bias to a convolution several times slower.
        x = nn.functional.batch_norm(
            x, self.mean, self.variance, self.gain, self.shift, epsilon=EPSILON, use_global_stats=True
        )
        return nn.functional.relu6(x) if layer.active else x


class Lite0Body(nn.Layer):
    """Levels of EfficientNet-Lite0 at the strides 2, 4, 8, …, from float32 (N, channels, H, W).

    rate: factor of the learning rate. depth: number of levels.
    """

    def __init__(self, channels: int, rate: float, depth: int = LITE0_LEVELS) -> None:
        super().__init__()
        self.widths = lite0.WIDTHS[:depth]
        layers = lite0.convolutions(len(self.widths))
        self._numbers = {layer.name: number for number, layer in enumerate(layers)}
        self.convolutions = nn.LayerList(
            [ScaledConvolution(layer, channels if layer is lite0.STEM else layer.inputs) for layer in layers]
        )
        for parameter in self.parameters():
            parameter.optimize_attr["learning_rate"] = rate

    def convolution(self, layer: lite0.Convolution) -> ScaledConvolution:
        return self.convolutions[self._numbers[layer.name]]

    def stages(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        """Return the levels, each of half the height and width of the one before."""
        return lite0.levels(x, len(self.widths), lambda layer, value: self.convolution(layer)(value), operator.add)

    def pretrained(self) -> Arrays:
        """Return the pretrained weights by the names of this layer, the first kernel with three colors."""
        arrays = lite0.read_weights()
        return {
            f"convolutions.{number}.{part}": arrays[f"{name}.{part}"]
            for name, number in self._numbers.items()
            for part in ("weight", "gain", "shift")
        }


class Lite0Classifier(nn.Layer):
    """EfficientNet-Lite0 from float32 (N, channels, side, side) to logits (N, outputs); sides are multiples of 32.

    The logits are linear in `statistics` of the channels of all levels, standardized by `center` and `scale`, so that
    the last layer can be fitted without training (`head_fit`). rate: factor of the body's learning rate.
    standardize: replace the image by its standardized values.
    """

    epsilon = 1e-6  # added to the moments of a channel

    def __init__(self, channels: int, outputs: int, *, rate: float, standardize: bool = False) -> None:
        super().__init__()
        self.standardize = Standardized(append=False) if standardize else None
        self.body = Lite0Body(channels, rate, depth=len(lite0.WIDTHS))
        features = STATISTICS * (channels + sum(lite0.WIDTHS))
        self.center, self.scale = (
            self.create_parameter([features], default_initializer=nn.initializer.Constant(value))
            for value in (0.0, 1.0)
        )
        self.center.stop_gradient = self.scale.stop_gradient = True
        self.head = nn.Linear(features, outputs, weight_attr=paddle.ParamAttr(learning_rate=HEAD_RATE))

    def statistics(self, x: paddle.Tensor) -> paddle.Tensor:
        """Return float32 (N, features): of the image and of each level the mean of each channel over the positions,
        then its standard deviation, then the fourth root of the mean fourth power of what exceeds the mean: great if a
        few positions differ much, as in a small defect.
        """
        values: list[paddle.Tensor] = []
        for level in [x, *self.body.stages(x if self.standardize is None else self.standardize(x))]:
            level = level.astype("float32")  # fourth powers exceed 16 bits
            mean = level.mean(axis=[2, 3], keepdim=True)
            centered = level - mean
            square = centered * centered
            above = nn.functional.relu(centered)
            fourth = above * above * square
            values += [mean.flatten(1), self._root(square), self._root(fourth) ** 0.5]
        return paddle.concat(values, axis=1)

    def _root(self, x: paddle.Tensor) -> paddle.Tensor:
        return (x.mean(axis=[2, 3]) + self.epsilon) ** 0.5  # the converter of older programs does not support sqrt

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head((self.statistics(x) - self.center) * self.scale)
