"""ResNet-18, -34 and -50 (He et al. 2016; stride in the 3x3 convolution as in later practice), of any width."""

from __future__ import annotations

import paddle
from paddle import nn

from workbench.core.runs.network_stats import BLOCKS, SMALL_INPUT, stage_widths


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
        mean = x.mean(axis=[1, 2, 3], keepdim=True)
        centered = x - mean
        spread = (centered * centered).mean(axis=[1, 2, 3], keepdim=True) + self.epsilon
        values = centered * spread**-0.5
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
        if self.standardize is not None:
            x = self.standardize(x)
        return self.head(self.stages(x)[-1].mean(axis=[2, 3]))
