"""UNet (Ronneberger et al. 2015): batch normalisation, any widths, and if wanted a stem that shrinks the picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import paddle
from paddle import nn

from workbench.core.architecture import encoder_widths
from workbench.training.losses import widened
from workbench.training.resnet import Body


class DoubleConvolution(nn.Layer):
    """Twice: 3x3 convolution, batch normalisation, ReLU. The size of the picture stays."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False)
        self.first_norm = nn.BatchNorm2D(outputs)
        self.second = nn.Conv2D(outputs, outputs, 3, padding=1, bias_attr=False)
        self.second_norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = nn.functional.relu(self.first_norm(self.first(x)))
        return nn.functional.relu(self.second_norm(self.second(x)))


class Rise(nn.Layer):
    """One step up: double the size, join what the way down saw at this size, and convolve."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.grow = nn.Conv2DTranspose(inputs, outputs, 2, stride=2, bias_attr=False)
        self.convolve = DoubleConvolution(2 * outputs, outputs)

    def forward(self, x: paddle.Tensor, seen: paddle.Tensor) -> paddle.Tensor:
        return self.convolve(paddle.concat([seen, self.grow(x)], axis=1))


class LocalContrast(nn.Layer):
    """Adds to every channel what it is against its surroundings: minus their mean, divided by their spread.

    A defect is what differs from what is around it. A network that has to find this out by itself, under lamps of every
    brightness, spends most of a short training on it. Surroundings: 9 x 9 cells of 8 x 8 pixels.
    """

    cell, reach = 8, 9
    even = 0.02  # the least spread, in the pictures' own: noise on an even surface is not blown up

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.planes = 2 * channels + 1
        # Linear interpolation as a transposed convolution, which every engine can run; `interpolate` they cannot.
        ramp = 1 - np.abs(np.arange(2 * self.cell) + 0.5 - self.cell) / self.cell
        kernel = np.tile(np.outer(ramp, ramp), (self.planes, 1, 1, 1)).astype(np.float32)
        self.register_buffer("kernel", paddle.to_tensor(kernel), persistable=False)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        mean = self._around(nn.functional.avg_pool2d(x, self.cell))
        square = self._around(nn.functional.avg_pool2d(x * x, self.cell))
        gain = (nn.functional.relu(square - mean * mean) + self.even) ** -0.5  # the converter knows no rsqrt
        cells = paddle.concat([gain, mean * gain, paddle.ones_like(mean[:, :1])], axis=1)
        grown = nn.functional.conv2d_transpose(
            cells, self.kernel, stride=self.cell, padding=self.cell // 2, groups=self.planes
        )
        channels = x.shape[1]
        gain, offset, ones = paddle.split(grown, [channels, channels, 1], axis=1)
        # Beyond the border there are no cells: what the ones have lost there, the others have lost too.
        lost = widened(ones, channels)
        gain, offset = gain / lost, offset / lost
        return paddle.concat([x, x * gain - offset], axis=1)

    def _around(self, cells: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.avg_pool2d(cells, self.reach, stride=1, padding=self.reach // 2, exclusive=True)


class Stem(nn.Layer):
    """A convolution with a stride of 2 or 4: the rest of the network works on a fraction of the pixels."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2D(inputs, outputs, 2 * stride, stride=stride, padding=stride // 2, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.relu(self.norm(self.convolve(x)))


class UNet(nn.Layer):
    """float32 (N, channels, H, W) to logits (N, outputs, H, W); H and W must be multiples of `multiple_of(...)`.

    widths: channels of each level, the finest first. stem: 1 works at full resolution; 2 or 4 at a half or a quarter
    of it, and each pixel of the last layer then answers for the 4 or 16 below it (sub-pixel convolution, Shi et al.
    2016). contrast: the network is shown the local contrast too. encoder: the depth of a ResNet that is the way down
    instead, 18 or 34; widths are then those of `encoder_widths`, and the stem is 2: the ResNet's own.
    """

    def __init__(
        self, channels: int, outputs: int, widths: Sequence[int],
        *, stem: int = 1, contrast: bool = True, encoder: int | None = None, width: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__()
        widths = encoder_widths(width) if encoder else list(widths)
        stem = 2 if encoder else stem
        self.contrast = LocalContrast(channels) if contrast else None
        seen = channels * (2 if contrast else 1)
        self.stem = Stem(seen, widths[0], stem) if stem > 1 and not encoder else None
        first = widths[0] if stem > 1 else seen
        if encoder:
            self.down: Body | nn.LayerList = Body(seen, depth=encoder, width=width)
        else:
            self.down = nn.LayerList([DoubleConvolution(a, b) for a, b in zip([first, *widths[:-1]], widths)])
        self.up = nn.LayerList([Rise(a, b) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.head = nn.Conv2D(widths[0], outputs * stem * stem, 1)
        self.outputs, self.stem_size = outputs, stem

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if self.contrast is not None:
            x = self.contrast(x)
        if self.stem is not None:
            x = self.stem(x)
        seen = self.down.stages(x) if isinstance(self.down, Body) else self._descend(x)
        x = seen[-1]
        for rise, skip in zip(self.up, seen[-2::-1]):
            x = rise(x, skip)
        x = self.head(x)
        return x if self.stem_size == 1 else nn.functional.pixel_shuffle(x, self.stem_size)

    def _descend(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        seen: list[paddle.Tensor] = []
        for convolve in self.down:
            x = convolve(nn.functional.max_pool2d(x, 2) if seen else x)
            seen.append(x)
        return seen

    def set_prior(self, shares: np.ndarray) -> None:
        """Let the untrained network answer with the classes' shares of the pixels, float (outputs,).

        Rare defects are else drowned in the first steps, while the network only learns that they are rare.
        """
        logs = np.log(np.clip(shares / shares.sum(), 1e-3, 1)).astype(np.float32)
        self.head.bias.set_value(np.repeat(logs, self.stem_size**2))


def multiple_of(widths: Sequence[int], *, stem: int, contrast: bool) -> int:
    """The sides of a UNet's input must be multiples of this."""
    return max(stem * 2 ** (len(widths) - 1), LocalContrast.cell if contrast else 1)
