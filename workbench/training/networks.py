"""Construction of the network of a run and of its settings for prediction."""

from __future__ import annotations

from collections.abc import Sequence

import paddle
from paddle import nn

from workbench.core.messages import Message
from workbench.core.problems import BadSettings, RunBroken
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.network_stats import encoder_widths
from workbench.core.runs.training_settings import RANDOM, TrainingSettings
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.model_settings import ClassSettings, ModelSettings, SettingsError
from workbench.training.lite0_encoder import Lite0Classifier
from workbench.training.resnet import ResNet
from workbench.training.threshold_search import EXPONENTS
from workbench.training.unet import UNet, multiple_of

# Pixels. Larger tiles waste less on overlap, and most images fit into one. Without a stem that reduces the resolution
# they would take too much memory.
_TILE, _TILE_AT_FULL_RESOLUTION = 2048, 1024
# Of the share of a region beyond the ignored border. Networks mark shadows and edges that begin at the border.
BORDER_EXPONENT = 2
PRETRAINED_RATE = 0.15  # learning rate of a pretrained encoder, relative to that of untrained layers
_PIXELS_PER_BATCH = 1 << 20  # pixels of the tiles that form one batch


class ProbabilityHead(nn.Layer):
    """Network with softmax output: the form that is saved, converted and shipped."""

    def __init__(self, net: nn.Layer) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.softmax(self.net(x), axis=1)


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
        raise BadSettings(key="mean", value=settings.mean, why=why)
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
        raise RunBroken(path=run, why=Message.of(error)) from error
