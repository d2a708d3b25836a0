"""Limits of the images that a model is given, learned from a sample of the images that it was trained on."""

from __future__ import annotations

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read_displayed
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.inference.input_guard import ImageMeasures, InputLimits, learn_limits

_SAMPLE = 64  # maximum number of images read
_PIXELS = 500e6  # after which no more are read


def learn_input(project: Project, dataset: Dataset) -> InputLimits | None:
    """Return the limits for images like the training and validation images, None if none of them is readable."""
    measured: list[tuple[str, ImageMeasures]] = []
    pixels = 0.0
    items = dataset.of("train", "val")
    for index in np.random.default_rng(0).permutation(len(items))[:_SAMPLE]:
        if pixels > _PIXELS:
            break
        try:
            image = read_displayed(project.image_path(items[index].key))
        except problems.Problem:
            continue
        measured.append((items[index].part, ImageMeasures.of(image)))
        pixels += image.shape[0] * image.shape[1]
    return learn_limits(measured) if measured else None
