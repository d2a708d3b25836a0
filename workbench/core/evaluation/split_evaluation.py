"""Evaluation of a run on one data split: predictions, counts at the operating point, curves and data leaks.

Data leaks are validation or test images of which the same part or image was used for training.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

from workbench.core.evaluation import operating_point
from workbench.core.evaluation.evaluation_summary import EvaluationSummary, summarize
from workbench.core.evaluation.image_ranking import ScoredImage, scored_images
from workbench.core.evaluation.inference_pass import InferencePass, PassResult
from workbench.core.evaluation.operating_point import OperatingPoint, StoredOperatingPoint
from workbench.core.evaluation.operating_point_sweep import OperatingPointSweep
from workbench.core.evaluation.stored_predictions import ImageEvaluation, StoredPrediction, evaluate_prediction
from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation, predict_verdicts
from workbench.core.messages import Message
from workbench.core.problems import NoteBroken, RunUnusable
from workbench.core.project import annotation
from workbench.core.project.grouping import content_digest, near_duplicates
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import cores
from workbench.inference.model_settings import ModelSettings
from workbench.inference.verdict_rule import VerdictRule

THREADS = min(4, cores())  # OpenCV and NumPy release the interpreter lock most of the time


@dataclass(frozen=True)
class DataLeak:
    """Leak of one image. held_out_key: validation or test image. train_key: training image.

    why: identical bytes, similar appearance, or the same part.
    """

    held_out_key: str
    train_key: str
    why: Literal["same", "alike", "part"]


def find_data_leaks(project: Project, dataset: Dataset, split: str) -> list[DataLeak]:
    """Return the clearest leak of each image of `split` that has one. Reads every image: not for the GUI thread.

    In runs of more than 4000 images, similar appearance is not checked, see `grouping.near_duplicates`.
    """
    evaluated, training = dataset.of(split), dataset.of("train")
    splits = {item.key: item.split for item in dataset.items}
    leaks: dict[str, DataLeak] = {}
    by_content = {digest: item.key for item in training if (digest := content_digest(project.image_path(item.key)))}
    for item in evaluated:
        duplicate = by_content.get(content_digest(project.image_path(item.key)) or b"")
        if duplicate is not None:
            leaks[item.key] = DataLeak(item.key, duplicate, "same")
    for a, b in near_duplicates(project, [*evaluated, *training]):
        for key, other in ((a, b), (b, a)):
            if splits[key] == split and splits[other] == "train":
                leaks.setdefault(key, DataLeak(key, other, "alike"))
    parts: dict[str, str] = defaultdict(str)
    for item in training:
        parts.setdefault(item.group, item.key)
    for item in evaluated:
        if item.group and item.group in parts:
            leaks.setdefault(item.key, DataLeak(item.key, parts[item.group], "part"))
    return list(leaks.values())


@dataclass(frozen=True)
class EvaluatedImages:
    """Evaluation at an operating point. evaluations, images: one per image, in the order of the predictions."""

    point: OperatingPoint
    evaluations: list[ImageEvaluation]
    metrics: EvaluationSummary
    images: list[ScoredImage]

    @property
    def place(self) -> tuple[float, float]:
        """Recall of defects and precision of regions; NaN if there is nothing to count."""
        regions = sum(result.counts.regions for result in self.evaluations)
        precision = 1 - self.metrics.false.count / regions if regions else float("nan")
        recall = self.metrics.found.value
        return float("nan") if recall is None else recall, precision


def evaluate_images(
    predictions: list[StoredPrediction], settings: ModelSettings, point: OperatingPoint, cancelled: Callable[[], bool]
) -> EvaluatedImages | None:
    """Evaluate at `point`. Return None as soon as `cancelled` returns True."""
    settings_at_point = point.on(settings)
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(
            pool.map(lambda item: None if cancelled() else evaluate_prediction(item, settings_at_point), predictions)
        )
    evaluations = [result for result in results if result is not None]
    if len(evaluations) < len(predictions):
        return None
    ids = [entry.id for entry in settings.classes]
    alarms = {id: [sum(alarm.class_id == id for alarm in result.alarms) for result in evaluations] for id in ids}
    pixels = sum(item.width * item.height for item in predictions)
    return EvaluatedImages(
        point,
        evaluations,
        summarize(
            [result.counts for result in evaluations],
            [item.group for item in predictions],
            ids,
            alarms=alarms,
            marked=sum(result.marked for result in evaluations) / max(1, pixels),
        ),
        scored_images(predictions, evaluations),
    )


@dataclass(frozen=True)
class MaskEvaluation:
    """Evaluation of a UNet run. split: "val", "test", "val+test", or "all" with the training images.

    settings: those stored with the run; images.point is the evaluated operating point and rule the evaluated verdict
    rule. sweep: None if not computed.
    """

    run: Run
    dataset: Dataset
    split: str
    settings: ModelSettings
    stored: StoredOperatingPoint
    passed: PassResult
    images: EvaluatedImages
    sweep: OperatingPointSweep | None
    leaks: Sequence[DataLeak]
    rule: VerdictRule | None

    @property
    def evaluated_settings(self) -> ModelSettings:
        """Settings with the evaluated operating point and verdict rule."""
        return replace(self.images.point.on(self.settings), verdict_rule=self.rule)

    @property
    def in_use(self) -> bool:
        """True if the evaluated operating point and verdict rule are those in use."""
        return self.evaluated_settings == self.settings


@dataclass(frozen=True)
class VerdictSplitEvaluation:
    """Evaluation of a ResNet run. split: "val", "test", or "val+test". verdicts: of the images of that split."""

    run: Run
    dataset: Dataset
    split: str
    settings: ModelSettings
    stored: StoredOperatingPoint
    verdicts: VerdictEvaluation
    leaks: Sequence[DataLeak] = ()


SplitEvaluation = MaskEvaluation | VerdictSplitEvaluation


def evaluate_masks(
    project: Project,
    run: Run,
    split: str,
    items: Sequence[Item],
    *,
    curves: bool = True,
    leaks: bool = True,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> MaskEvaluation | None:
    """Evaluate a UNet run with the present labels at its operating point. Return None if canceled.

    curves, leaks: also compute these; searching for leaks reads every image.
    Raises a Problem if the run is unusable or no image of `items` can be used.
    """
    run.need_usable()
    dataset, settings = run.dataset(), operating_point.settings_of(run)
    inference_pass = InferencePass(project, run, settings)
    passed = inference_pass.over(items, progress=progress, cancelled=cancelled)
    if passed is None:
        return None
    if not passed.predictions:
        why = next((Message.of(problem) for problem in passed.skipped.values()), Message("report.nothing_to_evaluate"))
        raise RunUnusable(name=run.name, why=why)
    images = evaluate_images(passed.predictions, settings, OperatingPoint.of(settings), cancelled)
    sweep = sweep_points(inference_pass, passed.predictions, settings, cancelled) if curves else None
    if images is None or (curves and sweep is None):
        return None
    found = [leak for name in _held_out(split) for leak in find_data_leaks(project, dataset, name)] if leaks else []
    stored = operating_point.read(run)
    return MaskEvaluation(run, dataset, split, settings, stored, passed, images, sweep, found, settings.verdict_rule)


def evaluate_like(
    project: Project,
    run: Run,
    shown: SplitEvaluation,
    *,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> SplitEvaluation | None:
    """Evaluate another run, to compare it, on those images of an evaluation that it was not trained on.

    Return None if canceled. Raises RunUnusable if there are no such images, or the run is of the other kind of model.
    """
    run.need_usable()
    dataset = run.dataset()
    if dataset.model != shown.dataset.model:
        raise RunUnusable(name=run.name, why=Message("compare.other_kind"))
    if isinstance(shown, VerdictSplitEvaluation):
        return evaluate_verdicts(project, run, "val+test", progress=progress, cancelled=cancelled)
    trained = {item.key for item in dataset.of("train")}
    keys = {prediction.key for prediction in shown.passed.predictions} - trained
    items = [item for item in shown.dataset.current if item.key in keys]
    if not items:
        raise RunUnusable(name=run.name, why=Message("compare.nothing_in_common"))
    return evaluate_masks(
        project, run, shown.split, items, curves=False, leaks=False, progress=progress, cancelled=cancelled
    )


def _held_out(split: str) -> list[str]:
    """Return those of "val" and "test" that a split consists of."""
    return ["val", "test"] if split == "all" else split.split("+")


def sweep_points(
    inference_pass: InferencePass,
    predictions: Sequence[StoredPrediction],
    settings: ModelSettings,
    cancelled: Callable[[], bool],
) -> OperatingPointSweep | None:
    """Count all images at all operating points of the grid. Return None if canceled."""
    ids = [entry.id for entry in settings.classes]
    with ThreadPoolExecutor(THREADS) as pool:
        results = pool.map(lambda item: None if cancelled() else inference_pass.tallies(item), predictions)
        tallies = [result for result in results if result is not None]
    return OperatingPointSweep(predictions, tallies, ids) if len(tallies) == len(predictions) else None


def evaluate_verdicts(
    project: Project,
    run: Run,
    split: str,
    *,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> VerdictSplitEvaluation | None:
    """Evaluate a ResNet run with the present verdicts. Return None if canceled. Raises a Problem."""
    predictions = predict_verdicts(project, run, store=project.writable, progress=progress, cancelled=cancelled)
    if predictions is None:
        return None
    verdicts = predictions.evaluate(lambda item: _present_verdict(project, item)).of(*_held_out(split))
    if not verdicts.images:
        raise RunUnusable(name=run.name, why=Message("report.nothing_to_evaluate"))
    leaks = [leak for name in _held_out(split) for leak in find_data_leaks(project, predictions.dataset, name)]
    stored = operating_point.read(run)
    return VerdictSplitEvaluation(run, predictions.dataset, split, predictions.settings, stored, verdicts, leaks)


def evaluate_run(
    project: Project,
    run: Run,
    split: str,
    *,
    curves: bool = True,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> SplitEvaluation | None:
    """Evaluate a run of either kind on a split of its dataset; "val+test" for both. Return None if canceled."""
    dataset = run.dataset()
    if dataset.model == "resnet":
        return evaluate_verdicts(project, run, split, progress=progress, cancelled=cancelled)
    items = dataset.current if split == "all" else dataset.of(*_held_out(split))
    return evaluate_masks(project, run, split, items, curves=curves, progress=progress, cancelled=cancelled)


def _present_verdict(project: Project, item: Item) -> str | None:
    """Return the present verdict of an image; that of the dataset if its note is unreadable."""
    try:
        return annotation.load_note(project, item.key).verdict
    except NoteBroken:
        return item.verdict
