"""Labels of a run's validation/test images at its start, used for evaluation until its end."""

from __future__ import annotations

import contextlib
import os
import shutil

import numpy as np

from workbench.core.problems import Problem
from workbench.core.project.annotation import read_mask
from workbench.core.project.project import Project
from workbench.core.project.storage import check_links, inside
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.run import Run
from workbench.inference.io.atomic_write import make_folder


class FrozenLabels:
    """Copies of masks in `held_out/`, so that labels corrected during a run do not change its metrics."""

    def __init__(self, run: Run, project: Project, dataset: Dataset) -> None:
        self._folder = run.root / "held_out"
        if dataset.model == "unet" and not self._folder.exists():
            for item in dataset.of("val", "test"):
                with contextlib.suppress(OSError, Problem):  # a missing copy is read from the project instead
                    self._copy_mask(project, item.key)

    def mask(self, key: str) -> np.ndarray | None:
        """Return uint8 (H, W); None if there is no copy."""
        try:
            return read_mask(inside(self._folder, f"{key}.png"))
        except (OSError, Problem):
            return None

    def _copy_mask(self, project: Project, key: str) -> None:
        source, target = project.mask_path(key), inside(self._folder, f"{key}.png")
        check_links(self._folder, target)
        make_folder(target.parent)
        try:
            os.link(source, target)  # labels are replaced, not written in place: this link keeps the content
        except OSError:
            shutil.copyfile(source, target)
