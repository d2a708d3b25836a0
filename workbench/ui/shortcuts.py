"""Keyboard shortcuts in use. Every text that quotes a shortcut takes it from here.

The defaults are a column of the command table (`ui/actions`); the application installs them at its start, before the
first text quotes one, as it installs the translations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence

_DIGITS = range(1, 10)

# Keys that a widget handles itself: on the canvas they depend on the tool and on the item under the pointer.
FIXED_KEYS: dict[str, str] = {
    "accept_suggestion": "Space",
    "reject_suggestion": "Del",
    "grow": "+; =",
    "shrink": "-",
    **{f"suggestion_class_{n}": f"Ctrl+{n}" for n in _DIGITS},
    "pan": "Space",
    "hide_overlays": "Tab",
    "move_region": "Left; Right; Up; Down",
    "delete_region": "Del; Backspace",
    "remove_corner": "Del",
    "remove_last_corner": "Backspace",
    "close_outline": "Enter; Return",
    "good_image": "G",
    "defective_image": "B",
    "skip_image": "Space",
    "cancel": "Esc",
    "confirm": "Enter; Return",
    "rename": "F2",
}


# Default key sequences by command id, separated by "; ". Set by `install_shortcuts`.
_defaults: dict[str, str] = {}
# Key sequences by command that the user has set instead of the defaults; "" for none. Set by `change_shortcuts`.
_changed: dict[str, str] = {}


def install_shortcuts(defaults: Mapping[str, str], changes: Mapping[str, str]) -> None:
    """Set the default shortcuts by command id, and the user's changes, see `change_shortcuts`."""
    _defaults.clear()
    _defaults.update(defaults)
    change_shortcuts(changes)


def change_shortcuts(changes: Mapping[str, str]) -> None:
    """Replace the user's changes: key sequences by command id, separated by "; ". Invalid ones are left out."""
    _changed.clear()
    for id, text in changes.items():
        keys = [part for part in text.split("; ") if part and QKeySequence(part)[0].key() != Qt.Key.Key_unknown]
        if (keys or not text) and id not in FIXED_KEYS:
            _changed[id] = "; ".join(keys)


def changed_shortcuts() -> dict[str, str]:
    """Return the user's changes, see `change_shortcuts`."""
    return dict(_changed)


def key_sequences(id: str) -> list[QKeySequence]:
    """Return the shortcuts of a command or of a fixed key. The list is empty if the command has none."""
    return [QKeySequence(key) for key in _keys(id).split("; ") if key]


def _keys(id: str) -> str:
    """Return the shortcuts of a command or of a fixed key separated by "; "."""
    return _changed.get(id, _defaults.get(id) or FIXED_KEYS.get(id, ""))


def default_sequences(id: str) -> list[QKeySequence]:
    """Return the shortcuts that a command has unless the user changes them."""
    return [QKeySequence(key) for key in _defaults.get(id, "").split("; ") if key]


def with_current_keys(text: str) -> str:
    """Return a text with the default shortcuts that the user has replaced, such as Ctrl+T, exchanged for the new ones.

    Single letters and digits are not recognized in a text.
    """
    replaced: dict[str, str] = {}
    for id in _changed:
        new = key_text(id) or QCoreApplication.translate("shortcuts", "no shortcut")
        for keys in default_sequences(id):
            replaced[keys.toString()] = new
    names = sorted((re.escape(name) for name in replaced if len(name) > 1), key=len, reverse=True)
    if not names:
        return text
    return re.sub(rf"(?<![\w+])({'|'.join(names)})(?![\w+])", lambda match: replaced[match[0]], text)


def key_text(id: str) -> str:
    """Return the first shortcut as the platform writes it, for example "Ctrl+T"; "" without a shortcut."""
    keys = _keys(id).partition("; ")[0]
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""


def with_key(text: str, id: str) -> str:
    """Return a text followed by the first shortcut in parentheses; the text alone without a shortcut."""
    key = key_text(id)
    return QCoreApplication.translate("shortcuts", "{text} ({key})").format(text=text, key=key) if key else text
