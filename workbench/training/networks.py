"""Construction of the network of a run and of its settings for prediction."""

from __future__ import annotations

from collections.abc import Sequence

import paddle
from paddle import nn

from workbench.core.architecture import ENCODERS, encoder_widths
from workbench.core.dataset import Dataset
from workbench.core.problems import BadRecipe, RunBroken
from workbench.core.recipe import Recipe
from workbench.inference.settings import ClassSettings, ModelSettings, SettingsError
from workbench.training.resnet import ResNet
from workbench.training.unet import UNet, multiple_of

# Pixels. Larger tiles waste less on overlap, and most images fit into one. Without a stem that reduces the resolution
# they would take too much memory.
_TILE, _TILE_AT_FULL_RESOLUTION = 2048, 1024
_AT_ONCE = 1 << 20  # pixels of the tiles that form one batch


class Answer(nn.Layer):
    """Network with softmax output: the form that is saved, converted and shipped."""

    def __init__(self, net: nn.Layer) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.softmax(self.net(x), axis=1)


def build(recipe: Recipe, dataset: Dataset) -> UNet | ResNet:
    """Return the untrained network of a run. A UNet has one output for the background and one per class."""
    if recipe.model == "unet":
        outputs = len(dataset.classes) + 1
        return UNet(
            recipe.channels, outputs, recipe.widths, stem=recipe.stem, contrast=recipe.local_contrast,
            encoder=ENCODERS[recipe.encoder], width=recipe.width,
        )  # fmt: skip
    outputs = len(dataset.verdicts)
    return ResNet(recipe.channels, outputs, depth=recipe.depth, width=recipe.width, input_size=recipe.input_size)


def multiple(recipe: Recipe) -> int:
    """Return the number of which the sides of a UNet's input must be multiples."""
    if ENCODERS[recipe.encoder]:
        return multiple_of(encoder_widths(recipe.width), stem=2, contrast=recipe.local_contrast)
    return multiple_of(recipe.widths, stem=recipe.stem, contrast=recipe.local_contrast)


def patch_side(recipe: Recipe, halvings: int = 0) -> int:
    """Return the patch size, halved `halvings` times, rounded up to a multiple accepted by the network."""
    return -(-(recipe.patch >> halvings) // multiple(recipe)) * multiple(recipe)


def mirrored(recipe: Recipe) -> tuple[str, ...]:
    """Return the mirrored orientation that the trained network also predicts: one that occurred in training.

    Compared with three further orientations, the image rotated by 180° gives nearly the full gain at half the cost.
    """
    across, down = ("flip_horizontal" in recipe.augment, "flip_vertical" in recipe.augment)
    if not recipe.mirror or not (across or down):
        return ()
    return ("both",) if across and down else ("left_right",) if across else ("upside_down",)


def settings(
    recipe: Recipe, dataset: Dataset, *, name: str, run: str,
    thresholds: Sequence[float] = (), min_area: Sequence[int] = (), um_per_pixel: float | None = None,
    files: dict[str, str] | None = None,
) -> ModelSettings:  # fmt: skip
    """Return the content of model.json: preparation of images and interpretation of outputs.

    thresholds, min_area: per class of the dataset; empty before they are chosen. Raise BadRecipe, RunBroken.
    """
    if not len(recipe.mean) == len(recipe.std) == recipe.channels:
        why = f"mean and std need one number for each of the {recipe.channels} channels"
        raise BadRecipe(key="mean", value=recipe.mean, why=why)
    seen = {
        "channels": recipe.channels, "full_scale": recipe.full_scale, "low": recipe.low, "high": recipe.high,
        "mean": tuple(recipe.mean), "std": tuple(recipe.std),
    }  # fmt: skip
    common = {"name": name, "run": run, "um_per_pixel": um_per_pixel, "files": files or {}, **seen}
    try:
        if recipe.model == "resnet":
            return ModelSettings(
                task="classification", verdicts=tuple(dataset.verdicts), input_size=recipe.input_size, **common
            )
        side = multiple(recipe)
        shrinks = recipe.stem > 1 or ENCODERS[recipe.encoder] is not None
        tile = max(patch_side(recipe), (_TILE if shrinks else _TILE_AT_FULL_RESOLUTION) // side * side)
        classes = dataset.classes
        return ModelSettings(
            task="segmentation",
            classes=tuple(ClassSettings(c.id, c.name, c.color) for c in classes),
            scale=recipe.scale, tile=tile, overlap=min(recipe.overlap, tile // 2), multiple=side,
            batch=max(1, _AT_ONCE // tile**2),
            thresholds=tuple(thresholds) or (0.5,) * len(classes),
            min_area=tuple(min_area) or (recipe.min_area,) * len(classes),
            **common,
        )  # fmt: skip
    except SettingsError as error:
        raise RunBroken(path=run, why=str(error).rstrip(".")) from error
