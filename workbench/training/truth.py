"""The labels of a run's held-out pictures as they were when it began: it is judged by these to its end."""

from __future__ import annotations

import contextlib
import os
import shutil

import numpy as np

from workbench.core.annotation import read_mask
from workbench.core.dataset import Dataset
from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.core.run import Run
from workbench.core.storage import check_links, inside
from workbench.inference.writing import make_folder


class Truth:
    """Keeps masks in `held_out/`, so that a label that is corrected meanwhile does not move the score."""

    def __init__(self, run: Run, project: Project, dataset: Dataset) -> None:
        self._folder = run.root / "held_out"
        if dataset.model == "unet" and not self._folder.exists():
            for item in dataset.of("val", "test"):
                with contextlib.suppress(OSError, Problem):  # what is not here is read where it always was
                    self._keep(project, item.key)

    def mask(self, key: str) -> np.ndarray | None:
        """uint8 (H, W); None if there is none here."""
        try:
            return read_mask(inside(self._folder, f"{key}.png"))
        except (OSError, Problem):
            return None

    def _keep(self, project: Project, key: str) -> None:
        source, target = project.mask_path(key), inside(self._folder, f"{key}.png")
        check_links(self._folder, target)
        make_folder(target.parent)
        try:
            os.link(source, target)  # a label is never written in place: this name keeps the file as it is
        except OSError:
            shutil.copyfile(source, target)
