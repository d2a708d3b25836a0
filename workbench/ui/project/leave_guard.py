"""Leaving an open project: one sequence of questions about everything that would be lost, used by all ways out."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QMainWindow

from workbench.core.problems import SavedLater
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.services import Services
from workbench.ui.text import formatting
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.question_dialog import CANCEL, Answer, Question, Waiting

_POLL = 100  # ms
_NAMED = 5  # images


class Way(Enum):
    """Scope of leaving: the project, the application, or the window alone, which is rebuilt."""

    PROJECT = 1
    APPLICATION = 2
    WINDOW = 3


class LeaveGuard(QObject):
    """Sequence of questions before a project is left. Nothing is discarded before the last question is answered."""

    cancelled = Signal()

    def __init__(self, window: QMainWindow, rooms: Services, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._rooms, self._messages = window, rooms, messages
        self._then: Callable[[], object] | None = None
        self._way = Way.PROJECT
        self._unsaved = "refuse"
        self._copy: Path | None = None
        self._release = False  # leave the training running in the background
        self._steps: list[Callable[[], None]] = []
        self._dialog: QDialog | None = None
        self._poll = QTimer(self, interval=_POLL)

    # --- commands --------------------------------------------------------------------------------

    def free(self, way: Way) -> bool:
        """Return whether nothing would be lost. Saves what can be saved."""
        rooms = self._rooms
        if way is not Way.WINDOW and (not rooms.session.flush() or rooms.training.busy):
            return False
        if way is Way.APPLICATION and rooms.exporter.running:
            return False
        return way is Way.PROJECT or not self._predictions()

    def leave(self, then: Callable[[], object], way: Way = Way.PROJECT) -> None:
        """Ask about everything that would be lost, then call `then`.

        If the user cancels, `cancelled` is emitted instead.
        """
        if self._then is not None:
            if self._dialog is not None:
                self._dialog.raise_()
            return
        self._then, self._way = then, way
        self._unsaved, self._copy, self._release = "refuse", None, False
        self._steps = []
        if way is not Way.WINDOW:
            self._steps += [self._ask_unsaved, self._ask_training]
        if way is Way.APPLICATION:
            self._steps.append(self._ask_export)
        if way is not Way.PROJECT:
            self._steps.append(self._ask_predictions)
        self._go_on()

    # --- steps -----------------------------------------------------------------------------------

    def _go_on(self) -> None:
        if self._steps:
            self._steps.pop(0)()
        else:
            self._finish()

    def _finish(self) -> None:
        rooms, then = self._rooms, self._then
        if self._release and rooms.training.running and not rooms.training.leave_running():
            self._messages.show_message(
                "problem", self.tr("The training could not be left running, so nothing was closed.")
            )
            self._cancel()
            return
        self._then = None
        if self._unsaved != "refuse":
            rooms.session.close_project(self._unsaved)
        if then is not None:
            then()
        if self._copy is not None:
            says = self.tr("The labels that could not be saved are in {path}.").format(path=self._copy)
            advice = self.tr("Copy its folders masks and notes into the project when it can be written again.")
            self._messages.show_message("warning", says, advice, topic="copy")

    def _cancel(self) -> None:
        self._then, self._steps = None, []
        self.cancelled.emit()

    def _ask(
        self, title: str, says: str, details: list[str], answers: list[Answer], heed: Callable[[str], None]
    ) -> None:
        dialog = Question(title, says, details, answers, self._window)
        self._dialog = dialog

        def answered(name: str) -> None:
            self._dialog = None
            self._cancel() if name == CANCEL else heed(name)

        dialog.answered.connect(answered)
        dialog.open()

    def _wait(self, says: str, over: Callable[[], bool], then: Callable[[], None], *, cancel: str = "") -> None:
        """Show a progress dialog until `over` returns True, without blocking the window, then call `then`."""
        dialog = Waiting(self._window.windowTitle(), says, self._window, cancel=cancel)
        self._dialog = dialog

        def look() -> None:
            if over():
                end()
                dialog.done_waiting()
                then()

        def end() -> None:
            self._poll.stop()
            self._poll.timeout.disconnect(look)
            self._dialog = None

        def given_up() -> None:
            end()
            self._cancel()

        dialog.given_up.connect(given_up)
        self._poll.timeout.connect(look)
        self._poll.start()
        dialog.open()

    # --- unsaved labels --------------------------------------------------------------------------

    def _ask_unsaved(self, error: str = "") -> None:
        session = self._rooms.session
        if session.flush():
            self._go_on()
            return
        keys = session.saver.unsaved_keys
        says = (
            self.tr("The labels of 1 image could not be saved.")
            if len(keys) == 1
            else self.tr("The labels of {n} images could not be saved.").format(n=len(keys))
        )
        named = formatting.listed(keys[:_NAMED]) + ("…" if len(keys) > _NAMED else "")
        failure = session.saver.failure
        why, advice = formatting.problem_text(failure) if failure is not None else ("", "")
        if failure is None or isinstance(failure, SavedLater):  # its own advice is for a window that stays open
            advice = self.tr("Free some space or make the folder writable, then try again.")
        answers = [
            Answer("discard", self.tr("Discard"), "apart"),
            Answer(CANCEL, self.tr("Cancel")),
            Answer("copy", self.tr("Save a copy elsewhere…")),
            Answer("retry", self.tr("Try again"), "primary"),
        ]
        self._ask(self.tr("Unsaved labels"), says, [named, error or why, advice], answers, self._unsaved_answered)

    def _unsaved_answered(self, name: str) -> None:
        if name == "retry":
            self._ask_unsaved()
        elif name == "copy":
            self._choose_folder()
        else:
            self._unsaved = "discard"
            self._go_on()

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
        self._rooms.session.saver.copy_unsaved(
            Path(folder), lambda path: copied.append((path, None)), lambda problem: copied.append((None, problem))
        )
        self._wait(self.tr("Saving a copy of the labels…"), lambda: bool(copied), lambda: self._copied(*copied[0]))

    def _copied(self, path: Path | None, error: Exception | None) -> None:
        if path is None:
            self._ask_unsaved(formatting.problem_text(error)[0] if error is not None else "")
            return
        self._unsaved, self._copy = "journal", path
        self._go_on()

    # --- training --------------------------------------------------------------------------------

    def _ask_training(self) -> None:
        training = self._rooms.training
        if not training.busy:
            self._go_on()
            return
        left = training.eta_seconds if training.kept_open is None else None
        says = (
            self.tr("Training is running.")
            if left is None
            else self.tr("Training is running ({time} left).").format(time=formatting.duration(left))
        )
        details = [
            self.tr("Left running, it goes on in the background and is shown again when the project is opened."),
            self.tr("Stopped, it keeps the best model so far and can be continued later."),
        ]
        answers = [
            Answer(CANCEL, self.tr("Cancel")),
            Answer("stop", self.tr("Stop and keep the model")),
            Answer("leave", self.tr("Leave it running"), "primary"),
        ]
        self._ask(self.tr("Training"), says, details, answers, self._training_answered)

    def _training_answered(self, name: str) -> None:
        training = self._rooms.training
        if name == "leave":
            self._release = True
            if training.preparing:  # its process, which is to go on, does not exist yet
                self._wait(self.tr("Preparing the training…"), lambda: not training.preparing, self._go_on)
            else:
                self._go_on()
            return
        if training.busy:
            training.stop()
        self._wait(self.tr("Stopping the training and saving the model…"), lambda: not training.busy, self._go_on)

    # --- other background work -------------------------------------------------------------------

    def _ask_export(self) -> None:
        exporter = self._rooms.exporter
        if exporter.running:
            self._ask_work(self.tr("An export is running."), lambda: exporter.running, exporter.cancel)
        else:
            self._go_on()

    def _predictions(self) -> list[PredictFolderDialog]:
        return [dialog for dialog in self._window.findChildren(PredictFolderDialog) if dialog.work.running]

    def _ask_predictions(self) -> None:
        running = self._predictions()
        if not running:
            self._go_on()
            return

        def stop() -> None:
            for dialog in running:
                dialog.work.cancel()

        endless = any(dialog.form.watch.isChecked() for dialog in running)
        says = self.tr("A folder of images is being predicted.")
        self._ask_work(says, lambda: any(dialog.work.running for dialog in running), stop, can_wait=not endless)

    def _ask_work(
        self, says: str, running: Callable[[], bool], stop: Callable[[], None], *, can_wait: bool = True
    ) -> None:
        def answered(name: str) -> None:
            if name == "stop":
                stop()
            closes = self.tr("The window closes when it is done.")
            note = self.tr("Stopping…") if name == "stop" else f"{says} {closes}"
            self._wait(note, lambda: not running(), self._go_on)

        answers = [
            Answer("stop", self.tr("Stop it"), "plain" if can_wait else "primary"),
            Answer("wait", self.tr("Wait for it"), "primary"),
        ]
        self._ask(
            self.tr("Work in the background"),
            says,
            [],
            [Answer(CANCEL, self.tr("Cancel")), *answers[: 1 + can_wait]],
            answered,
        )
