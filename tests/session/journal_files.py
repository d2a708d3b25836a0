"""Files and entries of the journal."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.project.history import StepRecording


def journal_files(session):
    return list((session.project.root / "journal").iterdir())


def patches(count: int, key: str = "a.png", start: np.ndarray | None = None):
    """Return patches of overlapping squares of classes 1 and 2, and the resulting mask."""
    mask = np.zeros((130, 200), np.uint8) if start is None else start.copy()
    rng = np.random.default_rng(3)
    made = []
    for i in range(count):
        recording = StepRecording(key, "paint", mask)
        x, y = int(rng.integers(0, mask.shape[1] - 20)), int(rng.integers(0, mask.shape[0] - 20))
        recording.touch(Rect(x, y, 20, 20))
        mask[y : y + 20, x : x + 20] = 2 - i % 2
        made.append(recording.finish())
    return made, mask
