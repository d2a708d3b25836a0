"""Identity of project folders: a copied folder has the id of its original until it is opened where both are known.

In the user's data folder, `projects/<id>.json` names the folder in which this user last had a project open for writing,
and `rescue/*/origin.json` the folder from which unsaved changes come.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from platformdirs import user_data_dir

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, CopyOrMoved, ProjectMoved
from workbench.core.project.project_folder import id_of
from workbench.core.project.storage import write_json
from workbench.inference.io.json_io import JsonError, read_json

if TYPE_CHECKING:
    from workbench.core.project.project import Project

FolderKind = Literal["copy", "moved"]
_ORIGIN = "origin.json"


def rescue_folder() -> Path:
    """Return the folder of all rescue journals of this user."""
    return _data_folder() / "rescue"


@dataclass(frozen=True)
class RescueOrigin:
    """Project whose unsaved changes a rescue journal holds. content: hash of its project.json, which may have no id."""

    folder: Path
    id: str
    path: str
    content: str

    @classmethod
    def of(cls, project: Project, folder: Path) -> RescueOrigin:
        return cls(folder, project.file.id, str(project.root), _content(project))

    def write(self) -> None:
        """Write it into the folder of the journal. Raises CannotWrite."""
        fields = {"format": 1, "id": self.id, "path": self.path, "content": self.content}
        write_json(self.folder / _ORIGIN, fields)


def rescue_origins(project: Project) -> list[RescueOrigin]:
    """Return those of a project in any folder. Without an id on the disk, the same path or content decides."""
    found = []
    with contextlib.suppress(OSError):
        for folder in sorted(rescue_folder().iterdir()):
            fields = _read(folder / _ORIGIN)
            values = [fields.get(name) for name in ("id", "path", "content")]
            if not all(isinstance(value, str) for value in values):
                continue
            origin = RescueOrigin(folder, *map(str, values))
            if origin.id == project.file.id or (
                not project.json.identified and (project.is_at(origin.path) or origin.content == _content(project))
            ):
                found.append(origin)
    return found


def identify(project: Project, choice: FolderKind | None) -> None:
    """Decide whether a project, which is open for writing, is a copy or was moved, and remember its folder.

    choice: decision of the user. A copy gets a new id; unsaved changes that belong to the other folder stay there. To a
    project that was moved they belong from now on. Raises CopyOrMoved if a decision is needed: the other folder exists
    too, or unsaved changes belong to it.
    """
    earlier = _earlier_folder(project)
    origins = rescue_origins(project)
    foreign = [origin for origin in origins if not project.is_at(origin.path)]
    both = earlier is not None and id_of(earlier) == project.file.id
    if choice is None and (foreign or both):
        other, why = (foreign[0].path, "identity.unsaved") if foreign else (str(earlier), "identity.both")
        raise CopyOrMoved(path=str(project.root), other=other, why=Message(why))
    if choice == "copy":
        project.renew_id()
        for origin in origins:
            if origin not in foreign:
                replace(origin, id=project.file.id).write()
    for origin in foreign if choice == "moved" else ():
        replace(origin, id=project.file.id, path=str(project.root)).write()
    if choice is None and earlier is not None:
        project.json.notices.append(ProjectMoved(path=str(project.root), other=str(earlier)))
    remember(project)


def was_moved(project: Project) -> bool:
    """Return True if the folder in which the project was open last does not hold it any more."""
    earlier = _earlier_folder(project)
    return earlier is not None and id_of(earlier) != project.file.id


def remember(project: Project) -> None:
    """Record the folder of a project that is open for writing, as far as possible."""
    path = _record(project)
    if project.json.identified and _read(path).get("path") != str(project.root):
        with contextlib.suppress(CannotWrite):
            write_json(path, {"format": 1, "path": str(project.root)})


def _earlier_folder(project: Project) -> Path | None:
    """Return the other folder in which the project was open last; None if it is unknown or this one."""
    path = _read(_record(project)).get("path")
    return None if not isinstance(path, str) or project.is_at(path) else Path(path)


def _record(project: Project) -> Path:
    return _data_folder() / "projects" / f"{project.file.id}.json"


def _data_folder() -> Path:
    return Path(user_data_dir("defect-workbench", appauthor=False))


def _read(path: Path) -> dict[str, object]:
    try:
        content = read_json(path)
    except (OSError, JsonError):
        return {}
    return content if isinstance(content, dict) else {}


def _content(project: Project) -> str:
    return hashlib.sha256(project.json.content).hexdigest()
