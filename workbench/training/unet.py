"""UNet (Ronneberger et al. 2015) with batch normalisation, any widths, and an optional half-resolution stem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import paddle
from paddle import nn


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
        self.grow = nn.Conv2DTranspose(inputs, outputs, 2, stride=2)
        self.convolve = DoubleConvolution(2 * outputs, outputs)

    def forward(self, x: paddle.Tensor, seen: paddle.Tensor) -> paddle.Tensor:
        return self.convolve(paddle.concat([seen, self.grow(x)], axis=1))


class HalvingStem(nn.Layer):
    """A convolution of stride 2: the rest of the network works on a quarter of the pixels."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2D(inputs, outputs, 2 * stride, stride=stride, padding=stride // 2, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.relu(self.norm(self.convolve(x)))


class UNet(nn.Layer):
    """float32 (N, channels, H, W) to logits (N, outputs, H, W); H and W must be multiples of `multiple`.

    widths: channels of each level, the finest first. stem: 1 works at full resolution; 2 at half of it, and each
    pixel of the last layer then answers for the four pixels below it (sub-pixel convolution, Shi et al. 2016).
    """

    def __init__(self, channels: int, outputs: int, widths: Sequence[int], stem: int = 1) -> None:
        super().__init__()
        widths = list(widths)
        self.stem = HalvingStem(channels, widths[0], stem) if stem > 1 else None
        first = widths[0] if stem > 1 else channels
        self.down = nn.LayerList([DoubleConvolution(a, b) for a, b in zip([first, *widths[:-1]], widths)])
        self.up = nn.LayerList([Rise(a, b) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.head = nn.Conv2D(widths[0], outputs * stem * stem, 1)
        self.outputs, self.stem_size = outputs, stem
        self.multiple = stem * 2 ** (len(widths) - 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if self.stem is not None:
            x = self.stem(x)
        seen = []
        for level, convolve in enumerate(self.down):
            if level:
                x = nn.functional.max_pool2d(x, 2)
            x = convolve(x)
            seen.append(x)
        for rise, skip in zip(self.up, seen[-2::-1]):
            x = rise(x, skip)
        x = self.head(x)
        return x if self.stem_size == 1 else nn.functional.pixel_shuffle(x, self.stem_size)

    def set_prior(self, shares: np.ndarray) -> None:
        """Let the untrained network answer with the classes' shares of the pixels, float (outputs,).

        Rare defects are else drowned in the first steps, while the network only learns that they are rare.
        """
        logs = np.log(np.clip(shares / shares.sum(), 1e-3, 1)).astype(np.float32)
        self.head.bias.set_value(np.repeat(logs, self.stem_size**2))
