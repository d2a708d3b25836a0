"""Changes of classes and verdicts that touch project.json only. If the file cannot be written, nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from workbench.core.problems import BadClass, Problem
from workbench.core.project import ClassInfo, Project


def add_class(project: Project, name: str, color: str | None = None) -> ClassInfo:
    """Add a class. Raises BadClass, CannotWrite, ProjectReadOnly."""
    project.need_write("the class")
    if color is not None:
        _checked(ClassInfo(id=1, name="x", color="#000000"), color=color)
    with _undone_on_failure(project):
        return project.add_class(name, color=color)


def rename_class(project: Project, id: int, name: str) -> None:
    """Rename a class; its id and masks stay. Raises BadClass, CannotWrite, ProjectReadOnly."""
    name = name.strip()
    if any(info.name == name and info.id != id for info in project.classes):
        raise BadClass(name=name, why="a class of this name is there already")
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
    with _undone_on_failure(project):
        project.file.classes[:] = [known[id] for id in ids]
        project.save()


def _change(project: Project, id: int, **values: Any) -> None:
    project.need_write("the class")
    for at, info in enumerate(project.classes):
        if info.id == id:
            changed = _checked(info, **values)
            with _undone_on_failure(project):
                project.classes[at] = changed
                project.save()
            return
    raise BadClass(name=str(id), why="there is no class of this id")


def _checked(info: ClassInfo, **values: Any) -> ClassInfo:
    try:
        return ClassInfo.model_validate({**info.model_dump(), **values})
    except ValidationError as error:
        name = str(values.get("name", info.name)) or "''"
        why = "it has no name" if values.get("name") == "" else error.errors()[0]["msg"]
        raise BadClass(name=name, why=why) from error


@contextmanager
def _undone_on_failure(project: Project) -> Iterator[None]:
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
