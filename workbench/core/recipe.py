"""Everything a person may choose about a run. They choose little; `plan` computes the rest and says why."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.core import problems
from workbench.core.annotation import load_mask
from workbench.core.dataset import Dataset, Item
from workbench.core.pictures import read
from workbench.core.project import Project
from workbench.inference.cv import cv2

Augmentation = Literal[
    "flip_horizontal", "flip_vertical", "rotate_90", "rotate", "zoom", "brightness", "contrast", "noise"
]  # fmt: skip


class Recipe(BaseModel):
    """The content of a run's recipe.json. Lengths in network pixels unless said otherwise."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    format: int = 1

    # what a person is asked
    model: Literal["unet", "resnet"]
    minutes: float | None = Field(default=5.0, gt=0, le=60 * 24 * 14)
    epochs: int | None = Field(default=None, ge=1, le=1_000_000)  # if given, bounds the run instead of minutes
    device: str = "auto"  # "auto" | "cpu" | "gpu" | "gpu:0" | "gpu:0,1"
    quality: Literal["fast", "balanced", "best"] = "balanced"

    # the picture on its way into the network (see inference.settings)
    channels: Literal[1, 3] = 1
    full_scale: float = 255.0
    low: float = 0.0
    high: float = 255.0
    mean: list[float] = [0.5]
    std: list[float] = [0.25]
    scale: float = Field(default=1.0, gt=0, le=4)

    # UNet
    widths: list[int] = [16, 32, 64, 128]  # channels per level; their number is the depth
    stem: Literal[1, 2, 4] = 1  # 2 or 4: a stem with that stride; the network works at a half or a quarter
    local_contrast: bool = True  # show the network what a pixel is against its surroundings, too
    patch: int = Field(default=256, ge=32, le=4096)
    overlap: int = Field(default=32, ge=0, le=1024)
    foreground_share: float = Field(default=0.5, ge=0, le=1)  # of the patches: centred on a defect
    dice_weight: float = Field(default=1.0, ge=0)
    cross_entropy_weight: float = Field(default=1.0, ge=0)
    min_area: int = Field(default=0, ge=0)  # pixels of the original picture; smaller regions are dropped

    # ResNet
    depth: Literal[18, 34, 50] = 18
    width: float = Field(default=1.0, gt=0, le=2)
    input_size: int = Field(default=224, ge=32, le=1024)
    label_smoothing: float = Field(default=0.05, ge=0, lt=0.5)

    # learning
    batch: int = Field(default=8, ge=1, le=1024)
    rate: float = Field(default=2e-3, gt=0, le=10)
    weight_decay: float = Field(default=1e-2, ge=0)
    warm_up: float = Field(default=0.15, ge=0, le=0.9)  # share of the run
    grad_clip: float = Field(default=1.0, gt=0)
    average: float = Field(default=0.99, ge=0, lt=1)  # decay of the averaged weights (EMA); 0 switches it off
    augment: list[Augmentation] = ["flip_horizontal", "flip_vertical", "rotate_90", "brightness", "contrast"]
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    amp_level: Literal["O1", "O2"] = "O1"
    seed: int = 0
    start_from: str | None = None  # a run whose weights are the start
    validations: int = Field(default=8, ge=1, le=1000)  # how often the held-out pictures are looked at
    threads: int = Field(default=0, ge=0)  # that prepare patches; 0: chosen by the machine

    reasons: dict[str, str] = {}  # setting -> why it is what it is


def request(model: str, **choices: Any) -> Recipe:
    """A recipe from what a person chose. Raises BadRecipe with the setting and the reason."""
    try:
        return Recipe(model=model, **choices)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "recipe"
        why = "there is no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise problems.BadRecipe(key=key, value=choices.get(key, model), why=why) from error


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` texts (JSON values, else plain text) as choices for `request`."""
    import json

    choices: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign:
            raise problems.BadRecipe(key=pair, value="nothing", why="write it as key=value")
        try:
            choices[key.strip()] = json.loads(text)
        except ValueError:
            choices[key.strip()] = text
    return choices


def plan(project: Project, dataset: Dataset, asked: Recipe) -> Recipe:
    """The whole recipe: every setting that was not asked for is computed from the pictures and the machine.

    Reads a sample of the training pictures (at most 48).
    """
    chosen = asked.model_fields_set
    values: dict[str, Any] = {}
    reasons: dict[str, str] = dict(asked.reasons)

    def choose(key: str, value: Any, why: str) -> None:
        if key in chosen:
            reasons.setdefault(key, "Chosen by hand.")
        else:
            values[key] = value
            reasons[key] = why

    training = dataset.of("train") or dataset.items
    _plan_normalisation(project, training, choose)
    if dataset.model == "unet":
        _plan_unet(training, _defect_widths(project, training), asked, choose)
    else:
        _plan_resnet(training, asked, choose)
    choose("threads", max(1, min(4, os.cpu_count() or 1)), "One thread a core prepares patches, at most four.")
    return Recipe(**{**asked.model_dump(), **values, "reasons": reasons})


def _plan_normalisation(project: Project, training: list[Item], choose) -> None:
    """Grey range and statistics of a sample of the training pictures."""
    step = max(1, len(training) // 48)
    colour, full_scale, lows, highs, sums, squares, count = False, 255.0, [], [], 0.0, 0.0, 0
    for item in training[::step][:48]:
        try:
            pixels = read(project.picture_path(item.key))
        except problems.Problem:
            continue
        thin = pixels[:: max(1, pixels.shape[0] // 256), :: max(1, pixels.shape[1] // 256)]
        colour |= _is_coloured(thin)
        this_scale = {"uint8": 255.0, "uint16": 65535.0}.get(str(thin.dtype), 1.0)
        full_scale = max(full_scale, this_scale) if this_scale > 1 or not lows else full_scale
        unit = thin.astype(np.float64) / this_scale
        low, high = np.percentile(unit, [0.1, 99.9])
        lows.append(low)
        highs.append(high)
        sums += unit.mean()
        squares += (unit**2).mean()
        count += 1
    if not count:
        raise problems.NoLabels()
    low, high = float(min(lows)), float(max(highs))
    if high - low < 1e-6:
        low, high = 0.0, 1.0
    mean = (sums / count - low) / (high - low)
    spread = max(1e-6, squares / count - (sums / count) ** 2) ** 0.5 / (high - low)
    channels = 3 if colour else 1
    why = f"Measured on {count} training pictures."
    choose("channels", channels, "The pictures are in colour." if colour else "The pictures are grey.")
    choose("full_scale", full_scale, "The greatest value of the pictures' number format.")
    choose("low", low * full_scale, why)
    choose("high", high * full_scale, why)
    choose("mean", [round(float(mean), 6)] * channels, why)
    choose("std", [round(max(0.02, float(spread)), 6)] * channels, why)


def _is_coloured(pixels: np.ndarray) -> bool:
    """Grey pictures are often stored with three equal channels; a pixel in a hundred must differ to be colour."""
    if pixels.ndim == 2:
        return False
    differs = np.ptp(pixels.astype(np.float32), axis=2) > 8 / 255 * np.ptp(pixels)
    return bool(differs.mean() > 0.01)


def _defect_widths(project: Project, training: list[Item]) -> tuple[float, float]:
    """How thick thin and thick defects are, in pixels, over the regions of a sample.

    The thickness of a region is twice the greatest distance of its pixels from its border. Thin: a fifth of the regions
    are thinner. Thick: half of all painted pixels lie in thicker regions.
    """
    painted = [item for item in training if item.classes]
    found: list[float] = []
    areas: list[int] = []
    for item in painted[:: max(1, len(painted) // 48)][:48]:
        try:
            mask = load_mask(project, item.key)
        except problems.Problem:
            continue
        for id in item.classes if mask is not None else ():
            inside = (mask == id).astype(np.uint8)
            depth = cv2.distanceTransform(cv2.copyMakeBorder(inside, 1, 1, 1, 1, cv2.BORDER_CONSTANT), cv2.DIST_L2, 3)
            count, labels = cv2.connectedComponents(inside, connectivity=8)
            deepest = np.zeros(count, np.float32)
            np.maximum.at(deepest, labels.ravel(), depth[1:-1, 1:-1].ravel())
            found += (2 * deepest[1:]).tolist()
            areas += np.bincount(labels.ravel(), minlength=count)[1:].tolist()
    if not found:
        return 8.0, 16.0
    order = np.argsort(found)
    middle = np.searchsorted(np.cumsum(np.array(areas)[order]), sum(areas) / 2)
    return float(np.percentile(found, 20)), float(np.array(found)[order][middle])


def _plan_unet(training: list[Item], widths_of_defects: tuple[float, float], asked: Recipe, choose) -> None:
    thin, thick = widths_of_defects
    edge = max((max(item.width, item.height) for item in training), default=256)
    painted = [p / max(1, item.width * item.height) for item in training for p in item.pixels]
    share = float(np.median(painted)) if painted else 0.01
    if _expects_card(asked.device):
        widths = {"fast": [32, 64, 128, 256], "balanced": [64, 128, 256, 512], "best": [64, 128, 256, 512, 512]}
        choose("stem", 1, "A graphics card affords full resolution.")
        choose("batch", 16, "Fits common cards; halved by itself if memory runs out.")
        choose("rate", 2e-3, "Wide networks learn steadily at this rate.")
        most = 256
    else:
        widths = {"fast": [16, 32, 64, 96], "balanced": [24, 48, 96, 128], "best": [16, 32, 64, 128]}
        # Wide defects are told by what is around them: they are looked at from further away.
        far = thick > 48 and thin >= 4 and edge > 128
        choose("scale", 0.5 if far else 1.0, f"Defects are {thin:.0f} to {thick:.0f} pixels thick.")
        stem = 2 if asked.quality == "best" or far else 4
        choose("stem", stem, "A stem that shrinks the picture makes a processor several times faster.")
        choose("batch", 8, "Enough for steady statistics, small enough for many steps on a processor.")
        choose("rate", 4e-3, "Slim networks learn most in few steps at this rate.")
        # Many small steps teach more in the same minutes than few large ones, if a defect and its surroundings fit.
        most = 160 if far else 128
    choose("widths", widths[asked.quality], f"Quality '{asked.quality}' on this kind of machine.")
    patch = most if edge > most else max(64, -(-edge // 32) * 32)
    choose("patch", patch, f"The longest picture is {edge} pixels; defects keep their surroundings.")
    choose("overlap", 64, "Seams between tiles are blended away.")
    choose("foreground_share", 0.5, f"The median defect covers {share:.2%} of its picture.")


def _expects_card(device: str) -> bool:
    """Whether the training will find a card, as far as can be told without importing Paddle, which takes seconds."""
    if device != "auto":
        return device.startswith("gpu")
    try:
        importlib.metadata.version("paddlepaddle-gpu")
        import pynvml

        pynvml.nvmlInit()
        try:
            return pynvml.nvmlDeviceGetCount() > 0
        finally:
            pynvml.nvmlShutdown()
    except Exception:  # no such package, no driver, no card: all mean the same
        return False


def _plan_resnet(training: list[Item], asked: Recipe, choose) -> None:
    edge = int(np.median([max(item.width, item.height) for item in training]))
    if _expects_card(asked.device):
        choose("depth", {"fast": 18, "balanced": 34, "best": 50}[asked.quality], "A graphics card affords it.")
        choose("input_size", min(320, max(64, edge // 32 * 32)), f"The median picture is {edge} pixels long.")
        choose("batch", 32, "Fits common cards; halved by itself if memory runs out.")
    else:
        choose("depth", {"fast": 18, "balanced": 18, "best": 34}[asked.quality], "Many steps matter more than depth.")
        choose("width", {"fast": 0.5, "balanced": 0.5, "best": 1.0}[asked.quality], "Slim layers for a processor.")
        choose("input_size", min(128, max(64, edge // 32 * 32)), "Small enough for many looks on a processor.")
        choose("batch", 16, "Small batches give more steps in the same minutes.")
        choose("rate", 3e-3, "Slim networks learn most in few steps at this rate.")
