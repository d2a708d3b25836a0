"""Export of a run: a child process that writes, checks and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal

from workbench.core.problems import Problem, WorkerFailed
from workbench.core.resources import matching_language
from workbench.core.runs import captured_program
from workbench.core.runs.child_process import ChildProcess, StopTimeouts
from workbench.core.runs.events import Event, Failed, Finished, Progress
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.run import Run
from workbench.core.text_patterns import free_path
from workbench.session.tasks import Job, Task

Command = Callable[[Run, Path, Sequence[str]], Sequence[str]]
_EARLY = 0.1  # fraction done below which no remaining time is estimated
DEFAULT_OPTIONS = ExportOptions()


def language_of_window() -> str:
    """Return the language of the window among those with a model card."""
    return matching_language(QLocale().name())


def _follow(child: ChildProcess, task: Task) -> Finished | Failed | None:
    """Report the events of the child, in the worker thread. Return the last one; None if the child is detached."""
    ending: Finished | Failed | None = None
    for event in child.events():
        task.report(event)
        if isinstance(event, (Finished, Failed)):
            ending = event
    if child.detached:
        return None
    return ending or child.exit_event("export")


class ExportJob(Job):
    """Export of one run at a time. command: (run, out, arguments of the options) -> the child's whole command."""

    progressed = Signal(object)  # Progress
    reported = Signal(object)  # every Event, including Trouble
    finished = Signal(object)  # dict: path, formats, parity
    cancelled = Signal()

    def __init__(self, parent: QObject | None = None, *, command: Command | None = None) -> None:
        super().__init__(parent)
        self._command = command or export_command
        self._cancelling = False
        self.options = DEFAULT_OPTIONS  # of the current or last export
        self.run: Run | None = None  # of the current or last export
        self.progress: Progress | None = None  # last one of the current or last export

    @property
    def eta_seconds(self) -> float | None:
        """Estimated seconds until the export is done; None if unknown."""
        last = self.progress
        if not self.running or last is None or not last.total or last.done < _EARLY * last.total:
            return None
        return last.time * (last.total - last.done) / last.done

    def start(
        self,
        run: Run,
        out: Path | str | None = None,
        options: ExportOptions = DEFAULT_OPTIONS,
        *,
        anyway: bool = False,
    ) -> None:
        """Export `run` into a new folder; `finished`, `failed` or `cancelled` follows.

        A model that is not ready fails with ModelNotReady, unless it is to be exported `anyway`.
        """
        if self.running:
            return
        self.options, self.run, self.progress = options, run, None
        try:
            run.need_usable()
            folder = Path(out) if out is not None else free_path(run.project_root / "exports", run.name)
            language = options.language or language_of_window()
            options = replace(options, language=language, require_ready=not anyway)
            command = self._command(run, folder, options.to_arguments())
            child = ChildProcess(
                command,
                environment=worker_environment("cpu"),
                log=run.root / "export-log.txt",
                timeouts=StopTimeouts(command=0),
                low_priority=True,
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
            as_problem=lambda error: captured_program.to_problem(
                captured_program.failed_event("export", str(error), child.log), "export", child.log
            ),
            interrupt=lambda: child.stop(None),
        )

    def cancel(self) -> None:
        """End the child; unfinished results are not reported."""
        self._cancelling = self.running
        super().cancel()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress = event
            self.progressed.emit(event)
        self.reported.emit(event)

    def _on_ended(self, log: Path, ending: Finished | Failed | Problem | None) -> None:
        if isinstance(ending, Finished) and ending.why == "done":
            self.finished.emit(ending.result)
        elif self._cancelling:
            self.cancelled.emit()
        elif isinstance(ending, Problem):
            self.failed.emit(ending)
        elif isinstance(ending, Failed):
            self.failed.emit(captured_program.to_problem(ending, "export", log))
        else:
            self.failed.emit(WorkerFailed(what="export", why="it was stopped", log=str(log)))


def export_command(run: Run, out: Path, options: Sequence[str]) -> list[str]:
    return worker_command("export", run.root, "--out", out, *options)
