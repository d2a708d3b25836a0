"""Normalization of 8-bit batches on a GPU, with the variation of their intensities.

The CPU then sends a quarter of the bytes and none of its threads computes with pixels. The arithmetic is that of
`inference.normalize` and `augment.apply_intensity`, up to rounding; only the noise is drawn by the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import paddle
from paddle.nn import functional as F

from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import LUMA, MAX_VALUE, MIN_VALUE
from workbench.training.augment import Intensity

_TAPS = 9  # of the widest blur, as OpenCV chooses them
_FIELDS = ("gamma", "spread", "shift", "contrast", "brightness", "noise")


@paddle.no_grad()
def prepare_images(
    pixels: np.ndarray,
    changes: Sequence[Intensity],
    settings: ModelSettings,
    ways: Collection[str],
    tone_range: tuple[float, float],
    seed: int,
    upload: Callable[[np.ndarray], paddle.Tensor] = paddle.to_tensor,
) -> paddle.Tensor:
    """Return the network's input, float32 (N, C, H, W), for pixels, uint8 (N, H, W) or (N, H, W, 3).

    ways: augmentations of the run. tone_range: see `augment_intensity`. seed: of the noise. upload: copies an array to
    the device.
    """
    table = np.array([[getattr(change, field) for change in changes] for field in _FIELDS], np.float32)
    change = dict(zip(_FIELDS, paddle.unstack(upload(table.reshape(len(_FIELDS), -1, 1, 1, 1)))))
    x = upload(pixels).astype("float32")
    if settings.channels == 1 and pixels.ndim == 4:
        x = (x * upload(LUMA[0])).sum(axis=-1)
    x = _normalize(x, settings)
    if "lighting" in ways:
        black, white = tone_range
        x = paddle.scale(x, 1 / (white - black), -black / (white - black)).clip(1e-4, 1)
        x = paddle.scale(paddle.pow(x, change["gamma"]), white - black, black)
        mean = x.mean(axis=[1, 2, 3], keepdim=True)
        x = (x - mean) * change["spread"] + (mean + change["shift"])
        height, width = x.shape[-2:]
        x = x + upload(_ramps([one.across for one in changes], width).reshape(-1, 1, 1, width))
        x = x + upload(_ramps([one.down for one in changes], height).reshape(-1, 1, height, 1))
        if any(one.sigma for one in changes):
            x = _blur(x, upload(_kernels(changes)))
    if "contrast" in ways:
        mean = x.mean(axis=[1, 2, 3], keepdim=True)
        x = (x - mean) * change["contrast"] + mean
    if "brightness" in ways:
        x = x + change["brightness"]
    if any(one.noise for one in changes):
        paddle.seed(seed)
        x = x + paddle.randn(x.shape) * change["noise"]
    return x


def _normalize(x: paddle.Tensor, settings: ModelSettings) -> paddle.Tensor:
    x = x.unsqueeze(1) if len(x.shape) == 3 else x.transpose([0, 3, 1, 2])
    span = settings.high - settings.low
    x = paddle.scale(x, settings.full_scale / 255 / span, -settings.low / span).clip(MIN_VALUE, MAX_VALUE)
    planes = [
        paddle.scale(x[:, number : number + 1] if x.shape[1] > 1 else x, 1 / std, -mean / std)
        for number, (mean, std) in enumerate(zip(settings.mean, settings.std))
    ]
    return planes[0] if len(planes) == 1 else paddle.concat(planes, axis=1)


def _ramps(slopes: Sequence[float], length: int) -> np.ndarray:
    """Return gradients, float32 (N, length). slopes: value at the end of each, the negative one at its start."""
    return np.outer(np.float32(slopes), np.linspace(-1, 1, length, dtype=np.float32))


def _kernels(changes: Sequence[Intensity]) -> np.ndarray:
    """Return the kernels of OpenCV's Gaussian blur, float32 (N, taps); without blur the middle is 1."""
    kernels = np.zeros((len(changes), _TAPS), np.float32)
    for kernel, change in zip(kernels, changes):
        taps = min(_TAPS, round(change.sigma * 8 + 1) | 1) if change.sigma else 1
        start = (_TAPS - taps) // 2
        kernel[start : start + taps] = cv2.getGaussianKernel(taps, change.sigma or 1.0, cv2.CV_32F)[:, 0]
    return kernels


def _blur(x: paddle.Tensor, kernels: paddle.Tensor) -> paddle.Tensor:
    """Blur each image by its own kernel; beyond the border the image is mirrored."""
    count, channels, height, width = x.shape
    planes = count * channels
    kernels = kernels.repeat_interleave(channels, axis=0) if channels > 1 else kernels
    x = F.pad(x.reshape([1, planes, height, width]), [_TAPS // 2] * 4, mode="reflect")
    x = F.conv2d(x, kernels.reshape([planes, 1, 1, _TAPS]), groups=planes)
    x = F.conv2d(x, kernels.reshape([planes, 1, _TAPS, 1]), groups=planes)
    return x.reshape([count, channels, height, width])
