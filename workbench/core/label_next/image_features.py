"""Features of an image for the label queue, the cache of what a model finds in it, and the scan of all images.

The features are an embedding, close for similar images, and salience, which grows with the strongest spots. Each image
is read and predicted once per model: the cache is the SQLite database `.cache/looks.sqlite` and may be deleted at any
time; missing or stale results are calculated again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images import image_files
from workbench.core.label_next.label_issues import (
    MAX_ISSUES,
    MAX_REGIONS,
    LabelIssue,
    RegionCertainty,
    find_issues,
    issue_from_json,
    issue_to_json,
    region_certainties,
    worst_first,
)
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp, from_column, is_damage, open_shared, remove, to_column
from workbench.core.runs.model_lookup import open_predictor
from workbench.inference.batch.results_log import model_fingerprint
from workbench.inference.cpu_environment import cores
from workbench.inference.io.json_io import parse_json
from workbench.inference.io.opencv import cv2
from workbench.inference.predictor import Prediction, PredictionCancelled, Predictor

_EDGE, _CELLS, _COARSE, _ORIENTATIONS = 64, 4, 8, 8
DESCRIPTOR_SIZE = _COARSE**2 + _CELLS**2 * _ORIENTATIONS + 6
VERSION = 5
_FILES = ("looks.sqlite", "looks.sqlite-wal", "looks.sqlite-shm")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS features (key TEXT PRIMARY KEY, stamp TEXT, feature BLOB, salience BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sights (key TEXT PRIMARY KEY, stamp TEXT, sight TEXT) WITHOUT ROWID;
"""


def describe(image: np.ndarray) -> np.ndarray:
    """Return an embedding, float32 (DESCRIPTOR_SIZE,) of length 1, of an image, uint8, uint16 or float32.

    It has three parts: the coarse brightness distribution, histograms of edge directions in cells (after Dalal and
    Triggs, 2005), and the tone distribution including outliers, which respond to small defects.
    """
    gray = small_gray(image, _EDGE, _EDGE)
    mean, spread = float(gray.mean()), float(gray.std())
    maximum = max(1e-6, float(np.abs(gray).max()))
    flat = (gray - mean) / (spread + 0.01 * maximum)
    coarse = cv2.resize(flat, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA).ravel()
    fine = flat - cv2.GaussianBlur(flat, (0, 0), 3)
    tails = np.quantile(fine, (0.002, 0.02, 0.98, 0.998)) / 4
    aspect = np.log2(image.shape[1] / image.shape[0]) / 4
    tones = np.array([*tails, mean / maximum - 0.5, aspect])
    parts = (0.5 * _unit(coarse), 0.7 * _unit(_directions(flat)), 0.5 * np.clip(tones, -1, 1))
    return _unit(np.concatenate(parts)).astype(np.float32)


def small_gray(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return the area means as float32 (height, width); non-finite values become the smallest finite one."""
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    if small.ndim == 3:
        small = small.mean(axis=2)
    finite = np.isfinite(small)
    return small if finite.all() else np.where(finite, small, small[finite].min() if finite.any() else 0)


def _directions(flat: np.ndarray) -> np.ndarray:
    dx, dy = cv2.Sobel(flat, cv2.CV_32F, 1, 0), cv2.Sobel(flat, cv2.CV_32F, 0, 1)
    strength = np.hypot(dx, dy)
    orientation = np.floor(np.arctan2(dy, dx) % np.pi / np.pi * _ORIENTATIONS).astype(int) % _ORIENTATIONS
    cell = np.arange(_EDGE) * _CELLS // _EDGE
    bin_index = (cell[:, None] * _CELLS + cell[None, :]) * _ORIENTATIONS + orientation
    return np.sqrt(np.bincount(bin_index.ravel(), strength.ravel(), _CELLS**2 * _ORIENTATIONS))


def _unit(values: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(values))
    return values / length if length > 1e-9 else values


_SIGMAS = (1.0, 1.6, 2.5, 4.0, 6.3, 10.0, 16.0)  # pixels; the response is greatest at the scale of the spot's radius
_SHARE, _MAX_VALUE = 0.2, 8.0  # share of candidates with a value above 0; limit of deviations
_MAX_EDGE = 512  # pixels of the longer side after reduction
_SAMPLE = 5  # stride of the pixels used for the median
SALIENCE_SIZE = 2 * (len(_SIGMAS) - 1)


def saliency_features(image: np.ndarray) -> np.ndarray:
    """Return float32 (SALIENCE_SIZE,) for an image (H, W) or (H, W, 3), uint8, uint16 or float32.

    For each scale, the log of the deviation of the brightest and the darkest spot from the typical value in this image:
    differences of Gaussians (Marr and Hildreth, 1980) over their median absolute deviation. Large images are reduced
    first.
    """
    gray = _gray(image)
    blurred = [cv2.GaussianBlur(gray, (0, 0), sigma) for sigma in _SIGMAS]
    values_by_scale = []
    for fine, coarse, sigma in zip(blurred, blurred[1:], _SIGMAS):
        band = fine - coarse
        border = int(2 * sigma) + 2  # exclude the image border
        if min(band.shape) > 4 * border:
            band = band[border:-border, border:-border]
        values = band.ravel()
        typical = 1.4826 * float(np.median(np.abs(values[::_SAMPLE]))) + 1e-3  # the median of a band is 0
        spot = min(values.size, max(3, round(sigma * sigma)))  # pixels
        values = np.partition(values, (spot - 1, values.size - spot))
        values_by_scale += [float(values[-spot:].mean()) / typical, float(-values[:spot].mean()) / typical]
    return np.log(np.maximum(values_by_scale, 0) + 1e-3).astype(np.float32)


def saliency_match(candidates: np.ndarray, defective: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return how much candidates stand out in the same way as labeled defects, float (n,).

    1 for the greatest, falling to 0 at rank n/5.

    candidates, defective, good: float (., SALIENCE_SIZE). Scales and signs are weighted by how far the labeled
    defects exceed the labeled good images; negative weights are set to 0, because a defect adds salience. Returns zeros
    if either is missing.
    """
    if not len(defective) or not len(good) or not len(candidates):
        return np.zeros(len(candidates))
    everything = np.concatenate([candidates, defective, good]).astype(np.float64)
    median = np.median(everything, axis=0)
    typical = 1.4826 * np.median(np.abs(everything - median), axis=0) + 1e-6
    normalized, defective_normalized, good_normalized = (
        (group - median) / typical for group in (candidates, defective, good)
    )
    weights = np.maximum(defective_normalized.mean(axis=0) - good_normalized.mean(axis=0), 0)
    strength = np.clip(normalized, 0, _MAX_VALUE) @ weights
    rank_of = np.argsort(np.argsort(-strength, kind="stable"))
    return np.where(strength > 0, np.maximum(0, 1 - rank_of / (_SHARE * len(candidates))), 0)


def _gray(image: np.ndarray) -> np.ndarray:
    """Return float32 (H, W) with mean 0 and standard deviation 1."""
    factor = min(1.0, _MAX_EDGE / max(image.shape[:2]))
    height, width = (max(1, round(side * factor)) for side in image.shape[:2])
    gray = small_gray(image, width, height)
    spread = float(gray.std())
    return (gray - float(gray.mean())) / spread if spread > 0 else np.zeros_like(gray)


@dataclass(frozen=True)
class CachedPrediction:
    """Result of a model for one image.

    regions: predicted regions. issues: possible errors of the mask. labeled_regions: number of regions in the mask.
    probabilities: of the verdicts, by name. unlike: unlike score, the greatest of its parts; 0 if there is none.
    """

    regions: tuple[RegionCertainty, ...] = ()
    issues: tuple[LabelIssue, ...] = ()
    labeled_regions: int = 0
    probabilities: Mapping[str, float] | None = None
    unlike: float = 0.0

    def to_text(self) -> str:
        issues = [{**issue_to_json(issue), "bits": base64.b64encode(issue.bits).decode()} for issue in self.issues]
        regions = [asdict(region) for region in self.regions]
        values = {"labelled": self.labeled_regions, "probabilities": self.probabilities, "unlike": self.unlike}
        return json.dumps({"seen": regions, "slips": issues, **values})

    @classmethod
    def from_text(cls, text: str) -> CachedPrediction:
        """Decode a text of `to_text`. Raises ValueError, KeyError or TypeError for any other text."""
        raw = parse_json(text)
        entries: list[dict[str, Any]] = [{**entry, "rect": Rect(**entry["rect"])} for entry in raw["seen"]]
        regions = tuple(RegionCertainty(**entry) for entry in entries)
        issues = tuple(issue_from_json({**entry, "bits": base64.b64decode(entry["bits"])}) for entry in raw["slips"])
        return cls(regions, issues, int(raw["labelled"]), raw["probabilities"], float(raw["unlike"]))


class FeatureCache:
    """Cache of a project. Use one object per thread. In a read-only folder the cache is in memory."""

    def __init__(self, root: Path) -> None:
        self._database = _open(root)

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._database.commit()
        self._database.close()

    def features(self) -> dict[str, tuple[str, np.ndarray, np.ndarray]]:
        """Return, by image, the stamp of its file, its descriptor, and its salience."""
        return {
            from_column(key): (
                stamp,
                np.frombuffer(descriptor, np.float16).astype(np.float32),
                np.frombuffer(salience, np.float32),
            )
            for key, stamp, descriptor, salience in self._database.execute(
                "SELECT key, stamp, feature, salience FROM features"
            )
            if len(descriptor) == 2 * DESCRIPTOR_SIZE and len(salience) == 4 * SALIENCE_SIZE
        }

    def stamps(self) -> dict[str, str]:
        """Return, by image, the stamp of all inputs of its `CachedPrediction`."""
        return {from_column(key): stamp for key, stamp in self._database.execute("SELECT key, stamp FROM sights")}

    def prediction(self, key: str) -> CachedPrediction | None:
        row = self._database.execute("SELECT sight FROM sights WHERE key = ?", (to_column(key),)).fetchone()
        try:
            return None if row is None else CachedPrediction.from_text(row[0])
        except (ValueError, KeyError, TypeError):
            return None

    def put_feature(self, key: str, stamp: str, feature: np.ndarray, salience: np.ndarray) -> None:
        self._put("features", to_column(key), stamp, feature.astype(np.float16).tobytes(), salience.tobytes())

    def put_prediction(self, key: str, stamp: str, prediction: CachedPrediction) -> None:
        self._put("sights", to_column(key), stamp, prediction.to_text())

    def _put(self, table: str, *values: bytes | str) -> None:
        with contextlib.suppress(sqlite3.Error):  # on a full disk the result is merely calculated again
            self._database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(values))})", values)
            self._database.commit()


def _open(root: Path) -> sqlite3.Connection:
    for _ in range(2):
        try:
            database = open_shared(root, _FILES, 10)
            if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                database.executescript("DROP TABLE IF EXISTS features; DROP TABLE IF EXISTS sights;")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version={VERSION}")
            database.commit()
            return database
        except (sqlite3.DatabaseError, OSError) as error:
            if not is_damage(error):
                break
            remove(root, _FILES)
    database = sqlite3.connect(":memory:")
    database.executescript(_SCHEMA)
    return database


# --- scan of a project ----------------------------------------------------------------------------


AT_ONCE = 400  # new images per call, so that first results come early
PART_SIDE = 2048  # pixels: larger images are predicted in parts of this side to limit memory


@dataclass(frozen=True)
class ScanResult:
    """Result for one image. feature: see `describe`. salience: see `saliency_features`."""

    key: str
    feature: np.ndarray
    salience: np.ndarray
    prediction: CachedPrediction | None = None


@dataclass
class ScanSummary:
    """Results of a scan. requested: number of images. skipped: unreadable images. computed: results that are new.

    complete: True if all images were processed.
    """

    results: dict[str, ScanResult]
    requested: int = 0
    skipped: int = 0
    computed: int = 0

    @property
    def complete(self) -> bool:
        return len(self.results) + self.skipped >= self.requested


def spread_keys(keys: Sequence[str]) -> list[str]:
    """Return the keys in an order that covers the list evenly from the start (van der Corput, 1935)."""
    bits = max(1, (len(keys) - 1).bit_length())
    positions = (int(f"{n:0{bits}b}"[::-1], 2) for n in range(1 << bits))
    return [keys[position] for position in positions if position < len(keys)]


class ImageScanner:
    """Scanner of a project's images, with or without a model. Not thread-safe.

    model: folder with model.json, or None. Raises SettingsError, EngineError, OSError.
    """

    def __init__(self, project: Project, model: Path | None) -> None:
        self._project = project
        threads = max(1, cores() - 1)  # one core is left for the GUI
        self._predictor = open_predictor(model, threads) if model is not None else None
        self._fingerprint = model_fingerprint(model) if model is not None else ""
        self._cache = FeatureCache(project.root)
        self._features = self._cache.features()
        self._stamps = self._cache.stamps()

    def close(self) -> None:
        self._cache.close()

    def scan(
        self,
        keys: Sequence[str],
        *,
        most: int = AT_ONCE,
        predict: bool = True,
        compare: bool = False,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ScanSummary:
        """Return results for `keys`, computing at most `most` new ones.

        predict: run the model. compare: compare with the masks. progress(done, total) counts new results. Results
        obtained before `cancelled` returned True are kept. Unreadable images are skipped.
        """
        summary = ScanSummary({}, requested=len(keys))
        fresh = [key for key in spread_keys(keys) if not self._add_cached(key, predict, compare, summary)]
        selected = fresh[:most]
        for number, key in enumerate(selected, 1):
            if cancelled():
                break
            try:
                result = self._scan_image(key, predict, compare, cancelled)
            except Problem:
                result = None
            if result is not None:
                summary.results[key] = result
            elif not cancelled():
                summary.skipped += 1
            summary.computed += 1
            if progress is not None:
                progress(number, len(selected))
        return summary

    def _stamp(self, key: str, compare: bool) -> str:
        paths = [self._project.image_path(key), *([self._project.mask_path(key)] if compare else [])]
        return f"{self._fingerprint[:32]}|{file_stamp(*paths)}"

    def _add_cached(self, key: str, predict: bool, compare: bool, summary: ScanSummary) -> bool:
        """Add the cached result to `summary`. Return False if the image must be processed."""
        try:
            stamp, feature, salience = self._features.get(key, ("", None, None))
            if feature is None or salience is None or stamp != file_stamp(self._project.image_path(key)):
                return False
            prediction = None
            if predict and self._predictor is not None:
                if self._stamps.get(key) != self._stamp(key, compare):
                    return False
                prediction = self._cache.prediction(key)
                if prediction is None:
                    return False
        except Problem:
            return False
        summary.results[key] = ScanResult(key, feature, salience, prediction)
        return True

    def _scan_image(self, key: str, predict: bool, compare: bool, cancelled: Callable[[], bool]) -> ScanResult | None:
        path = self._project.image_path(key)
        stamps = file_stamp(path), self._stamp(key, compare)  # before reading, so that later changes are detected
        image = image_files.read(path)
        feature, salience = describe(image), saliency_features(image)
        self._cache.put_feature(key, stamps[0], feature, salience)
        self._features[key] = (stamps[0], feature, salience)
        if not predict or self._predictor is None:
            return ScanResult(key, feature, salience)
        label = self._label(key, image) if compare else None
        try:
            prediction = scan_prediction(self._predictor, image, label, name=key, cancelled=cancelled)
        except PredictionCancelled:
            return None
        self._cache.put_prediction(key, stamps[1], prediction)
        self._stamps[key] = stamps[1]
        return ScanResult(key, feature, salience, prediction)

    def _label(self, key: str, image: np.ndarray) -> np.ndarray | None:
        try:
            return annotation.load_truth(self._project, key, (image.shape[1], image.shape[0]))
        except Problem:
            return None


def scan_prediction(
    predictor: Predictor,
    image: np.ndarray,
    label: np.ndarray | None = None,
    *,
    name: str = "",
    cancelled: Callable[[], bool] = lambda: False,
) -> CachedPrediction:
    """Return the prediction for an image and its contradictions to the label, uint8 (H, W), if given.

    name: of the image, see `Predictor.predict`.
    Raises PredictionCancelled, EngineError.
    """
    if predictor.settings.task == "classification":
        result = predictor.predict(image, name=name, cancelled=cancelled)
        return CachedPrediction(probabilities=result.probabilities, unlike=_unlike(result))
    regions, issues, labeled, unlike = [], [], 0, 0.0
    for part in _parts(*image.shape[:2]):
        result = predictor.predict(
            np.ascontiguousarray(image[part.slices]),
            name=name,
            crop=(part.x, part.y, image.shape[1], image.shape[0]),
            whole=image,
            cancelled=cancelled,
            keep_probabilities=True,
        )
        assert result.class_scores is not None and result.mask is not None  # of a segmentation, as requested
        corner, unlike = (part.x, part.y), max(unlike, _unlike(result))
        regions += region_certainties(result.class_scores, predictor.settings, corner)
        if label is not None:
            part_issues, count = find_issues(
                result.class_scores, result.mask, label[part.slices], predictor.settings, corner
            )
            issues += part_issues
            labeled += count
    regions.sort(key=lambda region: (-region.uncertainty, -region.area))
    kept = tuple(regions[:MAX_REGIONS]), tuple(worst_first(issues)[:MAX_ISSUES])
    return CachedPrediction(*kept, labeled, unlike=unlike)


def _unlike(result: Prediction) -> float:
    return (result.input.unlike if result.input is not None else None) or 0.0


def _parts(height: int, width: int) -> Iterator[Rect]:
    for y in range(0, height, PART_SIDE):
        for x in range(0, width, PART_SIDE):
            yield Rect(x, y, min(PART_SIDE, width - x), min(PART_SIDE, height - y))
