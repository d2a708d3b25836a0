"""Identity of an open project's folder, which may be moved, deleted, unmounted or replaced."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.problems import ProjectGone
from workbench.core.project.project_json import ProjectJson
from workbench.inference.io.atomic_write import keep_root

State = tuple[tuple[int, int], tuple[int, int, int]]


class ProjectFolder:
    """Folder of an open project, recognized by its identity on the disk and by the id in project.json."""

    def __init__(self, root: Path, id: str, json: ProjectJson) -> None:
        self._root, self._id, self._json = root, id, json
        self._mutex = threading.Lock()
        self._state = _state(root)
        keep_root(root)

    def check(self) -> None:
        """Raise ProjectGone if the project is not there anymore. Two calls of `stat` if nothing has changed."""
        try:
            state = _state(self._root)
        except OSError as error:
            raise ProjectGone.of(self._root, error) from error
        if state == self._state:
            return
        with self._mutex:
            same = state[0] == self._state[0] and id_in(_read(self._root)) in ("", self._id)
            if not same and not self.matches(self._root):
                raise ProjectGone(path=str(self._root), why=Message("file.another_folder"))
            self._state = state

    def matches(self, root: Path) -> bool:
        """Return True if `root` is the same folder after a move or its project.json has the same id.

        Without an id, project.json must have the same content.
        """
        content = _read(root)
        id = id_in(content)
        if id:
            return id == self._id
        try:
            same = _state(root)[0] == self._state[0]
        except OSError:
            return False
        return same or content == self._json.content


def id_in(content: bytes) -> str:
    """Return the id in the content of a project.json, "" if there is none."""
    try:
        fields: Any = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    id = fields.get("id") if isinstance(fields, dict) else None
    return id if isinstance(id, str) else ""


def _state(root: Path) -> State:
    folder, file = os.stat(root), os.stat(root / "project.json")
    return (folder.st_dev, folder.st_ino), (file.st_ino, file.st_size, file.st_mtime_ns)


def _read(root: Path) -> bytes:
    try:
        return (root / "project.json").read_bytes()
    except OSError:
        return b""
