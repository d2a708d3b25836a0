"""The picture that a person is looking at, as the network in training sees it now."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from workbench.core import annotation
from workbench.core.events import Preview
from workbench.core.pictures import read
from workbench.core.problems import Problem
from workbench.core.project import NOT_LABELLED, Project
from workbench.core.run import Run
from workbench.inference.cv import cv2
from workbench.inference.predictor import Cancelled, Engine, Predictor
from workbench.inference.reading import write_png
from workbench.inference.settings import ModelSettings

_MOST_PIXELS = 1_500_000  # of the network's input: about a second on a processor
_MOST_WRITTEN = 64_000_000


def preview(
    run: Run, project: Project, engine: Engine, settings: ModelSettings, key: str, step: int,
    *, cancelled=lambda: False,
) -> Preview | None:  # fmt: skip
    """Predict a picture and write previews/NAME.mask.png and NAME.scores.png; None if that is not possible.

    Of a large picture a part around its labels is predicted, at full resolution, since shrinking would hide what is
    to be seen; the mask says 255 where nothing was predicted. Its size is that
    of the picture, but at most 64 megapixels.
    """
    try:
        picture = read(project.picture_path(key))
        top, left, part = _part(project, key, picture, settings)
        result = Predictor(settings, engine).predict(part, cancelled=cancelled)
    except (Problem, Cancelled, MemoryError):
        return None
    if result.mask is None or result.scores is None:
        return Preview(step=step, picture=key, verdict=result.verdict, probabilities=result.probabilities)
    name = safe_name(key)
    files = {"mask": f"previews/{name}.mask.png", "scores": f"previews/{name}.scores.png"}
    shape = picture.shape[:2]
    write_png(run.root / files["mask"], _on_canvas(result.mask, top, left, shape, NOT_LABELLED))
    write_png(run.root / files["scores"], _on_canvas(result.scores, top, left, shape, 0))
    return Preview(step=step, picture=key, **files)


def safe_name(key: str) -> str:
    """A file name for a picture's key: short, plain, and another one for every key."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub('[^A-Za-z0-9.-]+', '_', Path(key).name)[-50:]}-{digest}"


def _part(project: Project, key: str, picture: np.ndarray, settings: ModelSettings) -> tuple[int, int, np.ndarray]:
    """Top, left and pixels of what is predicted: all of it, or a window around the middle of the labels."""
    height, width = picture.shape[:2]
    if settings.task == "classification" or height * width * settings.scale**2 <= _MOST_PIXELS:
        return 0, 0, picture
    side = int((_MOST_PIXELS / settings.scale**2) ** 0.5)
    rows = min(height, max(side, side * side // max(1, width)))
    columns = min(width, side * side // rows)
    y, x = _middle(project, key, (height, width))
    top, left = min(max(0, y - rows // 2), height - rows), min(max(0, x - columns // 2), width - columns)
    return top, left, picture[top : top + rows, left : left + columns]


def _middle(project: Project, key: str, shape: tuple[int, int]) -> tuple[int, int]:
    """The labelled defect pixel nearest to the middle of all of them; of a picture without, its middle."""
    try:
        mask = annotation.load_mask(project, key, (shape[1], shape[0]))
    except Problem:
        mask = None
    if mask is not None:
        painted = np.argwhere((mask > 0) & (mask < NOT_LABELLED - 1))
        if len(painted):
            nearest = painted[np.abs(painted - painted.mean(axis=0)).sum(axis=1).argmin()]
            return int(nearest[0]), int(nearest[1])
    return shape[0] // 2, shape[1] // 2


def _on_canvas(part: np.ndarray, top: int, left: int, shape: tuple[int, int], fill: int) -> np.ndarray:
    if part.shape == shape:
        return part
    scale = min(1.0, (_MOST_WRITTEN / (shape[0] * shape[1])) ** 0.5)
    canvas = np.full((max(1, round(shape[0] * scale)), max(1, round(shape[1] * scale))), fill, np.uint8)
    rows, columns = max(1, round(part.shape[0] * scale)), max(1, round(part.shape[1] * scale))
    y, x = min(round(top * scale), canvas.shape[0] - rows), min(round(left * scale), canvas.shape[1] - columns)
    canvas[y : y + rows, x : x + columns] = cv2.resize(part, (columns, rows), interpolation=cv2.INTER_NEAREST)
    return canvas
