"""Checks of widgets as a screen reader and a keyboard meet them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QGroupBox,
    QHeaderView,
    QLabel,
    QMenu,
    QScrollBar,
    QToolBar,
    QWidget,
)


def focusable(root: QWidget) -> Iterator[QWidget]:
    """Yield the widgets below `root` that take the focus by Tab or by click.

    Parts of Qt's own widgets and fields whose label has no text yet are left out.
    """
    unused = [label.buddy() for label in root.findChildren(QLabel) if not used(label)]
    for widget in root.findChildren(QWidget):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or isinstance(widget, (QScrollBar, QHeaderView, QToolBar)):
            continue
        if widget.objectName().startswith("qt_") or is_part(widget) or not used(widget) or widget in unused:
            continue
        yield widget


def used(widget: QWidget) -> bool:
    """Return False for a text that is not set yet: an empty label, or a button without icon and text."""
    if isinstance(widget, QLabel):
        return bool(QLabel.text(widget))
    return not isinstance(widget, QAbstractButton) or bool(QAbstractButton.text(widget)) or not widget.icon().isNull()


def is_part(widget: QWidget) -> bool:
    """Return True for an editor within a spin box or a box, and for a list that drops down, and of a menu."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, (QAbstractSpinBox, QComboBox, QMenu)) or type(parent).__name__.startswith(
            "QComboBoxPrivate"
        ):
            return True
        if isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget:
            return True
        parent = parent.parentWidget()
    return False


def name_of(widget: QWidget) -> str:
    """Return the name that a screen reader uses: accessible name, text, or that of the associated label."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() if interface is not None else ""


def describe(widget: QWidget) -> str:
    path, each = [], widget
    while each is not None and len(path) < 4:
        path.append(f"{type(each).__name__}#{each.objectName()}" if each.objectName() else type(each).__name__)
        each = each.parentWidget()
    return " < ".join(path) + (f" [{widget.toolTip()}]" if widget.toolTip() else "")


def nameless(root: QWidget) -> list[str]:
    return [describe(widget) for widget in focusable(root) if not name_of(widget)]


def mnemonic(text: str) -> str:
    """Return the letter that Alt activates, in lower case; "" for none."""
    found = re.search(r"&([^&\s])", text.replace("&&", ""))
    return found.group(1).lower() if found else ""


def conflicts(root: QWidget) -> list[str]:
    """Return the letters that two widgets of a dialog claim, with their texts."""
    claimed: dict[str, list[str]] = {}
    for widget in root.findChildren(QWidget):
        text = ""
        if isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy() is not None):
            text = widget.text()
        elif isinstance(widget, QGroupBox):
            text = widget.title()
        letter = mnemonic(text)
        if letter and not widget.isHidden():
            claimed.setdefault(letter, []).append(text)
    return [f"{letter}: {texts}" for letter, texts in claimed.items() if len(texts) > 1]


def menu_conflicts(menu: QMenu) -> list[str]:
    """Return the letters that two entries of a menu claim."""
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    letters = Counter(filter(None, map(mnemonic, texts)))
    return [f"{menu.title()}: {letter}" for letter, count in letters.items() if count > 1]


def tab_order(root: QWidget) -> list[QWidget]:
    """Return the widgets of a window that Tab reaches, in order."""
    order, visited, each = [], set(), root.nextInFocusChain()
    while each is not root and each not in visited:
        visited.add(each)
        reached = each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisible() and each.isEnabled()
        if reached and root.isAncestorOf(each) and not is_part(each) and each.focusProxy() is None:
            order.append(each)
        each = each.nextInFocusChain()
    assert each is root, "the order of the focus does not return to its start"
    return order


def jumps_back(root: QWidget) -> list[str]:
    """Return the pairs of the tab order that go up and to the left, against the direction of reading."""
    order, found = tab_order(root), []
    for before, after in zip(order, order[1:]):
        if before.visibleRegion().isEmpty() or after.visibleRegion().isEmpty():
            continue  # scrolled out of view
        first, second = before.mapTo(root, QPoint(0, 0)), after.mapTo(root, QPoint(0, 0))
        if second.y() + after.height() <= first.y() and second.x() <= first.x():
            found.append(f"{name_of(before) or describe(before)} → {name_of(after) or describe(after)}")
    return found
