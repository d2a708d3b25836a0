"""Facts of the engines that a person should hear of, brought to the message bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from workbench.core import problems
from workbench.session.exporter import ONE_CLICK
from workbench.ui import export_words, words
from workbench.ui.commands import Commands
from workbench.ui.dialogs.export_report import ExportReport
from workbench.ui.messages import Messages
from workbench.ui.rooms import Rooms


class Reports(QObject):
    """Listens to the rooms."""

    def __init__(self, rooms: Rooms, messages: Messages, commands: Commands) -> None:
        super().__init__(messages)
        self._session, self._messages, self._commands = rooms.session, messages, commands
        self._exporter = rooms.exporter
        session = rooms.session
        session.problem_met.connect(self._problem)
        session.save_state_changed.connect(self._save_state)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.picture_opened.connect(self._picture_opened)
        session.picture_failed.connect(self._picture_failed)
        rooms.predictions.failed.connect(self._predict_failed)
        rooms.exporter.finished.connect(self._exported)
        rooms.exporter.failed.connect(self._export_failed)
        rooms.exporter.cancelled.connect(self._export_cancelled)

    def refused(self, why: str) -> None:
        """Somebody tried to paint and could not."""
        if why == "no class":
            says = self.tr("There is no class to paint with yet.")
            self._messages.say("info", says, self.tr("Add one with the + beside Classes."), topic="refused")
        elif why == "read-only":
            says = self.tr("This project is open read-only, so nothing can be painted.")
            advice = self.tr("Close the window that holds it, then open it again.")
            project = self._session.project
            if project is not None and project.obstacle is not None:
                says, advice = words.problem_words(project.read_only(""))
            self._messages.say("info", says, advice, topic="refused")
        elif self._session.mask_problem is not None:
            self._picture_opened(self._session.key or "")
        else:
            says, advice = self._tool_words(why)
            if says:
                self._messages.say("info", says, advice, topic="refused")

    def _tool_words(self, why: str) -> tuple[str, str]:
        """What a tool could not do, and what else would."""
        return {
            "too large": (self.tr("This area is too large for one gesture; nothing was painted."),
                          self.tr("Lower the tolerance, or take a smaller part.")),
            "nothing in the box": (self.tr("Nothing stands out in this box."),
                                   self.tr("Leave some surface around the defect inside the box, or use the wand.")),
            "nothing here": (self.tr("There is nothing to take here."), ""),
            "no line": (self.tr("No line leads from one click to the other."), ""),
            "too far": (self.tr("These two clicks are too far apart."), self.tr("Click once more in between.")),
            "no region": (self.tr("There is no region here."), self.tr("Click on something that is painted.")),
            "kept": (self.tr("Other classes are kept here, so nothing was painted."),
                     self.tr("Switch “Keep other classes” off first (X).")),
            "no proposal": (self.tr("Nothing is proposed here."),
                            self.tr("Ctrl+R lets the model look at this picture.")),
            "locked": (self.tr("This class is protected from painting over."),
                       self.tr("Allow it in the class's menu first.")),
        }.get(why, ("", ""))  # fmt: skip

    def training_said(self, kind: str, says: str, advice: str) -> None:
        self._messages.say(kind, says, advice, topic="training")

    def training_recovered(self) -> None:
        self._messages.withdraw("training")

    def curves_saved(self, path: Path) -> None:
        says = self.tr("The curves are saved in {path}.").format(path=path)
        self._messages.say("success", says, topic="curves", button=self.tr("Open folder"),
                           do=lambda: self._commands.show_path(path.parent))  # fmt: skip

    # --- facts -----------------------------------------------------------------------------------

    def _problem(self, problem: Exception) -> None:
        says, advice = words.problem_words(problem)
        if isinstance(problem, (problems.SavedLater, problems.UnsavedLabels)):
            self._messages.say("problem", says, advice, topic="save")
        elif isinstance(problem, problems.FolderReadOnly):
            self._messages.say("warning", says, advice, topic="lock")
        elif isinstance(problem, problems.ProjectLocked):
            self._messages.say(
                "warning",
                says,
                self.tr("It is shown read-only here; nothing can be changed by accident."),
                topic="lock",
            )
        else:
            self._messages.say("problem", says, advice)

    def _save_state(self, state: str) -> None:
        if state == "saved":
            self._messages.withdraw("save")

    def _opened(self) -> None:
        for topic in ("refused", "mask", "drop", "export", "picture", "close"):
            self._messages.withdraw(topic)

    def _closed(self) -> None:
        self._messages.clear()

    def _picture_opened(self, key: str) -> None:
        self._messages.withdraw("picture")
        self._messages.withdraw("mask")
        problem = self._session.mask_problem
        if problem is not None:
            says, advice = words.problem_words(problem)
            self._messages.say("warning", says, advice, topic="mask")

    def _picture_failed(self, key: str, problem: Exception) -> None:
        self._messages.withdraw("mask")
        says, advice = words.problem_words(problem)
        self._messages.say("warning", says, advice, topic="picture")

    def _predict_failed(self, problem: Exception) -> None:
        says, advice = words.problem_words(problem)
        self._messages.say("warning", says, advice, topic="predict")

    def _exported(self, result: dict[str, Any]) -> None:
        path = Path(str(result.get("path", "")))
        says = self.tr("The export is ready in {path}.").format(path=path)
        parities = result.get("parity") or {}
        first = next(iter(result.get("formats") or parities), "")
        parity = words.parity_words({first: parities.get(first)})
        if self._exporter.choices != ONE_CLICK:
            ExportReport(result, self._commands.show_path, self._messages.window()).show()
        self._messages.say(
            "success",
            says,
            " ".join(filter(None, (parity, export_words.speed_words(result)))),
            button=self.tr("Open folder"),
            do=lambda: self._commands.show_path(path),
            topic="export",
        )

    def _export_failed(self, problem: Exception) -> None:
        says, advice = words.problem_words(problem)
        self._messages.say("problem", says, advice, topic="export")

    def _export_cancelled(self) -> None:
        self._messages.say("info", self.tr("The export was cancelled; nothing half made is left."), topic="export")
