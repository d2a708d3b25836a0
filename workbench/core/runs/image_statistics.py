"""Statistics of a sample of the training images: gray values, color, surface grain, defect thickness."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.project.annotation import ids_in, load_mask
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.runs.dataset import Item
from workbench.inference.io.opencv import cv2

_MIN_THICKNESS = 4.0  # network pixels below which a verdict of the whole image misses most defects
_SAMPLE = 48  # maximum number of images read


@dataclass(frozen=True)
class ImageStatistics:
    """Statistics of a sample of images.

    full_scale: greatest value of the images' number format. low, high: limits of nearly all pixels, as shares of it.
    mean, std: of the values scaled to `low` = 0 and `high` = 1. common: agreement of the line directions of all images
    together, or of those with one verdict if that is greater, 0..1. square: share of lines at right angles within each
    image, 0..1. See `grain`. exposure: how well mean or spread of the values alone separate two verdicts, from 0.5 (not
    at all) to 1 (area under the ROC curve of the pair that they separate best).
    """

    count: int
    colored: bool
    full_scale: float
    low: float
    high: float
    mean: float
    std: float
    common: float
    square: float
    exposure: float


def measure_sample(project: Project, training: list[Item]) -> ImageStatistics:
    """Return the statistics of at most 48 images. Raises NoLabels if none of them is readable."""
    step = max(1, len(training) // _SAMPLE)
    colored, full_scale, lows, highs, means, squares, grains = False, 255.0, [], [], [], [], []
    of_verdict: dict[str, list[complex]] = {}
    tones: dict[str, list[tuple[float, float]]] = {}
    for item in training[::step][:_SAMPLE]:
        try:
            pixels = read(project.image_path(item.key))
        except problems.Problem:
            continue
        thin = pixels[:: max(1, pixels.shape[0] // 256), :: max(1, pixels.shape[1] // 256)]
        colored |= _is_colored(thin)
        this_scale = {"uint8": 255.0, "uint16": 65535.0}.get(str(thin.dtype), 1.0)
        full_scale = max(full_scale, this_scale) if this_scale > 1 or not lows else full_scale
        unit = thin.astype(np.float64) / this_scale
        low, high = np.percentile(unit, [0.1, 99.9])
        lows.append(low)
        highs.append(high)
        means.append(unit.mean())
        squares.append((unit**2).mean())
        grains.append(grain(pixels))
        if item.verdict is not None:
            of_verdict.setdefault(item.verdict, []).append(complex(grains[-1][0]))
            tones.setdefault(item.verdict, []).append((means[-1], float(unit.std())))
    if not lows:
        raise problems.NoLabels()
    low, high = float(min(lows)), float(max(highs))
    if high - low < 1e-6:
        low, high = 0.0, 1.0
    spread = max(1e-6, np.mean(squares) - np.mean(means) ** 2) ** 0.5
    return ImageStatistics(
        count=len(lows),
        colored=colored,
        full_scale=full_scale,
        low=low,
        high=high,
        mean=float((np.mean(means) - low) / (high - low)),
        std=float(spread / (high - low)),
        common=max(map(_agreement, [[complex(first) for first, _ in grains], *of_verdict.values()])),
        square=float(np.mean(np.abs(grains), axis=0)[1]),
        exposure=_separation(list(tones.values())),
    )


def _separation(tones: list[list[tuple[float, float]]]) -> float:
    """Return the greatest area under the ROC curve, 0.5..1, by which one of the numbers separates two of the lists."""
    greatest = 0.5
    for first, second in combinations(tones, 2):
        for one, other in zip(zip(*first), zip(*second)):
            above = np.subtract.outer(one, other)
            area = float((above > 0).mean() + (above == 0).mean() / 2)
            greatest = max(greatest, area, 1 - area)
    return greatest


def _agreement(grains: list[complex]) -> float:
    """Return the length of the mean line direction; 0 if it may be chance, since few images may agree by chance.

    Lines along one axis for one verdict and across it for another cancel in the mean of all images, but the direction
    then distinguishes the verdicts.
    """
    mean = np.mean(grains)
    error = np.std(grains) / np.sqrt(max(1, len(grains) - 1))
    return float(abs(mean)) if len(grains) == 1 or abs(mean) > 2 * error else 0.0


def grain(pixels: np.ndarray) -> np.ndarray:
    """Return strength and direction of the lines in an image: complex (2,), magnitudes 0 (none) to 1 (all parallel).

    The first is the mean structure tensor (Bigun and Granlund 1987) of the image center as a double-angle number: 0 if
    as many lines run across as down. The second is that of the fourfold angle: 0 only if they run in all directions.
    """
    top, left = (max(0, (length - 512) // 2) for length in pixels.shape[:2])
    gray = pixels[top : top + 512, left : left + 512].astype(np.float32)
    gray = cv2.GaussianBlur(gray if gray.ndim == 2 else gray.mean(axis=2), (0, 0), 1.5)
    slope = cv2.Sobel(gray, cv2.CV_32F, 1, 0) + 1j * cv2.Sobel(gray, cv2.CV_32F, 0, 1)
    # Limit a few strong edges, such as the part's outline, so that the surface dominates.
    size = np.abs(slope)
    slope *= np.minimum(1, np.percentile(size, 95) / np.maximum(size, 1e-9))
    size = np.abs(slope)
    energy = float((size**2).sum())
    if energy <= 0:
        return np.zeros(2, complex)
    return np.array([(slope**2).sum(), ((slope**2 / np.maximum(size, 1e-9)) ** 2).sum()]) / energy


def _is_colored(pixels: np.ndarray) -> bool:
    """Return True if more than 1 % of the pixels have color; gray images are often stored with three equal channels."""
    if pixels.ndim == 2:
        return False
    differs = np.ptp(pixels.astype(np.float32), axis=2) > 8 / 255 * np.ptp(pixels)
    return bool(differs.mean() > 0.01)


def thinness(project: Project, training: list[Item]) -> float:
    """Return the 20th percentile of the thickness of the regions in a sample, in pixels.

    The thickness of a region is twice the greatest distance of its pixels from its border.
    """
    found = defect_thickness(project, [item for item in training if item.classes])
    return 8.0 if found is None else found


def defect_thickness(project: Project, items: list[Item]) -> float | None:
    """Return the 20th percentile of the thickness of the regions in a sample of `items`, as `thinness`.

    None if there are no regions.
    """
    found: list[float] = []
    for item in items[:: max(1, len(items) // _SAMPLE)][:_SAMPLE]:
        try:
            mask = load_mask(project, item.key)
        except problems.Problem:
            continue
        for id in ids_in(mask) if mask is not None else ():
            if not 0 < id <= MAX_CLASS_ID:
                continue
            inside = (mask == id).astype(np.uint8)
            depth = cv2.distanceTransform(cv2.copyMakeBorder(inside, 1, 1, 1, 1, cv2.BORDER_CONSTANT), cv2.DIST_L2, 3)
            count, labels = cv2.connectedComponents(inside, connectivity=8)
            deepest = np.zeros(count, np.float32)
            np.maximum.at(deepest, labels.ravel(), depth[1:-1, 1:-1].ravel())
            found += (2 * deepest[1:]).tolist()
    return float(np.percentile(found, 20)) if found else None


def advise_masks(project: Project, training: list[Item], scale: float) -> list[str]:
    """Return a sentence if defects are too small for a network at `scale`; otherwise nothing."""
    if scale >= 1:
        return []
    thickness = defect_thickness(project, training)
    if thickness is not None:
        thin = thickness * scale
        return [Message("plan.thin_defects", n=f"{thin:.1f}")] if thin < _MIN_THICKNESS else []
    if scale > 0.5:
        return []
    return [Message("plan.reduced", n=f"{1 / scale:.1f}", m=round(_MIN_THICKNESS / scale))]
