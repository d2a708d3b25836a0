"""Keyboard shortcuts of the user: the list of all, generated from the table of commands so that it is always up to
date, and changes: conflicts, assignment, reset. Changes are stored in the preferences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QLineEdit, QPushButton, QScrollArea, QWidget

from workbench.session.preferences import Preferences
from workbench.ui.actions.command_table import Submenu
from workbench.ui.actions.menus import Actions
from workbench.ui.shortcuts import (
    FIXED_KEYS,
    change_shortcuts,
    changed_shortcuts,
    default_sequences,
    key_sequences,
    key_text,
)
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import line_height, resize_for_text

_LEFT = ("label", "canvas", "edit", "train")
_RIGHT = ("image", "view", "project", "help")
_KEY_FRAME = 4  # px, border and padding of a key above and below its text


@dataclass(frozen=True)
class ShortcutConflict:
    """Use of a key by something else. command: id of the other command; "" if the key cannot be reassigned."""

    keys: QKeySequence
    name: str
    command: str = ""


class ShortcutChanges(QObject):
    """Shortcuts of the commands as the user has set them. All commands share one context: the window."""

    changed = Signal()

    def __init__(self, actions: Actions, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._actions, self._preferences = actions, preferences

    def is_changed(self, id: str) -> bool:
        """Return whether the shortcuts of a command differ from the defaults."""
        return key_sequences(id) != default_sequences(id)

    def conflict(self, id: str, keys: QKeySequence) -> ShortcutConflict | None:
        """Return the other use of a key sequence that a command shall get; None if it is free."""
        if keys in default_sequences(id):
            fixed = None  # a default may share a key of the canvas, which has priority while it applies
        else:
            fixed = self._fixed_use(keys)
        if fixed is not None:
            return ShortcutConflict(keys, fixed)
        for other, command in self._actions.commands.items():
            if other != id and keys in key_sequences(other):
                return ShortcutConflict(keys, plain(command.text).rstrip("…"), other)
        return None

    def _fixed_use(self, keys: QKeySequence) -> str | None:
        """Return the name of a use that has no command: keys of the canvas and of the menu bar."""
        if any(keys in key_sequences(name) for name in FIXED_KEYS):
            return self.tr("Canvas")
        for menu in self._actions.menus:
            if keys == QKeySequence.mnemonic(menu.title):
                return self.tr("Menu {name}").format(name=plain(menu.title))
        return None

    def assign(self, id: str, keys: QKeySequence, *, add: bool = False, reassign: bool = False) -> None:
        """Set the key sequence of a command, or add one. Raises ValueError on a conflict.

        reassign: remove the key sequence from the other command first.
        """
        conflict = self.conflict(id, keys)
        if conflict is not None and not (reassign and conflict.command):
            raise ValueError(f"{keys.toString()} is used by {conflict.name}")
        changes = changed_shortcuts()
        if conflict is not None:
            changes[conflict.command] = _text([other for other in key_sequences(conflict.command) if other != keys])
        present = [other for other in key_sequences(id) if other != keys] if add else []
        changes[id] = _text([*present, keys])
        self._store(changes)

    def remove(self, id: str) -> None:
        """Remove the shortcuts of a command."""
        self._store({**changed_shortcuts(), id: ""})

    def reset(self, id: str, *, reassign: bool = False) -> ShortcutConflict | None:
        """Restore the default shortcuts of a command. Return the conflict if another command uses one of them now.

        reassign: remove the key sequence from that command.
        """
        changes = changed_shortcuts()
        for keys in default_sequences(id):
            conflict = self.conflict(id, keys)
            if conflict is not None and not reassign:
                return conflict
            if conflict is not None:
                changes[conflict.command] = _text([other for other in key_sequences(conflict.command) if other != keys])
        changes.pop(id, None)
        self._store(changes)
        return None

    def reset_all(self) -> None:
        """Restore the default shortcuts of all commands."""
        self._store({})

    def _store(self, changes: dict[str, str]) -> None:
        defaults = {id: _text(default_sequences(id)) for id in changes}
        change_shortcuts({id: text for id, text in changes.items() if text != defaults[id]})
        self._preferences.shortcuts = changed_shortcuts()
        self._preferences.save()
        self._actions.update_shortcuts()
        self.changed.emit()


def usable(keys: QKeySequence) -> bool:
    """Return whether a key sequence can be a shortcut: one key that is not a modifier alone."""
    modifiers = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_unknown)
    return keys.count() == 1 and keys[0].key() not in modifiers


def without_keypad(keys: QKeySequence) -> QKeySequence:
    """Return a key sequence as it is stored: a key of the keypad counts as the same key of the keyboard."""
    if not keys.count():
        return keys
    modifiers = keys[0].keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return QKeySequence(QKeyCombination(modifiers, keys[0].key()))


def _text(sequences: Sequence[QKeySequence]) -> str:
    return "; ".join(keys.toString(QKeySequence.SequenceFormat.PortableText) for keys in sequences)


class ShortcutsDialog(QDialog):
    """Non-modal dialog with all shortcuts and a search field."""

    change_requested = Signal()

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.search = QLineEdit(placeholderText=self.tr("Search"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search"))
        self.search.textChanged.connect(self._filter)
        body = QWidget(objectName="sideBody")
        self.rows: list[tuple[str, tuple[QWidget, ...]]] = []  # text to search, labels
        halves = in_row(owner=body, margins=(10, 6, 16, 10), spacing=36)
        tables = {menu.name: menu for menu in actions.menus}
        for menus in (_LEFT, _RIGHT):
            grid = QGridLayout()
            grid.setHorizontalSpacing(18)
            grid.setVerticalSpacing(5)
            grid.setColumnStretch(1, 1)
            half = in_column(grid, 1)
            halves.addLayout(half, 1)
            for menu in menus:
                if menu == "canvas":
                    self._add(grid, self.tr("Canvas"), self._canvas_rows())
                else:
                    self._add(grid, plain(tables[menu].title), _menu_rows(tables[menu], actions))
        area = QScrollArea(widgetResizable=True, accessibleName=self.tr("Keyboard shortcuts"))
        area.setWidget(body)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        column = in_column(self.search, (area, 1), owner=self, margins=(18, 16, 18, 16), spacing=12)
        change = QPushButton(self.tr("Change shortcuts…"), autoDefault=False, clicked=self.change_requested)
        column.addWidget(change, 0, Qt.AlignmentFlag.AlignLeft)
        resize_for_text(self, 860, 640)

    def _canvas_rows(self) -> list[tuple[str, str]]:
        """Return pointer gestures, and keys whose effect depends on the tool and on the item under the pointer."""
        pan, close = key_text("pan"), key_text("close_outline")
        return [
            (self.tr("Ctrl + drag"), self.tr("Erase with any tool")),
            (self.tr("Shift + click"), self.tr("Polygon: remove a corner")),
            (key_text("remove_corner"), self.tr("Polygon: remove the corner under the pointer")),
            (key_text("remove_last_corner"), self.tr("Polygon, magnetic lasso: remove the last corner")),
            (self.tr("{key}, double-click").format(key=close), self.tr("Polygon, magnetic lasso: close and paint")),
            (key_text("cancel"), self.tr("Cancel the current stroke or selection")),
            (key_text("accept_suggestion"), self.tr("Accept the suggestion under the pointer")),
            (key_text("reject_suggestion"), self.tr("Reject the suggestion under the pointer")),
            (f"{key_text('grow')} {key_text('shrink')}", self.tr("Grow or shrink the suggestion under the pointer")),
            (
                f"{key_text('suggestion_class_1')} … 9",
                self.tr("Set the class of the suggestion under the pointer"),
            ),
            (key_text("delete_region"), self.tr("Delete the selected region")),
            (self.tr("Arrow keys"), self.tr("Move the selected region")),
            (self.tr("Alt + click"), self.tr("Pick the class under the pointer")),
            (self.tr("Alt + right drag"), self.tr("Brush size")),
            (self.tr("Ctrl + Shift + wheel"), self.tr("Brush size")),
            (self.tr("Wheel"), self.tr("Zoom at the pointer")),
            (self.tr("Middle drag, {key} + drag").format(key=pan), self.tr("Move the image")),
            (self.tr("Shift + right drag"), self.tr("Contrast (horizontal), brightness (vertical)")),
            (self.tr("Hold {key}").format(key=key_text("hide_overlays")), self.tr("Hide all overlays")),
            (self.tr("Right-click"), self.tr("Menu of the region under the pointer")),
            (key_text("good_image"), self.tr("Thumbnails: good images, and next")),
            (key_text("defective_image"), self.tr("Thumbnails: defective images, and next")),
            (key_text("skip_image"), self.tr("Thumbnails: next image, without a decision")),
        ]

    def _add(self, grid: QGridLayout, title: str, rows: list[tuple[str, str]]) -> None:
        heading = QLabel(title, objectName="heading")
        heading.setContentsMargins(0, 10, 0, 2)
        grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
        for keys, text in rows:
            row = grid.rowCount()
            key_label, text_label = QLabel(keys, objectName="key"), QLabel(text, wordWrap=True)
            key_label.setMinimumHeight(round(line_height(keys + text, self.font())) + _KEY_FRAME)
            grid.addWidget(key_label, row, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(text_label, row, 1)
            self.rows.append((f"{keys} {text}".casefold(), (key_label, text_label)))

    def _filter(self, text: str) -> None:
        for row_text, labels in self.rows:
            for label in labels:
                label.setVisible(text.casefold().strip() in row_text)


def _menu_rows(menu: Submenu, actions: Actions) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for command in menu.commands():
        shortcuts = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in actions[command.id].shortcuts()]
        keys, text = ", ".join(dict.fromkeys(shortcuts)), plain(command.text)
        stem, _, number = command.id.rpartition("_")
        if stem in ("class", "verdict", "verdict_next") and _is_default(stem):  # numbers 1 to 9 share one line
            if number != "1":
                continue
            keys, text = f"{keys} … {keys[:-1]}9", text.replace("1", "1 … 9")
        if keys:
            rows.append((keys, text))
    return rows


def _is_default(stem: str) -> bool:
    """Return whether the shortcuts of the commands 1 to 9 of a kind are not changed."""
    return all(key_sequences(f"{stem}_{n}") == default_sequences(f"{stem}_{n}") for n in range(1, 10))
