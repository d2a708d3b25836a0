"""Evaluation of a verdict model on validation and test images: its predictions, confusions and calibration.

Probabilities include the temperature that was fitted on the images of `val`; those of `test` give an unbiased result.
They are cached under .cache/verdicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from workbench.core.evaluation.figures import Figures, VerdictCount, verdict_figures
from workbench.core.evaluation.inference_pass import each_image
from workbench.core.evaluation.intervals import Interval, share_interval, sum_by_part
from workbench.core.images import image_files
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem, RunUnusable
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp, write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run
from workbench.inference.io.json_io import read_json
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, load_settings, settings_hash
from workbench.inference.predictor import Predictor

BINS = 10
MOST = 0.999  # highest minimum probability of a verdict
_FORMAT = 1
_CACHE = "verdicts"  # under .cache/, one file per run
Probabilities = dict[str, tuple[str, list[float]]]  # key -> stamp of the image file, probabilities


@dataclass(frozen=True)
class PredictedVerdict:
    """Prediction for one image.

    truth: current verdict label. probabilities: in the order of the model's verdicts. part: part that the image shows.
    """

    key: str
    split: str
    truth: str
    probabilities: tuple[float, ...]
    part: str = ""

    @property
    def predicted(self) -> int:
        """Index of the most probable verdict."""
        return int(np.argmax(self.probabilities))

    @property
    def probability(self) -> float:
        return max(self.probabilities)


@dataclass(frozen=True)
class CalibrationBin:
    """Images with similar probability of the verdict, on average `mean_probability`. interval: of the correct share, or
    the reason why there is none.
    """

    low: float
    high: float
    images: int
    mean_probability: float
    correct: int
    interval: Interval | Message

    @property
    def share(self) -> float:
        return self.correct / self.images


@dataclass(frozen=True)
class RejectBand:
    """Effect of a minimum probability `least` for a verdict.

    unsure: images without a verdict, for manual inspection; rejected_errors: those of them with a wrong prediction.
    errors: wrong verdicts among the decided images. interval: of their share, or the reason why there is none.
    """

    least: float
    images: int
    unsure: int
    rejected_errors: int
    errors: int
    interval: Interval | Message

    @property
    def decided(self) -> int:
        return self.images - self.unsure


@dataclass(frozen=True)
class VerdictEvaluation:
    """Evaluation of a verdict model.

    names: verdicts of the model. images: labeled with one of these. temperature: divisor of the logits. other_labels:
    images with another label, or none, and that label. unreadable: images that cannot be read, with the problem.
    changed: number of labels that differ from those at training.
    """

    names: tuple[str, ...]
    images: tuple[PredictedVerdict, ...]
    temperature: float = 1.0
    other_labels: Mapping[str, str | None] = field(default_factory=dict)
    unreadable: Mapping[str, Problem] = field(default_factory=dict)
    changed: int = 0

    def of(self, *splits: str) -> VerdictEvaluation:
        return replace(self, images=tuple(image for image in self.images if image.split in splits))

    def without_temperature(self) -> VerdictEvaluation:
        """Return the evaluation with the probabilities of the network without temperature."""
        if not self.images:
            return self
        logs = np.log(np.maximum([image.probabilities for image in self.images], 1e-30)) * self.temperature
        raw = np.exp(logs - logs.max(axis=1, keepdims=True))
        raw /= raw.sum(axis=1, keepdims=True)
        images = [replace(entry, probabilities=tuple(row.tolist())) for entry, row in zip(self.images, raw)]
        return replace(self, images=tuple(images), temperature=1.0)

    @cached_property
    def figures(self) -> Figures:
        counts = [VerdictCount(image.truth, self.names[image.predicted]) for image in self.images]
        return verdict_figures(counts, self._parts, self.names)

    @property
    def _parts(self) -> list[str]:
        return [image.part or image.key for image in self.images]

    def cell(self, truth: str, predicted: str) -> list[PredictedVerdict]:
        """Return images labeled `truth` and predicted as `predicted`.

        Of mistakes, the highest probability is first; of correct verdicts, the lowest.
        """
        index = self.names.index(predicted)
        images = [image for image in self.images if image.truth == truth and image.predicted == index]
        return sorted(
            images, key=lambda entry: (entry.probability if truth == predicted else -entry.probability, entry.key)
        )

    def mistakes(self) -> list[PredictedVerdict]:
        """Return the wrong predictions, highest probability first."""
        images = [image for image in self.images if image.truth != self.names[image.predicted]]
        return sorted(images, key=lambda entry: (-entry.probability, entry.key))

    def unsure(self, threshold: float) -> list[PredictedVerdict]:
        """Return the images without a verdict at minimum probability `threshold`, lowest probability first."""
        return sorted(
            (entry for entry in self.images if entry.probability < threshold),
            key=lambda entry: (entry.probability, entry.key),
        )

    # --- calibration -----------------------------------------------------------------------------

    @cached_property
    def _probabilities_and_correctness(self) -> tuple[np.ndarray, np.ndarray]:
        probabilities = np.array([image.probability for image in self.images], np.float64)
        correct = np.array([image.truth == self.names[image.predicted] for image in self.images], bool)
        return probabilities, correct

    def reliability(self, bins: int = BINS) -> list[CalibrationBin]:
        """Return bins of equal width in the probability of the verdict; empty bins are omitted."""
        probabilities, correct = self._probabilities_and_correctness
        bin_of = np.minimum((probabilities * bins).astype(int), bins - 1)
        result = []
        for number in np.unique(bin_of).tolist():
            inside = bin_of == number
            count, hits = int(inside.sum()), int(correct[inside].sum())
            mean, interval = float(probabilities[inside].mean()), self._share(correct, inside)
            result.append(CalibrationBin(number / bins, (number + 1) / bins, count, mean, hits, interval))
        return result

    def _share(self, hits: np.ndarray, counted: np.ndarray) -> Interval | Message:
        """Return the interval of the share of the `counted` images that are `hits`; both bool (images,)."""
        sums = sum_by_part(np.stack([hits & counted, counted], axis=-1), self._parts)
        return share_interval(sums[:, 0], sums[:, 1])

    def calibration_error(self, bins: int = BINS) -> float | None:
        """Return the expected calibration error (ECE, Naeini et al. 2015), None without images."""
        if not self.images:
            return None
        weighted = sum(entry.images * abs(entry.share - entry.mean_probability) for entry in self.reliability(bins))
        return weighted / len(self.images)

    # --- minimum probability ---------------------------------------------------------------------

    def band(self, threshold: float) -> RejectBand:
        probabilities, correct = self._probabilities_and_correctness
        rejected = probabilities < threshold
        return RejectBand(
            threshold,
            len(probabilities),
            int(rejected.sum()),
            int((rejected & ~correct).sum()),
            int((~rejected & ~correct).sum()),
            self._share(~correct, ~rejected),
        )

    def bands(self, thresholds: Sequence[float]) -> list[RejectBand]:
        return [self.band(threshold) for threshold in thresholds]

    def threshold_for(self, max_errors: int) -> float:
        """Return the lowest minimum probability that leaves at most `max_errors` wrong verdicts, at most `MOST`."""
        probabilities, correct = self._probabilities_and_correctness
        wrong = np.sort(probabilities[~correct])[::-1]
        if len(wrong) <= max_errors:
            return 0.0
        # Rounded to thousandths, the precision of the setting in the GUI.
        return min(MOST, (np.floor(wrong[max_errors] * 1000) + 1) / 1000)


@dataclass(frozen=True)
class VerdictPredictions:
    """Predicted probabilities of images. unreadable: images without any. milliseconds: of those not cached."""

    dataset: Dataset
    settings: ModelSettings
    items: Sequence[Item]
    probabilities: Probabilities
    unreadable: Mapping[str, Problem]
    milliseconds: Sequence[float] = ()

    def evaluate(self, truth_of: Callable[[Item], str | None]) -> VerdictEvaluation:
        """Return the evaluation with present labels.

        truth_of: verdict of an image, None without a label; may raise a Problem.
        """
        settings, verdicts, others, changed = self.settings, [], {}, 0
        unreadable = dict(self.unreadable)
        for item in self.items:
            if item.key not in self.probabilities:
                continue
            try:
                truth = truth_of(item)
            except Problem as problem:
                unreadable[item.key] = problem
                continue
            if truth in settings.verdicts:
                probabilities = tuple(self.probabilities[item.key][1])
                verdicts.append(PredictedVerdict(item.key, item.split, truth, probabilities, item.part))
                changed += truth != item.verdict
            else:
                others[item.key] = truth
        rest = settings.temperature, others, unreadable, changed
        return VerdictEvaluation(settings.verdicts, tuple(verdicts), *rest)


def predict_verdicts(
    project: Project,
    run: Run,
    items: Sequence[Item] | None = None,
    *,
    store: bool,
    predictor: Predictor | None = None,
    seconds: float | None = None,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> VerdictPredictions | None:
    """Predict the images that are not cached. Return None if canceled. Raises Problem.

    items: by default all validation and test images. store: write the cache. predictor: another network of the run,
    such as an export, whose results are not cached. seconds: no further image is predicted after that time.
    """
    if predictor is None:
        run.need_usable()
    dataset = run.dataset()
    settings = predictor.settings if predictor is not None else load_settings(run.best / MODEL_FILE)
    if settings.task != "classification":
        raise RunUnusable(name=run.name, why=Message("report.segmentation_model"))
    # The reject probability does not change the predicted probabilities.
    stamp = f"{settings_hash(replace(settings, unsure=0.0))} {file_stamp(run.best / 'network.onnx')}"
    cache = project.root / ".cache" / _CACHE / f"{run.name}.json"
    cached = {} if predictor is not None else _load(cache, stamp, len(settings.verdicts))
    store = store and predictor is None
    items = dataset.of("val", "test") if items is None else items
    probabilities: Probabilities = {}
    milliseconds: list[float] = []

    def predict(key: str) -> None:
        nonlocal predictor
        path = project.image_path(key)
        state = file_stamp(path)
        if key in cached and cached[key][0] == state:
            probabilities[key] = cached[key]
            return
        predictor = predictor or open_predictor(run.best)
        image, began = image_files.read(path), time.perf_counter()
        probabilities[key] = state, predictor.probabilities(image, name=key, cancelled=cancelled).astype(float).tolist()
        milliseconds.append(1000 * (time.perf_counter() - began))

    unreadable = each_image([item.key for item in items], predict, progress, cancelled, seconds)
    if unreadable is None:
        return None
    if store and milliseconds:
        _save(project.root, cache, stamp, {**cached, **probabilities})
    return VerdictPredictions(dataset, settings, items, probabilities, unreadable, milliseconds)


def _load(path: Path, stamp: str, verdicts: int) -> Probabilities:
    """Return the cached probabilities; empty if the model changed or the file is invalid."""
    try:
        raw = read_json(path)
        if raw["format"] != _FORMAT or raw["model"] != stamp:
            return {}
        cached = {
            str(key): (str(state), [float(p) for p in values]) for key, (state, values) in raw["pictures"].items()
        }
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return cached if all(len(values) == verdicts for _, values in cached.values()) else {}


def _save(root: Path, path: Path, stamp: str, probabilities: Probabilities) -> None:
    try:
        write_json(path, {"format": _FORMAT, "model": stamp, "pictures": probabilities}, root=root)
    except (OSError, CannotWrite):
        return  # predicted again next time
