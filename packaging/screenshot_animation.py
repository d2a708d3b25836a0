"""Animation of the README: a stroke, from which a model learns at once, and its prediction on the next image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage
from screenshot_stage import Stage

from workbench.core.project.annotation import ids_in, read_mask
from workbench.core.project.project import DONT_CARE
from workbench.inference.io.opencv import cv2

_STEPS = 7  # pictures of one stroke
_RADIUS = 5.0  # pixels


def stroke(stage: Stage) -> list[tuple[QImage, int]]:
    """Return the pictures, each with its time in milliseconds."""
    frames: list[tuple[QImage, int]] = []
    stage.open_copy("stroke")
    assert stage.services.instant_overlay.on
    first, second = _scratched(stage)
    stage.open_image(first)
    stage.pause(1)
    frames.append((stage.grab(), 1200))
    class_id, path = _strokes(stage.sample / "masks" / f"{first}.png")[0]
    editor = stage.session.editor
    editor.begin("brush")
    for start, end in zip(path, path[1:]):
        editor.paint_segment(start, end, _RADIUS, class_id)
        stage.pause(0.1)
        frames.append((stage.grab(), 160))
    editor.commit()
    _predicted(stage, first)
    frames.append((stage.grab(), 2500))
    stage.run("done_next")
    stage.open_image(second)
    frames.append((stage.grab(), 700))
    _predicted(stage, second)
    frames.append((stage.grab(), 3500))
    stage.close()
    return frames


def _predicted(stage: Stage, key: str) -> None:
    """Wait for the prediction of an image."""
    stage.wait(lambda: stage.session.key == key and stage.window.canvas.scene.predictions is not None)
    stage.pause(1.5)


def _scratched(stage: Stage) -> list[str]:
    """Return two small images of one lot with the longest marks of the most frequent class."""
    keys = [key for key in stage.session.rows if (stage.sample / "masks" / f"{key}.png").exists()]
    best = sorted(keys, key=lambda key: -_length(stage.sample / "masks" / f"{key}.png"))
    lots = [[key for key in best if Path(key).parent == Path(other).parent] for other in best[:1]]
    return lots[0][:2]


def _length(mask: Path) -> float:
    found = _strokes(mask)
    return max((float(np.hypot(*np.subtract(path[-1], path[0]))) for _, path in found), default=0.0)


def _strokes(path: Path) -> list[tuple[int, list[tuple[float, float]]]]:
    """Return class and middle line of each labeled region, longest first."""
    mask, found = read_mask(path), []
    for class_id in (id for id in ids_in(mask) if 0 < id < DONT_CARE):
        count, numbers = cv2.connectedComponents((mask == class_id).astype(np.uint8), connectivity=8)
        for number in range(1, count):
            y, x = np.nonzero(numbers == number)
            along = x if np.ptp(x) >= np.ptp(y) else y
            edges = np.quantile(along, np.linspace(0, 1, _STEPS + 1))
            places = [np.argmin(np.abs(along - edge)) for edge in edges]
            line = [
                (float(np.mean(x[np.abs(along - along[p]) <= 1])), float(np.mean(y[np.abs(along - along[p]) <= 1])))
                for p in places
            ]
            found.append((class_id, line))
    return sorted(found, key=lambda entry: -float(np.hypot(*np.subtract(entry[1][-1], entry[1][0]))))
