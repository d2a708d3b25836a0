"""Classes of an import: the project's class for each class name in the labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import numpy as np

from workbench.core.project.formats.base import ImportedLabel
from workbench.core.project.project import BACKGROUND, DONT_CARE, ClassInfo, Project


class ImportClasses:
    """Mapping of class names to class ids. Missing classes are added to `project`, which is not saved.

    names: name in the labels -> name in the project, None to ignore the class. A name that is not in it means the
    class of the project whose name differs at most in case, width and outer spaces, or a new class. keep_ids: a new
    class takes the id used in its label.
    """

    def __init__(self, project: Project, names: Mapping[str, str | None], *, keep_ids: bool) -> None:
        self._project, self._names, self._keep_ids = project, names, keep_ids
        self._ids: dict[str, int] = {}  # by name in the labels; BACKGROUND for ignored ones
        self.added: list[ClassInfo] = []

    def table(self, label: ImportedLabel) -> np.ndarray:
        """Return the project's id for each of the label's ids, uint8 (256,). Raises BadClass for an impossible name."""
        table = np.arange(256, dtype=np.uint8)
        table[1:DONT_CARE] = BACKGROUND
        for id, name in sorted(label.names.items()):
            if name not in self._ids:
                self._ids[name] = self._id_of(name, id)
            table[id] = self._ids[name]
        return table

    def targets(self) -> dict[str, ClassInfo | None]:
        """Return the class of each name met so far, None for ignored ones."""
        classes = {info.id: info for info in self._project.classes}
        return {name: classes.get(id) for name, id in self._ids.items()}

    def _id_of(self, name: str, id: int) -> int:
        mapped = self._names.get(name, name)
        if mapped is None:
            return BACKGROUND
        known = matching_class(mapped, self._project.classes, exact=name in self._names)
        if known is None:
            file = self._project.file
            used = {info.id for info in file.classes} | set(file.retired_ids)
            requested = id if self._keep_ids and id not in used else None
            known = self._project.add_class(mapped, id=requested, save=False)
            self.added.append(known)
        return known.id


def matching_class(name: str, classes: list[ClassInfo], *, exact: bool = False) -> ClassInfo | None:
    """Return the class with a name, else, unless `exact`, one that differs in case, width or outer spaces only."""
    for info in classes:
        if info.name == name.strip():
            return info
    if exact:
        return None
    return next((info for info in classes if _plain(info.name) == _plain(name)), None)


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
