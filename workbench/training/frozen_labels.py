"""Labels of a run's validation/test images, used for its metrics and the choice of its weights until its end."""

from __future__ import annotations

import hashlib

import numpy as np

from workbench.core.problems import MaskBroken, MaskWrongSize, RunLabelChanged
from workbench.core.project.annotation import check_ids, ignore_outside, read_mask
from workbench.core.project.project import Project
from workbench.core.project.storage import inside
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.held_out import Item
from workbench.core.runs.run import Run
from workbench.inference.io.file_access import read_regular


class FrozenLabels:
    """Copies of masks in `held_out/`, so that labels corrected during a run do not change its metrics."""

    def __init__(self, run: Run, project: Project, dataset: Dataset) -> None:
        self._run, self._project, self._dataset = run, project, dataset

    def mask(self, item: Item, size: tuple[int, int]) -> np.ndarray:
        """Return uint8 (H, W), from the project if the copy is damaged and the project still has the same file.

        size: (width, height) of the image. Raises RunLabelChanged if neither is the label with which the run began,
        MaskUnknownClass, and MaskWrongSize if the image has another size since then.
        """
        copy = inside(self._run.held_out, f"{item.key}.png")
        for path in (copy, self._project.mask_path(item.key)):
            try:
                mask = read_mask(path)
                digest = hashlib.sha256(read_regular(path)).hexdigest()[:16]  # last: a change in between is noticed
            except (OSError, MaskBroken):
                continue
            if item.mask_hash in ("", digest):
                check_ids(mask, path, self._dataset.classes)
                if mask.shape != size[::-1]:
                    height, width = mask.shape
                    raise MaskWrongSize(
                        path=str(path), mask_width=width, mask_height=height, width=size[0], height=size[1]
                    )
                return ignore_outside(self._project, item.key, mask)
        raise RunLabelChanged(path=str(copy))
