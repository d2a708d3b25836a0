"""Copying labels from one image to another: parts of a series often show the same defect at the same place."""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import LabelsNotCopied
from workbench.core.project import annotation
from workbench.core.project.project import BACKGROUND, NOT_LABELED, Project
from workbench.inference.io.opencv import cv2
from workbench.session.editor import Editor
from workbench.session.label import Label
from workbench.session.tasks import Task, TaskRunner

_ATTEMPTS = 40  # attempts, 50 ms apart

ClassRegion = tuple[int, np.ndarray, tuple[int, int]]  # id, bool (h, w), corner (x, y)


class LabelCopier(QObject):
    """Reads the source mask in a worker thread, then paints on the image in the editor."""

    problem_met = Signal(object)

    def __init__(self, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.tasks = TaskRunner(parent=self)

    def close(self) -> None:
        self.tasks.stop()

    def copy(self, project: Project, source: str, unsaved: Label | None) -> None:
        """Copy labels from the image `source`. unsaved: its label if memory is newer than the disk."""
        target = self._editor.label
        if target is None:
            return

        def work(_: Task) -> tuple[tuple[int, ...], list[ClassRegion]]:
            if unsaved is not None and unsaved.mask is not None:
                return unsaved.mask.shape, _consistent_regions(unsaved, unsaved.mask)
            mask = annotation.load_mask(project, source)
            if mask is None:
                raise LabelsNotCopied(source=source, why="it has no labels")
            return mask.shape, class_regions(mask)

        self.tasks.submit(
            work,
            lambda content: self._paint(source, target, *content),
            self.problem_met.emit,
            as_problem=lambda error: LabelsNotCopied(source=source, why=str(error)),
        )

    def _paint(self, source: str, target: Label, shape: tuple[int, ...], regions: list[ClassRegion]) -> None:
        if self._editor.label is not target:
            return  # another image was opened meanwhile
        if target.mask is not None and target.mask.shape != shape:
            (h, w), (height, width) = shape, target.mask.shape
            why = f"its size is {w} × {h} pixels, but the size of the current image is {width} × {height}"
            self.problem_met.emit(LabelsNotCopied(source=source, why=why))
        elif self._editor.begin("copy labels"):
            for id, region, corner in regions:
                self._editor.paint_region(region, corner, id)
            self._editor.commit()


def _consistent_regions(label: Label, mask: np.ndarray) -> list[ClassRegion]:
    """Return the `class_regions` of the mask of a label that the GUI thread may be changing.

    Retry until no stroke was made meanwhile. Raises LabelsNotCopied after too many attempts.
    """
    for _ in range(_ATTEMPTS):
        before = label.write_sequence
        if before % 2 == 0:
            regions = class_regions(mask)
            if label.write_sequence == before:
                return regions
        time.sleep(0.05)
    raise LabelsNotCopied(source=label.key, why="it is being edited")


def class_regions(mask: np.ndarray) -> list[ClassRegion]:
    """Return the painted pixels of uint8 (H, W), per id within their bounding box."""
    regions = []
    for id in annotation.ids_in(mask):
        if id not in (BACKGROUND, NOT_LABELED):
            inside = (mask == id).view(np.uint8)  # OpenCV would treat a mask of one pixel as a scalar
            x, y, width, height = cv2.boundingRect(inside)
            regions.append((id, inside[y : y + height, x : x + width] > 0, (x, y)))
    return regions
