"""Training on good images only: fits `core.frozen_encoder` to them, and keeps it only if it holds for other parts.

The good images are divided into folds by part, and by image. Images of left-out parts must keep the limit of the other
parts, and generated defects on them must exceed it. Of the candidates (two scales; with and without positions) that one
is kept that separates generated defects best from good images. Needs no Paddle.
"""

from __future__ import annotations

import functools
import operator
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from workbench.core.evaluation.figure_texts import mask_report
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.evaluation.verdict_rules import BUDGET, conformal_limit
from workbench.core.frozen_encoder import (
    CELL,
    MULTIPLE,
    FeatureDistribution,
    FeatureNetwork,
    FeatureSums,
    anomaly_network,
    draw_defect,
    input_settings,
)
from workbench.core.images.image_files import read
from workbench.core.label_next.image_features import spread_keys
from workbench.core.messages import Message
from workbench.core.problems import PartsDiffer, Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Evaluated, Finished, Progress, Started, Trouble
from workbench.core.runs.good_images import FEWEST_IMAGES, check_text, compared_scales
from workbench.core.runs.held_out import SPLITS, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.file_access import make_folder, write_atomic
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MODEL_FILE, ClassSettings, ModelSettings, save_settings
from workbench.inference.tiles import RAMP, cut, normalize, prediction_grid, resize_for_network
from workbench.inference.verdict_rule import VerdictRule
from workbench.training.reporter import ControlChannel, Reporter

MOST_EXCEEDING = 0.1  # share of the good images of left-out parts that may exceed the limit of the others
LEAST_SHOWN = 0.25  # share of the generated defects that must exceed the limit
_FOLDS = 5
_MOST_PIXELS = 80 << 20  # network pixels of the images that are used at one scale
_LARGEST_BY_POSITION = 640 * 1024  # network pixels of an image whose positions are kept, in `_FOLDS` folds twice
_TILE, _OVERLAP = 768, 192  # network pixels
_GAIN = 0.01  # more separation, for which the larger scale or positions are preferred
_EXPONENT = 8  # of the anomaly score


class _Stopped(Exception):
    """The user has requested a stop."""


Fold = tuple[int, int]  # of the part, and of the image


@dataclass
class _Candidate:
    """One way of fitting, and what was measured on left-out parts.

    sums: of the images, by their folds. names, folds: of the measured images. scores, by_image: greatest distance of
    each image from the fit to other parts, and to other images of all parts. shown: at its generated defect.
    """

    scale: float
    by_position: bool
    sums: dict[Fold, FeatureSums] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    folds: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    by_image: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)

    def add(self, sums: FeatureSums, fold: Fold) -> None:
        self.sums[fold] = self.sums[fold] + sums if fold in self.sums else sums

    def fit(self, side: int = 0, left_out: int | None = None) -> FeatureDistribution:
        """Fit to the images. side, left_out: without those of a fold of parts (0) or of images (1)."""
        used = [sums for fold, sums in self.sums.items() if fold[side] != left_out]
        return functools.reduce(operator.add, used).fit(by_position=self.by_position)

    def fits(self) -> dict[Fold, FeatureDistribution]:
        """Return the fits without each fold, by its side and number."""
        return {(side, number): self.fit(side, number) for side in (0, 1) for number in {f[side] for f in self.sums}}

    def measure(
        self,
        name: str,
        fold: Fold,
        fits: dict[Fold, FeatureDistribution],
        original: list[_Cells],
        drawn: list[_Cells],
        defect: np.ndarray,
        inside: np.ndarray | None,
    ) -> None:
        """Measure an image of the part `name`. drawn: the image with a generated defect, whose pixels are `defect`.

        inside: pixels that are inspected, None for all.
        """
        columns, rows = original[0].whole[::-1]
        counted = None
        if inside is not None:
            counted = cv2.resize(inside.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA) > 0
        share = cv2.resize(defect.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
        near = cv2.dilate(np.uint8(share > 0), np.ones((3, 3), np.uint8)) > 0
        of_parts, of_images = fits[0, fold[0]], fits[1, fold[1]]
        self.names.append(name)
        self.folds.append(fold[0])
        self.scores.append(max(cells.greatest(of_parts, counted) for cells in original))
        self.by_image.append(max(cells.greatest(of_images, counted) for cells in original))
        self.shown.append(max(cells.greatest(of_parts, near) for cells in drawn))

    def check(self) -> GoodCheck:
        """Compare the left-out parts with the limits of the others."""
        scores, by_image, folds = (np.array(values) for values in (self.scores, self.by_image, self.folds))
        exceeding = 0
        for fold in set(self.folds):
            others = folds != fold
            limit = conformal_limit(by_image[others], [name for name, o in zip(self.names, others) if o], BUDGET / 100)
            exceeding += int(np.count_nonzero(scores[~others] > limit))
        limit = conformal_limit(scores, self.names, BUDGET / 100)
        return GoodCheck(
            images=len(scores),
            parts=len(set(self.names)),
            exceeding=exceeding,
            shown=int(np.count_nonzero(np.array(self.shown) > limit)),
            limit=limit,
            typical=float(np.median(scores)),
            separation=float(np.mean(np.greater.outer(self.shown, scores))),
            scale=self.scale,
            by_position=self.by_position,
        )


@dataclass(frozen=True)
class GoodCheck:
    """Result of the check on left-out parts: the content of good.json, and of the result of the run.

    exceeding: images above the limit that was set on the other parts. shown: images whose generated defect is above the
    limit in use. limit: squared distance with the probability 0.5. typical: median of the good
    images. separation: of generated defects and good images, an AUROC.
    """

    images: int
    parts: int
    exceeding: int
    shown: int
    limit: float
    typical: float
    separation: float
    scale: float
    by_position: bool

    @property
    def shown_share(self) -> float:
        return self.shown / self.images

    @property
    def problem(self) -> Message | None:
        """Reason why the model is not offered."""
        if self.exceeding > MOST_EXCEEDING * self.images:
            return Message("good.exceeding", n=self.exceeding, m=self.images, parts=self.parts)
        if self.shown_share < LEAST_SHOWN:
            return Message("good.insensitive", n=self.images - self.shown, m=self.images)
        return None


def train(run: Run, report: Reporter, channel: ControlChannel) -> Finished:
    """Fit, check and store the model. Raises PartsDiffer if it is not offered; nothing is kept then."""
    began = time.perf_counter()
    settings, dataset = run.settings(), run.dataset()
    project = Project.open(run.project_root, write=False, trusted=True)
    report(
        Started(
            model=settings.model,
            device="cpu",
            pictures={split: len(dataset.of(split)) for split in SPLITS},
            held_out_note=dataset.held_out_note,
            process=os.getpid(),
        )
    )
    base = {"steps": 0, "device": "cpu", "precision": "fp32"}
    try:
        check, candidate = _GoodFit(project, dataset, settings, report, channel).best()
    except _Stopped:
        return Finished(why="stopped", result={"usable": False, **base})
    _keep(run, project, dataset, settings, check, candidate)
    test = {"metrics": _evaluate(project, run, dataset, report, channel), "score": None}
    if channel.keep_open:
        report(Trouble(what=Message("good.not_continued")))
    result = {
        "usable": True,
        **base,
        "good": asdict(check),
        "fitted": check_text(asdict(check)),
        "metrics": {},
        "test": test,
    }
    return Finished(result={**result, "seconds": round(time.perf_counter() - began, 2)})


class _GoodFit:
    """Fits to the good images of a run."""

    def __init__(
        self, project: Project, dataset: Dataset, settings: TrainingSettings, report: Reporter, channel: ControlChannel
    ) -> None:
        self._project, self._settings, self._report, self._channel = project, settings, report, channel
        self._dataset, self._network = dataset, FeatureNetwork()
        self._skipped: set[str] = set()
        self._done = self._total = 0

    def best(self) -> tuple[GoodCheck, _Candidate]:
        """Return the best candidate that is offered. Raises PartsDiffer, _Stopped."""
        scales = compared_scales(self._settings, self._dataset)
        self._total = sum(2 * len(self._items(scale)) for scale in scales)
        # The smaller scale first, which is faster.
        checked = [(entry.check(), entry) for scale in reversed(scales) for entry in self._measured(scale)]
        offered = [entry for entry in checked if entry[0].problem is None]
        if not offered:
            raise PartsDiffer(why=max((check for check, _ in checked), key=lambda check: check.shown).problem)
        most = max(check.separation for check, _ in offered)
        return next(entry for entry in offered if entry[0].separation >= most - _GAIN)

    def _items(self, scale: float) -> list[Item]:
        """Return the images to use at a scale: all, or so many that they take a limited time."""
        items = self._dataset.of("train")
        pixels = scale**2 * sum(item.width * item.height for item in items) / len(items)
        used = set(spread_keys([item.key for item in items])[: max(FEWEST_IMAGES, int(_MOST_PIXELS / pixels))])
        return [item for item in items if item.key in used]

    def _measured(self, scale: float) -> list[_Candidate]:
        """Return the candidates of a scale: without positions and, for images of one size, with them."""
        items = self._items(scale)
        sizes = {(item.width, item.height) for item in items}
        width, height = max(sizes)
        registered = len(sizes) == 1 and width * height * scale**2 <= _LARGEST_BY_POSITION
        model = model_settings(self._settings, self._dataset, scale, whole=(width, height) if registered else None)
        folds = _folds(items)
        candidates = [_Candidate(scale, by_position) for by_position in ((False, True) if registered else (False,))]
        for item, pixels in self._read(items):
            sums = FeatureSums.of((cells.features for cells in self._cells(pixels, model)), by_position=registered)
            for candidate in candidates:
                candidate.add(sums, folds[item.key])
        fits = [candidate.fits() for candidate in candidates]
        generator = np.random.default_rng(0)
        for item, pixels in self._read(items):
            area = annotation.placed_area(self._project, item.key)
            inside = None if area is None else area.inside(pixels.shape)
            changed, defect = draw_defect(pixels, generator, inside)
            original, drawn = self._cells(pixels, model), self._cells(changed, model)
            for candidate, fit in zip(candidates, fits):
                candidate.measure(item.part, folds[item.key], fit, original, drawn, defect, inside)
        return candidates

    def _read(self, items: Sequence[Item]) -> Iterator[tuple[Item, np.ndarray]]:
        """Yield the readable images. Raises _Stopped."""
        for item in items:
            while self._channel.paused:
                self._channel.wait_until_resumed(0.5)
            if self._channel.stop:
                raise _Stopped
            self._done += 1
            what = Message("progress.good_images")
            self._report(Progress(what=what, done=self._done, total=self._total), keep=False)
            if item.key in self._skipped:
                continue
            try:
                annotation.placed_area(self._project, item.key)  # an image without its part is left out
                yield item, read(self._project.image_path(item.key))
            except Problem as problem:
                self._skipped.add(item.key)
                done = Message("training.image_left_out")
                self._report(Trouble(what=Message.of(problem), done=done, picture=item.key))

    def _cells(self, pixels: np.ndarray, model: ModelSettings) -> list[_Cells]:
        """Return the cells of the tiles of an image."""
        resized = resize_for_network(pixels, model)
        grid = prediction_grid(*resized.shape[:2], model)
        rim = [max(0, (overlap - RAMP) // 2) for overlap in grid.overlap]
        return [
            _Cells(
                self._network(normalize(cut(resized, grid, y, x), model)),
                (y // CELL, x // CELL),
                _counted(y, grid.tile_height, grid.height, rim[0]),
                _counted(x, grid.tile_width, grid.width, rim[1]),
                (-(-grid.height // CELL), -(-grid.width // CELL)),
            )
            for y, x in grid
        ]


@dataclass(frozen=True)
class _Cells:
    """Features of a tile, float32 (FEATURES, rows, columns). corner: first row and column of its cells in the image.

    rows, columns: cells that decide what is predicted; the others are beyond the image or at the rim of a tile. whole:
    rows and columns of the image.
    """

    features: np.ndarray
    corner: tuple[int, int]
    rows: slice
    columns: slice
    whole: tuple[int, int]

    def greatest(self, fit: FeatureDistribution, near: np.ndarray | None = None) -> float:
        """Return the greatest distance. near: only of these cells of the image, bool (rows, columns)."""
        distances = fit.distances(self.features)[self.rows, self.columns]
        if near is not None:
            top, left = self.corner[0] + self.rows.start, self.corner[1] + self.columns.start
            distances = distances[near[top : top + distances.shape[0], left : left + distances.shape[1]]]
        return float(distances.max(initial=0.0))


def _counted(start: int, tile: int, length: int, rim: int) -> slice:
    """Return the cells of a tile along one side that decide what is predicted, in network pixels before."""
    end = min(tile, length - start)
    return slice(rim // CELL if start else 0, -(-(end if start + tile >= length else tile - rim) // CELL))


def _folds(items: Sequence[Item]) -> dict[str, tuple[int, int]]:
    """Return for each image the fold of its part, and the fold of the image within all parts."""
    names = sorted({item.part for item in items})
    order = np.random.default_rng(0).permutation(len(names)) % _FOLDS
    of_part = dict(zip(names, order.tolist()))
    if len(names) == len(items):  # each image is a part of its own
        return {item.key: (of_part[item.part], of_part[item.part]) for item in items}
    numbers = np.random.default_rng(1).permutation(len(items)) % _FOLDS
    return {item.key: (of_part[item.part], number) for item, number in zip(items, numbers.tolist())}


def model_settings(
    settings: TrainingSettings, dataset: Dataset, scale: float, *, whole: tuple[int, int] | None, **others: Any
) -> ModelSettings:
    """Return the settings of the network. whole: width and height of images that are not divided into tiles."""
    side = _TILE if whole is None else -(-max(1, round(max(whole) * scale)) // MULTIPLE) * MULTIPLE
    preparation = input_settings(settings.full_scale, settings.low, settings.high)
    return replace(
        preparation,
        **{"task": "segmentation", "verdicts": (), "thresholds": (0.5,), "min_area": (0,), **others},
        classes=tuple(ClassSettings(info.id, info.name, info.color) for info in dataset.classes),
        scale=scale,
        tile=max(_TILE, side),
        overlap=_OVERLAP,
        multiple=MULTIPLE,
        anomaly_exponent=_EXPONENT,
        verdict_rule=VerdictRule("mass"),
    )


def _keep(
    run: Run, project: Project, dataset: Dataset, settings: TrainingSettings, check: GoodCheck, chosen: _Candidate
) -> None:
    """Write the network, its settings and the check."""
    size = dataset.of("train")[0]
    model = model_settings(
        settings,
        dataset,
        chosen.scale,
        whole=(size.width, size.height) if chosen.by_position else None,
        name=project.file.name,
        run=run.name,
        um_per_pixel=project.file.um_per_pixel,
        areas=tuple(project.file.inspection_areas),
        files={"onnx": "network.onnx"},
    )
    # The typical good image reaches a probability of 0.1.
    steepness = float(np.clip(np.log(9) / np.log(max(1.01, check.limit / check.typical)), 1, 8))
    network = anomaly_network(chosen.fit(), check.limit, steepness)
    make_folder(run.best)
    write_json(run.good_path, {"format": 1, **asdict(check)})
    write_atomic(run.best / "network.onnx", network.SerializeToString())
    save_settings(model, run.best / MODEL_FILE)


def _evaluate(
    project: Project, run: Run, dataset: Dataset, report: Reporter, channel: ControlChannel
) -> dict[str, Any]:
    """Return the figures on the test images, {} without a labeled defect among them."""
    if not any(item.classes for item in dataset.of("test")):
        return {}

    def progress(done: int, total: int) -> None:
        report(Progress(what=Message("progress.evaluating"), done=done, total=total), keep=False)

    options = {"options": FIGURES_ONLY, "progress": progress, "cancelled": lambda: channel.stop}
    evaluation = evaluate_run(project, run, "test", items=dataset.of("test"), **options)
    if evaluation is None:
        return {}
    metrics = mask_report(evaluation.figures, project.file.um_per_pixel)
    report(Evaluated(step=0, split="test", metrics=metrics))
    return metrics
