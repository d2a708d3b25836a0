"""Messages for events of the services, shown in the message bar.

Details of an unexpected error: traceback and the facts needed for a bug report.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import PySide6
from PySide6.QtCore import QCoreApplication, QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QFontInfo, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QPushButton, QWidget

from workbench import __version__
from workbench.core import problems
from workbench.core.text_patterns import fill
from workbench.session.error_log import ErrorReport
from workbench.session.image_list import Added
from workbench.session.training.trainer_thread import DEFAULT_OPTIONS
from workbench.session.undo import UndoCommand
from workbench.session.verdict_steps import Areas, VerdictChange
from workbench.session.workflow_monitor import is_painted
from workbench.ui.labels.history_panel import step_text
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.services import Services
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.text import formatting, settings_texts
from workbench.ui.text.formatting import added_text, problem_text
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.keyboard import TEXTS
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.text_labels import resize_for_text, text_scale

if TYPE_CHECKING:
    from workbench.core.runs.inspection_areas import LeftOut


def report_text(report: ErrorReport) -> str:
    """Return the text of a report: versions, system, time, traceback. The text is not translated."""
    facts = (
        f"Defect Workbench {__version__}",
        f"Python {platform.python_version()}, Qt {PySide6.__version__}, {platform.platform()}",
        time.strftime("%Y-%m-%d %H:%M:%S %z"),
    )
    return "\n".join((*facts, "", report.summary, "", report.details.rstrip(), ""))


def copy_report(report: ErrorReport) -> None:
    """Copy the text of a report to the clipboard."""
    QGuiApplication.clipboard().setText(report_text(report))


class ErrorDetails(QDialog):
    """Dialog with the text of a report, to read and copy."""

    def __init__(
        self, report: ErrorReport, folder: Path, show_folder: Callable[[Path], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Unexpected error"))
        title = QLabel(report.summary, objectName="heading", wordWrap=True)
        title.setTextFormat(Qt.TextFormat.PlainText)  # the text may quote a file
        self.text = QPlainTextEdit(report_text(report), readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(QFontInfo(font).pointSizeF() * text_scale())
        self.text.setFont(font)
        self.text.setAccessibleName(self.tr("Details of the error"))
        location = QLabel(self.tr("Log folder: {path}").format(path=folder), objectName="muted", wordWrap=True)
        location.setTextFormat(Qt.TextFormat.PlainText)
        location.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.folder_button = QPushButton(self.tr("Show log folder"), clicked=lambda: show_folder(folder))
        self.copy_button = QPushButton(self.tr("Copy report"), objectName="primary")
        self.copy_button.clicked.connect(lambda: copy_report(report))
        close = QPushButton(self.tr("Close"), clicked=self.accept)
        buttons = in_row(self.folder_button, 1, close, self.copy_button)
        in_column(title, (self.text, 1), location, buttons, owner=self, margins=(22, 20, 22, 18), spacing=14)
        self.copy_button.setDefault(True)
        resize_for_text(self, 720, 440)


_UNSAVED = (
    problems.SavedLater,
    problems.UnsavedLabels,
    problems.UnsuitableDrive,
    problems.NameTooLong,
    problems.WriteFolderMissing,
)


class Notifications(QObject):
    """Slots that show a message for each event."""

    def __init__(self, services: Services, messages: MessageBar, commands: ProjectCommands) -> None:
        super().__init__(messages)
        self._session, self._messages, self._commands = services.session, messages, commands
        self._export_job, self._error_log, self._run_list = services.export_job, services.error_log, services.run_list
        services.error_log.occurred.connect(self._unexpected)
        self._undo_step: VerdictChange | None = None  # its message has the Undo button
        session = services.session
        session.problem_met.connect(self._problem)
        session.autosave.state_changed.connect(self._save_state)
        session.project_opened.connect(self._project_opened)
        session.project_closed.connect(self._project_closed)
        session.current.opened.connect(self._image_opened)
        session.current.failed.connect(self._image_failed)
        session.verdict_steps.stepped.connect(self._stepped)
        session.current.step_followed.connect(self._followed)
        session.history_changed.connect(self._history_changed)
        session.areas.left_out.connect(self._area_leaves_defects)
        session.image_list.added.connect(self._added)
        services.predictions.failed.connect(self._predict_failed)
        services.evaluation_report.saved.connect(self._report_saved)
        services.evaluation_report.failed.connect(messages.problem)
        services.export_job.state_changed.connect(self._export_changed)
        services.export_job.finished.connect(self._exported)
        services.export_job.failed.connect(self._export_failed)
        services.export_job.cancelled.connect(self._export_cancelled)

    def refused(self, reason: str) -> None:
        """Show why painting, or a key for the image, was refused."""
        if reason == "not shown":
            self.image_not_shown(self._session.opening or "")
        elif reason == "not painted":
            text, key = self.tr("No defect is painted on {name}, so it is not marked as done."), self._session.key or ""
            self._messages.show_message(
                "info",
                text.format(name=PurePosixPath(key).name),
                self.tr("If it shows none, mark it as good."),
                button=self.tr("Mark as good"),
                # Another image may be open by then.
                callback=lambda: self._session.verdict_steps.set_statuses([key], "done"),
                topic="refused",
            )
        elif reason == "no class":
            text = self.tr("This project has no classes.")
            self._messages.show_message(
                "info", text, self.tr("Click + next to Classes to add a class."), topic="refused"
            )
        elif reason == "read-only":
            text = self.tr("This project is read-only. Labels cannot be changed.")
            advice = self.tr("Close the other window that uses the project, then open the project again.")
            project = self._session.project
            if project is not None and project.write_problem is not None:
                text, advice = formatting.problem_text(project.read_only(""))
            self._messages.show_message("info", text, advice, topic="refused")
        elif self._session.mask_problem is not None:
            self._image_opened(self._session.key or "")
        else:
            text, advice = _tool_texts(reason)
            if text:
                self._messages.show_message("info", text, advice, topic="refused")

    def command_refused(self, name: str, reason: str) -> None:
        """Show why a command is not available, unless a text is being edited."""
        if not isinstance(self._messages.window().focusWidget(), TEXTS):
            text = self.tr("“{command}” is not available.").format(command=name)
            self._messages.show_message("info", text, self.tr("{reason}.").format(reason=reason), topic="command")

    def key_held_back(self, key: int, button: str) -> None:
        """Show that a second press of the key that has pressed a button had no effect."""
        key = Qt.Key.Key_Enter if key == Qt.Key.Key_Return else key  # as the window calls it
        name = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        text = self.tr("{key} activated the button “{button}”.").format(key=name, button=button)
        self._messages.show_message(
            "info", text, self.tr("Press {key} again to use it on the image.").format(key=name), topic="command"
        )

    def image_not_shown(self, key: str) -> None:
        """Show that keys were typed before the image that they were meant for appeared."""
        text = self.tr("Stopped at {name}: it is not shown yet.").format(name=PurePosixPath(key).name)
        self._messages.show_message("info", text, self.tr("Keys typed too early have no effect."), topic="command")

    def painted_left_out(self, count: int) -> None:
        """Show that images with painted defects were not marked as good."""
        text = fill(self.tr("{n} {n:image has|images have} painted defects and did not change."), n=str(count))
        self._messages.show_message("info", text, topic="command")

    def show_training_message(self, kind: str, text: str, advice: str) -> None:
        self._messages.show_message(kind, text, advice, topic="training")

    def training_recovered(self) -> None:
        self._messages.withdraw("training")

    def curves_saved(self, path: Path) -> None:
        text = self.tr("Curves saved in {path}.").format(path=path)
        self._messages.show_message(
            "success",
            text,
            topic="curves",
            button=self.tr("Open folder"),
            callback=lambda: self._commands.show_path(path.parent),
        )

    def _report_saved(self, path: Path) -> None:
        self._messages.show_message(
            "success",
            self.tr("Report saved: {path}").format(path=path),
            topic="report",
            button=self.tr("Open"),
            callback=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))),
            buttons=[(self.tr("Open folder"), lambda: self._commands.show_path(path.parent))],
        )

    # --- events ----------------------------------------------------------------------------------

    def _problem(self, problem: Exception) -> None:
        text, advice = formatting.problem_text(problem)
        if isinstance(problem, (problems.ProjectGone, problems.ProjectTaken)):
            return  # shown by MissingFolder as long as the problem lasts
        if isinstance(problem, problems.CopyOrMoved):
            return  # asked by ProjectCommands
        if isinstance(problem, problems.UnexpectedError):
            return  # shown by `_unexpected`, with the details
        if isinstance(problem, _UNSAVED):
            self._messages.show_message("problem", text, advice, topic="save")
        elif isinstance(problem, problems.ProjectMoved):
            self._messages.show_message("info", text, advice)
        elif isinstance(problem, problems.FolderReadOnly):
            self._messages.show_message("warning", text, advice, topic="lock")
        elif isinstance(problem, problems.ProjectLocked):
            self._messages.show_message(
                "warning",
                text,
                self.tr("The project is read-only in this window."),
                topic="lock",
            )
        else:
            self._messages.show_message("problem", text, advice)

    def _unexpected(self, report: ErrorReport) -> None:

        def details() -> None:
            ErrorDetails(report, self._error_log.folder, self._commands.show_path, self._messages.window()).show()

        self._messages.show_message(
            "problem",
            self.tr("Unexpected error: {what}").format(what=report.summary[:200]),
            self.tr("Save your work. Restart Defect Workbench if problems continue."),
            buttons=((self.tr("Details"), details), (self.tr("Copy report"), lambda: copy_report(report))),
            topic="unexpected",
        )

    def _save_state(self, state: str) -> None:
        if state == "saved":
            self._messages.withdraw("save")

    def _project_opened(self) -> None:
        for topic in ("refused", "command", "mask", "drop", "export", "image", "close"):
            self._messages.withdraw(topic)

    def _project_closed(self) -> None:
        self._messages.clear()

    def _image_opened(self, key: str) -> None:
        self._messages.withdraw("image")
        self._messages.withdraw("mask")
        problem = self._session.mask_problem
        if problem is not None:
            text, advice = formatting.problem_text(problem)
            self._messages.show_message("warning", text, advice, topic="mask")

    def _image_failed(self, key: str, problem: Exception) -> None:
        self._messages.withdraw("mask")
        if self._session.folder.problem is not None:
            return  # its message explains this
        text, advice = formatting.problem_text(problem)
        self._messages.show_message("warning", text, advice, topic="image")

    def explain_step(self, reason: str) -> None:
        """Show why the step that the user has just run is the next one."""
        self._messages.show_message("info", reason, topic="reason")

    def explain_stop(self, show_all: Callable[[], None], reason: str, hidden: int) -> None:
        """Show why no image was opened, with a button if the list hides some."""
        text = self.tr("{n} {n:image is|images are} hidden by the search, the filter or Label next.")
        advice, button = (fill(text, n=hidden), self.tr("Show all images")) if hidden else ("", "")
        self._messages.show_message("info", reason, advice, button=button, callback=show_all, topic="stop")

    def _stepped(self, step: VerdictChange, change: str) -> None:
        rows = [self._session.rows.get(key) for key in step.after]
        good = len(rows) > 1 and not any(row is None or row.verdict or is_painted(row) for row in rows)
        text = _step_text(step, good=good)
        self._undo_step = None
        if change == "done":
            marked_done = step.after[step.first_key] == "done"
            hidden = marked_done and step.first_key == self._session.key  # as the next image opens
            if hidden or step.field == "pin" or len(step.after) > 1:  # other changes are visible on the page
                self._undo_step = step
                text = text if marked_done else self.tr("Changed: {step}").format(step=text)
                self._messages.show_message(
                    "success", text, button=self.tr("Undo"), callback=self._session.undo, topic="step"
                )
        elif step.field in ("status", "pin") or set(step.after) != {self._session.key}:
            pattern = self.tr("Undone: {step}") if change == "undone" else self.tr("Redone: {step}")
            self._messages.show_message("info", pattern.format(step=text), topic="step")

    def _followed(self, direction: str, command: UndoCommand) -> None:
        pattern = self.tr("Undone on {name}: {step}") if direction == "undo" else self.tr("Redone on {name}: {step}")
        text = pattern.format(name=PurePosixPath(command.key).name, step=step_text(command.title))
        self._messages.show_message("info", text, topic="step")

    def _history_changed(self) -> None:
        """Withdraw the Undo button once it would undo another step."""
        if self._undo_step is not None and self._session.undo_stack.next_undo is not self._undo_step:
            self._undo_step = None
            self._messages.withdraw("step")

    def _area_leaves_defects(self, found: LeftOut, areas: Areas) -> None:
        """Ask before an inspection area is used that leaves labeled defects outside, or whose part is not found."""
        assert found.problem is not None
        text = problem_text(found.problem)[0]
        advice = self.tr("The area is not used yet. With it, these labels count neither in training nor in metrics.")
        button = {"button": self.tr("Use it"), "callback": lambda: self._session.areas.use(areas)}
        self._messages.show_message("warning", text, advice, topic="area", **button)

    def _added(self, added: Added) -> None:
        kind = "success" if added.copied or not added.left_out else "warning"
        self._messages.show_message(kind, added_text(added), topic="drop")

    def _predict_failed(self, problem: Exception) -> None:
        text, advice = formatting.problem_text(problem)
        self._messages.show_message("warning", text, advice, topic="predict")

    def _export_changed(self) -> None:
        if self._export_job.running:
            self._messages.withdraw("export")  # the result of the export before

    def _exported(self, result: dict[str, Any]) -> None:
        from workbench.ui.training.model_dialogs import ExportReport

        path = Path(str(result.get("path", "")))
        text = self.tr("Model exported to {path}.").format(path=path)
        parities = result.get("parity") or {}
        first = next(iter(result.get("formats") or parities), "")
        parity = formatting.parity_text({first: parities.get(first)})
        weakness = settings_texts.weakness_text(self._run_list.metrics_of(self._export_job.run))
        if self._export_job.options != DEFAULT_OPTIONS:
            ExportReport(result, self._commands.show_path, self._messages.window(), weakness).show()
        self._messages.show_message(
            "warning" if weakness else "success",
            text,
            weakness or " ".join(filter(None, (parity, settings_texts.speed_text(result)))),
            button=self.tr("Open folder"),
            callback=lambda: self._commands.show_path(path),
            topic="export",
        )

    def _export_failed(self, problem: Exception) -> None:
        text, advice = formatting.problem_text(problem)
        run, options = self._export_job.run, self._export_job.options
        if isinstance(problem, problems.ModelNotReady) and run is not None:
            self._messages.show_message(
                "warning",
                text,
                advice,
                button=self.tr("Export anyway"),
                callback=lambda: self._export_job.start(run, options=options, anyway=True),
                topic="export",
            )
            return
        self._messages.show_message("problem", text, advice, topic="export")

    def _export_cancelled(self) -> None:
        self._messages.show_message("info", self.tr("Export canceled. No files were left behind."), topic="export")


def _tool_texts(reason: str) -> tuple[str, str]:
    """Return why a tool failed, and an alternative."""
    return {
        "too large": (
            QCoreApplication.translate("Notifications", "Nothing was painted because the area is too large."),
            QCoreApplication.translate("Notifications", "Lower the tolerance or select a smaller area."),
        ),
        "nothing in the box": (
            QCoreApplication.translate("Notifications", "No defect found in this box."),
            QCoreApplication.translate(
                "Notifications", "Include some surface around the defect in the box, or use the magic wand."
            ),
        ),
        "nothing segmented": (
            QCoreApplication.translate("Notifications", "No object found at this position."),
            QCoreApplication.translate("Notifications", "Add a click or drag a box."),
        ),
        "no object": (
            QCoreApplication.translate("Notifications", "Click the defect before you click what to remove."),
            "",
        ),
        "nothing here": (QCoreApplication.translate("Notifications", "No area to fill at this position."), ""),
        "no line": (
            QCoreApplication.translate("Notifications", "No continuous line found between the two points."),
            "",
        ),
        "too far": (
            QCoreApplication.translate("Notifications", "The two points are too far apart."),
            QCoreApplication.translate("Notifications", "Add a point between them."),
        ),
        "no region": (
            QCoreApplication.translate("Notifications", "No region at this position."),
            QCoreApplication.translate("Notifications", "Click a painted region."),
        ),
        "kept": (
            QCoreApplication.translate(
                "Notifications", "Nothing was painted: “Keep other classes” protects this area."
            ),
            with_key(
                QCoreApplication.translate("Notifications", "Turn off “Keep other classes” to paint here"), "keep"
            ),
        ),
        "no proposal": (
            QCoreApplication.translate("Notifications", "No suggestion at this position."),
            QCoreApplication.translate("Notifications", "Press {key} to predict this image.").format(
                key=key_text("predict")
            ),
        ),
        "locked": (
            QCoreApplication.translate("Notifications", "This class is locked."),
            QCoreApplication.translate("Notifications", "Unlock the class in its context menu to change it."),
        ),
    }.get(reason, ("", ""))


def _step_text(step: VerdictChange, *, good: bool) -> str:
    """Return a change of verdicts or status as one sentence. good: of images without defects and verdicts."""
    name, value = PurePosixPath(step.first_key).name, step.after[step.first_key]
    if len(step.after) > 1:
        name = fill(
            QCoreApplication.translate("Notifications", "{n} {n:image|images}"), n=formatting.number(len(step.after))
        )
    if step.field == "status":
        patterns = {
            "good": QCoreApplication.translate("Notifications", "{name} marked as good"),
            "done": QCoreApplication.translate("Notifications", "{name} marked as done"),
        }
        undone = QCoreApplication.translate("Notifications", "{name} marked as not done")
        return patterns.get("good" if good and value == "done" else value or "", undone).format(name=name)
    if step.field == "pin":
        return QCoreApplication.translate("Notifications", "data split of {name}").format(name=name)
    if step.field == "group":
        return QCoreApplication.translate("Notifications", "group of {name}").format(name=name)
    if value is None:
        return QCoreApplication.translate("Notifications", "verdict of {name} removed").format(name=name)
    return QCoreApplication.translate("Notifications", "verdict {verdict} for {name}").format(verdict=value, name=name)
