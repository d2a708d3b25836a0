"""Calibration images: network inputs of the project on which the ranges of activations are measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.images.image_files import read
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import normalize, resize_for_network
from workbench.inference.tiles import cut, plan_grid

MOST = 64  # tiles, or images for verdicts
_TILES_PER_IMAGE = 4  # tiles per image


def calibration_batches(project: Project, dataset: Dataset, settings: ModelSettings) -> Iterator[np.ndarray]:
    """Yield batches of one, float32 (1,C,h,w), of training images, those with defects first.

    Validation/test images are excluded: the loss by quantization is measured on them.
    """
    count = 0
    for item in sorted(dataset.of("train") or dataset.items, key=lambda item: not item.classes):
        try:
            image = resize_for_network(read(project.image_path(item.key)), settings)
        except Problem:
            continue
        for tile in _tiles(image, settings):
            if count == MOST:
                return
            yield normalize(tile, settings)[None]
            count += 1


def _tiles(image: np.ndarray, settings: ModelSettings) -> list[np.ndarray]:
    if settings.task == "classification":
        return [image]
    grid = plan_grid(*image.shape[:2], tile=settings.tile, overlap=settings.overlap, multiple=settings.multiple)
    return [cut(image, grid, y, x) for y, x in list(grid)[:_TILES_PER_IMAGE]]
