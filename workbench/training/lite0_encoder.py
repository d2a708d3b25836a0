"""EfficientNet-Lite0 as the encoder of a UNet (layers and order of computation: `core.lite0`)."""

from __future__ import annotations

import operator

import paddle
from paddle import nn

from workbench.core import lite0
from workbench.core.runs.network_stats import LITE0_LEVELS
from workbench.training.network_state import Arrays


class ScaledConvolution(nn.Layer):
    """Convolution of `core.lite0` with its factors and summands of the channels, which are trained like the weights."""

    def __init__(self, layer: lite0.Convolution, inputs: int) -> None:
        super().__init__()
        self.layer = layer
        kernel = [layer.outputs, inputs // layer.groups, layer.kernel, layer.kernel]
        self.weight = self.create_parameter(kernel, default_initializer=nn.initializer.KaimingNormal())
        self.gain = self.create_parameter([layer.outputs], default_initializer=nn.initializer.Constant(1.0))
        self.shift = self.create_parameter([layer.outputs], is_bias=True)

    @property
    def padding(self) -> list[int]:
        """Rows of zeros above and below, columns left and right."""
        return [*self.layer.margins, *self.layer.margins]

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        # The factor multiplies the few weights instead of the many values.
        kernel = self.weight * self.gain.reshape([-1, 1, 1, 1])
        layer = self.layer
        x = nn.functional.conv2d(x, kernel, self.shift, stride=layer.stride, padding=self.padding, groups=layer.groups)
        return nn.functional.relu6(x) if layer.active else x


class Lite0Body(nn.Layer):
    """Levels of EfficientNet-Lite0 at the strides 2, 4, 8 and 16, from float32 (N, channels, H, W).

    rate: factor of the learning rate.
    """

    widths = lite0.WIDTHS[:LITE0_LEVELS]

    def __init__(self, channels: int, rate: float) -> None:
        super().__init__()
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
