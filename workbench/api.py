"""Python interface for other programs: read a project, import and export labels, train, predict.

`API_VERSION` covers the names in `__all__`, their parameters, and what their docstrings describe; other modules of the
package may change in any version. A project is given as its folder or as the result of `open`. Errors that a user can
correct are raised as `Problem`, whose text is one or two sentences. This module imports neither Qt nor Paddle.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project import exporting, importing
from workbench.core.project.exporting import LabelExportReport
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.import_account import ImportReport, ImportRequest
from workbench.core.project.project import Project
from workbench.core.runs.events import Event
from workbench.core.runs.model_lookup import model_folder, open_model, open_network
from workbench.core.runs.run import Run
from workbench.core.runs.samples import IGNORED, LabeledProject, MapDataset, Sample
from workbench.core.runs.training_process import new_run, requested_settings, run_training
from workbench.inference.engines import EngineError
from workbench.inference.model_settings import SettingsError
from workbench.inference.predictor import Prediction, Predictor

# fmt: off
__all__ = [
    "API_VERSION", "IGNORED", "Event", "ImportReport", "LabelExportReport", "LabeledProject", "LoadedModel",
    "MapDataset", "Prediction", "Problem", "Run", "Sample", "UnusableArray", "export_labels", "import_labels", "load",
    "open", "train",
]
# fmt: on

API_VERSION = (1, 0)  # raised by: (incompatible changes, additions)

ProjectPath = Path | str | LabeledProject
Progress = Callable[[int, int], None]  # called with the number of images done and in total


class UnusableArray(Problem):
    message = "An array of shape {shape} and type {dtype} cannot be predicted."
    advice = "Pass (H, W) gray or (H, W, 3) RGB values of type uint8 or uint16, or of type float32 from 0 to 1."


class LoadedModel:
    """Model ready for prediction, in any thread. path: of its folder or file. settings: a `ModelSettings`."""

    def __init__(self, path: Path, predictor: Predictor) -> None:
        self.path, self.settings = path, predictor.settings
        self._predictor = predictor

    def predict(self, image: np.ndarray, *, name: str = "", keep_probabilities: bool = False) -> Prediction:
        """Return the prediction for an image as stored, (H, W) or (H, W, 3) RGB; uint8, uint16 or float32 (0..1).

        A segmentation gives mask, uint8 (H, W) class ids; scores; regions, each with class, box, area and score; and a
        verdict by the rule of the model. A classification gives verdict and probabilities. keep_probabilities: include
        class_scores, uint8 (classes, H, W). name: of the image with its folders and `/`, by which its inspection area
        is chosen. Raises UnusableArray, ModelUnusable.
        """
        supported = image.dtype in (np.uint8, np.uint16, np.float32)
        if not supported or 0 in image.shape or not (image.ndim == 2 or image.ndim == 3 and image.shape[2] == 3):
            raise UnusableArray(shape=image.shape, dtype=image.dtype)
        try:
            return self._predictor.predict(image, name=name, keep_probabilities=keep_probabilities)
        except EngineError as error:
            raise ModelUnusable(path=str(self.path), why=str(error)) from error


def open(project: Path | str, *, run: Run | Path | str | None = None) -> LabeledProject:
    """Open a project for reading. run: a run, its name or path, "last" or "best": the samples have its data split."""
    return LabeledProject(project, run)


def import_labels(
    project: ProjectPath, source: Path | str, *, progress: Progress | None = None, **choices: Any
) -> ImportReport:
    """Import a folder, label file or zip archive of any supported format, as `workbench import` does.

    choices: format ("auto"), conflicts ("keep", "replace", "merge"), boxes ("box", "ellipse", "cut"), classes and
    verdicts (name in the labels -> name in the project, None to ignore it), class_name, threshold, copy, split. The
    project must not be open in a window. Raises ProjectLocked, FolderMissing, UnknownFormat, NothingToImport.
    """
    request = ImportRequest(**choices)
    with Project.open(_folder(project)) as opened:
        return importing.import_labels(opened, source, request, progress=progress)


def export_labels(
    project: ProjectPath, target: Path | str, format: str, *, progress: Progress | None = None, **choices: Any
) -> LabelExportReport:
    """Write the labels to `target`, a new or empty folder, as `workbench labels` does.

    format: such as "coco". choices: images, shapes ("polygon", "mask"), split, contiguous. For a project opened with a
    run, the data split is that of the run. Raises UnknownFormat, ExportExists, NoLabels, CannotWrite.
    """
    items = project.items if isinstance(project, LabeledProject) and project.run is not None else None
    return exporting.export_labels(
        Project.open(_folder(project), write=False),
        target,
        format=format,
        options=LabelExportOptions(**choices),
        splits=None if items is None else {key: item.split for key, item in items.items()},
        progress=progress,
    )


def train(
    project: ProjectPath,
    model: str = "unet",
    *,
    minutes: float | None = None,
    on_event: Callable[[Event], bool | None] | None = None,
    **settings: Any,
) -> Run:
    """Train in a child process, as `workbench train` does, and return the run once it has ended.

    model: "unet", "resnet" or "good". settings: training settings such as epochs, device, batch, start_from; others are
    planned. on_event: called with each event, of which `kind` is "started", "step", "evaluated", "trouble" or another;
    if it returns False, or on Ctrl+C, the training stops and its best model remains; an exception kills it. The run has
    name, root, events() and best_evaluation() or None. Raises ProjectLocked, BadSettings, PaddleMissing and others.
    """
    root = _folder(project)
    choices = settings if minutes is None else {**settings, "minutes": minutes}
    run = new_run(root, requested_settings(root, model, choices))
    run_training(run, on_event=on_event or (lambda event: None), on_stop=lambda: None)
    return run


def load(model: Run | Path | str, *, project: ProjectPath | None = None, threads: int | None = None) -> LoadedModel:
    """Load the model of a run or export: the run, a folder, an ONNX file, or with `project` a run by name.

    threads: CPU threads, 0 for all. Raises UnknownModel, UnknownRun, RunUnusable, ExportDamaged, ModelUnusable.
    """
    path = model.root if isinstance(model, Run) else Path(model)
    try:
        if path.suffix.lower() == ".onnx":
            return LoadedModel(path, open_network(path, threads))
        folder = model_folder(path, None if project is None else _folder(project))
        return LoadedModel(folder, open_model(folder, threads))
    except (SettingsError, EngineError) as error:
        raise ModelUnusable(path=str(path), why=str(error)) from error


def _folder(project: ProjectPath) -> Path:
    return project.root if isinstance(project, LabeledProject) else Path(project)
