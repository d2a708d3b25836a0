"""Features of the pretrained encoder (`core.lite0`), whose weights stay as they are, computed by ONNX Runtime.

Network that is fitted to good images only: how far the features of a place are from those of good images. The features
are three levels of the encoder, joined in cells of 8 pixels. Good images give their mean and covariance (Gaussian model
of pretrained features: Rippel et al. 2020; by position: Defard et al., PaDiM, 2021), and the squared Mahalanobis
distance of a cell, averaged over its neighbors, becomes a probability that is 0.5 at a limit. All of it is one ONNX
network with the output of a segmentation of one class, so every use of a trained UNet accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.core import lite0
from workbench.core.lite0 import WIDTHS
from workbench.core.runs.onnx_files import GraphBuilder, frozen_session
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import normalize

if TYPE_CHECKING:
    import onnx


_INPUT = "image"


def add_levels(
    graph: GraphBuilder, x: str, depth: int, weights: Callable[[lite0.Convolution], tuple[np.ndarray, np.ndarray]]
) -> list[str]:
    """Add the first levels of the encoder to an ONNX graph and return their names, see `lite0.levels`.

    x: name of the image, (N, inputs of the stem, H, W). weights: kernel, with the factor of its channels, and summand
    of a layer.
    """

    def convolve(layer: lite0.Convolution, x: str) -> str:
        kernel, shift = weights(layer)
        (top, bottom), side = layer.margins, layer.kernel
        x = graph.add(
            "Conv",
            [x, graph.constant(kernel), graph.constant(shift)],
            kernel_shape=[side, side],
            strides=[layer.stride] * 2,
            pads=[top, top, bottom, bottom],
            group=layer.groups,
        )
        return graph.add("Clip", [x, graph.number(0), graph.number(6)]) if layer.active else x

    return lite0.levels(x, depth, convolve, lambda a, b: graph.add("Add", [a, b]))


def add_pretrained_levels(graph: GraphBuilder, x: str, depth: int = len(lite0.WIDTHS)) -> list[str]:
    """Add the first levels with the pretrained weights. x: float32 (N, 3, H, W), normalized as by `input_settings`."""
    arrays = lite0.read_weights()

    def weights(layer: lite0.Convolution) -> tuple[np.ndarray, np.ndarray]:
        gain = arrays[f"{layer.name}.gain"]
        return arrays[f"{layer.name}.weight"] * gain[:, None, None, None], arrays[f"{layer.name}.shift"]

    return add_levels(graph, x, depth, weights)


def input_settings(full_scale: float = 255.0, low: float = 0.0, high: float = 255.0) -> ModelSettings:
    """Return the conversion of images to the encoder's input; gray values are repeated for the three colors.

    full_scale, low, high: see `ModelSettings`.
    """
    mean, std = (lite0.PIXEL_MEAN,) * 3, (lite0.PIXEL_STD,) * 3
    return ModelSettings(
        task="classification",
        name="features",
        verdicts=("first", "second"),
        channels=3,
        full_scale=full_scale,
        low=low,
        high=high,
        mean=mean,
        std=std,
    )


class FrozenEncoder:
    """Pretrained encoder up to a depth. Threads may share one.

    depth: number of levels. threads: of ONNX Runtime; 0 for all. arena: keep memory for the next image.
    """

    def __init__(self, depth: int = len(lite0.WIDTHS), threads: int = 1, *, arena: bool = True) -> None:
        self.depth = depth
        self.stride = 2**depth
        graph = GraphBuilder()
        names = add_pretrained_levels(graph, _INPUT, depth)
        outputs = {
            name: ("N", width, f"H{number}", f"W{number}")
            for number, (name, width) in enumerate(zip(names, lite0.WIDTHS))
        }
        model = graph.network({_INPUT: ("N", 3, "H", "W")}, outputs)
        self._session = frozen_session(model, threads=threads, arena=arena)

    def levels(self, batch: np.ndarray) -> list[np.ndarray]:
        """Return the levels, float32 (N, width, H / stride, W / stride) at the strides 2, 4, 8, …

        batch: float32 (N, 3, H, W), normalized; H and W are multiples of `stride`.
        """
        return [np.asarray(level) for level in self._session.run(None, {_INPUT: batch})]

    def image_levels(self, image: np.ndarray, settings: ModelSettings) -> list[np.ndarray]:
        """Return the levels of one image, float32 (width, ceil(H / stride), ceil(W / stride)).

        image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32; it is continued by its edge values to a multiple of
        the stride. settings: see `input_settings`. Memory: about 600 bytes for each pixel.
        """
        values = normalize(image, settings)
        height, width = values.shape[1:]
        margins = [(0, 0), (0, -height % self.stride), (0, -width % self.stride)]
        levels = self.levels(np.pad(values, margins, mode="edge")[None])
        return [
            level[0, :, : -(-height // 2 ** (number + 1)), : -(-width // 2 ** (number + 1))]
            for number, level in enumerate(levels)
        ]


# --- network of good images -----------------------------------------------------------------------


INPUT, OUTPUT = "picture", "probabilities"  # as of a trained network
CELL = 8  # network pixels
MULTIPLE = 64  # of the sides of the network's input, which is mirrored beyond its borders by less than that
_MARGIN = 32  # network pixels: the encoder continues images by zeros, which would make their borders stand out
_DEPTH, _LEVELS = 4, (1, 2, 3)  # levels of the encoder: strides 4, 8 and 16
FEATURES = sum(WIDTHS[number] for number in _LEVELS)
_SHRINKAGE = 0.01  # share of the mean variance in the covariance: few images leave some directions undetermined
_REACH, _SHARE = 6, 0.5  # cells around a strong defect, and share of its distance that its pixels have
_SMOOTHING = 2  # averages over 3 x 3 cells, one after the other


@dataclass
class FeatureSums:
    """Sums over the cells of images, from which `fit` makes the distribution; they can be added.

    images, cells: numbers. total: float64 (FEATURES,). products: float64 (FEATURES, FEATURES). places: float64
    (FEATURES, rows, columns), sums by position; None if the images have no common size or show parts anywhere.
    """

    images: int
    cells: int
    total: np.ndarray
    products: np.ndarray
    places: np.ndarray | None = None

    @classmethod
    def of(cls, maps: Iterable[np.ndarray], *, by_position: bool) -> FeatureSums:
        """Return the sums of one image. maps: of its tiles, float32 (FEATURES, rows, columns)."""
        maps = list(maps)
        flat = np.concatenate([values.reshape(FEATURES, -1) for values in maps], axis=1)
        places = maps[0].astype(np.float64) if by_position else None
        return cls(1, flat.shape[1], flat.sum(axis=1, dtype=np.float64), (flat @ flat.T).astype(np.float64), places)

    def __add__(self, other: FeatureSums) -> FeatureSums:
        places = None if self.places is None or other.places is None else self.places + other.places
        counts = self.images + other.images, self.cells + other.cells
        return FeatureSums(*counts, self.total + other.total, self.products + other.products, places)

    def fit(self, *, by_position: bool) -> FeatureDistribution:
        """Return mean and covariance, of all cells or about the mean of each position."""
        mean = self.total / self.cells
        center = mean[:, None]
        if by_position:
            assert self.places is not None
            mean = self.places / self.images
            center = mean.reshape(FEATURES, -1)
        covariance = self.products / self.cells - center @ center.T / center.shape[1]
        variance = np.trace(covariance) / FEATURES
        covariance = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * max(variance, 1e-9) * np.eye(FEATURES)
        whitening = np.linalg.cholesky(np.linalg.inv(covariance)).T / FEATURES**0.5
        return FeatureDistribution(mean.astype(np.float32), whitening.astype(np.float32))


@dataclass(frozen=True)
class FeatureDistribution:
    """Distribution of the features of good images.

    mean: float32 (FEATURES,), or (FEATURES, rows, columns) by position. whitening: float32 (FEATURES, FEATURES), by
    which deviations become uncorrelated, with squares that sum to 1 on average.
    """

    mean: np.ndarray
    whitening: np.ndarray

    def distances(self, features: np.ndarray) -> np.ndarray:
        """Return the smoothed squared distances, float32 (rows, columns). features: (FEATURES, rows, columns)."""
        deviations = features.reshape(FEATURES, -1) - self.mean.reshape(FEATURES, -1)
        whitened = self.whitening @ deviations
        result = np.einsum("ij,ij->j", whitened, whitened).reshape(features.shape[1:])
        count = np.ones_like(result)
        for _ in range(_SMOOTHING):  # as AveragePool, which counts no cells beyond the border
            border = cv2.BORDER_CONSTANT
            sums = (cv2.boxFilter(each, -1, (3, 3), normalize=False, borderType=border) for each in (result, count))
            result = next(sums) / next(sums)
        return result


class FeatureNetwork:
    """Features of images in cells, by ONNX Runtime on all cores."""

    def __init__(self) -> None:
        graph = GraphBuilder()
        features = graph.add("Identity", [_add_features(graph, INPUT)], OUTPUT)
        model = graph.network({INPUT: ("N", 3, "H", "W")}, {features: ("N", FEATURES, "h", "w")})
        self._session = frozen_session(model, arena=False)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return float32 (FEATURES, H / CELL, W / CELL) for an image, float32 (3, H, W), normalized."""
        return np.asarray(self._session.run(None, {INPUT: image[None]})[0])[0]


def anomaly_network(distribution: FeatureDistribution, limit: float, steepness: float) -> onnx.ModelProto:
    """Return the network: float32 (N, 3, H, W), normalized, to probabilities of background and anomaly (N, 2, H, W).

    The probability is d^s / (d^s + limit^s) for the distance d and the steepness s. Around a greater distance its half
    is the limit, because the features of a strong defect also change far beyond it. A mean by position is resized to
    the image, so that images of another size are compared with the same relative places.
    """
    graph = GraphBuilder()
    features = _add_features(graph, INPUT)
    center = distribution.whitening @ distribution.mean.reshape(FEATURES, -1)
    kernel = graph.constant(distribution.whitening[:, :, None, None])
    if distribution.mean.ndim == 1:
        x = graph.add("Conv", [features, kernel, graph.constant(-center[:, 0])], kernel_shape=[1, 1])
    else:
        x = graph.add("Conv", [features, kernel], kernel_shape=[1, 1])
        places = graph.constant(center.reshape(1, *distribution.mean.shape))
        size = graph.add("Slice", [graph.add("Shape", [x]), graph.integers([2]), graph.integers([4])])
        size = graph.add("Concat", [graph.integers([1, FEATURES]), size], axis=0)
        x = graph.add("Sub", [x, _add_resize(graph, [places, "", "", size])])
    x = graph.add("ReduceSum", [graph.add("Mul", [x, x]), graph.integers([1])], keepdims=1)
    for _ in range(_SMOOTHING):
        x = graph.add("AveragePool", [x], kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=0)
    nearby = graph.add("MaxPool", [x], kernel_shape=[2 * _REACH + 1] * 2, pads=[_REACH] * 4)
    local = graph.add("Max", [graph.add("Mul", [nearby, graph.number(_SHARE)]), graph.number(limit)])
    ratio = graph.add("Div", [graph.add("Max", [x, graph.number(1e-9)]), local])
    x = graph.add("Sigmoid", [graph.add("Mul", [graph.add("Log", [ratio]), graph.number(steepness)])])
    x = _add_resize(graph, [x, "", graph.constant(np.array([1, 1, CELL, CELL], np.float32))])
    graph.add("Concat", [graph.add("Sub", [graph.number(1), x]), x], OUTPUT, axis=1)
    return graph.network({INPUT: ("N", 3, "H", "W")}, {OUTPUT: ("N", 2, "H", "W")})


def _add_features(graph: GraphBuilder, x: str) -> str:
    x = graph.add("Pad", [x, graph.integers([0, 0, _MARGIN, _MARGIN] * 2)], mode="reflect")
    levels = add_pretrained_levels(graph, x, _DEPTH)
    fine, middle, coarse = (levels[number] for number in _LEVELS)
    fine = graph.add("AveragePool", [fine], kernel_shape=[2, 2], strides=[2, 2])
    coarse = _add_resize(graph, [coarse, "", graph.constant(np.array([1, 1, 2, 2], np.float32))])
    joined, cells = graph.add("Concat", [fine, middle, coarse], axis=1), _MARGIN // CELL
    limits = [graph.integers(values) for values in ([cells] * 2, [-cells] * 2, [2, 3])]
    return graph.add("Slice", [joined, *limits])


def _add_resize(graph: GraphBuilder, inputs: list[str]) -> str:
    return graph.add("Resize", inputs, mode="linear", coordinate_transformation_mode="half_pixel")


def draw_defect(
    image: np.ndarray, rng: np.random.Generator, inside: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a copy of an image (H, W) or (H, W, 3) with a generated defect, and its pixels, bool (H, W).

    An ellipse from a pit to a scratch is darker or brighter by five standard deviations of the fine structure of the
    image: visible for a person. If it were round it would be 2 to 5 % of the shorter side wide, and 8 pixels or more.
    inside: pixels in one of which its center lies, bool (H, W); None: anywhere but near the border.
    """
    height, width = image.shape[:2]
    side, gray = min(height, width), image.astype(np.float32).reshape(height, width, -1).mean(axis=2)
    diameter, stretch = (
        max(8, side * np.exp(rng.uniform(np.log(0.02), np.log(0.05)))),
        np.exp(rng.uniform(0, np.log(6))),
    )
    axes = [max(1.0, diameter / 2 * factor) for factor in (stretch**0.5, stretch**-0.5)]
    y, x = rng.uniform(0.08, 0.92, 2) * (height, width)
    if inside is not None and inside.any():
        y, x = divmod(int(rng.choice(np.flatnonzero(inside))), width)
    angle = rng.uniform(0, np.pi)
    rows, columns = np.ogrid[:height, :width]
    along = (columns - x) * np.cos(angle) + (rows - y) * np.sin(angle)
    across = (rows - y) * np.cos(angle) - (columns - x) * np.sin(angle)
    shape = np.clip((1.2 - np.hypot(along / axes[0], across / axes[1])) / 0.4, 0, 1)
    contrast = 5 * float(np.std(gray - cv2.GaussianBlur(gray, (0, 0), side / 20))) * rng.choice([-1, 1])
    highest = np.iinfo(image.dtype).max if image.dtype.kind == "u" else np.inf
    changed = image + contrast * (shape[:, :, None] if image.ndim == 3 else shape)
    return np.clip(changed, 0, highest).astype(image.dtype), shape > 0.5
