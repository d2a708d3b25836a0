"""UNet, and construction of the network of a run and of its settings for prediction.

UNet: Ronneberger et al. 2015; batch normalization, any widths, optionally a stem that reduces the resolution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import paddle
from paddle import nn

from workbench.core import problems
from workbench.core.images.image_files import read_displayed
from workbench.core.messages import Message
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.network_stats import RESNETS, encoder_widths
from workbench.core.runs.training_settings import RANDOM, TrainingSettings
from workbench.inference.input_guard import ImageMeasures, InputLimits, learn_limits
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.model_settings import ClassSettings, ModelSettings, SettingsError
from workbench.training.encoders import Lite0Body, Lite0Classifier, ResNet, ResNetBody
from workbench.training.losses import broadcast_plane
from workbench.training.threshold_search import EXPONENTS

_SAMPLE = 64  # maximum number of images read
_PIXELS = 500e6  # after which no more are read


def learn_input(project: Project, dataset: Dataset) -> InputLimits | None:
    """Return the limits for images like the training and validation images, None if none of them is readable."""
    measured: list[tuple[str, ImageMeasures]] = []
    pixels = 0.0
    items = dataset.of("train", "val")
    for index in np.random.default_rng(0).permutation(len(items))[:_SAMPLE]:
        if pixels > _PIXELS:
            break
        try:
            image = read_displayed(project.image_path(items[index].key))
        except problems.Problem:
            continue
        measured.append((items[index].part, ImageMeasures.of(image)))
        pixels += image.shape[0] * image.shape[1]
    return learn_limits(measured) if measured else None


class DoubleConvolution(nn.Layer):
    """Two times 3x3 convolution, batch normalization, ReLU. Height and width are unchanged."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False)
        self.first_norm = nn.BatchNorm2D(outputs)
        self.second = nn.Conv2D(outputs, outputs, 3, padding=1, bias_attr=False)
        self.second_norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = nn.functional.relu(self.first_norm(self.first(x)))
        return nn.functional.relu(self.second_norm(self.second(x)))


class UpBlock(nn.Layer):
    """Decoder step: double the size, concatenate the encoder's output of that size, and convolve."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.grow = nn.Conv2DTranspose(inputs, outputs, 2, stride=2, bias_attr=False)
        self.convolve = DoubleConvolution(2 * outputs, outputs)

    def forward(self, x: paddle.Tensor, skip: paddle.Tensor) -> paddle.Tensor:
        return self.convolve(paddle.concat([skip, self.grow(x)], axis=1))


class LocalContrast(nn.Layer):
    """Local contrast: appends to the channels their values minus the local mean, divided by the local spread.

    A defect differs from its surroundings. A network without this layer spends most of a short training on learning
    such a comparison under varying brightness. Surroundings: 9 x 9 cells of 8 x 8 pixels.
    """

    cell, reach = 8, 9
    interpolated = False  # by `interpolate`: the same values, many times faster on a GPU; exports need the convolution
    epsilon = 0.02  # added to the variance of normalized pixels, so that noise on an even surface is not amplified

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.planes = 2 * channels + 1
        # Linear interpolation as a transposed convolution, which every engine supports, unlike `interpolate`.
        ramp = 1 - np.abs(np.arange(2 * self.cell) + 0.5 - self.cell) / self.cell
        kernel = np.tile(np.outer(ramp, ramp), (self.planes, 1, 1, 1)).astype(np.float32)
        self.register_buffer("kernel", paddle.to_tensor(kernel), persistable=False)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        mean = self._local_mean(nn.functional.avg_pool2d(x, self.cell))
        square = self._local_mean(nn.functional.avg_pool2d(x * x, self.cell))
        gain = paddle.pow(nn.functional.relu(square - mean * mean) + self.epsilon, -0.5)  # converters have no rsqrt
        if self.interpolated:
            cells = paddle.concat([gain, mean * gain], axis=1)
            enlarged = nn.functional.interpolate(cells, scale_factor=self.cell, mode="bilinear", align_corners=False)
            gain, offset = paddle.split(enlarged, [x.shape[1]] * 2, axis=1)
            return paddle.concat([x, x * gain - offset], axis=1)
        cells = paddle.concat([gain, mean * gain, paddle.ones_like(mean[:, :1])], axis=1)
        enlarged = nn.functional.conv2d_transpose(
            cells, self.kernel, stride=self.cell, padding=self.cell // 2, groups=self.planes
        )
        channels = x.shape[1]
        gain, offset, ones = paddle.split(enlarged, [channels, channels, 1], axis=1)
        # Beyond the border there are no cells: gain and offset are divided by the share of weight that is left.
        weight_sum = broadcast_plane(ones, channels)
        gain, offset = gain / weight_sum, offset / weight_sum
        return paddle.concat([x, x * gain - offset], axis=1)

    def _local_mean(self, cells: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.avg_pool2d(cells, self.reach, stride=1, padding=self.reach // 2, exclusive=True)


class Stem(nn.Layer):
    """Convolution of stride 2 or 4, so that the rest of the network processes a fraction of the pixels."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2D(inputs, outputs, 2 * stride, stride=stride, padding=stride // 2, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.relu(self.norm(self.convolve(x)))


class UNet(nn.Layer):
    """UNet from float32 (N, channels, H, W) to logits (N, outputs, H, W); H and W are multiples of `multiple_of(...)`.

    widths: channels of each level, the finest first. stem: 1 for full resolution; with 2 or 4 the network works at a
    half or a quarter of it, and each pixel of the last layer yields 4 or 16 output pixels (sub-pixel convolution, Shi
    et al. 2016). contrast: add the local contrast to the input. encoder: "plain", "lite0" or a ResNet; except with
    "plain", widths are those of `encoder_widths`, and the stem is 2, the encoder's own. encoder_rate: factor of the
    learning rate of "lite0".
    """

    def __init__(
        self,
        channels: int,
        outputs: int,
        widths: Sequence[int],
        *,
        stem: int = 1,
        contrast: bool = True,
        encoder: str = "plain",
        width: float = 1.0,
        encoder_rate: float = 1.0,
    ) -> None:
        super().__init__()
        plain = encoder == "plain"
        widths = list(widths) if plain else encoder_widths(encoder, width)
        stem = stem if plain else 2
        self.contrast = LocalContrast(channels) if contrast else None
        input_channels = channels * (2 if contrast else 1)
        self.stem = Stem(input_channels, widths[0], stem) if stem > 1 and plain else None
        first = widths[0] if stem > 1 else input_channels
        self.down: ResNetBody | Lite0Body | nn.LayerList
        if encoder == "lite0":
            self.down = Lite0Body(input_channels, encoder_rate)
        elif not plain:
            self.down = ResNetBody(input_channels, depth=RESNETS[encoder], width=width)
        else:
            self.down = nn.LayerList([DoubleConvolution(a, b) for a, b in zip([first, *widths[:-1]], widths)])
        self.up = nn.LayerList([UpBlock(a, b) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.head = nn.Conv2D(widths[0], outputs * stem * stem, 1)
        self.outputs, self.stem_size = outputs, stem

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.with_stages(x)[0]

    def with_stages(self, x: paddle.Tensor) -> tuple[paddle.Tensor, list[paddle.Tensor]]:
        """Return the logits and the outputs of the encoder's stages."""
        if self.contrast is not None:
            x = self.contrast(x)
        if self.stem is not None:
            x = self.stem(x)
        stage_outputs = self._descend(x) if isinstance(self.down, nn.LayerList) else self.down.stages(x)
        x = stage_outputs[-1]
        for up_block, skip in zip(self.up, stage_outputs[-2::-1]):
            x = up_block(x, skip)
        x = self.head(x)
        return (x if self.stem_size == 1 else nn.functional.pixel_shuffle(x, self.stem_size)), stage_outputs

    def interpolate_contrast(self, on: bool) -> None:
        """Compute the local contrast by interpolation, if there is one: see `LocalContrast.interpolated`."""
        if self.contrast is not None:
            self.contrast.interpolated = on

    def _descend(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        outputs: list[paddle.Tensor] = []
        for convolve in self.down:
            x = convolve(nn.functional.max_pool2d(x, 2) if outputs else x)
            outputs.append(x)
        return outputs

    def set_prior(self, shares: np.ndarray) -> None:
        """Initialize the untrained network to predict the classes' shares of the pixels, float (outputs,).

        Otherwise the first steps only teach the network that defects are rare.
        """
        logs = np.log(np.clip(shares / shares.sum(), 1e-3, 1)).astype(np.float32)
        self.head.bias.set_value(np.repeat(logs, self.stem_size**2))


def multiple_of(widths: Sequence[int], *, stem: int, contrast: bool) -> int:
    """Return the number of which the sides of a UNet's input must be multiples."""
    return max(stem * 2 ** (len(widths) - 1), LocalContrast.cell if contrast else 1)


# --- network of a run -----------------------------------------------------------------------------


# Pixels. Larger tiles waste less on overlap, and most images fit into one. Without a stem that reduces the resolution
# they would take too much memory.
_TILE, _TILE_AT_FULL_RESOLUTION = 2048, 1024
# Of the share of a region beyond the ignored border. Networks mark shadows and edges that begin at the border.
BORDER_EXPONENT = 2
PRETRAINED_RATE = 0.15  # learning rate of a pretrained encoder, relative to that of untrained layers
_PIXELS_PER_BATCH = 1 << 20  # pixels of the tiles that form one batch


class ProbabilityHead(nn.Layer):
    """Network with softmax output and its features: the form that is saved, converted and shipped."""

    def __init__(self, net: UNet | ResNet | Lite0Classifier) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        logits, stages = self.net.with_stages(x)
        sides = cell_sides(len(stages), small=isinstance(self.net, ResNet) and self.net.small)
        cells = [nn.functional.avg_pool2d(stage, side) for stage, side in zip(stages, sides)]
        return nn.functional.softmax(logits, axis=1), paddle.concat(cells, axis=1)


def cell_sides(stages: int, *, small: bool) -> list[int]:
    """Return of each of so many stages of an encoder the positions along a side of a cell of the features.

    A cell is as large as a position of the last stage. small: the first two stages have the same size.
    """
    return [2 ** (stages - 1 - (max(number, 1) if small else number)) for number in range(stages)]


def build(settings: TrainingSettings, dataset: Dataset, *, on_gpu: bool = False) -> UNet | ResNet | Lite0Classifier:
    """Return the untrained network of a run. A UNet has one output for the background and one per class.

    on_gpu: compute the local contrast as is fastest on a GPU; not for exports.
    """
    if settings.model == "unet":
        outputs = len(dataset.classes) + 1
        net = UNet(
            settings.channels,
            outputs,
            settings.widths,
            stem=settings.stem,
            contrast=settings.local_contrast,
            encoder=settings.encoder,
            width=settings.width,
            encoder_rate=1.0 if settings.weights == RANDOM else PRETRAINED_RATE,
        )
        net.interpolate_contrast(on_gpu)
        return net
    outputs = len(dataset.verdicts)
    if settings.encoder == "lite0":
        rate = 1.0 if settings.weights == RANDOM else PRETRAINED_RATE
        return Lite0Classifier(settings.channels, outputs, rate=rate, standardize=settings.standardize)
    return ResNet(
        settings.channels,
        outputs,
        depth=settings.depth,
        width=settings.width,
        input_size=settings.input_size,
        standardize=settings.standardize,
    )


def multiple(settings: TrainingSettings) -> int:
    """Return the number of which the sides of a UNet's input must be multiples."""
    if settings.encoder != "plain":
        return multiple_of(encoder_widths(settings.encoder, settings.width), stem=2, contrast=settings.local_contrast)
    return multiple_of(settings.widths, stem=settings.stem, contrast=settings.local_contrast)


def patch_side(settings: TrainingSettings, halvings: int = 0) -> int:
    """Return the patch size, halved `halvings` times, rounded up to a multiple accepted by the network."""
    return -(-(settings.patch >> halvings) // multiple(settings)) * multiple(settings)


def mirrored(settings: TrainingSettings) -> tuple[str, ...]:
    """Return the mirrored orientation that the trained network also predicts: one that occurred in training.

    Compared with three further orientations, the image rotated by 180° gives nearly the full gain at half the cost.
    """
    horizontal, vertical = ("flip_horizontal" in settings.augment, "flip_vertical" in settings.augment)
    if not settings.mirror or not (horizontal or vertical):
        return ()
    return ("both",) if horizontal and vertical else ("left_right",) if horizontal else ("upside_down",)


def settings(
    settings: TrainingSettings,
    dataset: Dataset,
    *,
    name: str,
    run: str,
    thresholds: Sequence[float] = (),
    min_area: Sequence[int] = (),
    um_per_pixel: float | None = None,
    areas: Sequence[InspectionArea] = (),
    files: dict[str, str] | None = None,
) -> ModelSettings:
    """Return the content of model.json: preparation of images and interpretation of outputs.

    thresholds, min_area: per class of the dataset; empty before they are chosen. Raises BadSettings, RunBroken.
    """
    if not len(settings.mean) == len(settings.std) == settings.channels:
        why = Message("settings.channel_numbers", n=settings.channels)
        raise problems.BadSettings(key="mean", value=settings.mean, why=why)
    input_settings = {
        "channels": settings.channels,
        "full_scale": settings.full_scale,
        "low": settings.low,
        "high": settings.high,
        "mean": tuple(settings.mean),
        "std": tuple(settings.std),
    }
    common = {
        **{"name": name, "run": run, "um_per_pixel": um_per_pixel, "files": files or {}},
        **{"areas": tuple(areas), **input_settings},
    }
    try:
        if settings.model == "resnet":
            return ModelSettings(
                task="classification", verdicts=tuple(dataset.verdicts), input_size=settings.input_size, **common
            )
        side = multiple(settings)
        reduced = settings.stem > 1 or settings.encoder != "plain"
        tile = max(patch_side(settings), (_TILE if reduced else _TILE_AT_FULL_RESOLUTION) // side * side)
        classes = dataset.classes
        return ModelSettings(
            task="segmentation",
            classes=tuple(ClassSettings(c.id, c.name, c.color) for c in classes),
            scale=settings.scale,
            tile=tile,
            overlap=min(settings.overlap, tile // 2),
            multiple=side,
            batch=max(1, _PIXELS_PER_BATCH // tile**2),
            thresholds=tuple(thresholds) or (0.5,) * len(classes),
            min_area=tuple(min_area) or (settings.min_area,) * len(classes),
            anomaly_exponent=EXPONENTS[0],
            border_exponent=BORDER_EXPONENT,
            **common,
        )
    except SettingsError as error:
        raise problems.RunBroken(path=run, why=Message.of(error)) from error
