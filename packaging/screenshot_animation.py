"""Animation of the README: a stroke, from which a model learns at once, and its prediction on the next image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage
from screenshot_stage import Stage

from workbench.core.project.annotation import ids_in, read_mask
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.inference.io.opencv import cv2

_STEPS = 6  # pictures of one stroke
_RADIUS = 4.0  # pixels
_LONG, _THIN = 60, 9  # least length, and greatest mean width of a mark that a stroke follows, in pixels


def stroke(stage: Stage) -> list[tuple[QImage, int]]:
    """Return the pictures, each with its time in milliseconds."""
    frames: list[tuple[QImage, int]] = []
    stage.open_copy("stroke")
    assert stage.services.instant_overlay.on
    first, second = _scratched(stage)
    stage.open_image(first)
    stage.pause(1)
    frames.append((stage.grab(), 1200))
    for class_id, path in _strokes(stage.sample / "masks" / f"{first}.png"):
        stage.session.editor.begin("brush")
        for start, end in zip(path, path[1:]):
            stage.session.editor.paint_segment(start, end, _RADIUS, class_id)
            stage.pause(0.1)
            frames.append((stage.grab(), 120))
        stage.session.editor.commit()
        _predicted(stage, first)
        frames.append((stage.grab(), 1000))
    stage.run("done_next")
    stage.open_image(second)
    stage.window.messages.clear()
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
    """Return the two images with the most thin marks."""
    counts = {key: len(_strokes(stage.sample / "masks" / f"{key}.png")) for key in stage.session.rows}
    return sorted(counts, key=lambda key: (-counts[key], key))[:2]


def _strokes(path: Path) -> list[tuple[int, list[tuple[float, float]]]]:
    """Return class and middle line of the thin regions of the first class in a mask, longest first."""
    if not path.exists():
        return []
    mask, found = read_mask(path), []
    class_id = next((id for id in ids_in(mask) if 0 < id < DONT_CARE), NOT_LABELED)
    count, numbers = cv2.connectedComponents((mask == class_id).astype(np.uint8), connectivity=8)
    for number in range(1, count):
        y, x = np.nonzero(numbers == number)
        length = float(np.hypot(np.ptp(x), np.ptp(y)))
        if length < _LONG or len(x) / length > _THIN:
            continue
        along = x if np.ptp(x) >= np.ptp(y) else y
        near = [np.abs(along - place) <= 2 for place in np.linspace(along.min(), along.max(), _STEPS + 1)]
        line = [(float(x[here].mean()), float(y[here].mean())) for here in near if here.any()]
        found.append((length, class_id, line))
    return [(class_id, line) for _, class_id, line in sorted(found, reverse=True)]
