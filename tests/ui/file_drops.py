"""Drops of files on a window."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

A = Qt.DropAction


def drop(window, *urls) -> list[Qt.DropAction | None]:
    """Drag from a program that prefers to move, and drop; the answer to each event, None if it was not accepted."""
    data = QMimeData()
    data.setUrls([url if isinstance(url, QUrl) else QUrl.fromLocalFile(str(url)) for url in urls])
    offered, answers = A.CopyAction | A.MoveAction | A.LinkAction, []
    for kind in (QDragEnterEvent, QDragMoveEvent, QDropEvent):
        at = QPointF(90, 90) if kind is QDropEvent else QPoint(90, 90)
        event = kind(at, offered, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        event.setDropAction(A.MoveAction)
        event.ignore()
        QApplication.sendEvent(window, event)
        answers.append(event.dropAction() if event.isAccepted() else None)
    return answers
