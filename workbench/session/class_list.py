"""Classes and verdicts of the open project: editing, visibility, locks and the current class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project import BACKGROUND, ClassInfo, Project
from workbench.session import classes
from workbench.session.editing import Editor


class ClassList(QObject):
    """Classes and verdicts of the open project. On failure methods emit `problem_met` and change nothing."""

    changed = Signal()  # classes, verdicts, visibility or locks
    chosen = Signal(int)
    problem_met = Signal(object)

    def __init__(self, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hidden: set[int] = set()
        self._editor = editor
        self._project: Project | None = None

    def open(self, project: Project) -> None:
        self._project = project
        project.json.merged = self._merged

    def close(self) -> None:
        if self._project is not None:
            self._project.json.merged = None
        self._project, self.hidden = None, set()

    # --- current class, visibility, locks ---------------------------------------------------------

    def choose(self, id: int) -> None:
        """Make this the class to paint with."""
        if id != self._editor.class_id:
            self._editor.class_id = id
            self.chosen.emit(id)

    def set_hidden(self, id: int, hidden: bool) -> None:
        (self.hidden.add if hidden else self.hidden.discard)(id)
        self.changed.emit()

    def set_locked(self, id: int, locked: bool) -> None:
        """Lock or unlock a class; a locked class is never painted over."""
        (self._editor.locked.add if locked else self._editor.locked.discard)(id)
        self.changed.emit()

    # --- classes and verdicts of the project ------------------------------------------------------

    def add(self, name: str, color: str | None = None) -> ClassInfo | None:
        info = self._change(classes.add_class, name, color)
        if info is not None and self._editor.class_id == BACKGROUND:
            self.choose(info.id)
        return info

    def rename(self, id: int, name: str) -> None:
        self._change(classes.rename_class, id, name)

    def recolor(self, id: int, color: str) -> None:
        self._change(classes.recolor_class, id, color)

    def reorder(self, ids: list[int]) -> None:
        """Set the display order of the classes; ids, masks and shortcut keys stay."""
        self._change(classes.reorder_classes, ids)

    def add_verdict(self, name: str) -> None:
        self._change(classes.add_verdict, name)

    def need_verdict(self, name: str | None) -> None:
        """Add a verdict that is about to be assigned, unless the project has it already."""
        if name is not None and self._project is not None and name not in self._project.file.verdicts:
            self.add_verdict(name)

    def _merged(self) -> None:
        """Report that a change of project.json by another program was merged."""
        for notice in self._project.json.take_notices():
            self.problem_met.emit(notice)
        self.changed.emit()

    def _change(self, change: Callable[..., Any], *values: object) -> Any:
        if self._project is None:
            return None
        try:
            self._project.refresh()
            made = change(self._project, *values)
        except Problem as problem:
            self.problem_met.emit(problem)
            return None
        self.changed.emit()
        return made
