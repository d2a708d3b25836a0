"""Export of a run: a child process that writes, checks and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal

from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs import process_exit
from workbench.core.runs.events import Event, Failed, Finished, Progress
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.run import Run
from workbench.session.tasks import Job, Task
from workbench.session.training.child_process import ChildProcess, StopTimeouts

Command = Callable[[Run, Path, Sequence[str]], Sequence[str]]
_EARLY = 0.1  # fraction done below which no remaining time is estimated


@dataclass(frozen=True)
class ExportChoices:
    """User's choices for an export.

    formats: names of engines, see inference.engines.kinds. point: detection threshold: "balanced" as validated, "more",
    "fewer", or a probability as text. target_ms: time for the usual image; None for no target. language: of the model
    card, "en" or "zh_CN"; "" for the language of the window.
    """

    formats: tuple[str, ...] = ("onnx",)
    point: str = "balanced"
    target_ms: float | None = None
    language: str = ""

    def options(self) -> list[str]:
        """Return the child's command-line options besides the formats."""
        target = [] if self.target_ms is None else ["--target", f"{self.target_ms:g}"]
        point = [] if self.point == "balanced" else ["--point", self.point]
        return [*point, *target, "--language", self.language or language_of_window()]


ONE_CLICK = ExportChoices()


def language_of_window() -> str:
    """Return the language of the window among those with a model card."""
    return "zh_CN" if QLocale().language() == QLocale.Language.Chinese else "en"


def _follow(child: ChildProcess, task: Task) -> Finished | Failed:
    """Report the events of the child, in the worker thread. Return the last one."""
    ending: Finished | Failed | None = None
    for event in child.events():
        task.report(event)
        if isinstance(event, (Finished, Failed)):
            ending = event
    why = process_exit.cause(child.returncode, child.log_tail())
    return ending or process_exit.failed_event("export", why, child.log)


class ExportJob(Job):
    """Export of one run at a time. command: (run, out, formats) -> replacement of the child's whole command."""

    progressed = Signal(object)  # Progress
    reported = Signal(object)  # every Event, including Trouble
    finished = Signal(object)  # dict: path, formats, parity
    cancelled = Signal()

    def __init__(self, parent: QObject | None = None, *, command: Command | None = None) -> None:
        super().__init__(parent)
        self._command = command or export_command
        self._cancelling = False
        self.choices = ONE_CLICK  # of the current or last export
        self._heard_last: Progress | None = None

    @property
    def eta_seconds(self) -> float | None:
        """Estimated seconds until the export is done; None if unknown."""
        last = self._heard_last
        if not self.running or last is None or not last.total or last.done < _EARLY * last.total:
            return None
        return last.time * (last.total - last.done) / last.done

    def start(self, run: Run, out: Path | str | None = None, choices: ExportChoices = ONE_CLICK) -> None:
        """Export `run` into a new folder; `finished`, `failed` or `cancelled` follows."""
        if self.running:
            return
        self.choices, self._heard_last = choices, None
        try:
            run.need_usable()
            folder = Path(out) if out is not None else free_folder(run)
            command = [*self._command(run, folder, choices.formats), *choices.options()]
            child = ChildProcess(
                command,
                environment=worker_environment("cpu"),
                log=run.root / "export-log.txt",
                patience=StopTimeouts(order=0),
            )
        except Problem as problem:
            self.failed.emit(problem)
            return
        self._cancelling = False
        self.begin(
            lambda task: _follow(child, task),
            partial(self._on_ended, child.log),
            partial(self._on_ended, child.log),
            on_progress=self._on_event,
            as_problem=lambda error: WorkerFailed(what="export", why=str(error), log=str(child.log)),
            interrupt=lambda: child.stop(None),
        )

    def cancel(self) -> None:
        """End the child; unfinished results are not reported."""
        self._cancelling = self.running
        super().cancel()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._heard_last = event
            self.progressed.emit(event)
        self.reported.emit(event)

    def _on_ended(self, log: Path, ending: Finished | Failed | Problem) -> None:
        if isinstance(ending, Finished) and ending.why == "done":
            self.finished.emit(ending.result)
        elif self._cancelling:
            self.cancelled.emit()
        elif isinstance(ending, Problem):
            self.failed.emit(ending)
        elif isinstance(ending, Failed):
            self.failed.emit(process_exit.to_problem(ending, "export", log))
        else:
            self.failed.emit(WorkerFailed(what="export", why="it was stopped", log=str(log)))


def export_command(run: Run, out: Path, formats: Sequence[str]) -> list[str]:
    return worker_command("export", run.root, "--out", out, "--formats", ",".join(formats))


def free_folder(run: Run) -> Path:
    """Return an unused folder name below `exports/`, derived from the run's name."""
    exports = run.project_root / "exports"
    names = (run.name if i == 1 else f"{run.name}-{i}" for i in range(1, 10_000))
    return next(exports / name for name in names if not (exports / name).exists())
