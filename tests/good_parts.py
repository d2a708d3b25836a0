"""Project of generated parts for models of good images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.project import Grouping, Project
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.training import good_training
from workbench.training.reporter import Clock, ControlChannel, Reporter

DEFECT = np.s_[60:72, 30:44]


def part(seed: int, kind: int = 0, *, defect: bool = False, dtype: type = np.uint8) -> np.ndarray:
    """Return (192, 192) of an even surface; those of the kinds from 1 on have stripes of their own, those
    of kind -1 marks anywhere."""
    rng = np.random.default_rng(seed)
    image = 120 + rng.normal(0, 2, (192, 192)) + 6 * cv2.GaussianBlur(rng.normal(0, 6, (192, 192)), (0, 0), 6)
    if kind < 0:
        for top, left, height, width in rng.integers(4, 60, (12, 4)) * (3, 3, 1, 1):
            image[top : top + height, left : left + width] += rng.choice([-50, 50])
    elif kind:
        own = np.random.default_rng(kind)
        y, x = np.mgrid[:192, :192] * own.uniform(0.05, 0.8, (2, 1, 1))
        image += own.uniform(20, 60) * np.sin(x + y)
    if defect:
        image[DEFECT] -= 45
    return (image.clip(0, 255) * (257 if dtype == np.uint16 else 1)).astype(dtype)


def make_project(root: Path, images: int = 24, *, kinds: int = 1, bad: int = 4, dtype: type = np.uint8) -> Path:
    """Create a project of good images, each a part unless there are several kinds, and of images with two classes."""
    with Project.create(root, classes=["scratch", "pit"], verdicts=["OK", "NG"]) as project:
        project.file.grouping = Grouping(rule="each" if kinds < 2 else "folder")
        project.save()
        for number in range(images + bad):
            kind, defect = number % kinds if kinds else -1, number >= images
            key = f"{'bad' if defect else f'lot{kind}'}/p{number:02d}.png"
            write_png(project.image_path(key), part(number, kind, defect=defect, dtype=dtype))
            mask = np.zeros((192, 192), np.uint8)
            if defect:
                mask[DEFECT] = 1 + number % 2
            verdict_only = not defect and number % 4 == 0
            note = annotation.Note(status="new" if verdict_only else "done", verdict="OK" if verdict_only else None)
            annotation.save_label(project, key, mask=None if verdict_only else mask, note=note)
    return root


def train(root: Path, channel: ControlChannel | None = None, **settings) -> Run:
    """Train in this process and return the run."""
    with Project.open(root) as project:
        run = create_run(project, request("good", **settings))
    report = Reporter(None, Clock(), run.events_path)
    report(good_training.train(run, report, channel or ControlChannel(None)))
    return run
