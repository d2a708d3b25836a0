"""Labelers: functions of other programs that suggest regions, see `core.plugins`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.core.plugins import plugins
from workbench.core.problems import ImageBroken, UnknownModel
from workbench.core.project.project import ClassInfo
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Prediction
from workbench.inference.regions import most_certain_regions

PREFIX = "labeler:"
_MOST = 2000  # regions of an image


class Labeler:
    """Labeler that suggests regions of the classes of a project, as a model does. name: "labeler:NAME".

    Raises UnknownModel.
    """

    def __init__(self, name: str, classes: Sequence[ClassInfo]) -> None:
        found = plugins("workbench.labelers", callable).get(name.removeprefix(PREFIX))
        if found is None:
            raise UnknownModel(path=name)
        self._label: Callable[[np.ndarray], Mapping[str, np.ndarray]] = found
        own = tuple(ClassSettings(info.id, info.name, info.color) for info in classes)
        limits = {"thresholds": (0.5,) * len(own), "min_area": (0,) * len(own)}
        self.settings = ModelSettings(task="segmentation", name=name, classes=own, **limits)

    def predict(
        self, image: np.ndarray, *, name: str = "", cancelled: Callable[[], bool] = lambda: False
    ) -> Prediction:
        """Return the regions of an image as stored; classes that the project lacks are left out. Raises ImageBroken."""
        mask = np.zeros(image.shape[:2], np.uint8)
        ids = {info.name: info.id for info in self.settings.classes}
        try:
            for label, inside in self._label(image).items():
                if label in ids:
                    mask[np.asarray(inside, bool)] = ids[label]
        except Exception as error:  # of a program of somebody else
            raise ImageBroken(path=self.settings.name, why=f"{type(error).__name__}: {error}") from error
        scores = np.where(mask > 0, np.uint8(255), np.uint8(0))
        regions, left_out = most_certain_regions(mask, scores, self.settings, _MOST)
        return Prediction(mask, scores, regions, None, None, 0.0, left_out=left_out)
