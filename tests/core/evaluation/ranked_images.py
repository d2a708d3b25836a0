"""Evaluated images with given scores."""

from __future__ import annotations

import numpy as np

from workbench.core.evaluation.verdict_rules import ScoredImage
from workbench.inference.region_table import RegionTable


def table_of_mass(*masses: float) -> RegionTable:
    """Return regions of class 1 with these masses, with twice as many pixels, at probability 0.5."""
    mass = np.array([mass for mass in masses if mass], float)
    count = len(mass)
    boxes = np.column_stack([np.arange(count) * 10, np.zeros((count, 3), int)])
    return RegionTable(np.ones(count, int), (2 * mass).astype(int), np.full(count, 0.5), mass, boxes)


def image(score: float, defective: bool, group: str | None = None, key: str = "") -> ScoredImage:
    return ScoredImage(
        key, group if group is not None else f"{score} {defective} {key}", defective, table_of_mass(score)
    )


def images_of(good, bad) -> list[ScoredImage]:
    return [
        *(image(score, False, f"g{n}") for n, score in enumerate(good)),
        *(image(score, True, f"b{n}") for n, score in enumerate(bad)),
    ]
