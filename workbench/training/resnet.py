"""ResNet-18, -34 and -50 (He et al. 2016; stride in the 3x3 convolution as in its later practice), any width."""

from __future__ import annotations

import paddle
from paddle import nn

_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
SMALL_INPUT = 96  # pixels; up to here the stem keeps more of the few pixels that there are


class ConvolutionNorm(nn.Layer):
    """Convolution and batch normalisation."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self.convolve = nn.Conv2D(inputs, outputs, size, stride=stride, padding=size // 2, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.norm(self.convolve(x))


class Block(nn.Layer):
    """A residual block: two 3x3 convolutions, or with `bottleneck` 1x1, 3x3, 1x1 with fourfold outputs."""

    def __init__(self, inputs: int, width: int, stride: int, *, bottleneck: bool) -> None:
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            steps = [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        else:
            steps = [(inputs, width, 3, stride), (width, outputs, 3, 1)]
        self.body = nn.LayerList([ConvolutionNorm(*step) for step in steps])
        same = stride == 1 and inputs == outputs
        self.shortcut = None if same else ConvolutionNorm(inputs, outputs, 1, stride)
        self.outputs = outputs
        # A block begins as identity (Goyal et al. 2017): deep networks then start to learn at once.
        nn.initializer.Constant(0.0)(self.body[-1].norm.weight)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = x
        for index, part in enumerate(self.body):
            y = part(nn.functional.relu(y) if index else y)
        return nn.functional.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Layer):
    """float32 (N, channels, H, W) to logits (N, outputs).

    width multiplies all channel counts. input_size up to SMALL_INPUT: a 3x3 stem that halves once and no pooling.
    """

    def __init__(self, channels: int, outputs: int, *, depth: int, width: float, input_size: int) -> None:
        super().__init__()
        widths = [max(8, round(base * width / 8) * 8) for base in (64, 128, 256, 512)]
        self.small = input_size <= SMALL_INPUT
        self.stem = ConvolutionNorm(channels, widths[0], 3 if self.small else 7, 2)
        blocks, inputs = [], widths[0]
        for level, (count, base) in enumerate(zip(_BLOCKS[depth], widths)):
            for index in range(count):
                stride = 2 if level and not index else 1
                blocks.append(Block(inputs, base, stride, bottleneck=depth == 50))
                inputs = blocks[-1].outputs
        self.blocks = nn.LayerList(blocks)
        self.head = nn.Linear(inputs, outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = nn.functional.relu(self.stem(x))
        if not self.small:
            x = nn.functional.max_pool2d(x, 3, stride=2, padding=1)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(axis=[2, 3]))
