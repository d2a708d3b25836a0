"""Previews of a run: predictions by the network in training of the open image and those expected next, stored for some
steps per image.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import read
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.runs.events import Preview
from workbench.core.runs.run import Run
from workbench.inference.engines import EngineError
from workbench.inference.io.file_access import remove_file
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, PredictionCancelled, Predictor
from workbench.training.evaluator import DygraphEngine
from workbench.training.training_context import TrainingContext

STEPS = 12  # kept per image, including the first and the newest
IMAGES = 24  # images that keep so many; of the least recently previewed others, only the newest step is kept

_MAX_PIXELS = 1_500_000  # of the network's input: about a second on a CPU
_MAX_PLANE_PIXELS = 48_000_000  # bytes of per-class probabilities that are written
_PERIOD = 10.0  # minimum seconds between two previews
_SWITCH_PERIOD = 1.0  # delay after another image was opened
_MAX_TIME_SHARE = 0.06  # maximum share of the training time
_INITIAL_SECONDS = 5.0  # initial seconds of previews exempt from that share, so that the first previews come soon
_INITIAL_PERIOD = 3.0  # seconds between two of them


def preview(
    run: Run,
    project: Project,
    engine: Engine,
    settings: ModelSettings,
    key: str,
    step: int,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Preview | None:
    """Predict an image and write previews/NAME.STEP.mask.png and .scores.png. Return None if that fails.

    Of a large image, a part around its labels is predicted at full resolution, since downscaling would hide small
    defects; the files then cover that part.
    """
    try:
        image = read(project.image_path(key))
        top, left, part = _part(project, key, image, settings)
        planes = part.shape[0] * part.shape[1] * len(settings.classes)
        by_class = len(settings.classes) > 1 and planes <= _MAX_PLANE_PIXELS
        result = Predictor(settings, engine).predict(
            part,
            name=key,
            crop=(left, top, image.shape[1], image.shape[0]),
            cancelled=cancelled,
            keep_probabilities=by_class,
        )
        if result.mask is None or result.scores is None:
            return Preview(step=step, picture=key, verdict=result.verdict, probabilities=result.probabilities)
        scores = result.scores if result.class_scores is None else np.concatenate(list(result.class_scores))
        stem = f"previews/{safe_name(key)}.{step}"
        files = {"mask": f"{stem}.mask.png", "scores": f"{stem}.scores.png"}
        write_png(run.root / files["mask"], result.mask)
        write_png(run.root / files["scores"], scores)
    except (Problem, PredictionCancelled, EngineError, MemoryError, OSError):
        return None
    is_complete = part.shape[:2] == image.shape[:2]
    return Preview(
        step=step,
        picture=key,
        **files,
        corner=[left, top],
        size=None if is_complete else [*image.shape[1::-1]],
        thresholds=list(settings.thresholds),
        min_area=list(settings.min_area),
    )


def safe_name(key: str) -> str:
    """Return a file name for an image key: short, plain, and unique."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub('[^A-Za-z0-9.-]+', '_', Path(key).name)[-50:]}-{digest}"


class PreviewFiles:
    """Index of a run's `previews/`, which deletes old files to bound the size of the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps: dict[str, list[int]] = {}  # by name, the most recent last
        for path in sorted(folder.glob("*.mask.png"), key=lambda path: path.stat().st_mtime_ns):
            name, _, step = path.name.removesuffix(".mask.png").rpartition(".")
            if step.isdecimal():
                self._steps.setdefault(name, []).append(int(step))

    def add(self, key: str, step: int) -> None:
        """Register a preview written for this step, and delete excess ones."""
        name = safe_name(key)
        steps = sorted({*self._steps.pop(name, []), step})
        while len(steps) > STEPS:
            # Remove the step whose neighbors are closest to each other.
            distances = [
                (after - before, index) for index, (before, after) in enumerate(zip(steps, steps[2:]), start=1)
            ]
            self._remove(name, steps.pop(min(distances)[1]))
        self._steps[name] = steps
        for other in list(self._steps)[:-IMAGES]:
            for old in self._steps[other][:-1]:
                self._remove(other, old)
            del self._steps[other][:-1]

    def _remove(self, name: str, step: int) -> None:
        for kind in ("mask", "scores"):
            with contextlib.suppress(OSError):  # held open by a reader; the file remains
                remove_file(self._folder / f"{name}.{step}.{kind}.png", missing_ok=True)


def _part(project: Project, key: str, image: np.ndarray, settings: ModelSettings) -> tuple[int, int, np.ndarray]:
    """Return top, left and pixels of the part to predict: the whole image, or a window centered on the labels."""
    height, width = image.shape[:2]
    if settings.task == "classification" or height * width * settings.scale**2 <= _MAX_PIXELS:
        return 0, 0, image
    side = int((_MAX_PIXELS / settings.scale**2) ** 0.5)
    rows = min(height, max(side, side * side // max(1, width)))
    columns = min(width, side * side // rows)
    y, x = _focus(project, key, (height, width))
    top, left = min(max(0, y - rows // 2), height - rows), min(max(0, x - columns // 2), width - columns)
    return top, left, image[top : top + rows, left : left + columns]


def _focus(project: Project, key: str, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the labeled defect pixel nearest to the mean of all; without labels, the center of the image."""
    try:
        mask = annotation.load_truth(project, key, (shape[1], shape[0]))
    except Problem:
        mask = None
    if mask is not None:
        labeled = np.argwhere((mask > 0) & (mask < NOT_LABELED - 1))
        if len(labeled):
            nearest = labeled[np.abs(labeled - labeled.mean(axis=0)).sum(axis=1).argmin()]
            return int(nearest[0]), int(nearest[1])
    return shape[0] // 2, shape[1] // 2


class PreviewScheduler:
    """Preview scheduler. Call `poll` between two steps."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self._files = PreviewFiles(context.run.previews)
        self._last = self._last_expected = time.perf_counter()
        self._spent = self._cost = 0.0
        self._previewed: dict[str, tuple[int, int]] = {}  # image to the number and the step of its last preview
        self._count = 0

    def poll(self) -> None:
        """Predict a preview if one is due."""
        now = time.perf_counter()
        watched, expected = self.context.control.watched, self.context.control.expected
        switched = watched is not None and watched not in self._previewed
        in_credit = self._spent + self._cost < _INITIAL_SECONDS
        period = _INITIAL_PERIOD if in_credit else max(_PERIOD, (2 if expected else 1) * self._cost / _MAX_TIME_SHARE)
        if now - self._last > (_SWITCH_PERIOD if switched else period):
            self.write_previews()
        elif expected and not switched and now - self._last_expected > period:
            self.write_previews(min(expected, key=lambda key: self._previewed.get(key, (0, 0))[0]))

    def allow_previews(self) -> None:
        """Allow two previews soon, after a label has entered."""
        self._spent = max(0.0, min(self._spent, _INITIAL_SECONDS - 3 * self._cost))

    def write_previews(self, key: str = "") -> None:
        """Predict a preview of image `key` now; by default of the open one."""
        context = self.context
        key = key or context.control.watched or _first_image(context)
        context.ranks.wait_idle()
        started = time.perf_counter()
        event = preview(
            context.run,
            context.project,
            DygraphEngine(context.learner.mean),
            context.best.settings,
            key,
            context.state.step,
            cancelled=lambda: context.control.stop,
        )
        now = time.perf_counter()
        if key in context.control.expected:
            self._last_expected = now
        else:
            self._last = now
        self._cost = now - started
        self._spent += self._cost
        self._count += 1
        if key not in context.control.expected:  # another image was opened
            self._previewed = {
                other: entry for other, entry in self._previewed.items() if other in context.control.expected
            }
        self._previewed[key] = self._count, context.state.step
        if event is not None:
            if event.mask:
                self._files.add(key, event.step)
            context.report(event)

    def predict_outdated(self) -> None:
        """Predict one image not yet previewed with the current weights, while no training takes place."""
        channel, step = self.context.control, self.context.state.step
        for key in (channel.watched, *channel.expected):
            if key and self._previewed.get(key, (0, -1))[1] != step:
                self.write_previews(key)
                return


def _first_image(context: TrainingContext) -> str:
    """Return the default image: from validation, or else training, with a defect if possible."""
    items = context.dataset.of("val") or context.dataset.of("train")
    return next((item for item in items if item.classes), items[0]).key
