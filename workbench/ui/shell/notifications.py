"""Reports: events of the engines, shown in the message bar."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject

from workbench.core import problems
from workbench.session.error_log import ErrorReport
from workbench.session.index_worker import Added
from workbench.session.training.export_job import DEFAULT_OPTIONS
from workbench.session.undo import UndoCommand
from workbench.session.verdict_steps import VerdictChange
from workbench.ui.labels.history_panel import step_text
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.services import Services
from workbench.ui.shell.error_details import ErrorDetails, copy_report
from workbench.ui.text import export_texts, formatting
from workbench.ui.training.export_options_dialog import ExportReport
from workbench.ui.widgets.message_bar import MessageBar

_NAMED = 3  # rejected files that a message names


class Notifications(QObject):
    """Messages for the events of `Rooms`."""

    def __init__(self, rooms: Services, messages: MessageBar, commands: ProjectCommands) -> None:
        super().__init__(messages)
        self._session, self._messages, self._commands = rooms.session, messages, commands
        self._exporter, self._error_log = rooms.exporter, rooms.error_log
        rooms.error_log.occurred.connect(self._unexpected)
        self._offered: VerdictChange | None = None  # change whose message has the Undo button
        session = rooms.session
        session.problem_met.connect(self._problem)
        session.save_state_changed.connect(self._save_state)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.image_opened.connect(self._image_opened)
        session.image_failed.connect(self._image_failed)
        session.judging.stepped.connect(self._stepped)
        session.step_followed.connect(self._followed)
        session.history_changed.connect(self._history_changed)
        session.images_added.connect(self._added)
        rooms.predictions.failed.connect(self._predict_failed)
        rooms.exporter.finished.connect(self._exported)
        rooms.exporter.failed.connect(self._export_failed)
        rooms.exporter.cancelled.connect(self._export_cancelled)

    def refused(self, why: str) -> None:
        """Show why painting was refused."""
        if why == "no class":
            says = self.tr("There is no class to paint with yet.")
            self._messages.show_message("info", says, self.tr("Add one with the + beside Classes."), topic="refused")
        elif why == "read-only":
            says = self.tr("This project is open read-only, so nothing can be painted.")
            advice = self.tr("Close the window that holds it, then open it again.")
            project = self._session.project
            if project is not None and project.obstacle is not None:
                says, advice = formatting.problem_text(project.read_only(""))
            self._messages.show_message("info", says, advice, topic="refused")
        elif self._session.mask_problem is not None:
            self._image_opened(self._session.key or "")
        else:
            says, advice = self._tool_words(why)
            if says:
                self._messages.show_message("info", says, advice, topic="refused")

    def _tool_words(self, why: str) -> tuple[str, str]:
        """Return why a tool failed, and an alternative."""
        return {
            "too large": (
                self.tr("This area is too large for one gesture; nothing was painted."),
                self.tr("Lower the tolerance, or take a smaller part."),
            ),
            "nothing in the box": (
                self.tr("No defect found in this box."),
                self.tr("Leave some surface around the defect inside the box, or use the wand."),
            ),
            "nothing here": (self.tr("There is nothing to take here."), ""),
            "no line": (self.tr("No continuous line found between the two points."), ""),
            "too far": (self.tr("These two clicks are too far apart."), self.tr("Click once more in between.")),
            "no region": (self.tr("There is no region here."), self.tr("Click on something that is painted.")),
            "kept": (
                self.tr("Nothing was painted: “Keep other classes” protects this area."),
                self.tr("Switch “Keep other classes” off first (X)."),
            ),
            "no proposal": (
                self.tr("Nothing is proposed here."),
                self.tr("Ctrl+R lets the model look at this picture."),
            ),
            "locked": (
                self.tr("This class is locked."),
                self.tr("Allow it in the class's menu first."),
            ),
        }.get(why, ("", ""))

    def show_training_message(self, kind: str, says: str, advice: str) -> None:
        self._messages.show_message(kind, says, advice, topic="training")

    def training_recovered(self) -> None:
        self._messages.withdraw("training")

    def curves_saved(self, path: Path) -> None:
        says = self.tr("The curves are saved in {path}.").format(path=path)
        self._messages.show_message(
            "success",
            says,
            topic="curves",
            button=self.tr("Open folder"),
            do=lambda: self._commands.show_path(path.parent),
        )

    # --- events ----------------------------------------------------------------------------------

    def _problem(self, problem: Exception) -> None:
        says, advice = formatting.problem_text(problem)
        if isinstance(problem, (problems.ProjectGone, problems.ProjectTaken)):
            return  # shown by MissingFolder as long as the problem lasts
        if isinstance(problem, problems.UnexpectedError):
            return  # shown by `_unexpected`, with the details
        if isinstance(problem, (problems.SavedLater, problems.UnsavedLabels)):
            self._messages.show_message("problem", says, advice, topic="save")
        elif isinstance(problem, problems.FolderReadOnly):
            self._messages.show_message("warning", says, advice, topic="lock")
        elif isinstance(problem, problems.ProjectLocked):
            self._messages.show_message(
                "warning",
                says,
                self.tr("It is shown read-only here; nothing can be changed by accident."),
                topic="lock",
            )
        else:
            self._messages.show_message("problem", says, advice)

    def _unexpected(self, report: ErrorReport) -> None:
        def details() -> None:
            ErrorDetails(report, self._error_log.folder, self._commands.show_path, self._messages.window()).show()

        self._messages.show_message(
            "problem",
            self.tr("Unexpected error: {what}").format(what=report.summary[:200]),
            self.tr("Save your work and restart the program if it no longer behaves as expected."),
            buttons=((self.tr("Details"), details), (self.tr("Copy report"), lambda: copy_report(report))),
            topic="unexpected",
        )

    def _save_state(self, state: str) -> None:
        if state == "saved":
            self._messages.withdraw("save")

    def _opened(self) -> None:
        for topic in ("refused", "mask", "drop", "export", "picture", "close"):
            self._messages.withdraw(topic)

    def _closed(self) -> None:
        self._messages.clear()

    def _image_opened(self, key: str) -> None:
        self._messages.withdraw("picture")
        self._messages.withdraw("mask")
        problem = self._session.mask_problem
        if problem is not None:
            says, advice = formatting.problem_text(problem)
            self._messages.show_message("warning", says, advice, topic="mask")

    def _image_failed(self, key: str, problem: Exception) -> None:
        self._messages.withdraw("mask")
        says, advice = formatting.problem_text(problem)
        self._messages.show_message("warning", says, advice, topic="picture")

    def _stepped(self, step: VerdictChange, how: str) -> None:
        says = _step_words(step)
        self._offered = None
        if how == "done":
            if step.after[step.first_key] == "done":
                self._offered = step
                self._messages.show_message(
                    "success", says, button=self.tr("Undo"), do=self._session.undo, topic="step", brief=True
                )
        elif step.field == "status" or set(step.after) != {self._session.key}:
            pattern = self.tr("Undone: {step}") if how == "undone" else self.tr("Redone: {step}")
            self._messages.show_message("info", pattern.format(step=says), topic="step")

    def _followed(self, direction: str, command: UndoCommand) -> None:
        pattern = self.tr("Undone on {name}: {step}") if direction == "undo" else self.tr("Redone on {name}: {step}")
        says = pattern.format(name=PurePosixPath(command.key).name, step=step_text(command.title))
        self._messages.show_message("info", says, topic="step")

    def _history_changed(self) -> None:
        """Withdraw the Undo button once it would undo another step."""
        if self._offered is not None and self._session.undo_stack.next_undo is not self._offered:
            self._offered = None
            self._messages.withdraw("step")

    def _added(self, added: Added) -> None:
        kind = "success" if added.copied or not added.left_out else "warning"
        self._messages.show_message(kind, _added_words(added), topic="drop")

    def _predict_failed(self, problem: Exception) -> None:
        says, advice = formatting.problem_text(problem)
        self._messages.show_message("warning", says, advice, topic="predict")

    def _exported(self, result: dict[str, Any]) -> None:
        path = Path(str(result.get("path", "")))
        says = self.tr("The export is ready in {path}.").format(path=path)
        parities = result.get("parity") or {}
        first = next(iter(result.get("formats") or parities), "")
        parity = formatting.parity_text({first: parities.get(first)})
        if self._exporter.options != DEFAULT_OPTIONS:
            ExportReport(result, self._commands.show_path, self._messages.window()).show()
        self._messages.show_message(
            "success",
            says,
            " ".join(filter(None, (parity, export_texts.speed_text(result)))),
            button=self.tr("Open folder"),
            do=lambda: self._commands.show_path(path),
            topic="export",
        )

    def _export_failed(self, problem: Exception) -> None:
        says, advice = formatting.problem_text(problem)
        self._messages.show_message("problem", says, advice, topic="export")

    def _export_cancelled(self) -> None:
        self._messages.show_message(
            "info", self.tr("The export was cancelled; nothing half made is left."), topic="export"
        )


def _step_words(step: VerdictChange) -> str:
    """Return a change of verdicts or status as one sentence."""
    name, value = PurePosixPath(step.first_key).name, step.after[step.first_key]
    if step.field == "status":
        done = QCoreApplication.translate("Notifications", "{name} marked done")
        return (
            done if value == "done" else QCoreApplication.translate("Notifications", "{name} marked as not done")
        ).format(name=name)
    if len(step.after) > 1:
        name = QCoreApplication.translate("Notifications", "{n} images").format(n=formatting.number(len(step.after)))
    if value is None:
        return QCoreApplication.translate("Notifications", "verdict of {name} removed").format(name=name)
    return QCoreApplication.translate("Notifications", "verdict {verdict} for {name}").format(verdict=value, name=name)


def _added_words(added: Added) -> str:
    """Return the number of images copied into the project, and the rejected files with the reasons."""
    n = added.copied
    if n == 1:
        parts = [QCoreApplication.translate("Notifications", "1 image copied into the project")]
    elif n:
        parts = [
            QCoreApplication.translate("Notifications", "{n} images copied into the project").format(
                n=formatting.number(n)
            )
        ]
    else:
        parts = [QCoreApplication.translate("Notifications", "No image was copied into the project")]
    if added.there:
        there = QCoreApplication.translate("Notifications", "already in the project: {n}")
        parts.append(there.format(n=formatting.number(added.there)))
    patterns = {
        "kind": QCoreApplication.translate("Notifications", "{name} is not an image"),
        "empty": QCoreApplication.translate("Notifications", "{name} contains no image"),
        "project": QCoreApplication.translate("Notifications", "{name} is a project; drop it alone to open it"),
        "remote": QCoreApplication.translate("Notifications", "{name} is not on this computer"),
    }
    parts += [patterns[reason].format(name=name) for name, reason in added.left_out[:_NAMED]]
    more = len(added.left_out) - _NAMED
    if more > 0:
        parts.append(QCoreApplication.translate("Notifications", "{n} more left out").format(n=formatting.number(more)))
    return QCoreApplication.translate("Notifications", "; ").join(parts)
