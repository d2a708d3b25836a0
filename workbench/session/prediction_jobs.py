"""Predictions of many images in a background thread: of a folder, and suggestions for all images of the project.

Both run the same code as the command line.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from workbench.core.problems import CannotWrite, ModelUnusable, NothingToPredict, ResultsTaken
from workbench.core.project.project import Project
from workbench.inference.batch.interrupts import GracefulInterrupt
from workbench.inference.verdict_rule import ResultsSummary, given_verdict
from workbench.session.session import Session
from workbench.session.tasks import Job, Task

if TYPE_CHECKING:
    from workbench.core.suggestions.suggestion_files import ImageSuggested
    from workbench.inference.input_guard import InputCheck
    from workbench.inference.predictor import Prediction
    from workbench.inference.regions import Region


@dataclass(frozen=True)
class FolderRequest:
    """Request for a prediction over a folder.

    model: folder of a run or an export. images: folder, file or pattern. resume: keep the existing results in `out`.
    watch: like `resume`, and process new images until canceled.
    """

    model: Path
    images: Path
    out: Path
    overlays: bool = True
    resume: bool = False
    watch: bool = False


@dataclass(frozen=True)
class ImagePredicted:
    """Result for one image.

    verdict: of the model, or of its regions, see `given_verdict`. found, classes, largest: number of regions, their
    classes, that of the largest first, and the largest region. shown: file to display. why: reason why the image was
    skipped. total: 0 if the number of images is unknown. input: comparison with the training images.
    """

    number: int
    total: int
    path: Path
    shown: Path
    verdict: str = ""
    found: int = 0
    classes: tuple[str, ...] = ()
    largest: Region | None = None
    milliseconds: float = 0.0
    why: str = ""
    input: InputCheck | None = None


@dataclass(frozen=True)
class FolderSummary:
    """Summary of a prediction.

    images, skipped: counts in the results folder, earlier runs included, as in `results`. whole: all images were
    processed. remarks: sentences of `ResultsFolder.remarks`.
    """

    out: Path
    images: int
    skipped: int
    whole: bool
    results: ResultsSummary
    remarks: Sequence[str] = ()


def predict_folder(request: FolderRequest, stop: GracefulInterrupt, task: Task) -> FolderSummary:
    """Predict the images, in the worker thread. Reports the number of images, then an ImagePredicted per image."""
    # Imported here to keep the start of the window fast.
    from workbench.core.runs.model_lookup import model_folder, open_model
    from workbench.inference.batch.folder_watch import watch
    from workbench.inference.batch.input_paths import collect_images
    from workbench.inference.batch.results_folder import ResultsFolder, predict_all
    from workbench.inference.batch.results_log import ResultsLogError, model_fingerprint

    folder = model_folder(request.model)
    sources, skipped = collect_images([request.images], leave_out=request.out)
    if not sources and not request.watch:
        raise NothingToPredict(path=str(request.images), why=skipped[0].why)
    predictor = open_model(folder)
    task.report(0 if request.watch else len(sources))
    try:
        with ResultsFolder(
            request.out,
            predictor,
            fingerprint=model_fingerprint(folder),
            resume=request.resume or request.watch,
            overlays=request.overlays,
            live=request.watch,
            skipped=() if request.watch else skipped,
        ) as results:

            def on_image(number: int, total: int, path: str, result: Prediction | None, why: str) -> None:
                task.report(predicted_event(number, total, Path(path), result, why, results.overlay_of(path)))

            if request.watch:
                number = itertools.count(1)
                whole = False
                watch(results, [request.images], stop, on_image=lambda *image: on_image(next(number), 0, *image))
            else:
                whole = predict_all(results, sources, on_image=on_image, stop=stop.requested, cancelled=stop.at_once)
            (done, passed), summary, remarks = results.counts(), results.summary(), results.remarks
    except ResultsLogError as error:
        raise ResultsTaken(why=str(error)) from error
    except OSError as error:
        raise CannotWrite.of(error.filename or request.out, error) from error
    return FolderSummary(request.out, done, passed, whole, summary, remarks)


def predicted_event(
    number: int, total: int, path: Path, result: Prediction | None, why: str, overlay: Path | None
) -> ImagePredicted:
    """Return the report of one image. result: None if it was skipped. overlay: its file, if one was written."""
    if result is None:
        return ImagePredicted(number, total, path, path, why=why)
    verdict = given_verdict({"verdict": result.verdict, "regions": result.regions})
    classes = tuple(dict.fromkeys(region.class_name for region in result.regions))
    found = len(result.regions), classes, result.regions[0] if result.regions else None
    shown = overlay if overlay is not None else path
    return ImagePredicted(number, total, path, shown, verdict, *found, result.milliseconds, input=result.input)


class FolderPrediction(Job):
    """Prediction of one folder at a time. An image interrupted by a cancellation gets no result."""

    began = Signal(int)  # number of images, 0 in watch mode
    predicted = Signal(object)  # ImagePredicted
    ended = Signal(object)  # FolderSummary

    def start(self, request: FolderRequest) -> None:
        """Start a prediction; emits `began`, `predicted` for each image, then `ended` or `failed`."""
        if self.running:
            return
        stop = GracefulInterrupt()

        def interrupt() -> None:
            for _ in range(2):  # the second request also interrupts the image being processed
                stop.request()

        self.begin(
            lambda task: predict_folder(request, stop, task),
            self.ended.emit,
            on_progress=self._report,
            as_problem=lambda error: ModelUnusable(path=str(request.model), why=str(error) or type(error).__name__),
            interrupt=interrupt,
        )

    def _report(self, progress: int | ImagePredicted) -> None:
        (self.began if isinstance(progress, int) else self.predicted).emit(progress)


# --- suggestions for all images -------------------------------------------------------------------


@dataclass(frozen=True)
class SuggestAllSummary:
    """Summary. images: predicted. suggestions: for them. skipped: unreadable. whole: all images were processed."""

    images: int
    suggestions: int
    skipped: int
    whole: bool


def _suggest(project: Project, model: Path, keys: Sequence[str], task: Task) -> SuggestAllSummary:
    """Predict the images, in the worker thread. Reports (number, key, suggestions, reason for skipping) per image."""
    # Imported here to keep the start of the window fast.
    from workbench.core.runs.model_lookup import model_folder, open_model
    from workbench.core.suggestions.suggestion_files import suggest_all

    images = suggestions = skipped = 0

    def on_image(number: int, image: ImageSuggested) -> None:
        nonlocal images, suggestions, skipped
        if image.why:
            skipped += 1
        else:
            images, suggestions = images + 1, suggestions + len(image.suggestions)
        task.report(number, image.key, len(image.suggestions), image.why)

    folder = model_folder(model)
    predictor = open_model(folder)
    whole = suggest_all(
        project,
        predictor,
        folder,
        keys,
        on_image=on_image,
        resume=True,
        stop=task.cancelled,
        cancelled=task.cancelled,
    )
    return SuggestAllSummary(images, suggestions, skipped, whole)


class SuggestAll(Job):
    """Prediction of all images, one pass at a time. Images already predicted by the same model are skipped."""

    began = Signal(int)  # number of images
    predicted = Signal(int, object, int, str)  # number, key, suggestions, reason for skipping
    ended = Signal(object)  # SuggestAllSummary

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, model: Path) -> None:
        """Save unsaved labels and start; emits `began`, `predicted` per image, then `ended` or `failed`."""
        project, keys = self._session.project, self._session.keys
        if self.running or project is None or not project.writable or not keys:
            return
        self._session.flush()
        self.began.emit(len(keys))
        keys = list(keys)
        self.begin(
            lambda task: _suggest(project, model, keys, task),
            self.ended.emit,
            on_progress=self.predicted.emit,
            as_problem=lambda error: ModelUnusable(path=str(model), why=str(error) or type(error).__name__),
        )

    def close(self) -> None:
        """Cancel without a result; suggestions found so far are kept."""
        if self.running:
            super().close()
            self.state_changed.emit()
