"""What those parts of the session need of it that work across many pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from PySide6.QtCore import SignalInstance

from workbench.core.annotation import Note
from workbench.core.index import Row
from workbench.core.project import Project
from workbench.session.editing import Editor
from workbench.session.label import Label
from workbench.session.listing import Listing
from workbench.session.saving import Saver


class Whole(Protocol):
    """The session, as its parts see it."""

    project: Project | None
    project_opened: SignalInstance
    picture_opened: SignalInstance
    classes_changed: SignalInstance
    history_changed: SignalInstance
    problem_met: SignalInstance
    _editor: Editor
    _listing: Listing
    _saver: Saver

    @property
    def key(self) -> str | None: ...
    @property
    def note(self) -> Note | None: ...
    @property
    def rows(self) -> Mapping[str, Row]: ...
    @property
    def writable(self) -> bool: ...
    @property
    def class_id(self) -> int: ...
    @property
    def _label(self) -> Label | None: ...
    def commit(self) -> None: ...
    def flush(self) -> bool: ...
    def open_picture(self, key: str) -> None: ...
    def refresh_pictures(self) -> None: ...
    def choose_class(self, id: int) -> None: ...
    def set_verdict(self, name: str | None) -> None: ...
    def add_verdict(self, name: str) -> None: ...
    def _change(self, change, *values): ...
