"""An export under way: a child process that writes, checks and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QThread, Signal

from workbench.core import endings
from workbench.core.events import Event, Failed, Finished, Progress
from workbench.core.launch import worker_command, worker_environment
from workbench.core.problems import Problem, WorkerFailed
from workbench.core.run import Run
from workbench.session.child import Child, Patience

Command = Callable[[Run, Path, Sequence[str]], Sequence[str]]
_EARLY = 0.1  # share done before which the time left is a guess


@dataclass(frozen=True)
class Choices:
    """What a person may choose about an export.

    formats: names of engines, see inference.engines.kinds. point: where a defect begins: "balanced" as validated,
    "more", "fewer", or a probability as text. target_ms: for the usual picture; None for none. language: of the
    model card, "en" or "zh_CN"; "" for that of the window.
    """

    formats: tuple[str, ...] = ("onnx",)
    point: str = "balanced"
    target_ms: float | None = None
    language: str = ""

    def options(self) -> list[str]:
        """What the child is told beside the formats."""
        target = [] if self.target_ms is None else ["--target", f"{self.target_ms:g}"]
        point = [] if self.point == "balanced" else ["--point", self.point]
        return [*point, *target, "--language", self.language or language_of_window()]


ONE_CLICK = Choices()


def language_of_window() -> str:
    """Of those in which there is a model card."""
    return "zh_CN" if QLocale().language() == QLocale.Language.Chinese else "en"


class _ExportThread(QThread):
    reported = Signal(object)
    ended = Signal(object)  # Finished | Failed

    def __init__(self, child: Child, parent: QObject) -> None:
        super().__init__(parent)
        self.child = child

    def run(self) -> None:
        ending: Finished | Failed | None = None
        try:
            for event in self.child.events():
                self.reported.emit(event)
                if isinstance(event, (Finished, Failed)):
                    ending = event
        except OSError as error:
            ending = endings.failed("export", str(error), self.child.log)
        if ending is None:
            why = endings.cause(self.child.returncode, self.child.log_tail())
            ending = endings.failed("export", why, self.child.log)
        if not self.child.detached:
            self.ended.emit(ending)


class Exporter(QObject):
    """One export at a time. command: (run, out, formats) -> the child's whole command, in place of the program's."""

    progressed = Signal(object)  # Progress
    reported = Signal(object)  # every Event, Trouble too
    finished = Signal(object)  # dict: path, formats, parity
    failed = Signal(object)  # Problem
    cancelled = Signal()
    state_changed = Signal()

    def __init__(self, parent: QObject | None = None, *, command: Command | None = None) -> None:
        super().__init__(parent)
        self._command = command or export_command
        self._thread: _ExportThread | None = None
        self._cancelling = False
        self.choices = ONE_CLICK  # of the export under way, or of the last one
        self._heard_last: Progress | None = None
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

    @property
    def running(self) -> bool:
        return self._thread is not None

    @property
    def eta_seconds(self) -> float | None:
        """Seconds until the export is done; None while that cannot be told."""
        last = self._heard_last
        if not self.running or last is None or not last.total or last.done < _EARLY * last.total:
            return None
        return last.time * (last.total - last.done) / last.done

    def start(self, run: Run, out: Path | str | None = None, choices: Choices = ONE_CLICK) -> None:
        """Export `run` into a new folder; `finished`, `failed` or `cancelled` follows."""
        if self.running:
            return
        self.choices, self._heard_last = choices, None
        try:
            run.need_usable()
            folder = Path(out) if out is not None else free_folder(run)
            command = [*self._command(run, folder, choices.formats), *choices.options()]
            child = Child(
                command, environment=worker_environment("cpu"), log=run.root / "export-log.txt",
                patience=Patience(order=0),
            )  # fmt: skip
        except Problem as problem:
            self.failed.emit(problem)
            return
        self._cancelling = False
        self._thread = _ExportThread(child, self)
        self._thread.reported.connect(self._heard)
        self._thread.ended.connect(self._ended)
        self._thread.start()
        self.state_changed.emit()

    def cancel(self) -> None:
        """End the child; what it has not finished is not offered."""
        if self._thread is not None:
            self._cancelling = True
            self._thread.child.stop(None)

    def close(self) -> None:
        """End without a word, for the end of the window."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.reported.disconnect(self._heard)
            thread.ended.disconnect(self._ended)
            thread.child.stop(None)
            thread.wait()

    def _heard(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._heard_last = event
            self.progressed.emit(event)
        self.reported.emit(event)

    def _ended(self, ending: Finished | Failed) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.wait()
        thread.deleteLater()
        if isinstance(ending, Finished) and ending.why == "done":
            self.finished.emit(ending.result)
        elif self._cancelling:
            self.cancelled.emit()
        elif isinstance(ending, Failed):
            self.failed.emit(endings.to_problem(ending, "export", thread.child.log))
        else:
            self.failed.emit(WorkerFailed(what="export", why="it was stopped", log=str(thread.child.log)))
        self.state_changed.emit()


def export_command(run: Run, out: Path, formats: Sequence[str]) -> list[str]:
    return worker_command("export", run.root, "--out", out, "--formats", ",".join(formats))


def free_folder(run: Run) -> Path:
    """A folder of the run's name below `exports/` that is not there yet."""
    exports = run.project_root / "exports"
    names = (run.name if i == 1 else f"{run.name}-{i}" for i in range(1, 10_000))
    return next(exports / name for name in names if not (exports / name).exists())
