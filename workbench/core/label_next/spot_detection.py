"""Spots of an image that differ most from the rest of it, found without a model and without labels.

The cells of the image are compared with their own distribution: the Mahalanobis distance of their filter responses
(Reed and Yu, 1990, for multispectral images). In a homogeneous texture the image itself is a better reference than
other images (Aota et al., 2023). Other images count where they show the same part at the same place: what all of them
have there, such as a hole, is no spot. Labeled defects raise spots that deviate in the same direction.

In the images of a project, a model of good images finds them if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.core.images import image_files
from workbench.core.label_next.image_features import spread_keys
from workbench.core.problems import NotInProject, Problem
from workbench.core.project import annotation
from workbench.core.project.image_row import read_rows
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.project.storage import file_stamp
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run, run_in_use
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray, TiffImage
from workbench.inference.predictor import PredictionCancelled

MAX_PIXELS = 1 << 20  # of the reduced image
CELL = 4  # pixels of the reduced image
_MEAN = 5  # pixels: side of the square in which a response is averaged
_SIGMAS = (1.0, 2.0, 4.0, 8.0)  # pixels of the reduced image
_WIDER = 1.6  # ratio of the sigmas of a difference of Gaussians
_GRAY, _COLOR = 5, 2  # responses per scale
FEATURES = len(_SIGMAS) * (_GRAY + _COLOR)
SHAPE_RESPONSES = (2 * _GRAY, 3 * _GRAY)  # differences of Gaussians at the two coarse scales
_BAND = 64  # rows of the reduced image that are decoded at once
_LEAST_COLOR = 0.02  # share of the brightness spread below which color is noise of the compression
COUNT = 5  # spots per image
MAX_EXAMPLES = 50  # regions of one labeled image
_RIDGE = 0.3  # added to the correlation matrix: the responses of neighboring scales are highly correlated
_RIM, _RIM_WEIGHT = 3, 0.6  # cells at the border that are compared among themselves; the border itself stands out
_LEAST_INNER = 50  # cells; an image with fewer has no rim
_MODEL_CELL = 8  # pixels of the image: side of the squares in which probabilities are averaged
_SEPARATION = 8  # cells between two spots
_LEAST_STRENGTH = 1.5  # times the median of the image
_ALIGNED, _LEAST_ALIGNED = 0.7, 3  # correlation of images that show the same place, and how many are needed
_EXAMPLE_WEIGHT = 0.5  # greatest gain of a spot that deviates in the direction of a labeled defect
_COVERED = 0.3  # share of a cell from which on a label describes it


@dataclass(frozen=True)
class CellFeatures:
    """Responses in square cells of an image.

    values: float32 (rows, columns, FEATURES), each response divided by the spread of the image. width, height: of the
    image. cell_width, cell_height: of a cell, in pixels of the image.
    """

    values: np.ndarray
    width: int
    height: int
    cell_width: float
    cell_height: float

    @property
    def rim(self) -> np.ndarray:
        """Number of cells to the border of the image, int (rows, columns); 0 for those at the border."""
        rows, columns = (np.minimum(np.arange(n), n - 1 - np.arange(n)) for n in self.values.shape[:2])
        return np.minimum(rows[:, None], columns[None, :])

    def point(self, row: int, column: int) -> tuple[int, int]:
        """Return the pixel (x, y) at the center of a cell."""
        x, y = round((column + 0.5) * self.cell_width - 0.5), round((row + 0.5) * self.cell_height - 0.5)
        return min(max(x, 0), self.width - 1), min(max(y, 0), self.height - 1)


def cell_features(image: ImageArray) -> CellFeatures:
    """Return the responses of an image (H, W) or (H, W, 3) RGB, uint8, uint16 or float32.

    Per scale: difference of Gaussians (Marr and Hildreth, 1980), absolute derivatives in x and y, and both eigenvalues
    of the Hessian (Lindeberg, 1998), of the brightness; differences of Gaussians of two opponent colors. Larger images
    are reduced to MAX_PIXELS first, so that small images and large ones take a bounded time.
    """
    height, width = image.shape[:2]
    factor = min(1.0, (MAX_PIXELS / (height * width)) ** 0.5)
    small = _reduced(image, max(1, round(width * factor)), max(1, round(height * factor)))
    gray, colors = _channels(small)
    responses: list[np.ndarray | None] = [response for sigma in _SIGMAS for response in _gray_responses(gray, sigma)]
    for sigma in _SIGMAS:
        responses += [_difference(color, sigma) if color is not None else None for color in colors]
    rows, columns = (max(1, side // CELL) for side in gray.shape)
    values = np.zeros((rows, columns, FEATURES), np.float32)
    for number, response in enumerate(responses):
        if response is not None:
            values[:, :, number] = _in_cells(response, rows, columns)
    return CellFeatures(values, width, height, width / columns, height / rows)


def _reduced(image: ImageArray, width: int, height: int) -> np.ndarray:
    """Return area means as float32; non-finite pixels become the median of the finite ones."""
    if not isinstance(image, np.ndarray):
        small = _read_reduced(image, width, height)
    elif (height, width) != image.shape[:2]:
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    else:
        small = image.astype(np.float32)
    finite = np.isfinite(small)
    return small if finite.all() else np.where(finite, small, np.median(small[finite]) if finite.any() else 0)


def _read_reduced(image: TiffImage, width: int, height: int) -> np.ndarray:
    """Return the area means of an image that is decoded by region, band by band."""
    bands = []
    for top in range(0, height, _BAND):
        bottom = min(top + _BAND, height)
        band = image[top * image.shape[0] // height : bottom * image.shape[0] // height, :]
        bands.append(cv2.resize(band, (width, bottom - top), interpolation=cv2.INTER_AREA))
    return np.concatenate(bands).astype(np.float32)


def _channels(small: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray | None, np.ndarray | None]]:
    """Return brightness and two opponent colors, each with mean 0; all divided by the spread of the brightness."""
    if small.ndim == 2:
        return _standardized(small, float(small.std())), (None, None)
    red, green, blue = (small[:, :, channel] for channel in range(3))
    gray = small.mean(axis=2, dtype=np.float32)
    colors = red - green, (red + green) / 2 - blue
    spread = max(float(gray.std()), *(float(color.std()) for color in colors))
    return _standardized(gray, spread), tuple(
        _standardized(color, spread) if color.std() > _LEAST_COLOR * spread else None for color in colors
    )  # ty: ignore[invalid-explicit-return]


def _standardized(values: np.ndarray, spread: float) -> np.ndarray:
    # The spread of an even image is rounding, not contrast.
    least = 1e-5 * max(1e-30, float(np.abs(values).max()))
    return (values - values.mean()) / spread if spread > least else np.zeros_like(values)


def _gray_responses(gray: np.ndarray, sigma: float) -> list[np.ndarray]:
    blurred = _blurred(gray, sigma)
    across, down = (
        cv2.Sobel(blurred, cv2.CV_32F, *order, scale=sigma / 8, borderType=cv2.BORDER_REFLECT_101) for order in _FIRST
    )
    xx, yy, xy = (
        cv2.Sobel(blurred, cv2.CV_32F, *order, scale=sigma * sigma * scale, borderType=cv2.BORDER_REFLECT_101)
        for order, scale in _SECOND
    )
    middle, half = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy * xy)
    return [blurred - _blurred(gray, _WIDER * sigma), np.abs(across), np.abs(down), middle + half, middle - half]


_FIRST = (1, 0), (0, 1)
_SECOND = ((2, 0), 1 / 4), ((0, 2), 1 / 4), ((1, 1), 1 / 4)  # sums of the smoothing weights of Sobel's kernels


def _difference(channel: np.ndarray, sigma: float) -> np.ndarray:
    return _blurred(channel, sigma) - _blurred(channel, _WIDER * sigma)


def _blurred(channel: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(channel, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101)


def _in_cells(response: np.ndarray, rows: int, columns: int) -> np.ndarray:
    mean = cv2.blur(response, (_MEAN, _MEAN), borderType=cv2.BORDER_REFLECT_101)
    height, width = mean.shape
    y = ((np.arange(rows) + 0.5) * height / rows).astype(int)
    x = ((np.arange(columns) + 0.5) * width / columns).astype(int)
    return mean[np.ix_(y, x)]


@dataclass(frozen=True)
class Spot:
    """Spot of an image. x, y: center; radius: both in pixels of the image. strength: 1 for a median cell of it."""

    x: int
    y: int
    radius: int
    strength: float


def find_spots(
    features: CellFeatures,
    others: Sequence[CellFeatures] = (),
    examples: np.ndarray | None = None,
    *,
    count: int = COUNT,
) -> tuple[Spot, ...]:
    """Return at most `count` spots, strongest first; none in an even image.

    others: other images of the project; only those that show the same part at the same place are used. examples:
    directions of labeled defects, as of `example_directions`.
    """
    return _strongest(features, _strengths(_without_shared(features, others), features.rim, examples), count)


def model_spots(probabilities: np.ndarray, *, count: int = COUNT) -> tuple[Spot, ...]:
    """Return the spots that a model finds most probable. probabilities: float32 (H, W), of any defect."""
    height, width = probabilities.shape
    rows, columns = (max(1, side // _MODEL_CELL) for side in (height, width))
    strength = cv2.resize(probabilities, (columns, rows), interpolation=cv2.INTER_AREA)
    strength = strength / max(float(np.median(strength)), 1e-6)
    return _strongest(CellFeatures(strength, width, height, width / columns, height / rows), strength, count)


def _strongest(features: CellFeatures, strength: np.ndarray, count: int) -> tuple[Spot, ...]:
    """Return the strongest cells that are apart from each other. strength: by cell, changed here."""
    radius = max(1, round(_SEPARATION / 2 * (features.cell_width + features.cell_height) / 2))
    spots: list[Spot] = []
    rows, columns = np.indices(strength.shape)
    for _ in range(count):
        row, column = divmod(int(strength.argmax()), strength.shape[1])
        value = float(strength[row, column])
        if value < _LEAST_STRENGTH:
            break
        spots.append(Spot(*features.point(row, column), radius, round(value, 3)))
        strength[(rows - row) ** 2 + (columns - column) ** 2 <= _SEPARATION**2] = 0
    return tuple(spots)


def example_directions(features: CellFeatures, defects: np.ndarray) -> np.ndarray:
    """Return the directions in which labeled defects deviate from the rest of their image: float32 (n, FEATURES).

    defects: bool (H, W). One vector of length 1 for each of the largest regions; none for regions that do not deviate.
    """
    rows, columns = features.values.shape[:2]
    covered = cv2.resize(defects.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((covered > 0).astype(np.uint8), connectivity=8)
    deviations, _ = _deviations(features.values, features.rim)
    directions = []
    for number in sorted(range(1, count), key=lambda number: -int(stats[number, cv2.CC_STAT_AREA]))[:MAX_EXAMPLES]:
        region = labels == number
        inner = region & (covered >= _COVERED)
        mean = deviations[inner if inner.any() else region].mean(axis=0)
        length = float(np.linalg.norm(mean))
        if length > 1:
            directions.append(mean / length)
    return np.array(directions, np.float32).reshape(-1, FEATURES)


def _strengths(values: np.ndarray, rim: np.ndarray, examples: np.ndarray | None) -> np.ndarray:
    """Return, per cell, the distance from the distribution of the cells, 1 for the median; float (rows, columns)."""
    deviations, weights = _deviations(values, rim)
    lengths = np.linalg.norm(deviations, axis=2)
    median = float(np.median(lengths))
    if median <= 0:
        return np.zeros_like(lengths)
    strengths = lengths / median * weights
    if examples is not None and len(examples):
        alike = (deviations @ examples.T).max(axis=2) / np.maximum(lengths, 1e-6)
        strengths *= 1 + _EXAMPLE_WEIGHT * np.maximum(alike, 0)
    return strengths


def _deviations(values: np.ndarray, rim: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the whitened responses, float32 (rows, columns, FEATURES), and the weight of each cell.

    Cells at the border are compared with those at the same distance from it, with half of the covariance of the others.
    """
    zones = np.minimum(rim, _RIM)
    if np.count_nonzero(zones == _RIM) < _LEAST_INNER:
        zones = np.full_like(zones, _RIM)
    inner = zones == _RIM
    mean, covariance = _moments(values[inner])
    result = _whitened(values, mean, covariance)
    typical = float(np.median(np.linalg.norm(result[inner], axis=1)))
    for zone in range(_RIM):
        at_zone = zones == zone
        if at_zone.any():
            zone_mean, zone_covariance = _moments(values[at_zone])
            whitened = _whitened(values[at_zone], zone_mean, (zone_covariance + covariance) / 2)
            usual = float(np.median(np.linalg.norm(whitened, axis=1)))
            result[at_zone] = whitened * (typical / usual if usual > 0 else 0)
    return result, np.where(inner, 1.0, _RIM_WEIGHT)


def _moments(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cells = cells.astype(np.float64)
    mean = cells.mean(axis=0)
    return mean, (cells - mean).T @ (cells - mean) / len(cells)


def _whitened(cells: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the cells with the inverse square root of their correlation; responses without spread become 0."""
    spread = np.sqrt(np.diag(covariance))
    scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 1e-6), 0)
    values, vectors = np.linalg.eigh(covariance * np.outer(scale, scale) + _RIDGE * np.eye(len(mean)))
    transform = scale[:, None] * (vectors * values**-0.5) @ vectors.T
    return ((cells - mean) @ transform).astype(np.float32)


def _without_shared(features: CellFeatures, others: Sequence[CellFeatures]) -> np.ndarray:
    """Return the responses less those that the other images have at the same place, over their spread there."""
    aligned = [other for other in others if other.values.shape == features.values.shape and _same(features, other)]
    if len(aligned) < _LEAST_ALIGNED:
        return features.values
    there = np.stack([other.values for other in aligned]).astype(np.float32)
    usual = np.median(there, axis=0)
    varying = np.abs(there - usual).mean(axis=0)
    residuals = features.values - usual
    spread = np.abs(residuals).mean(axis=(0, 1))
    return residuals / np.maximum(varying + spread, 1e-6)


def _same(features: CellFeatures, other: CellFeatures) -> bool:
    """Return whether the coarse shapes in two images of equal size correlate."""
    one, two = (f.values[:, :, SHAPE_RESPONSES].astype(np.float64).ravel() for f in (features, other))
    one, two = one - one.mean(), two - two.mean()
    product = float(np.sqrt((one @ one) * (two @ two)))
    return product > 0 and float(one @ two) / product >= _ALIGNED


# --- images of a project --------------------------------------------------------------------------


REFERENCES = 8  # other images that an image is compared with
EXAMPLES = 8  # labeled images whose defects are used
_CANDIDATES = 32  # images of which those of the same size become references


class SpotSearch:
    """Search that computes each reference and each labeled image once. Not thread-safe.

    model: run of good images whose probabilities are used instead. Raises SettingsError, EngineError.
    """

    def __init__(self, project: Project, keys: Sequence[str], model: Run | None = None) -> None:
        self.keys, self.model = list(keys), model
        self._predictor = None if model is None else open_predictor(model.best)
        self._project = project
        self._candidates = spread_keys(self.keys)[:_CANDIDATES] if keys else []
        self._sizes: dict[str, tuple[int, int]] = {}
        self._references: dict[str, CellFeatures | None] = {}  # None: cannot be read
        self._directions: dict[str, tuple[str, np.ndarray]] = {}  # by labeled image: stamp of its files, directions

    def spots(
        self,
        key: str,
        image: ImageArray | None = None,
        *,
        labeled: Sequence[str] = (),
        count: int = COUNT,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Spot, ...]:
        """Return the spots of an image, strongest first; none if canceled.

        image: its pixels, if they are read. labeled: images with painted defects; some of them are used. Raises
        ImageBroken.
        """
        pixels = image_files.read_displayed(self._project.image_path(key)) if image is None else image
        if self._predictor is not None:
            try:
                probabilities = self._predictor.probabilities(pixels, cancelled=cancelled)
            except PredictionCancelled:
                return ()
            return model_spots(probabilities[1], count=count)
        height, width = pixels.shape[:2]
        others = []
        for other in self._alike(key, (width, height)):
            if cancelled():
                return ()
            reference = self._reference(other)
            if reference is not None:
                others.append(reference)
        examples = []
        for other in spread_keys([name for name in labeled if name != key])[:EXAMPLES] if labeled else ():
            if cancelled():
                return ()
            examples.append(self._example(other))
        joined = np.concatenate(examples) if examples else None
        return () if cancelled() else find_spots(cell_features(pixels), others, joined, count=count)

    def _alike(self, key: str, size: tuple[int, int]) -> list[str]:
        """Return the references of an image: others of its size."""
        for other in self._candidates:
            if other not in self._sizes:
                try:
                    self._sizes[other] = image_files.image_size(self._project.image_path(other))
                except Problem:
                    self._sizes[other] = (0, 0)  # reported when it is opened
        return [other for other in self._candidates if other != key and self._sizes[other] == size][:REFERENCES]

    def _reference(self, key: str) -> CellFeatures | None:
        if key not in self._references:
            features = self._features(key)
            if features is not None:
                features = replace(features, values=features.values.astype(np.float16))  # several are kept
            self._references[key] = features
        return self._references[key]

    def _features(self, key: str) -> CellFeatures | None:
        try:
            return cell_features(image_files.read_displayed(self._project.image_path(key)))
        except Problem:
            return None

    def _example(self, key: str) -> np.ndarray:
        """Return the directions of the defects of a labeled image; none if it cannot be read."""
        try:
            stamp = file_stamp(self._project.image_path(key), self._project.mask_path(key))
        except Problem:
            stamp = ""
        known = self._directions.get(key)
        if known is not None and known[0] == stamp:
            return known[1]
        features, mask = self._features(key), None
        if features is not None:
            try:
                mask = annotation.load_truth(self._project, key, (features.width, features.height))
            except Problem:
                mask = None
        painted = np.zeros((1, 1), bool) if mask is None else (mask > 0) & (mask < DONT_CARE)
        if features is None or not painted.any():
            directions = np.zeros((0, FEATURES), np.float32)
        else:
            directions = example_directions(features, painted)
        self._directions[key] = stamp, directions
        return directions


def project_spots(
    project: Project, keys: Sequence[str] | None = None, *, count: int = COUNT
) -> dict[str, tuple[Spot, ...]]:
    """Return the spots of images, all by default, by key. The model of good images finds them if there is one.

    Raises NotInProject, ImageBroken, SettingsError, EngineError.
    """
    rows = read_rows(project)
    for key in keys or ():
        if key not in rows:
            raise NotInProject(name=key)
    search = SpotSearch(project, list(rows), run_in_use(project.root, "good"))
    labeled = [key for key, row in rows.items() if row.area]
    return {key: search.spots(key, labeled=labeled, count=count) for key in (rows if keys is None else keys)}
