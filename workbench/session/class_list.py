"""Classes and verdicts of the open project: editing, visibility, locks and the current class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import BadClass, ClassNameTaken, Problem
from workbench.core.project.project import BACKGROUND, ClassInfo, Project
from workbench.session.editor import Editor


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
        self._empty = False  # the project had no class at the last change
        self.changed.connect(self._choose_first)

    def open(self, project: Project) -> None:
        self._project, self._empty = project, not project.classes
        project.json.follow_merges(self._merged)

    def close(self) -> None:
        if self._project is not None:
            self._project.json.follow_merges(None)
        self._project, self.hidden = None, set()

    # --- current class, visibility, locks ---------------------------------------------------------

    def choose(self, id: int) -> None:
        """Make this the class to paint with."""
        if id != self._editor.class_id:
            self._editor.class_id = id
            self.chosen.emit(id)

    def _choose_first(self) -> None:
        """Choose a class once the project has its first one, whether it was added or came with imported labels."""
        before, self._empty = self._empty, self._project is not None and not self._project.classes
        first = before and self._project is not None and self._project.classes
        if first and self._editor.class_id == BACKGROUND:  # else the background was chosen, to erase
            self.choose(first[0].id)

    def set_hidden(self, id: int, hidden: bool) -> None:
        (self.hidden.add if hidden else self.hidden.discard)(id)
        self.changed.emit()

    def set_locked(self, id: int, locked: bool) -> None:
        """Lock or unlock a class; a locked class is never painted over."""
        (self._editor.locked.add if locked else self._editor.locked.discard)(id)
        self.changed.emit()

    # --- classes and verdicts of the project ------------------------------------------------------

    def add(self, name: str, color: str | None = None) -> ClassInfo | None:
        return self._change(add_class, name, color)

    def rename(self, id: int, name: str) -> None:
        self._change(rename_class, id, name)

    def recolor(self, id: int, color: str) -> None:
        self._change(recolor_class, id, color)

    def reorder(self, ids: list[int]) -> None:
        """Set the display order of the classes; ids, masks and shortcut keys stay."""
        self._change(reorder_classes, ids)

    def add_verdict(self, name: str) -> None:
        self._change(add_verdict, name)

    def ensure_verdict(self, name: str | None) -> None:
        """Add a verdict that is about to be assigned, unless the project has it already."""
        if name is not None and self._project is not None and name not in self._project.file.verdicts:
            self.add_verdict(name)

    def _merged(self) -> None:
        """Report that a change of project.json by another program was merged."""
        for notice in self._project.json.take_notices() if self._project is not None else ():
            self.problem_met.emit(notice)
        self.changed.emit()

    def _change(self, change: Callable[..., Any], *values: object) -> Any:
        if self._project is None:
            return None
        try:
            self._project.refresh()
            result = change(self._project, *values)
        except Problem as problem:
            self.problem_met.emit(problem)
            return None
        self.changed.emit()
        return result


def add_class(project: Project, name: str, color: str | None = None) -> ClassInfo:
    """Add a class. Raises BadClass, CannotWrite, ProjectReadOnly."""
    project.need_write("the class")
    if color is not None:
        _checked(ClassInfo(id=1, name="x", color="#000000"), color=color)
    with _restored_on_failure(project):
        return project.add_class(name, color=color)


def rename_class(project: Project, id: int, name: str) -> None:
    """Rename a class; its id and masks stay. Raises BadClass, CannotWrite, ProjectReadOnly."""
    name = name.strip()
    if any(info.name == name and info.id != id for info in project.classes):
        raise ClassNameTaken(name=name)
    _change(project, id, name=name)


def recolor_class(project: Project, id: int, color: str) -> None:
    """Set the color of a class, "#rrggbb". Raises BadClass, CannotWrite, ProjectReadOnly."""
    _change(project, id, color=color)


def reorder_classes(project: Project, ids: list[int]) -> None:
    """Set the order of the classes by their ids. Raises BadClass, CannotWrite, ProjectReadOnly."""
    project.need_write("the classes")
    known = {info.id: info for info in project.classes}
    if sorted(ids) != sorted(known):
        raise BadClass(name=", ".join(map(str, ids)), why="these are not the classes of the project")
    with _restored_on_failure(project):
        project.file.classes[:] = [known[id] for id in ids]
        project.save()


def _change(project: Project, id: int, **values: Any) -> None:
    project.need_write("the class")
    for index, info in enumerate(project.classes):
        if info.id == id:
            changed = _checked(info, **values)
            with _restored_on_failure(project):
                project.classes[index] = changed
                project.save()
            return
    raise BadClass(name=str(id), why="there is no class with this ID")


def _checked(info: ClassInfo, **values: Any) -> ClassInfo:
    try:
        return ClassInfo.model_validate({**info.model_dump(), **values})
    except ValidationError as error:
        name = str(values.get("name", info.name)) or "''"
        why = "it has no name" if values.get("name") == "" else error.errors()[0]["msg"]
        raise BadClass(name=name, why=why) from error


@contextmanager
def _restored_on_failure(project: Project) -> Iterator[None]:
    before = list(project.classes)
    try:
        yield
    except Problem:
        project.file.classes[:] = before
        raise


def add_verdict(project: Project, name: str) -> None:
    """Add a verdict. Raises BadClass, CannotWrite, ProjectReadOnly."""
    project.need_write("the verdict")
    name = name.strip()
    if not name:
        raise BadClass(name="''", why="it has no name")
    before = list(project.file.verdicts)
    try:
        project.add_verdict(name)
    except Problem:
        project.file.verdicts = before
        raise
