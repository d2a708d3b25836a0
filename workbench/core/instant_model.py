"""Linear head on the frozen pretrained encoder: a model of the defects that is fitted to a few labels in a second.

An image is divided into cells. A cell has the encoder's features around it and the share of each class in its labels;
one logistic function per class is fitted to the cells of all labeled images with a ridge penalty.
Defective cells have as much weight together as the others, since they are few. Of each image at most `ROWS` cells are
kept, so that 100 labeled images need about 40 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.frozen_encoder import FrozenEncoder, input_settings
from workbench.core.logistic_regression import minimize
from workbench.core.project import annotation
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray
from workbench.inference.model_settings import ModelSettings

CELL = 8  # pixels of the side of a cell in the image that the encoder receives
ROWS = 400  # cells kept of an image
THRESHOLD = 0.5  # probability of a defective cell
_FIT_ROWS = 4_000  # cells of all images in one fit: a fifth of a second of a processor
_TILE, _MARGIN = 512, 32  # pixels: part of an image that is encoded at once, and its surroundings
_RIDGE = 0.03  # penalty of the squared coefficients of standardized features, relative to weights with the sum 1
_UNFINISHED = 0.3  # weight of unpainted cells before an image is done: some may be defects
_NEAR = 5  # cells: side of the square around a painted cell in which nothing unpainted is background before that
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class FrozenFeatures:
    """Features of an image.

    levels: float16 (channels, h, w), with cells of 1, 2 and 4 times the side. cell: side of a cell, pixels of the
    image. size: (height, width) of the image.
    """

    levels: tuple[np.ndarray, ...]
    cell: int
    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of cells; the last ones may extend beyond the image."""
        return self.levels[0].shape[1:]

    @property
    def nbytes(self) -> int:
        return sum(level.nbytes for level in self.levels)

    def at(self, cells: np.ndarray) -> np.ndarray:
        """Return float16 (n, channels) for cells given by their row-major numbers."""
        y, x = np.divmod(cells, self.shape[1])
        return np.concatenate([level[:, y >> n, x >> n] for n, level in enumerate(self.levels)]).T


@dataclass(frozen=True, eq=False)
class CellLabels:
    """Labels of some cells, or of all cells of an image, (n,) each. shares: of the classes, by id. weights: float32."""

    shares: Mapping[int, np.ndarray]
    weights: np.ndarray

    @property
    def defective(self) -> np.ndarray:
        """Share of all classes together, float32 (n,)."""
        return sum(self.shares.values(), np.zeros_like(self.weights))

    def thinned(self, count: int) -> tuple[np.ndarray, CellLabels]:
        """Return about `count` evenly spaced cells, half of them defective if there are so many, and their labels.

        Their weights are increased, as they stand for the others.
        """
        defective = self.defective > 0
        groups = [np.flatnonzero(found & (self.weights > 0)) for found in (defective, ~defective)]
        kept = [
            group[np.linspace(0, group.size - 1, min(group.size, max(count // 2, count - other.size))).astype(np.intp)]
            for group, other in zip(groups, reversed(groups))
        ]
        chosen = np.concatenate(kept)
        factors = [self.weights[group].sum() / max(1e-9, self.weights[few].sum()) for few, group in zip(kept, groups)]
        weights = self.weights[chosen] * np.repeat(factors, [few.size for few in kept])
        shares = {id: share[chosen] for id, share in self.shares.items()}
        return chosen, CellLabels(shares, weights.astype(np.float32))


@dataclass(frozen=True, eq=False)
class LabeledCells:
    """Labeled cells of one image for a fit. features: float16 (n, channels)."""

    features: np.ndarray
    labels: CellLabels


def value_range(images: Sequence[ImageArray]) -> ModelSettings:
    """Return the conversion to the encoder's input for images like these, (H, W) or (H, W, 3) each.

    8-bit values are used as they are. Cameras seldom use the full range of others: theirs is that of all the images,
    so that a dark or empty image does not decide it.
    """
    from workbench.core.images.display import automatic

    displays = [automatic(image) for image in images]  # ty: ignore[invalid-argument-type]
    full_scale = max({"uint8": 255.0, "uint16": 65535.0}.get(str(image.dtype), 1.0) for image in images)
    return input_settings(full_scale, min(each.low for each in displays), max(each.high for each in displays))


def read_features(
    encoder: FrozenEncoder,
    image: ImageArray,
    settings: ModelSettings,
    most: int,
    cancelled: Callable[[], bool] = lambda: False,
) -> FrozenFeatures | None:
    """Return the features of an image, (H, W) or (H, W, 3) RGB, in tiles; None if it was canceled.

    encoder: of all levels. settings: from `value_range`. most: pixels of the longer side; a larger image is reduced by
    a whole number.
    """
    height, width = image.shape[:2]
    step = -(-max(height, width) // most)
    if step > 1:
        reduced = max(1, round(width / step)), max(1, round(height / step))
        image = cv2.resize(np.asarray(getattr(image, "overview", image)), reduced, interpolation=cv2.INTER_AREA)
    rows, columns = image.shape[:2]
    levels = [np.zeros((channels, -(-rows // side), -(-columns // side)), np.float16) for side, channels in _LEVELS]
    for top in range(0, rows, _TILE):
        for left in range(0, columns, _TILE):
            if cancelled():
                return None
            y, x = max(0, top - _MARGIN), max(0, left - _MARGIN)
            tile = np.asarray(image[y : top + _TILE + _MARGIN, x : left + _TILE + _MARGIN])
            for level, values, (side, _) in zip(levels, _cells(encoder.image_levels(tile, settings)), _LEVELS):
                target = level[:, top // side : (top + _TILE) // side, left // side : (left + _TILE) // side]
                inner = values[:, (top - y) // side :, (left - x) // side :]
                target[:] = inner[:, : target.shape[1], : target.shape[2]]
    return FrozenFeatures(tuple(levels), CELL * step, (height, width))


_LEVELS = ((8, 16 + 24 + 40), (16, 112), (32, 320))  # stride and channels


def _cells(levels: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the levels with the first three joined at the third one's stride, of which the finer ones are averaged."""
    height, width = levels[2].shape[1:]
    fine = []
    for level, factor in zip(levels, (4, 2)):
        rows, columns = height * factor - level.shape[1], width * factor - level.shape[2]
        padded = np.pad(level, ((0, 0), (0, rows), (0, columns)), mode="edge")
        fine.append(padded.reshape(-1, height, factor, width, factor).mean((2, 4)))
    return [np.concatenate([*fine, levels[2]]), *levels[3:]]


def label_cells(features: FrozenFeatures, mask: np.ndarray, *, done: bool) -> CellLabels:
    """Return the labels of all cells of an image from its mask, uint8 (H, W).

    Ignored and unlabeled pixels do not count. done: unpainted cells are background; before that, those near painted
    ones do not count and the others have a low weight, as some of them may be defects.
    """
    counts = annotation.counts(mask)
    ids = [int(id) for id in np.flatnonzero(counts[:DONT_CARE]) if id != BACKGROUND]
    unknown = [_share(mask, id, features) for id in (DONT_CARE, NOT_LABELED) if counts[id]]
    known = 1 - sum(unknown, np.zeros(features.shape, np.float32))
    shares = {id: _share(mask, id, features) for id in ids}
    painted = sum(shares.values(), np.zeros(features.shape, np.float32))
    weights = known.copy()
    if not done and not counts[NOT_LABELED]:
        near = cv2.dilate((painted > 0).astype(np.uint8), np.ones((_NEAR, _NEAR), np.uint8)) > 0
        weights *= np.where(painted > 0, 1.0, np.where(near, 0.0, _UNFINISHED if painted.any() else 0.0))
    known = np.maximum(known, 1e-6)
    return CellLabels({id: (share / known).ravel() for id, share in shares.items()}, weights.ravel())


def _share(mask: np.ndarray, id: int, features: FrozenFeatures) -> np.ndarray:
    """Return the share of the pixels of a cell that have this id, float32 (rows, columns) 0..1."""
    (rows, columns), cell = features.shape, features.cell
    found = np.where(mask == id, np.uint8(255), np.uint8(0))
    below, beside = rows * cell - mask.shape[0], columns * cell - mask.shape[1]
    found = cv2.copyMakeBorder(found, 0, max(0, below), 0, max(0, beside), cv2.BORDER_REPLICATE)
    found = found[: rows * cell, : columns * cell]
    return cv2.resize(found, (columns, rows), interpolation=cv2.INTER_AREA).astype(np.float32) / 255


def labeled_cells(features: FrozenFeatures, mask: np.ndarray, *, done: bool) -> LabeledCells | None:
    """Return the cells of an image for a fit; None if its mask says nothing. See `label_cells`."""
    chosen, labels = label_cells(features, mask, done=done).thinned(ROWS)
    return LabeledCells(features.at(chosen), labels) if chosen.size else None


@dataclass(frozen=True, eq=False)
class DefectHead:
    """One logistic function for each class. coefficients: float32 (classes, channels). bias: float32 (classes,)."""

    ids: tuple[int, ...]
    coefficients: np.ndarray
    bias: np.ndarray

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Return float32 (classes, n), 0..1, for the features of cells, (n, channels)."""
        return _logistic(self.coefficients @ features.astype(np.float32).T + self.bias[:, None])

    def scores(self, features: FrozenFeatures) -> list[np.ndarray]:
        """Return for each class 255 times the probability of each pixel of the image, uint8 (H, W)."""
        rows, columns = features.shape
        total = np.repeat(self.bias, rows * columns).reshape(-1, rows, columns)
        start = 0
        for number, level in enumerate(features.levels):
            part = self.coefficients[:, start : start + len(level)]
            start += len(level)
            maps = (part @ level.reshape(len(level), -1).astype(np.float32)).reshape(-1, *level.shape[1:])
            for entry, map_ in zip(total, maps):  # a linear function of interpolated features is one of its values
                size = map_.shape[1] << number, map_.shape[0] << number
                entry += cv2.resize(map_, size, interpolation=cv2.INTER_LINEAR)[:rows, :columns]
        scores = (255 * _logistic(total)).round().astype(np.uint8)
        return [_enlarged(plane, features) for plane in scores]


def _enlarged(scores: np.ndarray, features: FrozenFeatures) -> np.ndarray:
    """Return values of cells, uint8 (rows, columns), interpolated for each pixel of the image, uint8 (H, W)."""
    (rows, columns), cell, (height, width) = features.shape, features.cell, features.size
    large = cv2.resize(scores, (columns * cell, rows * cell), interpolation=cv2.INTER_LINEAR)
    below, beside = max(0, height - rows * cell), max(0, width - columns * cell)
    large = cv2.copyMakeBorder(large, 0, below, 0, beside, cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(large[:height, :width])


def _logistic(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def fit_head(images: Sequence[LabeledCells], before: DefectHead | None = None) -> DefectHead | None:
    """Return a head fitted to labeled images; None if no class is painted or nothing is background.

    before: head of nearly the same labels, from which the fit begins.
    """
    thinned = [(cells, *cells.labels.thinned(max(2, _FIT_ROWS // len(images)))) for cells in images]
    if not thinned:
        return None
    x = np.concatenate([cells.features[chosen] for cells, chosen, _ in thinned]).astype(np.float32)
    weights = np.concatenate([labels.weights for *_, labels in thinned])
    mean = np.average(x, 0, weights)
    spread = np.sqrt(np.average((x - mean) ** 2, 0, weights)) + 1e-6
    z = np.concatenate([(x - mean) / spread, np.ones((len(x), 1), np.float32)], axis=1, dtype=np.float32)
    fitted: dict[int, np.ndarray] = {}
    for id in sorted({id for cells in images for id in cells.labels.shares}):
        share = np.concatenate([labels.shares.get(id, np.zeros(len(labels.weights))) for *_, labels in thinned])
        positive, negative = weights * share, weights * (1 - share)
        if positive.sum() <= 0 or negative.sum() <= 0:
            continue
        start = np.zeros(z.shape[1])
        if before is not None and id in before.ids:
            former = before.ids.index(id)
            start[:-1] = before.coefficients[former] * spread
            start[-1] = before.bias[former] + before.coefficients[former] @ mean
        fitted[id] = _fit_class(z, positive / positive.sum() / 2, negative / negative.sum() / 2, start)
    if not fitted:
        return None
    solution = np.stack(list(fitted.values()))
    coefficients = (solution[:, :-1] / spread).astype(np.float32)
    return DefectHead(tuple(fitted), coefficients, (solution[:, -1] - coefficients @ mean).astype(np.float32))


def _fit_class(z: np.ndarray, positive: np.ndarray, negative: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the coefficients of one class, (channels + 1,). z: float32 (n, channels + 1), standardized, and 1.

    positive, negative: weights (n,) of a row as defect and as background.
    """
    penalty = np.full(z.shape[1], _RIDGE, np.float32)
    penalty[-1] = 1e-6  # the constant

    def loss(solution: np.ndarray) -> tuple[float, np.ndarray]:
        solution = solution.astype(np.float32)
        logits = z @ solution
        value = positive @ np.logaddexp(0, -logits) + negative @ np.logaddexp(0, logits) + penalty @ solution**2 / 2
        error = (positive + negative) * _logistic(logits) - positive
        return float(value), (error.astype(np.float32) @ z + penalty * solution).astype(np.float64)

    return minimize(loss, start)


def cross_fit(
    images: Mapping[str, LabeledCells],
    groups: Mapping[str, str],
    measured: Sequence[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> float | None:
    """Return the Dice coefficient of any defect, of heads on images of groups that they were not fitted to.

    groups: of the images, for example the part. measured: images that count; all if none of them is labeled. None if
    it was canceled, without a second group, or without a defect in the images that count.
    """
    names = sorted({groups[key] for key in images})
    folds = {name: number % _FOLDS for number, name in enumerate(names)}
    counted = set(measured) & set(images) or set(images)
    found = marked = defective = 0.0  # cells, weighted
    for fold in range(min(_FOLDS, len(names))):
        if cancelled():
            return None
        held_out = [cells for key, cells in images.items() if folds[groups[key]] == fold and key in counted]
        head = fit_head([cells for key, cells in images.items() if folds[groups[key]] != fold]) if held_out else None
        for cells in held_out:
            if head is None:
                break
            chosen = cells.labels.weights * (head.probabilities(cells.features).max(axis=0) >= THRESHOLD)
            found += float(chosen @ cells.labels.defective)
            marked += float(chosen.sum())
            defective += float(cells.labels.weights @ cells.labels.defective)
    return 2 * found / (marked + defective) if defective else None
