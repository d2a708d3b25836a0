"""Operating point of a run: probability thresholds, minimum region sizes, reject probability, verdict rule.

A chosen point is written into the run's best/model.json, which the overlay, `workbench predict` and every export read;
the point chosen by the training is kept in operating_point.json, so that it can be restored, with the images on which
point and rule were chosen. The origin of an export's point names the splits that were used to choose it.

Metrics at other points are counted once per image and class on a grid of thresholds and minimum areas, with each pixel
assigned to its strongest class. If all thresholds are at least 0.5, or equal, this equals a prediction. Otherwise it
differs at pixels where a class above its own lower threshold is second. A point is therefore *chosen* by these counts,
and its metrics are recomputed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation.stored_predictions import StoredPrediction, classify_regions
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, RunBroken, RunUnusable, ZoneInUse
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.launch import is_training
from workbench.core.runs.run import Run, chosen_run, default_run
from workbench.inference.io.file_access import remove_file
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, SettingsError, load_settings, save_settings
from workbench.inference.verdict_rule import VerdictRule

FILE = "operating_point.json"


@dataclass(frozen=True)
class OperatingPoint:
    """Operating point of a model.

    Per class: thresholds, above 0 to 1; min_area, pixels of the image. unsure: of a model for verdicts, the least
    probability of a verdict. verdict_border: pixels along the border of an image that do not count for its verdict.
    """

    thresholds: tuple[float, ...]
    min_area: tuple[int, ...]
    unsure: float = 0.0
    verdict_border: int = 0

    @classmethod
    def of(cls, settings: ModelSettings) -> OperatingPoint:
        return cls(settings.thresholds, settings.min_area, settings.unsure, settings.verdict_border)

    def at(self, number: int, *, threshold: float | None = None, area: int | None = None) -> OperatingPoint:
        """Return a copy with another threshold, or minimum area, for one class."""
        thresholds, areas = list(self.thresholds), list(self.min_area)
        if threshold is not None:
            thresholds[number] = threshold
        if area is not None:
            areas[number] = area
        return dataclasses.replace(self, thresholds=tuple(thresholds), min_area=tuple(areas))

    def on(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings with this point."""
        return dataclasses.replace(settings, **dataclasses.asdict(self))


@dataclass(frozen=True)
class ChosenRule:
    """Verdict rule of a run. chosen_on: splits whose images were used or seen; empty if that is not recorded."""

    rule: VerdictRule
    choice: RuleChoice
    chosen_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredOperatingPoint:
    """Operating points of a run.

    trained: chosen by the training. chosen_on: those of "val" and "test" whose images the user saw when choosing
    another point; empty while the trained one is in use. rule: None if images get no verdict.
    """

    trained: OperatingPoint
    chosen_on: tuple[str, ...] = ()
    rule: ChosenRule | None = None


def read(run: Run) -> StoredOperatingPoint:
    """Return the operating points of a run. Raises RunBroken if the run's model.json is unreadable."""
    settings = settings_of(run)
    current = OperatingPoint.of(settings)
    raw: dict[str, Any] = {}
    try:
        raw = load_object(run.root / FILE, RunBroken)
        trained, chosen = _point(raw["trained"]), _point(raw["chosen"])
        splits = _splits(raw["chosen_on"])
        trained.on(settings)  # raises SettingsError if it is no operating point of this model
    except (FileNotFoundError, RunBroken, SettingsError, ValueError, KeyError, TypeError, AttributeError):
        return StoredOperatingPoint(current, rule=_rule(raw, settings.verdict_rule))
    # A resumed training has chosen a new point, which is the trained one now.
    if chosen != current or len(trained.thresholds) != len(current.thresholds):
        trained, splits = current, ()
    return StoredOperatingPoint(trained, splits, _rule(raw, settings.verdict_rule))


def store(run: Run, point: OperatingPoint, *, chosen_on: Sequence[str], rule: ChosenRule | None = None) -> None:
    """Use `point` and `rule` from now on. chosen_on: splits on which the point was chosen.

    Raises RunUnusable while the run is being trained, since only the training may change its model then; ZoneInUse,
    RunBroken, CannotWrite.
    """
    if is_training(run.root):
        raise RunUnusable(name=run.name, why=Message("text.still_training"))
    settings, trained = settings_of(run), read(run).trained
    try:
        used = None if rule is None else rule.rule
        changed_settings = dataclasses.replace(point.on(settings), verdict_rule=used)
    except SettingsError as error:  # of a zone that was removed meanwhile
        raise ZoneInUse(run=run.name, why=str(error).rstrip(".")) from error
    document: dict[str, Any] = {
        "format": 1,
        "trained": dataclasses.asdict(trained),
        "chosen": dataclasses.asdict(point),
        "chosen_on": [] if point == trained else list(chosen_on),
        "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
    }
    if rule is not None:
        document["verdict_rule"] = _rule_document(rule)
    # Save the previous point before the change, so that nothing is lost if the second write fails.
    changed = point != trained or rule is not None
    if changed:
        write_json(run.root / FILE, document, root=run.project_root)
    _write(changed_settings, run.best / MODEL_FILE)
    if not changed:
        remove_file(run.root / FILE, missing_ok=True)


def earlier_rule(run: Run) -> tuple[str, ChosenRule] | None:
    """Return the rule that the model of a training should have, with the name of the run that has it, or None.

    It is the one that was used with this run before the training was resumed, else that of the run in use until now.
    Raises RunBroken.
    """
    with contextlib.suppress(FileNotFoundError, RunBroken, KeyError, TypeError, ValueError):
        recorded = load_object(run.root / FILE, RunBroken)["verdict_rule"]
        found = _rule({"verdict_rule": recorded}, VerdictRule.from_json(recorded["rule"]))
        return None if found is None else (run.name, found)
    root = run.project_root
    earlier = chosen_run(root, "unet") or default_run(root, "unet", but=run.name)
    rule = None if earlier is None or earlier.name == run.name else read(earlier).rule
    return None if earlier is None or rule is None else (earlier.name, rule)


def record_rule(run: Run, rule: ChosenRule) -> None:
    """Record the choice of the rule that the training gives its model. Raises CannotWrite."""
    write_json(run.root / FILE, {"format": 1, "verdict_rule": _rule_document(rule)}, root=run.project_root)


def _rule_document(rule: ChosenRule) -> dict[str, Any]:
    return {"rule": rule.rule.to_json(), "choice": rule.choice.to_json(), "chosen_on": list(rule.chosen_on)}


def restore(run: Run) -> None:
    """Restore the point chosen by the training, without a rule. Raises as `store`."""
    store(run, read(run).trained, chosen_on=())


def settings_of(run: Run) -> ModelSettings:
    """Return the settings of the run's model. Raises RunBroken."""
    path = run.best / MODEL_FILE
    try:
        return load_settings(path)
    except SettingsError as error:
        raise RunBroken(path=str(path), why=str(error)) from error


def _write(settings: ModelSettings, path: Path) -> None:
    try:
        save_settings(settings, path)
    except OSError as error:
        raise CannotWrite.of(path, error) from error


def _point(raw: dict[str, Any]) -> OperatingPoint:
    return OperatingPoint(
        tuple(float(value) for value in raw["thresholds"]),
        tuple(int(value) for value in raw["min_area"]),
        float(raw.get("unsure", 0.0)),
        int(raw.get("verdict_border", 0)),
    )


def _rule(raw: dict[str, Any], rule: VerdictRule | None) -> ChosenRule | None:
    """Return the rule in use with its recorded choice, or, if another rule is recorded, the rule alone."""
    if rule is None:
        return None
    try:
        recorded = raw["verdict_rule"]
        if VerdictRule.from_json(recorded["rule"]) == rule:
            return ChosenRule(rule, RuleChoice.from_json(recorded["choice"]), _splits(recorded["chosen_on"]))
    except (KeyError, TypeError, ValueError):
        pass
    return ChosenRule(rule, RuleChoice.of(rule))


def _splits(raw: Any) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else tuple(map(str, raw))


@dataclass(frozen=True)
class OperatingPointOrigin:
    """Origin of an operating point. chosen_by: training, user in evaluation ("review"), or request for the export.
    chosen_on: those of "val" and "test" whose images were used; empty if it was only named or is not recorded.
    """

    chosen_by: Literal["training", "review", "export"] = "training"
    chosen_on: tuple[str, ...] = ()


TRAINED = OperatingPointOrigin()


def origin(run: Run, dataset: Dataset, request: str) -> OperatingPointOrigin:
    """Return the origin of the point `request`, see `export_images.move_thresholds`. Raises RunBroken."""
    if request in ("more", "fewer"):
        return OperatingPointOrigin("export", tuple(split for split in ("val", "test") if dataset.of(split)))
    if request != "balanced":
        return OperatingPointOrigin("export")
    by_training = OperatingPointOrigin("training", ("val",) if dataset.of("val") else ())
    if not (run.best / MODEL_FILE).exists():
        return by_training
    chosen_on = read(run).chosen_on
    return OperatingPointOrigin("review", chosen_on) if chosen_on else by_training


def summary(settings: ModelSettings, chosen: OperatingPointOrigin) -> dict[str, Any]:
    """Return the operating point for `workbench export --json`: by class the probability threshold and the minimum area
    in pixels, the ignored border, and the verdict rule, null without one; for verdicts the probability below which none
    is given.
    """
    report: dict[str, Any] = {"chosen_by": chosen.chosen_by, "chosen_on": list(chosen.chosen_on)}
    if settings.task == "classification":
        return {**report, "unsure": settings.unsure}
    names = [entry.name for entry in settings.classes]
    return {
        **report,
        "thresholds": dict(zip(names, settings.thresholds, strict=True)),
        "min_area": dict(zip(names, settings.min_area, strict=True)),
        "verdict_border": settings.verdict_border,
        "verdict_rule": None if settings.verdict_rule is None else settings.verdict_rule.to_json(),
    }


THRESHOLDS = tuple(percent / 100 for percent in (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 85, 90, 93, 95, 97, 98, 99))
AREAS = (0, *(side**2 for side in (2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)))
_ROUNDS = 3


@dataclass(frozen=True)
class ThresholdCounts:
    """Counts of one class on one image.

    covered: int32 (thresholds, areas, defects), pixels. regions, false_regions: int32 (thresholds, areas), predicted
    regions and those that touch no defect.
    """

    covered: np.ndarray
    regions: np.ndarray
    false_regions: np.ndarray


def count_thresholds(prediction: StoredPrediction, classes: int) -> tuple[ThresholdCounts, ...]:
    """Return the counts of each class, in the model's order."""
    shape = (len(THRESHOLDS), len(AREAS))
    counts = tuple(
        ThresholdCounts(
            np.zeros((*shape, len(prediction.defects)), np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        )
        for _ in range(classes)
    )
    for patch, truth, numbers in zip(prediction.patches, prediction.truths, prediction.numbers):
        for number, target in enumerate(counts):
            plane = np.where(patch.strongest == number, patch.highest, np.uint8(0))
            if plane.any():
                _count(plane, truth, numbers, target)
    return counts


def _count(plane: np.ndarray, truth: np.ndarray, numbers: np.ndarray, target: ThresholdCounts) -> None:
    rows, columns = np.flatnonzero(plane.any(axis=1)), np.flatnonzero(plane.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    plane, truth, numbers = plane[part], truth[part], numbers[part]
    highest = int(plane.max())
    marked, counts = np.flatnonzero(plane), None
    for step, threshold in enumerate(THRESHOLDS):
        level = int(np.ceil(255 * threshold - 1e-9))
        if level > highest:
            break
        remaining = marked[plane.reshape(-1)[marked] >= level]
        if counts is None or len(remaining) < len(marked):
            marked = remaining
            counts = _count_at_level(plane, level, marked, truth, numbers)
        target.regions[step] += counts[0]
        target.false_regions[step] += counts[1]
        for covered, (defects, pixels) in zip(target.covered[step], counts[2]):
            np.add.at(covered, defects, pixels)


def _count_at_level(
    plane: np.ndarray, level: int, marked: np.ndarray, truth: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return regions, false regions, and covered defects with their pixels, for each minimum area at `level`.

    marked: flat indices of the pixels that reach it. A patch covers few of the defects of its image.
    """
    covered: list[tuple[np.ndarray, np.ndarray]] = []
    _, labels, stats, _ = cv2.connectedComponentsWithStats((plane >= level).view(np.uint8), connectivity=8)
    region, area = labels.reshape(-1)[marked], stats[:, cv2.CC_STAT_AREA]
    _, false = classify_regions(region, truth.reshape(-1)[marked], area)
    large_enough = area[None, 1:] >= np.array(AREAS)[:, None]
    defect = numbers.reshape(-1)[marked]
    if defect.any():
        stride = int(defect.max()) + 1
        pairs, pixels = np.unique((region.astype(np.int64) * stride + defect)[defect > 0], return_counts=True)
        region_of_pair, defect = np.divmod(pairs, stride)
        for min_area in AREAS:
            selected = area[region_of_pair] >= min_area
            covered.append((defect[selected] - 1, pixels[selected].astype(np.int32)))
    regions, false_regions = large_enough.sum(axis=1), (large_enough & false[None, 1:]).sum(axis=1)
    return regions.astype(np.int32), false_regions.astype(np.int32), covered


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """Metrics over the thresholds at one minimum area, float64 (thresholds,).

    recall: share of defects found. precision: share of regions that touch a defect, NaN without regions. false: false
    alarms per image.
    """

    thresholds: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    false: np.ndarray


class OperatingPointSweep:
    """Sum of the tallies of all images. tallies: per image, one per class."""

    def __init__(
        self,
        predictions: Sequence[StoredPrediction],
        tallies: Sequence[Sequence[ThresholdCounts]],
        classes: Sequence[int],
    ) -> None:
        self.images = len(predictions)
        self._ids = np.array([defect.class_id for entry in predictions for defect in entry.defects], np.int64)
        needed = [entry.needed_pixels for entry in predictions]
        self._needed = np.concatenate(needed) if needed else np.zeros(0)
        self._classes = tuple(classes)
        shape = (len(THRESHOLDS), len(AREAS))
        self._covered = [
            np.concatenate([np.zeros((*shape, 0), np.int32), *(entry[index].covered for entry in tallies)], axis=2)
            for index in range(len(classes))
        ]
        zeros, numbers = np.zeros(shape, int), range(len(classes))
        self._regions = [sum((entry[index].regions for entry in tallies), zeros) for index in numbers]
        self._false = [sum((entry[index].false_regions for entry in tallies), zeros) for index in numbers]

    def curve(self, point: OperatingPoint, number: int | None = None) -> PrecisionRecallCurve:
        """Return the curve of class index `number` by its own regions, or of all classes at a common threshold."""
        indices = range(len(self._classes)) if number is None else [number]
        areas = [_nearest(AREAS, point.min_area[index]) for index in indices]
        selected = slice(None) if number is None else self._ids == self._classes[number]
        none = np.zeros(len(THRESHOLDS), int)
        covered = sum(
            (self._covered[index][:, area][:, selected] for index, area in zip(indices, areas)), none[:, None]
        )
        regions = sum((self._regions[index][:, area] for index, area in zip(indices, areas)), none)
        false = sum((self._false[index][:, area] for index, area in zip(indices, areas)), none)
        needed = self._needed[selected]
        detected = (covered >= needed).sum(axis=1)
        recall = detected / len(needed) if len(needed) else np.full(len(THRESHOLDS), np.nan)
        with np.errstate(invalid="ignore"):
            precision = np.where(regions > 0, (regions - false) / regions, np.nan)
        return PrecisionRecallCurve(np.array(THRESHOLDS), recall, precision, false / max(1, self.images))

    def where(self, point: OperatingPoint, number: int) -> tuple[float, float]:
        """Return recall and precision of one class near `point`, as in `curve`; NaN without defects or regions."""
        curve = self.curve(point, number)
        step = _nearest(THRESHOLDS, point.thresholds[number])
        return float(curve.recall[step]), float(curve.precision[step])

    def cheapest(
        self, start: OperatingPoint, escape: float, overkill: float = 1.0, *, number: int | None = None
    ) -> OperatingPoint:
        """Return the grid point of least cost: missed defects times `escape` plus false alarms times `overkill`.

        Coordinate descent over the classes; on ties the point nearest to `start`. Classes without defects in the images
        keep their values, since the cost of missing them is unknown. number: optimize only this class.
        """
        positions = [(_nearest(THRESHOLDS, t), _nearest(AREAS, a)) for t, a in zip(start.thresholds, start.min_area)]
        initial = list(positions)
        adjustable = [k for k, id in enumerate(self._classes) if (self._ids == id).any() and number in (None, k)]
        for _ in range(_ROUNDS):
            previous = list(positions)
            for current in adjustable:
                other_covered = sum(
                    (self._covered[k][positions[k]] for k in range(len(positions)) if k != current),
                    np.zeros(len(self._ids)),
                )
                missed = (self._covered[current] + other_covered < self._needed).sum(axis=2)
                cost = escape * missed + overkill * self._false[current]
                steps = np.abs(np.arange(len(THRESHOLDS)) - initial[current][0])[:, None]
                distance = steps + np.abs(np.arange(len(AREAS)) - initial[current][1])[None, :]
                best = np.lexsort((distance.ravel(), cost.ravel()))[0]
                positions[current] = (int(best) // len(AREAS), int(best) % len(AREAS))
            if positions == previous:
                break
        moved = [k in adjustable and positions[k] != initial[k] for k in range(len(positions))]
        return replace(
            start,
            thresholds=tuple(
                THRESHOLDS[positions[k][0]] if moved[k] else start.thresholds[k] for k in range(len(positions))
            ),
            min_area=tuple(AREAS[positions[k][1]] if moved[k] else start.min_area[k] for k in range(len(positions))),
        )


def _nearest(values: Sequence[float], value: float) -> int:
    return int(np.argmin(np.abs(np.array(values, float) - value)))
