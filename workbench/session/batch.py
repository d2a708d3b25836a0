"""A folder of pictures through a model: in a thread beside the window, by the same code as the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal

from workbench.core.problems import CannotWrite, ModelUnusable, NothingToPredict, Problem, ResultsTaken

if TYPE_CHECKING:
    from workbench.inference.predictor import Result


@dataclass(frozen=True)
class Wish:
    """model: a run's or an export's folder. pictures: folder, file or pattern. go_on: keep what was done in `out`."""

    model: Path
    pictures: Path
    out: Path
    overlays: bool = True
    go_on: bool = False


@dataclass(frozen=True)
class Looked:
    """One picture that is done. found: regions, None for a verdict. shown: a file to look at. why: it was skipped."""

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
    """pictures, skipped: in the folder of results, those of earlier runs too. whole: all were come to."""

    out: Path
    pictures: int
    skipped: int
    whole: bool


class _Thread(QThread):
    began = Signal(int)  # pictures
    looked = Signal(object)
    ended = Signal(object)  # Ended | Problem

    def __init__(self, wish: Wish, parent: QObject) -> None:
        super().__init__(parent)
        self._wish = wish

    def run(self) -> None:
        try:
            self.ended.emit(self._work())
        except Problem as problem:
            self.ended.emit(problem)
        except Exception as error:  # a thread that dies silently would leave the window waiting
            self.ended.emit(self._as_problem(error))

    def _work(self) -> Ended:
        # Imported here, since the window starts without them.
        from workbench.core.models import model_folder, open_model
        from workbench.inference.batch import ResultsFolder, predict_all
        from workbench.inference.ledger import model_fingerprint
        from workbench.inference.naming import collect_pictures

        wish = self._wish
        folder = model_folder(wish.model)
        sources, skipped = collect_pictures([wish.pictures], leave_out=wish.out)
        if not sources:
            raise NothingToPredict(path=str(wish.pictures), why=skipped[0].why)
        predictor = open_model(folder)
        self.began.emit(len(sources))
        fingerprint = model_fingerprint(folder)
        with ResultsFolder(
            wish.out, predictor, fingerprint=fingerprint, resume=wish.go_on, overlays=wish.overlays, skipped=skipped
        ) as results:

            def on_picture(number: int, total: int, path: str, result: Result | None, why: str) -> None:
                self.looked.emit(_looked(number, total, Path(path), result, why, results.overlay_of(path)))

            whole = predict_all(
                results, sources, on_picture=on_picture, stop=self.isInterruptionRequested,
                cancelled=self.isInterruptionRequested,
            )  # fmt: skip
            done, passed = results.counts()
        return Ended(wish.out, done, passed, whole)

    def _as_problem(self, error: Exception) -> Problem:
        from workbench.inference.ledger import LedgerError

        if isinstance(error, LedgerError):
            return ResultsTaken(why=str(error))
        if isinstance(error, OSError):
            return CannotWrite(path=str(error.filename or self._wish.out), why=error.strerror or str(error))
        return ModelUnusable(path=str(self._wish.model), why=str(error) or type(error).__name__)


def _looked(number: int, total: int, path: Path, result: Result | None, why: str, overlay: Path | None) -> Looked:
    if result is None:
        return Looked(number, total, path, path, why=why)
    regions = None if result.mask is None else len(result.regions)
    largest = result.regions[0].area if result.regions else None
    shown = overlay if overlay is not None else path
    return Looked(number, total, path, shown, regions, result.verdict, largest, result.milliseconds)


class FolderPrediction(QObject):
    """One folder at a time."""

    began = Signal(int)  # pictures
    looked = Signal(object)  # Looked
    ended = Signal(object)  # Ended
    failed = Signal(object)  # Problem
    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: _Thread | None = None
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

    @property
    def running(self) -> bool:
        return self._thread is not None

    def start(self, wish: Wish) -> None:
        """`began`, `looked` for each picture, and `ended` or `failed` follow."""
        if self.running:
            return
        self._thread = _Thread(wish, self)
        self._thread.began.connect(self.began)
        self._thread.looked.connect(self.looked)
        self._thread.ended.connect(self._end)
        self._thread.start(QThread.Priority.LowPriority)
        self.state_changed.emit()

    def cancel(self) -> None:
        """Stop in the middle of a picture, which then is not done; `ended` follows."""
        if self._thread is not None:
            self._thread.requestInterruption()

    def close(self) -> None:
        """End without a word; what is done stays done."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.blockSignals(True)
            thread.requestInterruption()
            thread.wait()

    def _end(self, ending: Ended | Problem) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.wait()
        thread.deleteLater()
        (self.failed if isinstance(ending, Problem) else self.ended).emit(ending)
        self.state_changed.emit()
