"""Leaving an open project: one sequence of questions about everything that would be lost, used by all ways out."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QMainWindow

from workbench.core.problems import SavedLater
from workbench.ui.services import Services
from workbench.ui.text import formatting
from workbench.ui.widgets.dialogs import CANCEL, Answer, Question, Waiting
from workbench.ui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog

_POLL = 100  # ms
_MAX_NAMED = 5  # images named in the question


class LeaveScope(Enum):
    """Scope of leaving: the project, the application, or the window alone, which is rebuilt."""

    PROJECT = 1
    APPLICATION = 2
    WINDOW = 3


class LeaveGuard(QObject):
    """Sequence of questions before a project is left. Nothing is discarded before the last question is answered."""

    cancelled = Signal()

    def __init__(self, window: QMainWindow, services: Services, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._services, self._messages = window, services, messages
        self._then: Callable[[], object] | None = None
        self._scope = LeaveScope.PROJECT
        self._unsaved = "refuse"
        self._copy: Path | None = None
        self._release = False  # leave the training running in the background
        self._steps: list[Callable[[], None]] = []
        self._dialog: QDialog | None = None
        self._poll = QTimer(self, interval=_POLL)

    # --- commands --------------------------------------------------------------------------------

    def free(self, scope: LeaveScope) -> bool:
        """Return whether nothing would be lost. Saves what can be saved."""
        services = self._services
        if scope is not LeaveScope.WINDOW and (not services.session.flush() or services.training.controllable):
            return False
        if scope is LeaveScope.APPLICATION and services.export_job.running:
            return False
        return scope is LeaveScope.PROJECT or not self._running_predictions()

    def leave(self, then: Callable[[], object], scope: LeaveScope = LeaveScope.PROJECT) -> None:
        """Ask about everything that would be lost, then call `then`.

        If the user cancels, `cancelled` is emitted instead.
        """
        if self._then is not None:
            if self._dialog is not None:
                self._dialog.raise_()
            return
        self._then, self._scope = then, scope
        self._unsaved, self._copy, self._release = "refuse", None, False
        self._steps = []
        if scope is not LeaveScope.WINDOW:
            self._steps += [self._ask_unsaved, self._ask_training]
        if scope is LeaveScope.APPLICATION:
            self._steps.append(self._ask_export)
        if scope is not LeaveScope.PROJECT:
            self._steps.append(self._ask_predictions)
        self._next_step()

    # --- steps -----------------------------------------------------------------------------------

    def _next_step(self) -> None:
        if self._steps:
            self._steps.pop(0)()
        else:
            self._finish()

    def _finish(self) -> None:
        services, then = self._services, self._then
        if self._release and services.training.running and not services.training.leave_running():
            self._messages.show_message(
                "problem", self.tr("Training could not be moved to the background, so the project was not closed.")
            )
            self._cancel()
            return
        self._then = None
        if self._unsaved != "refuse":
            services.session.close_project(self._unsaved)
        if then is not None:
            then()
        if self._copy is not None:
            text = self.tr("Labels that could not be saved were copied to {path}.").format(path=self._copy)
            advice = self.tr("When the project is writable again, copy the folders masks and notes into the project.")
            self._messages.show_message("warning", text, advice, topic="copy")

    def _cancel(self) -> None:
        self._then, self._steps = None, []
        self.cancelled.emit()

    def _ask(
        self, title: str, question: str, details: list[str], answers: list[Answer], on_answer: Callable[[str], None]
    ) -> None:
        dialog = Question(title, question, details, answers, self._window)
        self._dialog = dialog

        def answered(name: str) -> None:
            self._dialog = None
            self._cancel() if name == CANCEL else on_answer(name)

        dialog.answered.connect(answered)
        dialog.open()

    def _wait(self, text: str, finished: Callable[[], bool], then: Callable[[], None], *, cancel: str = "") -> None:
        """Show a progress dialog until `finished` returns True, without blocking the window, then call `then`."""
        dialog = Waiting(self._window.windowTitle(), text, self._window, cancel=cancel)
        self._dialog = dialog

        def check() -> None:
            if finished():
                end()
                dialog.finish()
                then()

        def end() -> None:
            self._poll.stop()
            self._poll.timeout.disconnect(check)
            self._dialog = None

        def on_cancelled() -> None:
            end()
            self._cancel()

        dialog.cancelled.connect(on_cancelled)
        self._poll.timeout.connect(check)
        self._poll.start()
        dialog.open()

    # --- unsaved labels --------------------------------------------------------------------------

    def _ask_unsaved(self, error: str = "") -> None:
        session = self._services.session
        if session.flush():
            self._next_step()
            return
        keys = session.autosave.unsaved_keys
        text = (
            self.tr("The labels of 1 image could not be saved.")
            if len(keys) == 1
            else self.tr("The labels of {n} images could not be saved.").format(n=len(keys))
        )
        names = formatting.listed(keys[:_MAX_NAMED]) + ("…" if len(keys) > _MAX_NAMED else "")
        failure = session.autosave.failure
        reason, advice = formatting.problem_text(failure) if failure is not None else ("", "")
        if failure is None or isinstance(failure, SavedLater):  # its own advice does not apply to a window that closes
            advice = self.tr("Free disk space or make the folder writable, then try again.")
        answers = [
            Answer("discard", self.tr("Discard"), "apart"),
            Answer(CANCEL, self.tr("Cancel")),
            Answer("copy", self.tr("Save a copy…")),
            Answer("retry", self.tr("Try again"), "primary"),
        ]
        self._ask(self.tr("Unsaved labels"), text, [names, error or reason, advice], answers, self._unsaved_answered)

    def _unsaved_answered(self, name: str) -> None:
        if name == "retry":
            self._ask_unsaved()
        elif name == "copy":
            self._choose_folder()
        else:
            self._unsaved = "discard"
            self._next_step()

    def _choose_folder(self) -> None:
        dialog = QFileDialog(self._window, self.tr("Save a copy of the unsaved labels"), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._copy_to)
        dialog.rejected.connect(self._ask_unsaved)
        self._dialog = dialog
        dialog.open()

    def _copy_to(self, folder: str) -> None:
        copied: list[tuple[Path | None, Exception | None]] = []
        self._services.session.autosave.copy_unsaved(
            Path(folder), lambda path: copied.append((path, None)), lambda problem: copied.append((None, problem))
        )
        self._wait(self.tr("Saving a copy of the labels…"), lambda: bool(copied), lambda: self._copied(*copied[0]))

    def _copied(self, path: Path | None, error: Exception | None) -> None:
        if path is None:
            self._ask_unsaved(formatting.problem_text(error)[0] if error is not None else "")
            return
        self._unsaved, self._copy = "journal", path
        self._next_step()

    # --- training --------------------------------------------------------------------------------

    def _ask_training(self) -> None:
        training = self._services.training
        if not training.controllable:
            self._next_step()
            return
        remaining = training.eta_seconds if training.progress.kept_open_event is None else None
        text = (
            self.tr("Training is running.")
            if remaining is None
            else self.tr("Training is running ({time} left).").format(time=formatting.duration(remaining))
        )
        details = [
            self.tr("Keep running: training continues in the background and is shown again when you open the project."),
            self.tr("Stop: the best model so far is kept, and training can be continued later."),
        ]
        answers = [
            Answer(CANCEL, self.tr("Cancel")),
            Answer("stop", self.tr("Stop training")),
            Answer("leave", self.tr("Keep running"), "primary"),
        ]
        self._ask(self.tr("Training"), text, details, answers, self._training_answered)

    def _training_answered(self, name: str) -> None:
        training = self._services.training
        if name == "leave":
            self._release = True
            if training.preparing:  # the process that continues does not exist yet
                self._wait(self.tr("Preparing training…"), lambda: not training.preparing, self._next_step)
            else:
                self._next_step()
            return
        if training.busy:
            training.stop()
        self._wait(self.tr("Stopping training and saving the model…"), lambda: not training.busy, self._next_step)

    # --- other background work -------------------------------------------------------------------

    def _ask_export(self) -> None:
        exporter = self._services.export_job
        if exporter.running:
            self._ask_work(self.tr("An export is running."), lambda: exporter.running, exporter.cancel)
        else:
            self._next_step()

    def _running_predictions(self) -> list[PredictFolderDialog]:
        from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog

        return [dialog for dialog in self._window.findChildren(PredictFolderDialog) if dialog.job.running]

    def _ask_predictions(self) -> None:
        running = self._running_predictions()
        if not running:
            self._next_step()
            return

        def stop() -> None:
            for dialog in running:
                dialog.job.cancel()

        endless = any(dialog.watch.isChecked() for dialog in running)
        text = self.tr("A folder of images is being predicted.")
        self._ask_work(text, lambda: any(dialog.job.running for dialog in running), stop, can_wait=not endless)

    def _ask_work(
        self, text: str, running: Callable[[], bool], stop: Callable[[], None], *, can_wait: bool = True
    ) -> None:
        def answered(name: str) -> None:
            if name == "stop":
                stop()
            hint = self.tr("The window closes when the work is finished.")
            self._wait(
                self.tr("Stopping…") if name == "stop" else f"{text} {hint}", lambda: not running(), self._next_step
            )

        answers = [
            Answer("stop", self.tr("Stop"), "plain" if can_wait else "primary"),
            Answer("wait", self.tr("Wait"), "primary"),
        ]
        self._ask(
            self.tr("Background work"),
            text,
            [],
            [Answer(CANCEL, self.tr("Cancel")), *answers[: 1 + can_wait]],
            answered,
        )
