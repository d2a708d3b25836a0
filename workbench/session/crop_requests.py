"""Parts of the images of an evaluation, cut out in a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from workbench.core.problems import ImageBroken
from workbench.inference.model_settings import ModelSettings
from workbench.session.tasks import TaskRunner

if TYPE_CHECKING:
    from workbench.core.evaluation.defect_crops import CropFrame, Cropper
    from workbench.core.evaluation.stored_predictions import StoredPrediction
    from workbench.core.project.project import Project


class CropRequests:
    """Requests for crops of the images of one project. `open` comes first."""

    def __init__(self, parent: QObject) -> None:
        self._tasks = TaskRunner(1, parent)
        self._cropper: Cropper | None = None

    def open(self, project: Project) -> None:
        from workbench.core.evaluation.defect_crops import Cropper

        self._cropper = Cropper(project)

    def request(
        self,
        prediction: StoredPrediction,
        settings: ModelSettings,
        frame: CropFrame,
        on_done: Callable[[np.ndarray | None], None],
    ) -> None:
        """Cut out a part of an image; `on_done` receives uint8 RGB, or None if the image cannot be read.

        settings: with the thresholds of the outlines to draw.
        """
        cropper = self._cropper
        if cropper is None:
            return
        self._tasks.submit(
            lambda _: cropper.crop(prediction, settings, frame),
            on_done,
            lambda _: on_done(None),
            as_problem=lambda error: ImageBroken(path=prediction.key, why=str(error)),
        )

    def cancel(self) -> None:
        """Cancel the crops that are not made yet."""
        self._tasks.cancel()

    def stop(self) -> None:
        self._tasks.stop()
