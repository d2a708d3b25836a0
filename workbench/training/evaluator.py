"""Evaluation of a network on validation/test images, through the same code as later prediction.

Their labels, for the metrics of a run and the choice of its weights, stay as they are until its end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import paddle

from workbench.core.evaluation import intervals
from workbench.core.evaluation.expectation import change_lighting
from workbench.core.evaluation.figure_texts import mask_report, verdict_report
from workbench.core.evaluation.figures import METRICS, VerdictCount, mask_figures, metric_sums, verdict_figures
from workbench.core.evaluation.intervals import Statistic, mean_of_known, sum_by_part
from workbench.core.evaluation.stored_predictions import (
    ANY,
    MIN_PROBABILITY,
    collect_prediction,
    cut_patches,
    evaluate_prediction,
)
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import MaskBroken, MaskWrongSize, Problem, RunLabelChanged
from workbench.core.project import annotation
from workbench.core.project.annotation import check_ids, ignore_outside, read_mask
from workbench.core.project.project import Project
from workbench.core.project.storage import inside
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.held_out import divide_parts
from workbench.core.runs.run import Run
from workbench.inference.engines.feature_engine import Outputs
from workbench.inference.io.file_access import read_regular
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, PredictionCancelled, Predictor
from workbench.training.device import is_out_of_memory
from workbench.training.networks import ProbabilityHead
from workbench.training.threshold_search import choose_segmentation, choose_temperature, labeled_areas, max_areas


class FrozenLabels:
    """Copies of masks in `held_out/`, so that labels corrected during a run do not change its metrics."""

    def __init__(self, run: Run, project: Project, dataset: Dataset) -> None:
        self._run, self._project, self._dataset = run, project, dataset

    def mask(self, item: Item, size: tuple[int, int]) -> np.ndarray:
        """Return uint8 (H, W), from the project if the copy is damaged and the project still has the same file.

        size: (width, height) of the image. Raises RunLabelChanged if neither is the label with which the run began,
        MaskUnknownClass, and MaskWrongSize if the image has another size since then.
        """
        copy = inside(self._run.held_out, f"{item.key}.png")
        for path in (copy, self._project.mask_path(item.key)):
            try:
                mask = read_mask(path)
                digest = hashlib.sha256(read_regular(path)).hexdigest()[:16]  # last: a change in between is noticed
            except (OSError, MaskBroken):
                continue
            if item.mask_hash in ("", digest):
                check_ids(mask, path, self._dataset.classes)
                if mask.shape != size[::-1]:
                    height, width = mask.shape
                    raise MaskWrongSize(
                        path=str(path), mask_width=width, mask_height=height, width=size[0], height=size[1]
                    )
                return ignore_outside(self._project, item.key, mask)
        raise RunLabelChanged(path=str(copy))


# --- evaluation -----------------------------------------------------------------------------------


_DEFAULT_THRESHOLD = 0.3  # threshold if there are no validation images to choose a better one
_MAX_SIZED_IMAGES = 24  # training images per class, from whose regions the usual defect size is estimated


class DygraphEngine:
    """A network in training as an engine of the predictor: fp32, evaluation mode, no gradients.

    Raise MemoryError if the memory is insufficient for one tile; more tiles are computed in smaller batches then.
    """

    name = "dygraph"

    def __init__(self, net: paddle.nn.Layer) -> None:
        self._net = net

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self._compute(batch, lambda x: [paddle.nn.functional.softmax(self._net(x), axis=1)])[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        output, features = self._compute(batch, ProbabilityHead(self._net))
        return output, features

    def _compute(self, batch: np.ndarray, network: Callable[[paddle.Tensor], Sequence[paddle.Tensor]]) -> list[Any]:
        self._net.eval()
        try:
            # No decorator: re-entered recursively, it leaves gradients disabled for the whole process.
            with paddle.no_grad():
                return [output.numpy() for output in network(paddle.to_tensor(batch))]
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        if len(batch) == 1:  # outside of the block: the traceback would keep all tensors
            raise MemoryError("The memory is too small for one tile.")
        halves = np.split(batch, [len(batch) // 2])
        return [np.concatenate(outputs) for outputs in zip(*(self._compute(half, network) for half in halves))]


@dataclass(frozen=True)
class Evaluation:
    """Result of an evaluation.

    metrics: as of core.evaluation.figure_texts. score: main metric of a model, 0..1; None without images.
    settings: as given, or with thresholds, minimum areas and temperature chosen on these images. keys: of the
    evaluated images. counts: numerator and denominator of the main ratio of each image, see
    `core.evaluation.expectation`. seconds: duration. score_sums: by part, of which `score_statistic` makes the score.

    metrics["chosen_on"] says on which images thresholds or temperature were chosen: "same", those that were measured;
    "cross_fitted", for each half of the parts the other half; "other", images that were not measured.
    """

    metrics: dict[str, Any]
    score: float | None
    settings: ModelSettings
    keys: list[str]
    seconds: float
    counts: list[tuple[float, float]] = field(default_factory=list)
    score_sums: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class _ImagePass:
    """Truth and prediction of one image, compressed so that those of all images fit into memory."""

    truth: np.ndarray | str
    packed: bytes = b""
    shape: tuple[int, ...] = ()
    probabilities: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def class_scores(self) -> np.ndarray:
        return np.frombuffer(zlib.decompress(self.packed), np.uint8).reshape(self.shape)


class Evaluator:
    """Evaluator of networks on images of a dataset. skipped: keys of images that could not be read."""

    def __init__(
        self,
        project: Project,
        dataset: Dataset,
        *,
        least_area: int = 0,
        threads: int = 1,
        truth: FrozenLabels | None = None,
    ) -> None:
        """truth: masks to use instead of the current labels."""
        self.project, self.dataset, self.frozen_labels = project, dataset, truth
        self.min_area, self.threads = least_area, threads
        self.skipped: dict[str, Problem] = {}

    def evaluate(
        self,
        engine: Engine,
        settings: ModelSettings,
        items: Sequence[Item],
        *,
        choose: bool = False,
        cross_fit: bool = False,
        change: str | None = None,
        most_seconds: float | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Evaluation | None:
        """Evaluate `items` in their order. Return None if canceled or if none of them could be read.

        choose: choose thresholds on these images and report the metrics at them. cross_fit: report the metrics of each
        half of the parts at the thresholds chosen on the other half. change: evaluate copies of the images with this
        change of `core.evaluation.expectation`. most_seconds: no further image is started after that time; `keys` then
        lists the evaluated ones.
        """
        started = time.perf_counter()
        passes, keys = [], []
        try:
            for item, image_pass in self._passes(Predictor(settings, engine), items, cancelled, change):
                passes.append(image_pass)
                keys.append(item.key)
                progress(len(keys), len(items))
                if most_seconds is not None and time.perf_counter() - started > most_seconds:
                    break
        except PredictionCancelled:
            return None
        if not passes:
            return None
        measured, given, chosen_on = [settings] * len(passes), settings, "same" if choose else "other"
        if choose and cross_fit and (halves := divide_parts(items, keys)) is not None:
            chosen = [self._choose(settings, [p for p, half in zip(passes, halves) if half != side]) for side in (0, 1)]
            measured, chosen_on = [chosen[half] for half in halves], "cross_fitted"
            settings = self._choose(settings, passes)
        elif choose:
            settings = self._choose(settings, passes)
            measured = [settings] * len(passes)
        parts = {item.key: item.part for item in items}
        names = [parts[key] for key in keys]
        metrics, counts, sums = self._measure(measured, passes, names)
        metrics["chosen_on"] = chosen_on
        if settings.task == "classification":
            temperatures = [own.temperature / given.temperature for own in measured]
            metrics["calibration_error"] = _calibration_error(settings.verdicts, passes, temperatures)
        score = float(score_statistic(self.dataset.model)(sums.sum(axis=0)))
        by_part = dict(zip(dict.fromkeys(names), sum_by_part(sums, names).tolist()))
        rest = keys, time.perf_counter() - started, [(hit, total) for hit, total in counts.tolist()], by_part
        return Evaluation(metrics, None if np.isnan(score) else score, settings, *rest)

    def default_settings(self, settings: ModelSettings) -> ModelSettings:
        """Return settings for a network without validation images.

        Minimum area: a quarter of the smallest labeled defect. The threshold is low because a network after little
        training is overconfident that unfamiliar defects are background.
        """
        if settings.task == "classification":
            return settings
        min_areas = {id: int(areas.min()) // 4 for id, areas in self._labeled_areas.items()}
        min_area_by_class = tuple(max(self.min_area, min_areas.get(entry.id, 0)) for entry in settings.classes)
        return dataclasses.replace(
            settings, thresholds=(_DEFAULT_THRESHOLD,) * len(min_area_by_class), min_area=min_area_by_class
        )

    def _passes(
        self, predictor: Predictor, items: Sequence[Item], cancelled: Callable[[], bool], change: str | None
    ) -> Iterator[tuple[Item, _ImagePass]]:
        """Yield the results of readable images, in order; several images are computed at once, each on its own core."""
        with ThreadPoolExecutor(self.threads) as pool:
            pending = deque[tuple[Item, Future[_ImagePass]]]()
            try:
                for item in [*items, *[None] * self.threads]:
                    if item is not None:
                        pending.append((item, pool.submit(self._predict_image, predictor, item, cancelled, change)))
                    if pending and (item is None or len(pending) > self.threads):
                        finished, future = pending.popleft()
                        try:
                            yield finished, future.result()
                        except Problem as problem:
                            self.skipped.setdefault(finished.key, problem)
            finally:
                for _, future in pending:
                    future.cancel()

    def _predict_image(
        self, predictor: Predictor, item: Item, cancelled: Callable[[], bool], change: str | None
    ) -> _ImagePass:
        image, truth = self._read(item)
        if change is not None:
            image = change_lighting(np.asarray(image), change, predictor.settings)
        if isinstance(truth, str):
            result = predictor.predict(image, name=item.key, cancelled=cancelled)
            assert result.probabilities is not None
            return _ImagePass(truth, probabilities=np.array(list(result.probabilities.values())))
        result = predictor.predict(image, name=item.key, cancelled=cancelled, keep_probabilities=True)
        assert result.class_scores is not None
        return _ImagePass(truth, zlib.compress(result.class_scores.tobytes(), 1), result.class_scores.shape)

    def _read(self, item: Item) -> tuple[np.ndarray, np.ndarray | str]:
        image = read(self.project.image_path(item.key))
        if self.dataset.model == "resnet":
            return image, str(item.verdict)
        size = (image.shape[1], image.shape[0])
        if self.frozen_labels is not None:
            return image, self.frozen_labels.mask(item, size)
        mask = annotation.load_truth(self.project, item.key, size)
        if mask is None:
            raise MaskBroken(path=str(self.project.mask_path(item.key)), why=Message("file.gone"))
        return image, mask

    def _choose(self, settings: ModelSettings, passes: list[_ImagePass]) -> ModelSettings:
        if settings.task == "classification":
            truths = [settings.verdicts.index(str(image_pass.truth)) for image_pass in passes]
            temperature = choose_temperature([image_pass.probabilities for image_pass in passes], truths)
            return dataclasses.replace(settings, temperature=temperature)

        def images() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for image_pass in passes:
                assert not isinstance(image_pass.truth, str)
                yield image_pass.truth, image_pass.class_scores

        return choose_segmentation(settings, images, self.min_area, max_areas(self._labeled_areas))

    def reset(self) -> None:
        """Discard cached label sizes after training labels have changed."""
        self.__dict__.pop("_labeled_areas", None)

    @cached_property
    def _labeled_areas(self) -> dict[int, np.ndarray]:
        """Areas of labeled regions by class id, from some of the training images of each class."""
        chosen: dict[str, Item] = {}
        for info in self.dataset.classes:
            items_of_class = [item for item in self.dataset.of("train") if info.id in item.classes]
            chosen |= {
                item.key: item
                for item in items_of_class[:: max(1, len(items_of_class) // _MAX_SIZED_IMAGES)][:_MAX_SIZED_IMAGES]
            }

        def masks() -> Iterator[np.ndarray]:
            for item in chosen.values():
                with contextlib.suppress(Problem):
                    mask = annotation.load_truth(self.project, item.key, (item.width, item.height))
                    if mask is not None:
                        yield mask

        return labeled_areas(masks(), [info.id for info in self.dataset.classes])

    def _measure(
        self, settings: Sequence[ModelSettings], passes: Sequence[_ImagePass], parts: Sequence[str]
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
        """Return the metrics, numerator and denominator of the main ratio of each image, and its sums for the score.

        settings: of each pass. parts: part shown by each image.
        """
        if settings[0].task == "classification":
            names = settings[0].verdicts
            # The temperature does not change the order of probabilities, so it changes no verdict.
            verdicts = [VerdictCount(str(each.truth), names[int(np.argmax(each.probabilities))]) for each in passes]
            metrics = verdict_report(verdict_figures(verdicts, parts, names))
            counts = metric_sums(METRICS["accuracy"], verdicts, [ANY])[:, 0]
            return metrics, counts, metric_sums(METRICS["f1"], verdicts, names).reshape(len(passes), -1)
        classes = {entry.id: entry.name for entry in settings[0].classes}
        images = []
        for own, image_pass in zip(settings, passes, strict=True):
            assert not isinstance(image_pass.truth, str)
            patches = cut_patches(image_pass.class_scores, min([MIN_PROBABILITY, *own.thresholds]))
            stored = collect_prediction("", image_pass.truth, patches, list(classes))
            images.append(evaluate_prediction(stored, own).counts)
        metrics = mask_report(mask_figures(images, parts, classes), settings[0].um_per_pixel)
        sums = metric_sums(METRICS["dice"], images, [ANY, *classes])
        hit, false, missed = sums[:, 0].T
        return metrics, np.stack([2 * hit, 2 * hit + false + missed], axis=-1), sums.reshape(len(passes), -1)


def score_statistic(model: str) -> Statistic:
    """Return the metric by which the best weights are chosen, as a function of `Evaluation.score_sums`.

    Verdicts: macro F1. Segmentation: the mean of the classes' Dice and of the Dice of "any defect", so that a defect
    marked as another class still counts partly; 0 if there are only false pixels. model: "unet" or "resnet".
    """

    def of_verdicts(sums: np.ndarray) -> np.ndarray:
        return mean_of_known(intervals.f1(sums.reshape(*sums.shape[:-1], -1, 3)))

    def of_pixels(sums: np.ndarray) -> np.ndarray:
        values = intervals.dice(sums.reshape(*sums.shape[:-1], -1, 3))  # of any defect, then of each class
        score = mean_of_known(np.stack([values[..., 0], mean_of_known(values[..., 1:])], axis=-1))
        return np.where(np.isnan(score) & sums.any(axis=-1), 0.0, score)

    return of_verdicts if model == "resnet" else of_pixels


def _calibration_error(
    names: Sequence[str], passes: Sequence[_ImagePass], temperatures: Sequence[float]
) -> float | None:
    """Return the expected calibration error. temperatures: for each image, beside that of its probabilities."""
    verdicts = []
    for image, temperature in zip(passes, temperatures, strict=True):
        logs = np.log(np.maximum(image.probabilities, 1e-12)).astype(np.float64) / temperature
        scaled = np.exp(logs - logs.max())
        verdicts.append(PredictedVerdict("", "", str(image.truth), tuple((scaled / scaled.sum()).tolist())))
    return VerdictEvaluation(tuple(names), tuple(verdicts)).calibration_error()
