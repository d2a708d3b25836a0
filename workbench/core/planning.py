"""What a person did not choose about a run, computed from the pictures, the labels and the machine, with the reason."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.core import problems
from workbench.core.annotation import load_mask
from workbench.core.dataset import Dataset, Item
from workbench.core.pictures import read
from workbench.core.project import Project
from workbench.core.recipe import Recipe
from workbench.inference.cpu import cores
from workbench.inference.cv import cv2

Choose = Callable[[str, Any, str], None]  # setting, value, why

_SAMPLE = 48  # pictures that are looked at
_MOST_SHARED = 640  # network pixels of neighbouring tiles, however far a network sees
_GRAIN = 0.15  # from this agreement of lines on, a picture turned by a quarter is no picture of such a part
_SQUARE = 0.1  # from this share of lines at right angles on, a picture that is turned a little is none


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
        elif key not in values:  # what comes first knows more
            values[key] = value
            reasons[key] = why

    training = dataset.of("train") or dataset.items
    _plan_from_pictures(project, training, choose)
    _plan_start(asked, choose)
    if dataset.model == "unet":
        _plan_unet(training, _thinness(project, training), asked, choose)
        _plan_overlap(Recipe(**{**asked.model_dump(), **values}), choose)
    else:
        _plan_resnet(training, asked, choose)
    _plan_course(asked, choose)
    choose("threads", min(4, cores()), "One thread a core prepares patches, at most four.")
    return Recipe(**{**asked.model_dump(), **values, "reasons": reasons})


def _plan_from_pictures(project: Project, training: list[Item], choose: Choose) -> None:
    """Grey range, statistics and symmetry of a sample of the training pictures."""
    step = max(1, len(training) // _SAMPLE)
    colour, full_scale, lows, highs, means, squares, grains = False, 255.0, [], [], [], [], []
    for item in training[::step][:_SAMPLE]:
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
        means.append(unit.mean())
        squares.append((unit**2).mean())
        grains.append(grain(pixels))
    if not lows:
        raise problems.NoLabels()
    low, high = float(min(lows)), float(max(highs))
    if high - low < 1e-6:
        low, high = 0.0, 1.0
    mean = (np.mean(means) - low) / (high - low)
    spread = max(1e-6, np.mean(squares) - np.mean(means) ** 2) ** 0.5 / (high - low)
    channels = 3 if colour else 1
    why = f"Measured on {len(lows)} training pictures."
    choose("channels", channels, "The pictures are in colour." if colour else "The pictures are grey.")
    choose("full_scale", full_scale, "The greatest value of the pictures' number format.")
    choose("low", low * full_scale, why)
    choose("high", high * full_scale, why)
    choose("mean", [round(float(mean), 6)] * channels, why)
    choose("std", [round(max(0.02, float(spread)), 6)] * channels, why)
    # Parts lie as they lie, so what they agree in counts; but each of them may be built at right angles.
    common, square = float(abs(np.mean(grains, axis=0)[0])), float(np.mean(np.abs(grains), axis=0)[1])
    turned: list[str] = []
    if common > _GRAIN:
        why = "the grain runs one way: nothing is turned"
    elif square > _SQUARE:
        turned, why = ["rotate_90"], "no direction prevails: quarter turns are as natural"
    else:
        turned, why = ["rotate_90", "rotate", "zoom"], "there are no directions: any turn is as natural"
    why = f"Lines of the pictures agree in direction by {common:.0%}; {why}."
    choose("augment", ["flip_horizontal", "flip_vertical", *turned, "brightness", "contrast"], why)


def grain(pixels: np.ndarray) -> np.ndarray:
    """How much, and in which direction, the lines of a picture run: complex (2,), each 0 (no way) to 1 (all one) long.

    First the mean structure tensor (Bigun and Granlund 1987) of the middle of the picture, as the number of double
    angle: 0 where as many lines run across as down. Then that of the fourfold angle: 0 only where they run all ways.
    """
    top, left = (max(0, (length - 512) // 2) for length in pixels.shape[:2])
    grey = pixels[top : top + 512, left : left + 512].astype(np.float32)
    grey = cv2.GaussianBlur(grey if grey.ndim == 2 else grey.mean(axis=2), (0, 0), 1.5)
    slope = cv2.Sobel(grey, cv2.CV_32F, 1, 0) + 1j * cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    # A few strong edges, such as the part's own outline, must not outvote the surface.
    size = np.abs(slope)
    slope *= np.minimum(1, np.percentile(size, 95) / np.maximum(size, 1e-9))
    size = np.abs(slope)
    energy = float((size**2).sum())
    if energy <= 0:
        return np.zeros(2, complex)
    return np.array([(slope**2).sum(), ((slope**2 / np.maximum(size, 1e-9)) ** 2).sum()]) / energy


def _is_coloured(pixels: np.ndarray) -> bool:
    """Grey pictures are often stored with three equal channels; a pixel in a hundred must differ to be colour."""
    if pixels.ndim == 2:
        return False
    differs = np.ptp(pixels.astype(np.float32), axis=2) > 8 / 255 * np.ptp(pixels)
    return bool(differs.mean() > 0.01)


def _thinness(project: Project, training: list[Item]) -> float:
    """How thick thin defects are, in pixels: a fifth of the regions of a sample are thinner.

    The thickness of a region is twice the greatest distance of its pixels from its border.
    """
    painted = [item for item in training if item.classes]
    found: list[float] = []
    for item in painted[:: max(1, len(painted) // _SAMPLE)][:_SAMPLE]:
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
    return float(np.percentile(found, 20)) if found else 8.0


def _plan_start(asked: Recipe, choose: Choose) -> None:
    """What a ResNet inside of a UNet, and weights that others have trained, decide; what follows may not."""
    if asked.weights:
        choose("rate", 1e-3, "Layers that have learned already ask for small steps.")
        choose("optimizer", "adamw", "Layers that have learned already ask for small steps.")
        choose("width", 1.0, "The weights are of the full width.")
    inside = asked.model == "unet" and asked.encoder != "plain"
    for key in ("widths", "stem"):
        if inside and getattr(asked, key) != Recipe.model_fields[key].default:
            why = f"a UNet whose encoder is {asked.encoder} has the stem and the widths of that; set width instead"
            raise problems.BadRecipe(key=key, value=getattr(asked, key), why=why)
    if inside:
        for key in ("widths", "stem"):
            choose(key, getattr(asked, key), f"Not used: {asked.encoder} has its own.")
        choose("rate", 2e-3, "Deep networks learn steadily at this rate.")


def _plan_unet(training: list[Item], thin: float, asked: Recipe, choose: Choose) -> None:
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
        choose("stem", 2 if asked.quality == "best" else 4, "A stem that shrinks the picture is several times faster.")
        _plan_cores(8, choose)
        choose("rate", 4e-3, "Slim networks learn most in few steps at this rate.")
        # Many small steps teach more in the same minutes than few large ones, if a defect and its surroundings fit.
        most = 128
    # Where even thin defects are thick, fewer pixels show them as well, and more of what is around them.
    scale = min(1.0, max(0.25, 2.0 ** -np.floor(np.log2(max(1.0, thin / 12)))))
    choose("scale", float(scale), f"Four of five defects are thicker than {thin:.0f} pixels.")
    if asked.encoder == "plain":
        choose("optimizer", "muon", "A UNet learns far more in the same number of steps.")
        if not asked.start_from:
            choose("encoder", "plain", "It begins with nothing: so a plain UNet learns most in the same minutes.")
    choose("widths", widths[asked.quality], "The size for this quality on this kind of machine.")
    patch = most if edge > most else max(64, -(-edge // 32) * 32)
    choose("patch", patch, f"The longest picture is {edge} pixels; defects keep their surroundings.")
    if asked.quality == "fast":
        choose("mirror", False, "Quality 'fast': one look at a picture is enough.")
    else:
        why = "The mean of two looks, one at the mirrored picture, errs less; predicting takes twice as long."
        choose("mirror", True, why)
    why = "Defects cover few pixels: how well they overlap counts as much as all the single pixels."
    choose("dice_weight", 1.0, why)
    choose("cross_entropy_weight", 1.0, why)
    choose("foreground_share", 0.5, f"The median defect covers {share:.2%} of its picture.")


def _plan_overlap(planned: Recipe, choose: Choose) -> None:
    sees = reach(planned)
    if 2 * sees <= _MOST_SHARED:
        why = f"The network sees {sees} pixels around each pixel: tiles that share so much answer as the whole would."
        choose("overlap", 2 * sees + 32, why)
    else:
        choose("overlap", _MOST_SHARED, "Tiles of a large picture share so much that their seams are not seen.")


def reach(recipe: Recipe) -> int:
    """How many pixels around a pixel a UNet's answer for it depends on, at most, in network pixels.

    Two convolutions of 3 x 3 a level see a cell of that level further each, on the way down and on the way up; a cell
    of the lowest level holds the pixel itself anywhere.
    """
    if recipe.encoder == "plain":
        cells = [recipe.stem * 2**level for level in range(len(recipe.widths))]
        down = 2 * sum(cells)
    else:
        blocks = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3)}[recipe.encoder]
        cells = [2, 4, 8, 16, 32]
        down = 4 + sum(2 * count * cell for count, cell in zip(blocks, cells[1:]))
    around = 48 if recipe.local_contrast else 0
    return down + 2 * sum(cells[:-1]) + cells[-1] + recipe.stem + around


def _plan_cores(least: int, choose: Choose) -> None:
    """Batch and workers on a processor: each core computes four pictures or more of a batch."""
    workers = min(cores(), 8)
    choose("batch", max(least, 4 * workers), "Small batches give many steps in the same minutes.")
    choose("workers", workers, "Each core computes its part of every batch; more than eight gain little.")


def _plan_course(asked: Recipe, choose: Choose) -> None:
    """What the clock decides: the run measures the machine as it goes, and fits into its time on any."""
    why = "The rate rises and falls with the clock: the end comes in time, after as many steps as the machine makes."
    if asked.epochs is None and asked.minutes is not None:
        choose("warm_up", asked.warm_up, why)
        seconds = asked.minutes * 60 / asked.validations
        why = f"A look every {seconds:.0f} s; all of them together take at most a tenth of the time."
        choose("validations", asked.validations, why)
    card = _expects_card(asked.device)
    why = "16 bits, where the card gains by them." if card else "A processor learns in 32 bits."
    choose("precision", asked.precision, why)


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


def _plan_resnet(training: list[Item], asked: Recipe, choose: Choose) -> None:
    edge = int(np.median([max(item.width, item.height) for item in training]))
    least = 128 if asked.weights else 64  # small ones have a first layer of their own, which published weights have not
    if _expects_card(asked.device):
        choose("depth", {"fast": 18, "balanced": 34, "best": 50}[asked.quality], "A graphics card affords it.")
        choose("input_size", min(320, max(least, edge // 32 * 32)), f"The median picture is {edge} pixels long.")
        choose("batch", 32, "Fits common cards; halved by itself if memory runs out.")
    else:
        choose("depth", {"fast": 18, "balanced": 18, "best": 34}[asked.quality], "Many steps matter more than depth.")
        choose("width", {"fast": 0.5, "balanced": 0.5, "best": 1.0}[asked.quality], "Slim layers for a processor.")
        choose("input_size", min(128, max(least, edge // 32 * 32)), "Small enough for many looks on a processor.")
        _plan_cores(16, choose)
        choose("rate", 3e-3, "Slim networks learn most in few steps at this rate.")
        if asked.quality != "best":  # wide layers: a fifth slower, and not measured whether it is worth that
            choose("optimizer", "muon", "In the same minutes a slim ResNet learns more, and gives fewer false alarms.")
