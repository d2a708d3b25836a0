"""Evaluation of a run: predictions, counts at the operating point, figures, curves, data leaks, confusion of
good and defective images with their verdicts.

`evaluate_run` is the one way from a run and images to figures; the evaluation page calls its parts one after the
other, so that another operating point needs no prediction.

Data leaks are validation or test images of which the same part or image was used for training.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.core.adoption.adopted_run import refresh_dataset
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.figures import METRICS, Figure, Figures, mask_figures
from workbench.core.evaluation.inference_pass import InferencePass, PassResult
from workbench.core.evaluation.operating_point import OperatingPoint, OperatingPointSweep, StoredOperatingPoint
from workbench.core.evaluation.stored_predictions import (
    ANY,
    FalseAlarm,
    ImageEvaluation,
    LabeledDefect,
    StoredPrediction,
    evaluate_prediction,
)
from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation, predict_verdicts
from workbench.core.evaluation.verdict_rules import GroupedProportion, RuleEvaluation, ScoredImage, scored_images
from workbench.core.messages import Message
from workbench.core.problems import RunUnusable
from workbench.core.project import annotation
from workbench.core.project.grouping import content_digest, near_duplicates
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import cores
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Predictor
from workbench.inference.verdict_rule import BAD, GOOD, UNSURE, VerdictRule

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
    predictions: Sequence[StoredPrediction]
    evaluations: list[ImageEvaluation]
    figures: Figures
    images: list[ScoredImage]

    @property
    def place(self) -> tuple[float, float]:
        """Recall of defects and precision of regions; NaN if there is nothing to count."""
        recall, precision = self.figures.get("recall").value, self.figures.get("region_precision").value
        return float("nan") if recall is None else recall, float("nan") if precision is None else precision

    def defects(self, label: int, predicted: int) -> list[tuple[StoredPrediction, LabeledDefect]]:
        """Return labeled regions of a class, or of ANY, largest first. predicted: class; ANY for missed ones."""
        found = [
            (prediction, defect)
            for prediction, image in zip(self.predictions, self.evaluations)
            for defect, count in zip(prediction.defects, image.counts.defects)
            if count.predicted == predicted and label in (ANY, defect.class_id)
        ]
        return sorted(found, key=lambda entry: (-entry[1].area, entry[0].key))

    def alarms(self, class_id: int) -> list[tuple[StoredPrediction, FalseAlarm]]:
        """Return the false alarms of a class, or of ANY, highest probability first."""
        found = [
            (prediction, alarm)
            for prediction, image in zip(self.predictions, self.evaluations)
            for alarm in image.alarms
            if class_id in (ANY, alarm.class_id)
        ]
        return sorted(found, key=lambda entry: (-entry[1].peak, -entry[1].area, entry[0].key))

    def worst_first(self) -> list[tuple[StoredPrediction, ImageEvaluation]]:
        """Return all images: most missed defects first, then wrong classes, false alarms, and most defects."""

        def order(entry: tuple[StoredPrediction, ImageEvaluation]) -> tuple[int, int, int, int, str]:
            counts = entry[1].counts
            return -counts.missed, -counts.confused, -counts.false, -len(counts.defects), counts.key

        return sorted(zip(self.predictions, self.evaluations), key=order)


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
    names = {entry.id: entry.name for entry in settings.classes}
    figures = mask_figures([result.counts for result in evaluations], [item.part for item in predictions], names)
    return EvaluatedImages(point, predictions, evaluations, figures, scored_images(predictions, evaluations))


@dataclass(frozen=True)
class MaskEvaluation:
    """Evaluation of a UNet run. split: "val", "test", "val+test", "all" with the training images, or "" for others.

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
    def figures(self) -> Figures:
        return self.images.figures

    @property
    def changed(self) -> int:
        """Number of labels that differ from those at training."""
        return self.passed.changed

    @property
    def skipped(self) -> Mapping[str, str]:
        """Images that could not be used, with the reason."""
        return {key: Message.of(problem) for key, problem in self.passed.skipped.items()}

    @property
    def milliseconds(self) -> list[float]:
        """Duration of each prediction that was not cached."""
        durations = (prediction.milliseconds for prediction in self.passed.predictions)
        return [duration for duration in durations if duration is not None]

    @property
    def in_use(self) -> bool:
        """True if the evaluated operating point and verdict rule are those in use."""
        return self.evaluated_settings == self.settings


@dataclass(frozen=True)
class VerdictSplitEvaluation:
    """Evaluation of a ResNet run. split: as of `MaskEvaluation`. verdicts: of the images of that split."""

    run: Run
    dataset: Dataset
    split: str
    settings: ModelSettings
    stored: StoredOperatingPoint
    verdicts: VerdictEvaluation
    leaks: Sequence[DataLeak] = ()
    milliseconds: Sequence[float] = ()

    @property
    def figures(self) -> Figures:
        return self.verdicts.figures

    @property
    def changed(self) -> int:
        """Number of verdicts that differ from those at training."""
        return self.verdicts.changed

    @property
    def skipped(self) -> Mapping[str, str]:
        """Images that could not be used, with the reason."""
        reasons = {key: Message.of(problem) for key, problem in self.verdicts.unreadable.items()}
        for key, verdict in self.verdicts.other_labels.items():
            reasons[key] = Message("evaluate.no_verdict", name=verdict) if verdict else Message("evaluate.deleted")
        return reasons


SplitEvaluation = MaskEvaluation | VerdictSplitEvaluation


@dataclass(frozen=True)
class EvaluationOptions:
    """Options of an evaluation.

    point: operating point instead of the one in use.
    predictor: another network of the run, such as an export.
    class_ids: uint8 (256,), ids in the labels to those of the model; None if they are equal.
    seconds: no further image is started after that time; None for no limit.
    curves: also evaluate other operating points.
    leaks: also search for data leaks, which reads every image.
    """

    point: OperatingPoint | None = None
    predictor: Predictor | None = None
    class_ids: np.ndarray | None = None
    seconds: float | None = None
    curves: bool = True
    leaks: bool = True


FIGURES_ONLY = EvaluationOptions(curves=False, leaks=False)


def evaluate_run(
    project: Project,
    run: Run,
    split: str,
    *,
    items: Sequence[Item] | None = None,
    options: EvaluationOptions = EvaluationOptions(),
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> SplitEvaluation | None:
    """Evaluate a run on images of `project` with their present labels. Return None if canceled.

    split: "val", "test", "val+test", or "all" with the training images. items: images, by default those of the split.
    Raises a Problem if the run is unusable or no image can be used.
    """
    predictor, seconds = options.predictor, options.seconds
    if predictor is None:
        run.need_usable()
    dataset = run.dataset() if items is not None else refresh_dataset(project, run)
    if items is None:
        items = dataset.current if split == "all" else dataset.of(*_held_out(split))
    splits = _held_out(split) if options.leaks else []
    leaks = [leak for name in splits for leak in find_data_leaks(project, dataset, name)]
    settings = operating_point.settings_of(run) if predictor is None else predictor.settings
    used = StoredOperatingPoint(OperatingPoint.of(settings))
    stored = operating_point.read(run) if predictor is None else used
    work = {"predictor": predictor, "seconds": seconds, "progress": progress, "cancelled": cancelled}
    if dataset.model == "resnet":
        predictions = predict_verdicts(project, run, items, store=project.writable, **work)
        if predictions is None:
            return None
        verdicts = predictions.evaluate(lambda item: annotation.load_note(project, item.key).verdict)
        rest = stored, verdicts, leaks, predictions.milliseconds
        evaluation = VerdictSplitEvaluation(run, dataset, split, predictions.settings, *rest)
        return _with_images(evaluation, len(verdicts.images))
    inference_pass = InferencePass(project, run, settings, predictor=predictor, class_ids=options.class_ids)
    passed = inference_pass.over(items, progress=progress, cancelled=cancelled, seconds=seconds)
    if passed is None:
        return None
    images = evaluate_images(passed.predictions, settings, options.point or used.trained, cancelled)
    sweep = sweep_points(inference_pass, passed.predictions, settings, cancelled) if options.curves else None
    if images is None or (options.curves and sweep is None):
        return None
    rest = stored, passed, images, sweep, leaks, settings.verdict_rule
    return _with_images(MaskEvaluation(run, dataset, split, settings, *rest), len(passed.predictions))


def _with_images(evaluation: SplitEvaluation, count: int) -> SplitEvaluation:
    """Return the evaluation. Raises RunUnusable if it has no images, with the most frequent reason."""
    if count:
        return evaluation
    reasons = Counter(evaluation.skipped.values()).most_common(1)
    why = reasons[0][0] if reasons else Message("report.nothing_to_evaluate")
    raise RunUnusable(name=evaluation.run.name, why=why)


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
    options = {"options": FIGURES_ONLY, "progress": progress, "cancelled": cancelled}
    if isinstance(shown, VerdictSplitEvaluation):
        keys = {image.key for image in shown.verdicts.images}
    else:
        keys = {prediction.key for prediction in shown.passed.predictions}
    trained = {item.key for item in dataset.of("train")}
    items = [item for item in shown.dataset.current if item.key in keys - trained]
    if not items:
        raise RunUnusable(name=run.name, why=Message("compare.nothing_in_common"))
    return evaluate_run(project, run, shown.split, items=items, **options)


def _held_out(split: str) -> list[str]:
    """Return those of "val" and "test" that a split consists of."""
    return ["val", "test"] if split == "all" else split.split("+") if split else []


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


@dataclass(frozen=True)
class ImageConfusion:
    """Images by label and verdict.

    cells: (a defect is labeled; GOOD, UNSURE or BAD) to the indices of the images, in the order of the evaluation.
    missed: defective images with the verdict GOOD. false: good images with the verdict BAD.
    """

    cells: Mapping[tuple[bool, str], tuple[int, ...]]
    missed: GroupedProportion
    false: GroupedProportion

    def cost(self, ratio: float) -> float:
        """Return the cost in false alarms. ratio: cost of a missed defective image."""
        return self.missed.hits * ratio + self.false.hits


def image_confusion(images: EvaluatedImages, rule: RuleEvaluation | None) -> ImageConfusion:
    """Return the confusion of an evaluation. rule: of the same images; None: an image with a false alarm, or of whose
    defects one is detected, is bad, as in the figures "missed_images" and "false_alarm_images".
    """
    cells: dict[tuple[bool, str], tuple[int, ...]] = {}
    for number, image in enumerate(images.evaluations):
        defective = not image.counts.is_good
        if rule is not None:
            verdict = {None: GOOD, UNSURE: UNSURE}.get(rule.outcomes[number], BAD)
        else:
            passed, _ = METRICS["missed_images"].sums(image.counts, ANY)
            alarmed, _ = METRICS["false_alarm_images"].sums(image.counts, ANY)
            verdict = BAD if (not passed if defective else alarmed) else GOOD
        cells[defective, verdict] = (*cells.get((defective, verdict), ()), number)
    if rule is not None:
        return ImageConfusion(cells, rule.missed, rule.false)
    figures = images.figures
    rows = figures.get("missed_images"), figures.get("false_alarm_images", "good")
    return ImageConfusion(cells, *map(_proportion, rows))


def verdict_confusion(verdicts: VerdictEvaluation, good: Collection[str], minimum: float) -> ImageConfusion:
    """Return the confusion of a ResNet. good: verdicts of images without defects. minimum: reject probability."""
    cells: dict[tuple[bool, str], tuple[int, ...]] = {}
    images: dict[bool, list[tuple[str, str]]] = {True: [], False: []}  # verdict and part
    for number, image in enumerate(verdicts.images):
        defective, accepted = image.truth not in good, verdicts.names[image.predicted] in good
        verdict = UNSURE if image.probability < minimum else GOOD if accepted else BAD
        cells[defective, verdict] = (*cells.get((defective, verdict), ()), number)
        images[defective].append((verdict, image.part or image.key))
    missed, false = (
        GroupedProportion.of([verdict == wrong for verdict, _ in shown], [part for _, part in shown])
        for shown, wrong in ((images[True], GOOD), (images[False], BAD))
    )
    return ImageConfusion(cells, missed, false)


def _proportion(figure: Figure) -> GroupedProportion:
    return GroupedProportion(int(figure.hits), int(figure.total), figure.interval)
