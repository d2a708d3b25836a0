"""Projects for which trainings are planned."""

from __future__ import annotations

import numpy as np

from workbench.core.project import annotation
from workbench.inference.io.image_io import write_png


def brushed(seed: int, *, turned: bool = False) -> np.ndarray:
    """Return a surface with vertical grain, uint8 (160, 120)."""
    generator = np.random.default_rng(seed)
    lines = generator.normal(128, 30, (1, 120)) + generator.normal(0, 4, (160, 120))
    image = np.clip(lines, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(np.rot90(image)) if turned else image


def with_verdicts(project, count: int, verdicts: tuple[str, ...] = ("OK", "NG")) -> None:
    for number in range(count):
        write_png(project.image_path(f"{number}.png"), brushed(number))
        annotation.save_note(project, f"{number}.png", annotation.Note(verdict=verdicts[number % len(verdicts)]))
