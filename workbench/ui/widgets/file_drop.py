"""Drag and drop of files and folders onto the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.session.image_list import left_out_reason

_TEXT_SUFFIXES = (".json", ".xml", ".csv", ".tsv", ".yaml", ".yml")
LABEL_SUFFIXES = (".zip", *_TEXT_SUFFIXES, ".txt")
LeftOut = list[tuple[str, str]]  # names, and reasons as in `image_list.Added`


class FileDropFilter(QObject):
    """Event filter that accepts a drag over a widget if it holds an image file or a folder, always as a copy.

    A move would allow the source program to delete the files. `dragged` is emitted with True when such a drag enters
    the widget, with False when it ends.
    accept: called with the usable paths and the rejected entries of the drop; returns whether they are accepted.
    refuse: called with the rejected entries of a drag that holds nothing usable.
    """

    dragged = Signal(bool)

    def __init__(
        self, widget: QWidget, accept: Callable[[list[Path], LeftOut], bool], refuse: Callable[[LeftOut], None]
    ) -> None:
        super().__init__(widget)
        self._accept, self._refuse = accept, refuse
        self._usable = False  # whether the current drag holds something usable
        widget.setAcceptDrops(True)
        for field in widget.findChildren(QLineEdit):
            field.setAcceptDrops(False)  # a line edit would take files as text, and as a move
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.DragEnter:
            paths, left_out = split_drop(event.mimeData())
            self._usable = bool(paths)
            _set_accepted(event, self._usable)
            self.dragged.emit(self._usable)
            if left_out and not paths:
                self._refuse(left_out)  # there will be no drop event
        elif kind == QEvent.Type.DragMove:
            _set_accepted(event, self._usable)
        elif kind == QEvent.Type.DragLeave:
            self.dragged.emit(False)
        elif kind == QEvent.Type.Drop:
            self.dragged.emit(False)
            paths, left_out = split_drop(event.mimeData())
            _set_accepted(event, bool(paths) and self._accept(paths, left_out))
        else:
            return False
        return True


def split_drop(data: QMimeData) -> tuple[list[Path], LeftOut]:
    """Split the files and folders of a drop into usable paths and rejected names with reasons.

    A folder is not searched for images here, as that can take long. A project or an archive is usable only if it is
    dropped alone, text files if one of them lists objects.
    """
    from workbench.core.project.formats.yolo import is_object_list
    from workbench.core.project.packing import is_packed

    paths: list[Path] = []
    left_out: LeftOut = []
    single = len(data.urls()) == 1
    local = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    lists_objects = any(is_object_list(path) for path in local if path.suffix.lower() == ".txt")
    for url in data.urls():
        path = Path(url.toLocalFile())
        reason = left_out_reason(path) if url.isLocalFile() and path.exists() else "remote"
        suffix = path.suffix.lower()
        is_labels = reason == "kind" and (suffix in _TEXT_SUFFIXES or (suffix == ".txt" and lists_objects))
        alone = single and (reason == "project" or suffix == ".zip" or is_packed(path))
        if not reason or is_labels or (alone and reason != "remote"):
            paths.append(path)
        else:
            left_out.append((path.name or url.fileName() or url.host(), reason))
    return paths, left_out


def is_label_file(path: Path) -> bool:
    """Return True for a usable file of a drop that is not an image."""
    return path.suffix.lower() not in IMAGE_SUFFIXES and path.is_file()


def _set_accepted(event: Any, accepted: bool) -> None:
    if accepted:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.ignore()
