"""Changes of keyboard shortcuts: conflicts, assignment, reset. They are stored in the preferences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence

from workbench.session.preferences import Preferences
from workbench.ui.actions.actions import Actions
from workbench.ui.actions.menus import MENUS, titles
from workbench.ui.shortcuts import FIXED_KEYS, change_shortcuts, changed_shortcuts, default_sequences, key_sequences
from workbench.ui.text.formatting import plain


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
        names = titles()
        for menu in MENUS:
            if keys == QKeySequence.mnemonic(names[menu]):
                return self.tr("Menu {name}").format(name=plain(names[menu]))
        return None

    def assign(self, id: str, keys: QKeySequence, *, add: bool = False, reassign: bool = False) -> None:
        """Set the key sequence of a command, or add one. Raise ValueError on a conflict.

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
