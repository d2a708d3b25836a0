"""Availability of the project folder: detects when it is missing or locked by another program, and when it is back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import CannotWrite, Problem, ProjectGone, ProjectTaken
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave


class ProjectWatch(QObject):
    """Watch over the project folder. problem: reason why the open project cannot be written; None if it can."""

    changed = Signal()  # the problem, or the number of unsaved changes
    returned = Signal()  # the missing folder is back in its place
    problem_met = Signal(object)

    def __init__(self, autosave: Autosave, parent: QObject | None = None, *, retry: float = 5.0) -> None:
        super().__init__(parent)
        self.problem: CannotWrite | None = None
        self._autosave = autosave
        self._project: Project | None = None
        self._timer = QTimer(self, interval=round(retry * 1000))
        self._timer.timeout.connect(self.check)

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self._timer.stop()
        self._project = None
        self._set(None)

    def on_problem(self, problem: object) -> None:
        """Handle a failed write: watch the folder from now on if it is missing or locked."""
        if isinstance(problem, (ProjectGone, ProjectTaken)) and self._project is not None:
            self._set(problem)

    def check(self) -> bool:
        """Check whether the project can be written again, and save then. Return True if it can."""
        if self._project is None or self.problem is None:
            return True
        try:
            self._project.need_write("")
        except Problem as problem:
            self.on_problem(problem)
            return False
        missing = isinstance(self.problem, ProjectGone)
        self._set(None)
        self._autosave.retry()
        if missing:
            self.returned.emit()
        return True

    def relocate(self, root: Path) -> bool:
        """Continue in the folder to which the project was moved, and save there. Return False on failure."""
        if self._project is None:
            return False
        try:
            self._project.relocate(root)
            self._project.need_write("")
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self._autosave.retry()
        return self._autosave.flush()

    def refresh(self) -> None:
        """Report that something was changed or saved."""
        if self.problem is not None:
            self.changed.emit()

    @property
    def unsaved(self) -> int:
        """Number of changes kept until the project can be written again."""
        return self._autosave.unsaved_changes

    @property
    def rescued(self) -> bool:
        """True if the unsaved changes are in the rescue journal too."""
        return self._autosave.rescued

    def _set(self, problem: CannotWrite | None) -> None:
        before, self.problem = self.problem, problem
        if isinstance(problem, ProjectGone):
            self._timer.start()
        else:
            self._timer.stop()
        if problem is not before:
            self.changed.emit()
