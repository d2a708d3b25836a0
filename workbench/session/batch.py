"""Prediction of an image folder: a background thread that runs the same code as the command line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.problems import CannotWrite, ModelUnusable, NothingToPredict, Problem, ResultsTaken
from workbench.inference.stopping import Stop
from workbench.session.errand import Errand, ErrandThread

if TYPE_CHECKING:
    from workbench.inference.predictor import Result


@dataclass(frozen=True)
class Wish:
    """Request for a prediction over a folder.

    model: folder of a run or an export. pictures: folder, file or pattern. go_on: keep the existing results in `out`.
    watch: like `go_on`, and process new images until canceled.
    """

    model: Path
    pictures: Path
    out: Path
    overlays: bool = True
    go_on: bool = False
    watch: bool = False


@dataclass(frozen=True)
class Looked:
    """Result for one image.

    found: number of regions, None for a classification model. shown: file to display. why: reason why the image was
    skipped. total: 0 if the number of images is unknown.
    """

    number: int
    total: int
    path: Path
    shown: Path
    found: int | None = None
    verdict: str | None = None
    largest: int | None = None
    milliseconds: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class Ended:
    """Summary of a prediction.

    pictures, skipped: counts in the results folder, earlier runs included. whole: all images were processed.
    """

    out: Path
    pictures: int
    skipped: int
    whole: bool


class _Thread(ErrandThread):
    began = Signal(int)  # number of images
    looked = Signal(object)

    def __init__(self, wish: Wish, parent: QObject) -> None:
        super().__init__(parent)
        self._wish = wish
        self._stop = Stop()

    def give_up(self) -> None:
        for _ in range(2):  # the second request also interrupts the image being processed
            self._stop.wish()

    def work(self) -> Ended:
        # Imported here to keep the start of the window fast.
        from workbench.core.models import model_folder, open_model
        from workbench.inference.batch import ResultsFolder, predict_all
        from workbench.inference.ledger import model_fingerprint
        from workbench.inference.naming import collect_pictures
        from workbench.inference.watching import watch

        wish = self._wish
        folder = model_folder(wish.model)
        sources, skipped = collect_pictures([wish.pictures], leave_out=wish.out)
        if not sources and not wish.watch:
            raise NothingToPredict(path=str(wish.pictures), why=skipped[0].why)
        predictor = open_model(folder)
        self.began.emit(0 if wish.watch else len(sources))
        with ResultsFolder(
            wish.out, predictor, fingerprint=model_fingerprint(folder), resume=wish.go_on or wish.watch,
            overlays=wish.overlays, live=wish.watch, skipped=() if wish.watch else skipped,
        ) as results:  # fmt: skip

            def on_picture(number: int, total: int, path: str, result: Result | None, why: str) -> None:
                self.looked.emit(_looked(number, total, Path(path), result, why, results.overlay_of(path)))

            if wish.watch:
                number = itertools.count(1)
                whole = False
                watch(results, [wish.pictures], self._stop, on_picture=lambda *told: on_picture(next(number), 0, *told))
            else:
                whole = predict_all(
                    results, sources, on_picture=on_picture, stop=self._stop.asked, cancelled=self._stop.at_once
                )
            done, passed = results.counts()
        return Ended(wish.out, done, passed, whole)

    def as_problem(self, error: Exception) -> Problem:
        from workbench.inference.ledger import LedgerError

        if isinstance(error, LedgerError):
            return ResultsTaken(why=str(error))
        if isinstance(error, OSError):
            return CannotWrite.of(error.filename or self._wish.out, error)
        return ModelUnusable(path=str(self._wish.model), why=str(error) or type(error).__name__)


def _looked(number: int, total: int, path: Path, result: Result | None, why: str, overlay: Path | None) -> Looked:
    if result is None:
        return Looked(number, total, path, path, why=why)
    regions = None if result.mask is None else len(result.regions)
    largest = result.regions[0].area if result.regions else None
    shown = overlay if overlay is not None else path
    return Looked(number, total, path, shown, regions, result.verdict, largest, result.milliseconds)


class FolderPrediction(Errand):
    """Prediction of one folder at a time. An image interrupted by a cancellation gets no result."""

    began = Signal(int)  # number of images, 0 in watch mode
    looked = Signal(object)  # Looked
    ended = Signal(object)  # Ended

    def start(self, wish: Wish) -> None:
        """Start a prediction; emits `began`, `looked` for each image, then `ended` or `failed`."""
        if self.running:
            return
        thread = _Thread(wish, self)
        thread.began.connect(self.began)
        thread.looked.connect(self.looked)
        self.begin(thread, QThread.Priority.LowPriority)

    def heed(self, thread: ErrandThread, ending: Ended | Problem) -> None:
        (self.failed if isinstance(ending, Problem) else self.ended).emit(ending)
