"""Order in which Tab reaches the widgets of a window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def focus_chain(container: QWidget) -> list[QWidget]:
    """Return the widgets in `container` that can have the focus and do not pass it on, in the order of Tab."""
    found, each = [], container.nextInFocusChain()
    while container.isAncestorOf(each):
        if each.focusPolicy() != Qt.FocusPolicy.NoFocus and each.focusProxy() is None:
            found.append(each)
        each = each.nextInFocusChain()
    return found


def move_behind(before: QWidget, container: QWidget) -> None:
    """Move the widgets in `container` behind `before`. A container that is added later comes last otherwise."""
    for widget in focus_chain(container):
        QWidget.setTabOrder(before, widget)
        before = widget
