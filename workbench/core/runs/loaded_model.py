"""Model of a run, an export or an ONNX file, loaded for predictions by another program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, ModelUnusable, Problem
from workbench.core.runs.model_lookup import model_folder, open_model, open_network
from workbench.core.runs.run import Run
from workbench.inference.engines import EngineError
from workbench.inference.io.image_io import ReadError
from workbench.inference.model_settings import SettingsError
from workbench.inference.predictor import Prediction, Predictor


class UnusableArray(Problem):
    message = "An array of shape {shape} and type {dtype} cannot be predicted."
    advice = "Pass (H, W) gray or (H, W, 3) RGB values of type uint8 or uint16, or of type float32 from 0 to 1."


class LoadedModel:
    """Model ready for prediction, in any thread. path: of its folder or file. settings: a `ModelSettings`."""

    def __init__(self, path: Path, predictor: Predictor) -> None:
        self.path, self.settings = path, predictor.settings
        self._predictor = predictor

    def __repr__(self) -> str:
        return f"<LoadedModel {self.settings.name!r} from {str(self.path)!r}>"

    def predict(
        self, image: np.ndarray | Path | str, *, name: str = "", keep_probabilities: bool = False
    ) -> Prediction:
        """Return the prediction for an image file, or an image as stored, (H, W) or (H, W, 3) RGB; uint8, uint16 or
        float32 (0..1).

        A segmentation gives mask, uint8 (H, W) class ids; scores; regions, each with class, box, area and score; and a
        verdict by the rule of the model. A classification gives verdict and probabilities. keep_probabilities: include
        class_scores, uint8 (classes, H, W). name: of the image with its folders and `/`, by which its inspection area
        is chosen. Raises ImageBroken, UnusableArray, ModelUnusable.
        """
        if isinstance(image, (Path, str)):
            image = image_files.read(Path(image))
        supported = image.dtype in (np.uint8, np.uint16, np.float32)
        if not supported or 0 in image.shape or not (image.ndim == 2 or image.ndim == 3 and image.shape[2] == 3):
            raise UnusableArray(shape=image.shape, dtype=image.dtype)
        with as_problems(self.path):
            return self._predictor.predict(image, name=name, keep_probabilities=keep_probabilities)


def load_model(model: Run | Path | str, project_root: Path | None, threads: int | None) -> LoadedModel:
    """Load the model of a run, a folder or an ONNX file. project_root: for a name of `find_run`; threads: 0 for all.

    Raises UnknownModel, UnknownRun, RunUnusable, ExportDamaged, ModelUnusable.
    """
    path = model.root if isinstance(model, Run) else Path(model)
    with as_problems(path):
        if path.suffix.lower() == ".onnx":
            return LoadedModel(path, open_network(path, threads))
        folder = model_folder(path, project_root)
        return LoadedModel(folder, open_model(folder, threads))


@contextmanager
def as_problems(path: Path) -> Iterator[None]:
    """Context in which errors of engines and files are raised as problems. path: of the model."""
    try:
        yield
    except (SettingsError, EngineError) as error:
        raise ModelUnusable(path=str(path), why=str(error)) from error
    except ReadError as error:
        raise ImageBroken(path=str(error.path), why=error.why) from error
