"""Verb `evaluate`: measure a run on validation/test images with the prediction code that an export uses."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli.evaluation_report import print_report
from workbench.cli.verb_runner import Console
from workbench.core import problems
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.confidence import digits_supported
from workbench.core.evaluation.data_leaks import find_data_leaks
from workbench.core.evaluation.evaluation_summary import summarize
from workbench.core.evaluation.image_counts import ImageCounts, count_image
from workbench.core.evaluation.metrics import SegmentationMeter
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.duplicates import find_duplicates
from workbench.core.project.project import MAX_CLASS_ID, Project, read_project_file
from workbench.core.runs.dataset import Dataset, Item, collect
from workbench.core.runs.run import Run, find_run
from workbench.inference.predictor import Predictor

ROUGH = 10  # with fewer images than this the metrics are reported as rough


class NothingHeldOut(problems.Problem):
    says = "The run {name} has no pictures in {split}."
    advice = "Say another --split, or label more pictures and train again."


class NothingReadable(problems.Problem):
    says = "None of the pictures could be used: {why}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", default="best", metavar="RUN|best|last", help="which run (best)")
    parser.add_argument("--model", choices=("unet", "resnet"), help="only among runs of this model")
    parser.add_argument(
        "--split",
        choices=("val", "test", "all"),
        help=('data split (default: test if present, otherwise val); "all" includes training images'),
    )
    parser.add_argument(
        "--against", type=Path, metavar="PROJECT2", help="use every labelled picture of another project instead"
    )


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    root = options.project.absolute()
    read_project_file(root)
    chosen = find_run(root, options.name, options.model)
    if options.against is not None:
        result = evaluate_against(chosen, options.against, talk)
    else:
        result = evaluate(chosen, talk, split=options.split)
    print_report(result, talk)
    return result


def evaluate(run: Run, talk: Console, *, split: str | None = None) -> dict[str, Any]:
    """Measure `run` on one split of its own dataset with the present labels. Return the JSON of the verb."""
    run.need_usable()
    data = run.dataset()
    split = split or ("test" if data.of("test") else "val")
    items = data.items if split == "all" else data.of(split)
    if not items:
        raise NothingHeldOut(name=run.name, split=split)
    project = Project.open(run.project_root, write=False)
    look = _EvaluationPass(project, data)
    measure = look.verdicts if data.model == "resnet" else look.masks
    result = measure(Predictor.open(run.best, engine="onnx"), items, talk)
    notes = []
    if split == "all":
        notes.append("This includes pictures that it learned from: it is no estimate for new ones.")
    else:
        if len(items) < ROUGH:
            notes.append(f"Only {len(items)} pictures are held out: the numbers are rough.")
        notes += _class_ids_from_settings(run, data, split)
    if look.changed:
        notes.append(f"{look.changed} labels were changed since the training; the present ones were used.")
    leaking = [] if split == "all" else find_data_leaks(project, data, split)
    if leaking:
        first = f"{leaking[0].held} and {leaking[0].learned}"
        what = f"{len(leaking)} of these pictures show what it learned from, such as {first}"
        notes.append(f"{what}: the numbers are too good.")
    told = [{"path": leak.held, "learned": leak.learned, "why": leak.why} for leak in leaking]
    return {
        "run": run.name,
        "model": data.model,
        "split": split,
        **result,
        "leaks": told,
        "notes": notes,
        **look.report(),
    }


def _class_ids_from_settings(run: Run, data: Dataset, split: str) -> list[str]:
    """Return notes on a biased split: the operating point or the thresholds were chosen on these images."""
    if split in operating_point.read(run).chosen_on:
        return ["The operating point in use was chosen on these pictures: the numbers are somewhat too good."]
    if split == "val":
        return ["The training chose its thresholds on these pictures: the numbers are somewhat too good."]
    return []


def evaluate_against(run: Run, other: Path, talk: Console) -> dict[str, Any]:
    """Measure `run` on all labeled images of another project; classes are matched by name."""
    run.need_usable()
    data = run.dataset()
    project = Project.open(other, write=False)
    theirs = collect(project, data.model)
    look = _EvaluationPass(project, data, _ids_by_name(project, data), fresh=True)
    measure = look.verdicts if data.model == "resnet" else look.masks
    result = measure(Predictor.open(run.best, engine="onnx"), theirs.items, talk)
    notes = [f"Measured on {result['pictures']} labelled pictures of {project.file.name}."]
    home = Project.open(run.project_root, write=False)
    learned = find_duplicates(
        project, [item.key for item in theirs.items], home, [item.key for item in data.of("train")]
    )
    if learned:
        notes.append(f"{len(learned)} of them are pictures that it learned from: the numbers are too good.")
    split = f"against {project.file.name}"
    return {"run": run.name, "model": data.model, "split": split, **result, "notes": notes, **look.report()}


@dataclass
class _EvaluationPass:
    """Evaluation of one list of images. table: uint8 (256,), maps class ids in the labels to ids of the model."""

    project: Project
    data: Dataset
    table: np.ndarray | None = None
    fresh: bool = False  # labels of another project: there is no earlier state to compare them with
    changed: int = 0
    skipped: list[dict[str, str]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        middle = float(np.median(self.milliseconds)) if self.milliseconds else None
        return {"changed_labels": self.changed, "skipped": self.skipped, "milliseconds": middle}

    def masks(self, predictor: Predictor, items: list[Item], talk: Console) -> dict[str, Any]:
        meter = SegmentationMeter({info.id: info.name for info in self.data.classes})
        facts, groups, marked, pixels = [], [], 0, 0
        for item, image in self._images(items, talk):
            truth = self._truth(item, (image.shape[1], image.shape[0]))
            if truth is None:
                continue
            found = predictor.predict(image)
            assert found.mask is not None
            self.milliseconds.append(found.milliseconds)
            meter.add(truth, found.mask)
            facts.append(count_image(item.key, truth, found.mask, list(meter.classes)))
            groups.append(item.group)
            marked += int(np.count_nonzero(found.mask))
            pixels += found.mask.size
        self._need_some(meter.images)
        return _with_intervals(meter, facts, groups, marked / pixels, predictor.settings.um_per_pixel)

    def verdicts(self, predictor: Predictor, items: list[Item], talk: Console) -> dict[str, Any]:
        names, judged = tuple(self.data.verdicts), []
        for item, image in self._images(items, talk):
            verdict = self._verdict(item)
            if verdict is None:
                continue
            found = predictor.predict(image)
            assert found.probabilities is not None
            self.milliseconds.append(found.milliseconds)
            judged.append(
                PredictedVerdict(item.key, item.split, verdict, tuple(found.probabilities[name] for name in names))
            )
        self._need_some(len(judged))
        review = VerdictEvaluation(names, tuple(judged), predictor.settings.temperature)
        report = {**review.report(), "calibration_error": review.calibration_error()}
        if predictor.settings.unsure:
            band = review.band(predictor.settings.unsure)
            report["unsure"] = {"below": band.least, "pictures": band.unsure, "errors_left": band.left}
        return report

    def _images(self, items: list[Item], talk: Console) -> Iterator[tuple[Item, np.ndarray]]:
        move: Callable[[int, int], None]
        with talk.progress("evaluating") as move:
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
            self._skip(item, "its label was deleted")
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
            self._skip(item, f"the model does not know its verdict {verdict}" if verdict else "its verdict was deleted")
            return None
        self.changed += not self.fresh and verdict != item.verdict
        return verdict

    def _skip(self, item: Item, why: str) -> None:
        self.skipped.append({"path": item.key, "why": why})

    def _need_some(self, count: int) -> None:
        if not count:
            why = Counter(entry["why"] for entry in self.skipped).most_common(1)
            raise NothingReadable(why=why[0][0] if why else "there are none")


def _with_intervals(
    meter: SegmentationMeter, facts: list[ImageCounts], groups: list[str], marked: float, um: float | None
) -> dict[str, Any]:
    """Return the meter's report with confidence intervals and recall by defect size. um: micrometers per pixel."""
    report = meter.report()
    told = summarize(facts, groups, list(meter.classes), marked=marked)
    for scores in report["per_class"].values():
        scores["enough"] = digits_supported(scores["defects"])
    report["dice_interval"] = told.dice_interval
    report["regions"] |= {
        "false_interval": told.false.interval,
        "false_per_good_interval": told.false_on_good.interval,
        "enough": told.found.digit,
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
        for size in told.sizes
    ]
    return {**report, "parts": told.groups, "alerts": list(told.alerts)}


def _ids_by_name(project: Project, data: Dataset) -> np.ndarray:
    """Return uint8 (256,): class id of another project -> the model's id. Unknown classes get an id unused there."""
    table = np.arange(256, dtype=np.uint8)
    ours = {info.name: info.id for info in data.classes}
    free = next(id for id in range(MAX_CLASS_ID, 0, -1) if id not in ours.values())
    for info in project.classes:
        table[info.id] = ours.get(info.name, free)
    return table
