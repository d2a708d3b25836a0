"""Features of the training and validation images, for the unlike score of a trained model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.verdict_rules import BUDGET, conformal_limit
from workbench.core.images.image_files import read
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.inference.known_features import KnownFeatures, Neighbors, signed_root
from workbench.inference.predictor import Predictor

SHARE = BUDGET / 100  # of the images of other parts that may be unlike the training images
_IMAGES, _PIXELS = 300, 100e6  # maximum of the images that are predicted
_STORED_IMAGES, _STORED_CELLS = 150, 128  # of the vectors to compare with
_CELLS = 4000  # from which the stored ones are chosen
_LOCAL = 1.1  # a single cell may differ this many times more than any of images of other parts did
_FLOOR = 0.3  # least deviation of a feature, as a share of the mean deviation of its stage


def learn_features(
    project: Project,
    dataset: Dataset,
    predictor: Predictor,
    widths: Sequence[int],
    *,
    share: float = SHARE,
    seconds: float = 20.0,
) -> KnownFeatures | None:
    """Return the features of the training and validation images; None if they show fewer than `MIN_PARTS` parts.

    With fewer, the distance between images of different parts is not known, and good images would get no verdict.

    predictor: of the model. widths: numbers of features of each stage of the encoder. share: of the images of other
    parts that may be unlike. seconds: after which no more images are predicted. Raises EngineError.
    """
    cells: list[np.ndarray] = []
    parts: list[str] = []
    pixels, until = 0.0, time.perf_counter() + seconds
    items = dataset.of("train", "val")
    for index in np.random.default_rng(0).permutation(len(items))[:_IMAGES]:
        if pixels > _PIXELS or (len(set(parts)) >= MIN_PARTS and time.perf_counter() > until):
            break
        try:
            image = read(project.image_path(items[index].key))
        except Problem:
            continue
        found = predictor.features(image, name=items[index].key)
        if found is not None:
            cells.append(found)
            parts.append(items[index].part)
            pixels += image.shape[0] * image.shape[1]
    return fit_features(cells, parts, widths, share) if len(set(parts)) >= MIN_PARTS else None


def fit_features(
    cells: Sequence[np.ndarray], parts: Sequence[str], widths: Sequence[int], share: float = SHARE
) -> KnownFeatures:
    """Return the features to compare with, and the limits.

    The limit of an image is set on distances from images of other parts only, as the budget of false alarms is. That of
    a cell is above all such distances, so that only what differs strongly in a small place exceeds it.

    cells: float32 (cells, F) of each image. parts: of the images, at least two. Others: as of `learn_features`.
    """
    names = np.array(parts)
    means = np.stack([found.mean(axis=0, dtype=np.float64).astype(np.float32) for found in cells])
    images = _neighbors(means, means, names, widths, _STORED_IMAGES)
    distances = _from_others(images[0], means, names, images[1])
    image = replace(images[0], limit=_positive(conformal_limit(distances, parts, share)))
    each = max(1, _CELLS // len(cells))
    generator = np.random.default_rng(1)
    drawn = [found[generator.permutation(len(found))[:each]] for found in cells]
    owners = np.repeat(names, [len(found) for found in drawn])
    places = _neighbors(np.concatenate(drawn), np.concatenate(cells), owners, widths, _STORED_CELLS)
    farthest = [
        _from_others(places[0], found, np.repeat(names[number : number + 1], len(found)), places[1]).max()
        for number, found in enumerate(cells)
    ]
    cell = replace(places[0], limit=_positive(_LOCAL * max(farthest)))
    return KnownFeatures(len(cells), len(set(parts)), share, image, cell)


def _neighbors(
    candidates: np.ndarray, all_features: np.ndarray, owners: np.ndarray, widths: Sequence[int], count: int
) -> tuple[Neighbors, np.ndarray]:
    """Return neighbors chosen from the candidates, and the part of each."""
    roots = signed_root(all_features)
    center, deviation = roots.mean(axis=0), roots.std(axis=0)
    ends = np.cumsum(widths)
    scale = np.empty_like(center)
    for begin, end in zip(ends - widths, ends):  # each stage counts the same
        deviations = deviation[begin:end]
        weight = np.sqrt(ends[-1] / len(widths) / (end - begin))
        scale[begin:end] = weight / (deviations + _FLOOR * deviations.mean() + 1e-6)
    values = (signed_root(candidates) - center) * scale
    chosen = _spread(values, count)
    return Neighbors.of(candidates[chosen], center, scale), owners[chosen]


def _spread(values: np.ndarray, count: int) -> np.ndarray:
    """Return indices of up to `count` vectors, each the one farthest from those before it (Gonzalez, 1985)."""
    chosen = [0]
    nearest = np.full(len(values), np.inf)
    while len(chosen) < min(count, len(values)):
        nearest = np.minimum(nearest, np.square(values - values[chosen[-1]]).sum(axis=1))
        chosen.append(int(np.argmax(nearest)))
    return np.array(chosen)


def _from_others(neighbors: Neighbors, features: np.ndarray, parts: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Return the distance of each vector from the nearest stored one of another part, float64 (n,)."""
    distances = neighbors.distances(features).astype(np.float64)
    distances[parts[:, None] == stored[None]] = np.inf
    nearest = distances.min(axis=1)
    known = nearest[np.isfinite(nearest)]
    return np.where(np.isfinite(nearest), nearest, known.max() if len(known) else 1.0)


def _positive(limit: float) -> float:
    return float(f"{max(limit, 1e-6):.4g}")
