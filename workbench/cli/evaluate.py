"""Verb `evaluate`: measure a run on validation/test images with the prediction code that an export uses."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli import evaluation_report, image_evaluation
from workbench.cli.evaluation_report import print_report
from workbench.cli.verb_runner import Console
from workbench.core import problems
from workbench.core.adoption.adopted_run import refresh_dataset
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.confidence import digits_supported
from workbench.core.evaluation.evaluation_summary import summarize
from workbench.core.evaluation.image_ranking import ScoredImage
from workbench.core.evaluation.metrics import SegmentationMeter
from workbench.core.evaluation.split_evaluation import find_data_leaks
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.grouping import find_duplicates
from workbench.core.project.project import MAX_CLASS_ID, Project, read_project_file
from workbench.core.runs.dataset import Dataset, Item, collect
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import run_line
from workbench.core.text_patterns import fill
from workbench.inference.predictor import Predictor

_NO_OPTIONS: Mapping[str, Any] = {}
ROUGH = 10  # with fewer images the metrics are reported as rough estimates


class NoImagesInSplit(problems.Problem):
    message = "The run {name} has no images in {split}."
    advice = "Choose another --split, or label more images and train again."


class NoUsableImages(problems.Problem):
    message = "No image could be used: {why}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", default="best", metavar="RUN|best|last", help="run to evaluate (best)")
    parser.add_argument("--model", choices=("unet", "resnet"), help="only among runs of this model")
    parser.add_argument(
        "--split",
        choices=("val", "test", "all"),
        help=('data split (default: test if present, otherwise val); "all" includes training images'),
    )
    parser.add_argument(
        "--against", type=Path, metavar="PROJECT2", help="use all labeled images of another project instead"
    )
    evaluation_report.add_arguments(parser)
    image_evaluation.add_arguments(parser)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    evaluation_report.check(options)
    root = options.project.absolute()
    read_project_file(root)
    run = find_run(root, options.name, options.model)
    if options.against is not None:
        result = evaluate_against(run, options.against, console, vars(options))
    else:
        result = evaluate(run, console, split=options.split, rule_options=vars(options))
    result |= {"forecast": None, "lighting": None, **run_line(run).expectation}
    print_report(result, console)
    if options.report is not None or options.compare is not None:
        result |= evaluation_report.make(options, run, result["split"], console)
    return result


def evaluate(
    run: Run, console: Console, *, split: str | None = None, rule_options: Mapping[str, Any] = _NO_OPTIONS
) -> dict[str, Any]:
    """Measure `run` on one split of its own dataset with the present labels. Return the JSON of the verb.

    rule_options: those of `image_evaluation`.
    """
    run.need_usable()
    project = Project.open(run.project_root, write=False)
    data = refresh_dataset(project, run)
    split = split or ("test" if data.of("test") else "val")
    items = data.items if split == "all" else data.of(split)
    if not items:
        raise NoImagesInSplit(name=run.name, split=split)
    evaluation = _EvaluationPass(project, data)
    result = evaluation.measure(run, items, console, split, rule_options)
    notes = []
    if split == "all":
        notes.append("Training images are included, so the metrics are no estimate for new images.")
    else:
        if len(items) < ROUGH:
            notes.append(fill("Only {n} validation/test {n:image|images}. The metrics are rough.", n=len(items)))
        notes += _bias_notes(run, data, split)
    if evaluation.changed:
        notes.append(fill("{n} {n:label was|labels were} changed after training. They are used.", n=evaluation.changed))
    leaking = [] if split == "all" else find_data_leaks(project, data, split)
    if leaking:
        first = f"{leaking[0].held_out_key} and {leaking[0].train_key}"
        notes.append(f"{len(leaking)} of these images resemble training images, such as {first}. Metrics are too high.")
    leaks = [{"path": leak.held_out_key, "learned": leak.train_key, "why": leak.why} for leak in leaking]
    result |= {"leaks": leaks, "notes": notes, **evaluation.report()}
    return {"run": run.name, "model": data.model, "split": split, **result}


def _bias_notes(run: Run, data: Dataset, split: str) -> list[str]:
    """Return notes on a biased split: the operating point or the thresholds were chosen on these images."""
    if split in operating_point.read(run).chosen_on:
        return ["The current operating point was chosen on these images. Metrics are optimistic."]
    if run.adopted:
        return [data.held_out_note]
    return ["The thresholds were chosen on these images. Metrics are optimistic."] if split == "val" else []


def evaluate_against(
    run: Run, other: Path, console: Console, rule_options: Mapping[str, Any] = _NO_OPTIONS
) -> dict[str, Any]:
    """Measure `run` on all labeled images of another project; classes are matched by name."""
    run.need_usable()
    data = run.dataset()
    project = Project.open(other, write=False)
    other_dataset = collect(project, data.model)
    evaluation = _EvaluationPass(project, data, _ids_by_name(project, data), fresh=True)
    result = evaluation.measure(run, other_dataset.items, console, "", rule_options)
    notes = [f"Measured on {result['pictures']} labeled images of {project.file.name}."]
    home = Project.open(run.project_root, write=False)
    learned = find_duplicates(
        project, [item.key for item in other_dataset.items], home, [item.key for item in data.of("train")]
    )
    if learned:
        notes.append(f"{len(learned)} of these images are training images. Metrics are too high.")
    split = f"against {project.file.name}"
    return {"run": run.name, "model": data.model, "split": split, **result, "notes": notes, **evaluation.report()}


@dataclass
class _EvaluationPass:
    """Evaluation of one list of images. table: uint8 (256,), maps class ids in the labels to ids of the model.

    images: filled in by `masks`.
    """

    project: Project
    data: Dataset
    table: np.ndarray | None = None
    fresh: bool = False  # labels of another project: there is no earlier state to compare them with
    changed: int = 0
    skipped: list[dict[str, str]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    images: list[ScoredImage] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        middle = float(np.median(self.milliseconds)) if self.milliseconds else None
        return {"changed_labels": self.changed, "skipped": self.skipped, "milliseconds": middle}

    def measure(
        self, run: Run, items: list[Item], console: Console, split: str, rule_options: Mapping[str, Any]
    ) -> dict[str, Any]:
        predictor = Predictor.open(run.best, engine="onnx")
        if self.data.model == "resnet":
            return self.verdicts(predictor, items, console)
        border = rule_options.get("verdict_border")
        if border is not None:
            predictor.settings = replace(predictor.settings, verdict_border=border)
        result = self.masks(predictor, items, console)
        return result | image_evaluation.measure(run, predictor.settings, self.images, split, rule_options)

    def masks(self, predictor: Predictor, items: list[Item], console: Console) -> dict[str, Any]:
        meter = SegmentationMeter({info.id: info.name for info in self.data.classes})
        groups, predicted, pixels = [], 0, 0
        for item, image in self._images(items, console):
            truth = self._truth(item, (image.shape[1], image.shape[0]))
            if truth is None:
                continue
            prediction = predictor.predict(image)
            assert prediction.mask is not None and prediction.table is not None
            counts = meter.add(truth, prediction.mask, item.key)
            self.images.append(ScoredImage(item.key, item.group, not counts.is_good, prediction.table))
            self.milliseconds.append(prediction.milliseconds)
            groups.append(item.group)
            predicted += int(np.count_nonzero(prediction.mask))
            pixels += prediction.mask.size
        self._check_count(len(meter.counts))
        return _with_intervals(meter, groups, predicted / pixels, predictor.settings.um_per_pixel)

    def verdicts(self, predictor: Predictor, items: list[Item], console: Console) -> dict[str, Any]:
        names, verdicts = tuple(self.data.verdicts), []
        for item, image in self._images(items, console):
            verdict = self._verdict(item)
            if verdict is None:
                continue
            prediction = predictor.predict(image)
            assert prediction.probabilities is not None
            self.milliseconds.append(prediction.milliseconds)
            verdicts.append(
                PredictedVerdict(item.key, item.split, verdict, tuple(prediction.probabilities[name] for name in names))
            )
        self._check_count(len(verdicts))
        evaluation = VerdictEvaluation(names, tuple(verdicts), predictor.settings.temperature)
        report = {**evaluation.report(), "calibration_error": evaluation.calibration_error()}
        if predictor.settings.unsure:
            band = evaluation.band(predictor.settings.unsure)
            report["unsure"] = {"below": band.least, "pictures": band.unsure, "errors_left": band.errors}
        return report

    def _images(self, items: list[Item], console: Console) -> Iterator[tuple[Item, np.ndarray]]:
        move: Callable[[int, int], None]
        with console.progress("evaluating") as move:
            for number, item in enumerate(items, 1):
                try:
                    yield item, read(self.project.image_path(item.key))
                except problems.ImageBroken as problem:
                    self._skip(item, str(problem))
                move(number, len(items))

    def _truth(self, item: Item, size: tuple[int, int]) -> np.ndarray | None:
        try:
            mask = annotation.load_mask(self.project, item.key, size)
        except problems.Problem as problem:
            self._skip(item, str(problem))
            return None
        if mask is None:
            self._skip(item, "the label was deleted")
            return None
        now = hashlib.sha256(self.project.mask_path(item.key).read_bytes()).hexdigest()[:16]
        self.changed += not self.fresh and now != item.mask_hash
        return mask if self.table is None else self.table[mask]

    def _verdict(self, item: Item) -> str | None:
        try:
            verdict = annotation.load_note(self.project, item.key).verdict
        except problems.NoteBroken as problem:
            self._skip(item, str(problem))
            return None
        if verdict not in self.data.verdicts:
            self._skip(item, f"the model has no verdict {verdict}" if verdict else "the verdict was deleted")
            return None
        self.changed += not self.fresh and verdict != item.verdict
        return verdict

    def _skip(self, item: Item, why: str) -> None:
        self.skipped.append({"path": item.key, "why": why})

    def _check_count(self, count: int) -> None:
        if not count:
            why = Counter(entry["why"] for entry in self.skipped).most_common(1)
            raise NoUsableImages(why=why[0][0] if why else "the list is empty")


def _with_intervals(meter: SegmentationMeter, groups: list[str], predicted: float, um: float | None) -> dict[str, Any]:
    """Return the meter's report with confidence intervals and recall by defect size. um: micrometers per pixel."""
    report = meter.report()
    summary = summarize(meter.counts, groups, list(meter.classes), marked=predicted)
    for scores in report["per_class"].values():
        scores["enough"] = digits_supported(scores["defects"])
    report["dice_interval"] = summary.dice_interval
    report["regions"] |= {
        "false_interval": summary.false.interval,
        "false_per_good_interval": summary.false_on_good.interval,
        "enough": summary.found.digit,
    }
    report["by_size"] = [
        {
            "from_area": size.least,
            "below_area": size.below,
            "from_um2": None if um is None else size.least * um**2,
            "below_um2": None if um is None or size.below is None else size.below * um**2,
            "found": size.found.hits,
            "defects": size.found.total,
            "recall": size.found.value,
            "recall_interval": size.found.interval,
            "enough": size.found.digit,
        }
        for size in summary.sizes
    ]
    return {**report, "parts": summary.groups, "alerts": list(summary.alerts)}


def _ids_by_name(project: Project, data: Dataset) -> np.ndarray:
    """Return uint8 (256,): class id of another project -> the model's id. Unknown classes get an id unused there."""
    table = np.arange(256, dtype=np.uint8)
    ours = {info.name: info.id for info in data.classes}
    free = next(id for id in range(MAX_CLASS_ID, 0, -1) if id not in ours.values())
    for info in project.classes:
        table[info.id] = ours.get(info.name, free)
    return table
