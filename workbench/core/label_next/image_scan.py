"""Scan of a project's images: features and predictions for the label queue and for label errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images import image_files
from workbench.core.label_next.image_features import CachedPrediction, FeatureCache, describe, saliency_features
from workbench.core.label_next.label_issues import MAX_ISSUES, find_issues, worst_first
from workbench.core.label_next.uncertainty import MAX_REGIONS, region_certainties
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.core.runs.model_lookup import open_predictor
from workbench.inference.batch.results_log import model_fingerprint
from workbench.inference.cpu_environment import cores
from workbench.inference.predictor import PredictionCancelled, Predictor

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
        return CachedPrediction(probabilities=result.probabilities)
    regions, issues, labeled = [], [], 0
    for part in _parts(*image.shape[:2]):
        result = predictor.predict(
            np.ascontiguousarray(image[part.slices]),
            name=name,
            crop=(part.x, part.y, image.shape[1], image.shape[0]),
            cancelled=cancelled,
            keep_probabilities=True,
        )
        assert result.class_scores is not None and result.mask is not None  # of a segmentation, as requested
        corner = (part.x, part.y)
        regions += region_certainties(result.class_scores, predictor.settings, corner)
        if label is not None:
            part_issues, count = find_issues(
                result.class_scores, result.mask, label[part.slices], predictor.settings, corner
            )
            issues += part_issues
            labeled += count
    regions.sort(key=lambda region: (-region.uncertainty, -region.area))
    return CachedPrediction(tuple(regions[:MAX_REGIONS]), tuple(worst_first(issues)[:MAX_ISSUES]), labeled)


def _parts(height: int, width: int) -> Iterator[Rect]:
    for y in range(0, height, PART_SIDE):
        for x in range(0, width, PART_SIDE):
            yield Rect(x, y, min(PART_SIDE, width - x), min(PART_SIDE, height - y))
