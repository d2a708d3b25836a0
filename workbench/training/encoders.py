"""Encoders of a UNet, which are also networks for verdicts: ResNets of any width, and EfficientNet-Lite0.

ResNet-18, -34 and -50: He et al. 2016; stride in the 3x3 convolution as in later practice. Order of computation of
EfficientNet-Lite0: `core.lite0`.
"""

from __future__ import annotations

import functools
import operator

import paddle
from paddle import nn

from workbench.core import lite0
from workbench.core.runs.network_stats import BLOCKS, LITE0_LEVELS, SMALL_INPUT, stage_widths
from workbench.training.optimizers import Arrays


class ConvolutionNorm(nn.Layer):
    """Convolution and batch normalization."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self.convolve = nn.Conv2D(inputs, outputs, size, stride=stride, padding=size // 2, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.norm(self.convolve(x))


class Block(nn.Layer):
    """Residual block: two 3x3 convolutions, or with `bottleneck` 1x1, 3x3, 1x1 with fourfold outputs."""

    def __init__(self, inputs: int, width: int, stride: int, *, bottleneck: bool) -> None:
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            steps = [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        else:
            steps = [(inputs, width, 3, stride), (width, outputs, 3, 1)]
        self.body = nn.LayerList([ConvolutionNorm(*step) for step in steps])
        identity = stride == 1 and inputs == outputs
        self.shortcut = None if identity else ConvolutionNorm(inputs, outputs, 1, stride)
        self.outputs = outputs
        # A block starts as identity (Goyal et al. 2017), so that deep networks train from the first steps.
        nn.initializer.Constant(0.0)(self.body[-1].norm.weight)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = x
        for index, part in enumerate(self.body):
            y = part(nn.functional.relu(y) if index else y)
        return nn.functional.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNetBody(nn.Layer):
    """ResNet without its last layer. width: factor of all channel counts.

    small: a 3x3 stem of stride 2 without pooling, instead of a 7x7 stem of stride 2 followed by pooling of stride 2.
    """

    def __init__(self, channels: int, *, depth: int, width: float, small: bool = False) -> None:
        super().__init__()
        widths = stage_widths(width)
        self.depth, self.small = depth, small
        self.stem = ConvolutionNorm(channels, widths[0], 3 if small else 7, 2)
        blocks, ends, inputs = [], [], widths[0]
        for level, (count, base) in enumerate(zip(BLOCKS[depth], widths)):
            for index in range(count):
                stride = 2 if level and not index else 1
                blocks.append(Block(inputs, base, stride, bottleneck=depth == 50))
                inputs = blocks[-1].outputs
            ends.append(len(blocks) - 1)
        self.blocks = nn.LayerList(blocks)
        self.outputs = inputs
        self._ends = ends

    def stages(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        """Return the outputs of the stem and of the four stages, each of half the height and width of the one before.

        With `small`, the first stage has the size of the stem's output.
        """
        x = nn.functional.relu(self.stem(x))
        outputs = [x]
        if not self.small:
            x = nn.functional.max_pool2d(x, 3, stride=2, padding=1)
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index in self._ends:
                outputs.append(x)
        return outputs


def _mean(x: paddle.Tensor, *axes: int) -> paddle.Tensor:
    """Return the mean over the axes, which remain with one position.

    One axis after the other: Paddle adds all values of a reduction in 32 bits, on a CPU with an error of 1e-4 and more
    for the pixels of an image.
    """
    return functools.reduce(lambda values, axis: values.mean(axis=axis, keepdim=True), axes, x)


class Standardized(nn.Layer):
    """Append to the channels of each image its standardized values: mean 0 and standard deviation 1.

    Appearance that does not depend on the exposure, as in the images of a part under another lamp.
    append: False to return the standardized values only.
    """

    epsilon = 0.01  # added to the variance of normalized pixels, so that noise on an even surface is not amplified

    def __init__(self, *, append: bool = True) -> None:
        super().__init__()
        self.append = append

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        centered = x - _mean(x, 3, 2, 1)
        spread = _mean(centered * centered, 3, 2, 1) + self.epsilon
        values = centered * paddle.pow(spread, -0.5)
        return paddle.concat([x, values], axis=1) if self.append else values


class ResNet(ResNetBody):
    """ResNet from float32 (N, channels, H, W) to logits (N, outputs). Small stem for input_size up to SMALL_INPUT.

    standardize: add the standardized image to the input.
    """

    def __init__(
        self, channels: int, outputs: int, *, depth: int, width: float, input_size: int, standardize: bool = False
    ) -> None:
        planes = channels * (2 if standardize else 1)
        super().__init__(planes, depth=depth, width=width, small=input_size <= SMALL_INPUT)
        self.standardize = Standardized() if standardize else None
        self.head = nn.Linear(self.outputs, outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.with_stages(x)[0]

    def with_stages(self, x: paddle.Tensor) -> tuple[paddle.Tensor, list[paddle.Tensor]]:
        """Return the logits and the outputs of `stages`."""
        stages = self.stages(x if self.standardize is None else self.standardize(x))
        return self.head(stages[-1].mean(axis=[2, 3])), stages


# --- EfficientNet-Lite0 ---------------------------------------------------------------------------


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
        return paddle.clip(x, 0.0, 6.0) if layer.active else x  # the converter of older programs has no relu6


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
    the last layer can be fitted without training (`training_loop`). rate: factor of the body's learning rate.
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
        return self._statistics([x, *self._stages(x)])

    def _stages(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        return self.body.stages(x if self.standardize is None else self.standardize(x))

    def _statistics(self, levels: list[paddle.Tensor]) -> paddle.Tensor:
        values: list[paddle.Tensor] = []
        for level in levels:
            level = level.astype("float32")  # fourth powers exceed 16 bits
            mean = _mean(level, 3, 2)
            centered = level - mean
            square = centered * centered
            above = nn.functional.relu(centered)
            fourth = above * above * square
            values += [paddle.flatten(mean, 1), self._root(square), paddle.pow(self._root(fourth), 0.5)]
        return paddle.concat(values, axis=1)

    def _root(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.pow(
            paddle.flatten(_mean(x, 3, 2), 1) + self.epsilon, 0.5
        )  # converters of older programs do not support sqrt

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.with_stages(x)[0]

    def with_stages(self, x: paddle.Tensor) -> tuple[paddle.Tensor, list[paddle.Tensor]]:
        """Return the logits and the levels of the body."""
        stages = self._stages(x)
        return self.head((self._statistics([x, *stages]) - self.center) * self.scale), stages
