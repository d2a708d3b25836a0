"""EfficientNet-Lite0: its layers, and weights pretrained on ImageNet.

Layers: M. Tan, Q. Le, EfficientNet, ICML 2019, in the variant without squeeze-and-excitation and with ReLU6, whose
operators every engine supports. The weights are in `resources/encoder` (see NOTICE there); packaging/encoder_weights.py
converts them. Statistics of the norms are constants: each is a factor and a summand of the channels, as in prediction.

`levels` is the only description of the order of computation. Networks of Paddle and ONNX pass their operations to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from safetensors.numpy import load_file

from workbench.core import resources

WIDTHS = (16, 24, 40, 112, 320)  # channels of the last block at the strides 2, 4, 8, 16 and 32
PIXEL_MEAN, PIXEL_STD = 127 / 255, 128 / 255  # of the pixels 0..1 that the weights were trained with
FILE = "encoder/lite0.safetensors"

_STEM = 32
# Repetitions, kernel, stride of the first, factor of the channels inside, channels.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)

Value = TypeVar("Value")


@dataclass(frozen=True)
class Convolution:
    """Convolution without bias, then a factor and a summand for each channel, then ReLU6 if `active`.

    kernel: side in pixels. groups: 1, or the number of channels (depthwise).
    """

    name: str
    inputs: int
    outputs: int
    kernel: int = 1
    stride: int = 1
    groups: int = 1
    active: bool = True

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the weights: outputs, inputs of a group, height, width."""
        return self.outputs, self.inputs // self.groups, self.kernel, self.kernel

    @property
    def margins(self) -> tuple[int, int]:
        """Rows of zeros above and below, columns left and right: together kernel - stride, the greater half last."""
        margin = self.kernel - self.stride
        return margin // 2, margin - margin // 2


def convolutions(depth: int = len(WIDTHS)) -> list[Convolution]:
    """Return the convolutions in the order of computation. depth: number of levels."""
    return [STEM, *(layer for block in _blocks(depth) for layer in block)]


def levels(
    x: Value,
    depth: int,
    convolve: Callable[[Convolution, Value], Value],
    add: Callable[[Value, Value], Value],
) -> list[Value]:
    """Return the outputs of the first `depth` levels, with WIDTHS channels at the strides 2, 4, 8, 16, 32.

    x: image, (N, inputs of STEM, H, W); H and W are multiples of the largest stride. convolve, add: operations on the
    values: a layer of this network, and the sum of two values.
    """
    x = convolve(STEM, x)
    outputs = []
    for block in _blocks(depth):
        start = x
        for layer in block:
            x = convolve(layer, x)
        if block[0].inputs == block[-1].outputs and all(layer.stride == 1 for layer in block):
            x = add(start, x)
        outputs.append(x)
    ends = np.cumsum([stage[0] for stage in _STAGES])  # blocks after which a stage ends
    last = [number for number, stage in enumerate(_STAGES) if stage[-1] in WIDTHS]
    return [outputs[ends[number] - 1] for number in last[:depth]]


def read_weights() -> dict[str, np.ndarray]:
    """Return the pretrained weights, float32: for each convolution `name.weight` (see `Convolution.shape`), `name.gain`
    and `name.shift` (outputs,). Colors are in the order red, green, blue."""
    return {name: array.astype(np.float32) for name, array in load_file(resources.path(FILE)).items()}


STEM = Convolution("stem", 3, _STEM, kernel=3, stride=2)


def _blocks(depth: int) -> Iterator[list[Convolution]]:
    """Yield the blocks of the first levels: expansion (unless its factor is 1), depthwise convolution, projection."""
    inputs, number, remaining = _STEM, 0, depth
    for count, kernel, stride, factor, outputs in _STAGES:
        for repetition in range(count):
            inside, name = inputs * factor, f"blocks.{number}"
            layers = [Convolution(f"{name}.expand", inputs, inside)] if factor > 1 else []
            step = stride if repetition == 0 else 1
            layers.append(Convolution(f"{name}.depthwise", inside, inside, kernel, step, groups=inside))
            yield [*layers, Convolution(f"{name}.project", inside, outputs, active=False)]
            inputs, number = outputs, number + 1
        remaining -= outputs in WIDTHS
        if not remaining:
            return
