"""Identity of project folders: a copied folder has the id of its original until it is opened where both are known.

In the user's data folder, `projects/<id>.json` names the folder in which this user last had a project open for writing,
and `rescue/*/origin.json` the folder from which unsaved changes come.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from platformdirs import user_data_dir

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, CopyOrMoved
from workbench.core.project.project_folder import ProjectLock, id_of
from workbench.core.project.project_json import ProjectJson
from workbench.core.project.storage import write_json
from workbench.inference.io.json_io import JsonError, read_json

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

    def write(self) -> None:
        """Write it into the folder of the journal. Raises CannotWrite."""
        fields = {"format": 1, "id": self.id, "path": self.path, "content": self.content}
        write_json(self.folder / _ORIGIN, fields)


@dataclass(frozen=True)
class ProjectIdentity:
    """Folder and id of an open project. lock: None if it is not open for writing."""

    root: Path
    id: str
    json: ProjectJson
    lock: ProjectLock | None

    def is_at(self, path: Path | str) -> bool:
        """Return True if `path` leads to this folder."""
        if os.path.realpath(path) == os.path.realpath(self.root):
            return True
        return self.lock is not None and self.lock.is_held_at(Path(path))

    @property
    def earlier_folder(self) -> Path | None:
        """The other folder in which the project was open last; None if it is unknown or this one."""
        path = _read(self._record).get("path")
        return None if not isinstance(path, str) or self.is_at(path) else Path(path)

    @property
    def moved_from(self) -> Path | None:
        """The folder in which the project was open last, if it does not hold it any more."""
        earlier = self.earlier_folder
        return None if earlier is None or id_of(earlier) == self.id else earlier

    def check(self) -> None:
        """Raise CopyOrMoved unless it is known which folder holds the project.

        It is unknown if the other folder exists too, or if unsaved changes belong to it.
        """
        earlier = self.earlier_folder
        others = [origin.path for origin in self.rescue_origins() if not self.is_at(origin.path)]
        if others:
            raise CopyOrMoved(path=str(self.root), other=others[0], why=Message("identity.unsaved"))
        if earlier is not None and id_of(earlier) == self.id:
            raise CopyOrMoved(path=str(self.root), other=str(earlier), why=Message("identity.both"))

    def remember(self) -> None:
        """Record the folder, as far as possible."""
        if self.json.identified and _read(self._record).get("path") != str(self.root):
            with contextlib.suppress(CannotWrite, UnicodeEncodeError):
                write_json(self._record, {"format": 1, "path": str(self.root)})

    # --- unsaved changes --------------------------------------------------------------------------

    def origin(self, folder: Path) -> RescueOrigin:
        """Return this project as the origin of a rescue journal."""
        return RescueOrigin(folder, self.id, str(self.root), self._content)

    def rescue_origins(self) -> list[RescueOrigin]:
        """Return those of the project in any folder. Without an id on the disk, the same path or content decides."""
        found = []
        with contextlib.suppress(OSError):
            for folder in sorted(rescue_folder().iterdir()):
                fields = _read(folder / _ORIGIN)
                values = [fields.get(name) for name in ("id", "path", "content")]
                if not all(isinstance(value, str) for value in values):
                    continue
                origin = RescueOrigin(folder, *map(str, values))
                same = self.is_at(origin.path) or origin.content == self._content
                if origin.id == self.id or (same and not self.json.identified):
                    found.append(origin)
        return found

    def take_changes(self) -> None:
        """Take over unsaved changes of the other folder, as the project was moved here. Raises CannotWrite."""
        for origin in self.rescue_origins():
            replace(origin, id=self.id, path=str(self.root)).write()

    @property
    def _record(self) -> Path:
        return _data_folder() / "projects" / f"{self.id}.json"

    @property
    def _content(self) -> str:
        return hashlib.sha256(self.json.content).hexdigest()


def _data_folder() -> Path:
    return Path(user_data_dir("defect-workbench", appauthor=False))


def _read(path: Path) -> dict[str, object]:
    try:
        content = read_json(path)
    except (OSError, JsonError):
        return {}
    return content if isinstance(content, dict) else {}
