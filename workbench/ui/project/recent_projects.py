"""Recently opened projects: their list, their menu, and the choices for a project that is not found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.core.problems import Problem
from workbench.core.project.project import read_project_file
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.widgets.message_bar import MessageBar

_MAX_SHOWN = 8
_TOPIC = "recent"


@dataclass(frozen=True)
class RecentProject:
    """Entry of the list. found: its folder holds a project at present."""

    path: Path
    found: bool


class RecentProjects(QObject):
    """List of the recently opened projects, stored in the preferences.

    A project that is not found stays in the list, since a drive may be connected again, until the user removes it. A
    project that was moved replaces its entry when it is opened at its new place.
    """

    open_requested = Signal(object)  # Path
    changed = Signal()

    def __init__(self, window: QWidget, session: Session, preferences: Preferences, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._session, self._preferences, self._messages = window, session, preferences, messages
        self.menu = QMenu(self.tr("Open &recent"), window)
        self.menu.aboutToShow.connect(self._fill_menu)
        session.project_opened.connect(self._record)
        session.image_opened.connect(self._record)

    def projects(self) -> list[RecentProject]:
        """Return the entries, newest first."""
        paths = map(Path, self._preferences.recent_projects[:_MAX_SHOWN])
        return [RecentProject(path, _is_project(path)) for path in paths]

    def folder(self) -> Path:
        """Return the folder of the newest project that is found, in which new projects are offered; or home."""
        return next((project.path.parent for project in self.projects() if project.found), Path.home())

    def offer_choices(self, path: Path) -> bool:
        """Report that a project of the list is not found, with the choices. Return False for other folders."""
        if str(path) not in self._preferences.recent_projects or _is_project(path):
            return False
        self._messages.show_message(
            "warning",
            self.tr("The project {path} was not found.").format(path=path),
            self.tr("Connect its drive, or locate the folder to which it was moved."),
            topic=_TOPIC,
            buttons=(
                (self.tr("Locate…"), lambda: self.locate(path)),
                (self.tr("Remove from list"), lambda: self.remove(path)),
            ),
        )
        return True

    def locate(self, path: Path) -> None:
        """Let the user choose the folder to which a project was moved, and open it there."""
        start = next((parent for parent in path.parents if parent.is_dir()), Path.home())
        title = self.tr("Locate project {name}").format(name=path.name)
        chosen = QFileDialog.getExistingDirectory(self._window, title, str(start))
        if not chosen:
            return
        folder = Path(chosen)
        try:
            file = read_project_file(folder)
        except Problem as problem:
            self._messages.problem(problem)
            return
        id = self._preferences.project_ids.get(str(path), "")
        if id and file.id != id:
            self._messages.show_message(
                "warning",
                self.tr("{folder} holds another project: {name}.").format(folder=folder, name=file.name),
                self.tr("Choose the folder to which {name} was moved.").format(name=path.name),
                topic=_TOPIC,
            )
            return
        self._preferences.move_project(str(path), str(folder))
        self._save()
        self.open_requested.emit(folder)

    def remove(self, path: Path) -> None:
        """Remove a project from the list. Its folder is not changed."""
        self._preferences.remove_project(str(path))
        self._save()

    def _save(self) -> None:
        self._preferences.save()
        self._messages.withdraw(_TOPIC)
        self.changed.emit()

    def _record(self, image: str | None = None) -> None:
        """Record the open project and its current image; its entry at an earlier place is replaced."""
        project = self._session.project
        if project is None:
            return
        root, id = str(project.root), project.file.id
        for name, other in list(self._preferences.project_ids.items()):
            if other == id and name != root and not _is_project(Path(name)):
                self._preferences.move_project(name, root)
        self._preferences.opened(root, image, id=id)
        if image is None:
            self._messages.withdraw(_TOPIC)
            self._preferences.save()

    def _fill_menu(self) -> None:
        self.menu.clear()
        for project in self.projects():
            text = f"{project.path.name}  ({project.path.parent})"
            if not project.found:
                text = self.tr("{project} – not found").format(project=text)
            action = QAction(text.replace("&", "&&"), self.menu)
            action.triggered.connect(lambda _=False, path=project.path: self.open_requested.emit(path))
            self.menu.addAction(action)
        if self.menu.isEmpty():
            self.menu.addAction(self.tr("No recent projects")).setEnabled(False)


def _is_project(path: Path) -> bool:
    return (path / "project.json").is_file()
