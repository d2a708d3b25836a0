"""Unlike score: distance of an image from the training images, in the features of the network that predicts it.

The features are a second output of the network: the mean of each channel of the stages of its encoder over cells. The
mean over the whole image is compared with those of training and validation images, and each cell with cells of them;
the distance from the nearest one counts (nearest neighbors in features of a network: Roth et al., PatchCore, 2022).
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from .input_guard import InputCheck

_STEP = 16  # steps of a stored value in one standard deviation; 8 bits reach 8 of them


@dataclass(frozen=True)
class Neighbors:
    """Stored vectors, and the distance from the nearest one that is the limit.

    center, scale: float32 (features,), vectors: int8 (n, features), each in base64. The vectors are roots of features
    with their sign kept, minus `center`, multiplied by `scale`, in steps of 1/16.

    Raises ValueError with the problem, as a part of a sentence.
    """

    limit: float
    center: str
    scale: str
    vectors: str

    def __post_init__(self) -> None:
        valid = type(self.limit) in (int, float) and math.isfinite(self.limit) and self.limit > 0
        if not valid or not all(isinstance(text, str) for text in (self.center, self.scale, self.vectors)):
            raise ValueError("limit must be above 0, and center, scale and vectors texts in base64")
        count = len(self._center)
        stored = len(_decoded(self.vectors, np.int8))
        if not count or len(self._scale) != count or not stored or stored % count:
            raise ValueError("center, scale and vectors must be of the same number of features")
        if not np.isfinite(self._center).all() or not np.isfinite(self._scale).all():
            raise ValueError("its numbers must be finite")

    @classmethod
    def of(cls, features: np.ndarray, center: np.ndarray, scale: np.ndarray) -> Neighbors:
        """Return the neighbors with these features, float32 (n, features), and the limit 1."""
        vectors = np.clip(np.rint(_STEP * _standardized(features, center, scale)), -127, 127).astype(np.int8)
        return cls(1.0, *(_encoded(array) for array in (center.astype(np.float32), scale.astype(np.float32), vectors)))

    @cached_property
    def _center(self) -> np.ndarray:
        return _decoded(self.center, np.float32)

    @cached_property
    def _scale(self) -> np.ndarray:
        return _decoded(self.scale, np.float32)

    @cached_property
    def _vectors(self) -> np.ndarray:
        return _decoded(self.vectors, np.int8).reshape(-1, len(self._center)).astype(np.float32) / _STEP

    @cached_property
    def _doubled(self) -> np.ndarray:
        return np.ascontiguousarray(2 * self._vectors.T)

    @cached_property
    def _squares(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self._vectors, self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def features(self) -> int:
        return len(self._center)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Center and scale, float32 (features,), and the vectors, float32 (n, features)."""
        return self._center, self._scale, self._vectors

    def distances(self, features: np.ndarray) -> np.ndarray:
        """Return the distances from all stored vectors over the limit, float32 (n, stored). features: (n, features)."""
        return self._over_limit(self._squared_distances(features))

    def nearest(self, features: np.ndarray) -> np.ndarray:
        """Return the distance from the nearest stored vector over the limit, float32 (n,). features: (n, features)."""
        return self._over_limit(self._squared_distances(features).min(axis=1))

    def _squared_distances(self, features: np.ndarray) -> np.ndarray:
        values = _standardized(features, self._center, self._scale)
        return np.einsum("ij,ij->i", values, values)[:, None] + self._squares - values @ self._doubled

    def _over_limit(self, squares: np.ndarray) -> np.ndarray:
        return np.sqrt(np.maximum(squares, 0)) / np.float32(self.limit * math.sqrt(len(self._center)))


@dataclass(frozen=True)
class KnownFeatures:
    """Features of the training and validation images.

    images, parts: numbers of those that were measured. share: of the images of other parts that may be unlike them.
    image, cell: neighbors of the mean over an image, and of its cells.

    Raises ValueError with the problem, as a part of a sentence.
    """

    images: int
    parts: int
    share: float
    image: Neighbors
    cell: Neighbors

    def __post_init__(self) -> None:
        numbers = (self.images, self.parts, self.share)
        if not all(type(number) in (int, float) and math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("images, parts and share must be 0 or more")
        if self.image.features != self.cell.features:
            raise ValueError("image and cell must have the same number of features")

    @classmethod
    def from_json(cls, content: Any) -> KnownFeatures:
        """Return features from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        levels = ("image", "cell") if isinstance(content, dict) else ()
        read = {name: _from_json(Neighbors, content.get(name)) for name in levels}
        return _from_json(cls, {**content, **read} if levels else content)


def _from_json(kind: Any, content: Any) -> Any:
    names = {entry.name for entry in fields(kind)}
    if not isinstance(content, dict) or set(content) != names:
        raise ValueError(f"it must hold {', '.join(sorted(names))}")
    return kind(**content)


class FeatureCells:
    """Features of the cells of an image, collected tile by tile.

    inside: pixels that are inspected, bool (H, W), None for all; other cells do not count.
    """

    def __init__(self, inside: np.ndarray | None = None) -> None:
        self._inside = inside
        self.vectors: list[np.ndarray] = []

    def add(self, features: np.ndarray, corner: Sequence[int], tile: Sequence[int], image: Sequence[int]) -> None:
        """Add a tile.

        features: float32 (F, rows, columns). corner: first row and column of the tile in the image. tile, image: their
        heights and widths. All in pixels of the network.
        """
        rows, columns = features.shape[1:]
        height, width = image
        # Centers of the cells as shares of the image; those beyond it are repetitions.
        y = (corner[0] + (np.arange(rows) + 0.5) * tile[0] / rows) / height
        x = (corner[1] + (np.arange(columns) + 0.5) * tile[1] / columns) / width
        used = np.logical_and.outer(_within(y), _within(x))
        if self._inside is not None:
            counted = self._inside[np.ix_(*(_pixels(place, side) for place, side in zip((y, x), self._inside.shape)))]
            used &= counted
        numbers = np.flatnonzero(used)
        if len(numbers):
            vectors = features.reshape(len(features), -1).T
            vectors = np.ascontiguousarray(vectors if len(numbers) == used.size else vectors[numbers])
            self._take(vectors, lambda index: (x[numbers[index] % columns], y[numbers[index] // columns]))

    def _take(self, vectors: np.ndarray, place: Callable[[int], tuple[float, float]]) -> None:
        """Take the features of cells. vectors: float32 (n, F). place: returns the center of one, shares x and y."""
        self.vectors.append(vectors)


def _within(places: np.ndarray) -> np.ndarray:
    """Return which places are in the image; the first one always is, also in an image smaller than half a cell."""
    return (places < 1) | (places <= places[0])


def _pixels(places: np.ndarray, side: int) -> np.ndarray:
    return np.minimum((places * side).astype(int), side - 1)


class UnlikeScore(FeatureCells):
    """Unlike score of an image, whose cells are added as they are computed; 1 is the limit.

    known: features to compare with. inside: as of `FeatureCells`.
    """

    def __init__(self, known: KnownFeatures, inside: np.ndarray | None = None) -> None:
        super().__init__(inside)
        self._known = known
        self._total: np.ndarray | float = 0.0
        self._count = 0
        self._farthest, self._place = 0.0, (0.0, 0.0)

    def _take(self, vectors: np.ndarray, place: Callable[[int], tuple[float, float]]) -> None:
        self._total = self._total + vectors.sum(axis=0, dtype=np.float64)
        self._count += len(vectors)
        distances = self._known.cell.nearest(vectors)
        farthest = int(np.argmax(distances))
        if distances[farthest] > self._farthest:
            self._farthest, self._place = float(distances[farthest]), place(farthest)

    def checked(self, found: InputCheck | None, shape: Sequence[int]) -> InputCheck | None:
        """Return the result of the comparison with the training images, with the score. shape: (H, W, ...)."""
        if not self._count:
            return found
        mean = (np.asarray(self._total)[None] / self._count).astype(np.float32)
        value = max(self._farthest, float(self._known.image.nearest(mean)[0]))
        found = replace(found or InputCheck(True), unlike=round(value, 3))
        if value <= 1:
            return found
        x, y = (int(share * side) for share, side in zip(self._place, (shape[1], shape[0])))
        why = f"unlike score {value:.3g}, limit 1, highest near x {x}, y {y}"
        return replace(found, ok=False, why=(why, *found.why))


def _standardized(features: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    values = signed_root(features)
    values -= center
    values *= scale
    return values


def signed_root(features: np.ndarray) -> np.ndarray:
    """Return the root of each feature with its sign kept: their values are spread over orders of magnitude."""
    return np.copysign(np.sqrt(np.abs(features, dtype=np.float32)), features)


def _encoded(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()).decode()


def _decoded(text: str, kind: Any) -> np.ndarray:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), np.dtype(kind).newbyteorder("<")).astype(kind)
    except (binascii.Error, ValueError) as error:
        raise ValueError("center, scale and vectors must be texts in base64") from error
