"""Banner that is shown while the open project's folder is not available, with buttons to continue."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.problems import ProjectGone
from workbench.session.session import Session
from workbench.ui.text.formatting import problem_text
from workbench.ui.widgets.message_bar import MessageBar

_TOPIC = "folder"


class MissingFolder(QObject):
    """Banner with the problem of the folder and the state of unsaved changes."""

    def __init__(self, window: QWidget, session: Session, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._session, self._messages = window, session, messages
        session.folder.changed.connect(self._show)
        self._show()

    def choose_folder(self) -> None:
        """Let the user choose the folder to which the project was moved."""
        project = self._session.project
        if project is None:
            return
        start = next((parent for parent in project.root.parents if parent.is_dir()), Path.home())
        title = self.tr("Find project folder")
        folder = QFileDialog.getExistingDirectory(self._window, title, str(start))
        if folder and self._session.find_folder(folder):
            self._save()

    def retry(self) -> None:
        """Check whether the folder is available again."""
        if self._session.folder.check():
            self._save()

    def _save(self) -> None:
        if self._session.flush():
            self._messages.show_message(
                "success", self.tr("The project folder is available again. All changes are saved."), topic="save"
            )

    def _show(self) -> None:
        problem = self._session.folder.problem
        if problem is None:
            self._messages.withdraw(_TOPIC)
        elif isinstance(problem, ProjectGone):
            text = self.tr("The project folder {path} is not available.").format(path=problem.fields["path"])
            buttons = [(self.tr("Find folder…"), self.choose_folder), (self.tr("Try again"), self.retry)]
            self._messages.show_message(
                "problem", text, self._unsaved_text(), topic=_TOPIC, buttons=buttons, sticky=True
            )
        else:
            text, advice = problem_text(problem)
            unsaved = self._unsaved_text() if self._session.folder.unsaved else ""
            self._messages.show_message(
                "problem", text, " ".join(filter(None, (advice, unsaved))), topic=_TOPIC, sticky=True
            )

    def _unsaved_text(self) -> str:
        """Return the text about where unsaved changes are stored until the folder is available."""
        folder = self._session.folder
        if not folder.unsaved:
            return self.tr("You can continue labeling. Changes are saved when the folder is available again.")
        if folder.rescued:
            text = self.tr("Unsaved changes: {count}. Changes are kept in memory and in a recovery journal.")
        else:
            text = self.tr("Unsaved changes: {count}. Changes are kept in memory.")
        return text.format(count=folder.unsaved)
