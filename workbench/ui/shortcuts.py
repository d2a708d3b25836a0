"""Keyboard shortcuts: the only list of keys. Every text that quotes a shortcut takes it from here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence

_DIGITS = range(1, 10)

# Key sequences of each command, separated by "; ". The user can replace them, see `change_shortcuts`.
SHORTCUTS: dict[str, str] = {
    "new_project": "Ctrl+N",
    "open_project": "Ctrl+O",
    "add_pictures": "Ctrl+I",
    "add_folder": "Ctrl+Shift+I",
    "reload": "F5",
    "save": "Ctrl+S",
    "close_project": "Ctrl+W",
    "quit": "Ctrl+Q",
    "undo": "Ctrl+Z",
    "redo": "Ctrl+Shift+Z; Ctrl+Y",
    "history": "Ctrl+H",
    "copy_previous": "Ctrl+P",
    "find": "Ctrl+K",
    "brush": "B",
    "eraser": "E",
    "dont_care": "Shift+B",
    "background": "Shift+E",
    "threshold": "T",
    "wand": "W",
    "crack": "C",
    "smart_edge": "S",
    "box_cut": "G",
    "click": "Shift+G",
    "polygon": "P",
    "lasso": "O",
    "rectangle": "R",
    "ellipse": "Shift+R",
    "fill": "F",
    "holes": "Shift+F",
    "region": "V",
    "edit_outline": "Shift+O",
    "bigger": "]",
    "smaller": "[",
    "pick": "I",
    "keep": "X",
    "proposals": "Shift+V",
    "accept_all": "Ctrl+Shift+A",
    "show_proposals": "Shift+P",
    "toward_labels": "Alt+Left",
    "toward_proposals": "Alt+Right",
    "spots": "Shift+S",
    "next_spot": "Shift+J",
    "done_next": "Enter; Return",
    "mark_done": "Ctrl+Enter; Ctrl+Return",
    "next": "D; PgDown",
    "previous": "A; PgUp",
    "next_unlabelled": "Ctrl+Shift+D; Ctrl+PgDown",
    "previous_unlabelled": "Ctrl+PgUp",
    "next_open": "Ctrl+J",
    "next_page": "Alt+PgDown",
    "previous_page": "Alt+PgUp",
    "label_next": "Ctrl+L",
    "label_errors": "Ctrl+Shift+L",
    "take_model": "Y",
    "keep_label": "K",
    "next_doubt": "J",
    "fit": "Ctrl+F",
    "actual": "Ctrl+0",
    "zoom_in": "Ctrl++; Ctrl+=",
    "zoom_out": "Ctrl+-",
    "next_region": "N",
    "previous_region": "Shift+N",
    "ruler": "M",
    "difference": "Ctrl+D",
    "invert": "Shift+I",
    "labels": "H",
    "predictions": "Shift+H",
    "next_look": "Shift+C",
    "look_back": ",",
    "look_forward": ".",
    "sheet": "Ctrl+G",
    "panel_pictures": "F2",
    "panel_side": "F3",
    "panel_training": "F4",
    "next_panel": "F6",
    "previous_panel": "Shift+F6",
    "full_screen": "F11",
    "train": "Ctrl+T",
    "pause": "Ctrl+Shift+T",
    "keep_learning": "Ctrl+Shift+K",
    "recipe": "Ctrl+Alt+T",
    "review": "Ctrl+Shift+R",
    "predict": "Ctrl+R",
    "compare_runs": "Ctrl+Shift+U",
    "export": "Ctrl+E",
    "export_choices": "Ctrl+Shift+E",
    "palette": "Ctrl+Shift+P",
    "settings": "Ctrl+,",
    "keys": "F1",
    "guide": "Shift+F1",
    **{f"class_{n}": str(n) for n in _DIGITS},
    **{f"verdict_{n}": f"Alt+{n}" for n in _DIGITS},
    **{f"verdict_next_{n}": f"Shift+{n}" for n in _DIGITS},
}

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
    "cancel": "Esc",
    "confirm": "Enter; Return",
    "rename": "F2",
}


# Key sequences by command that the user has set instead of the defaults; "" for none. Set by `change_shortcuts`.
_changed: dict[str, str] = {}


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
    """Return the shortcuts of a command or of a fixed key as in `SHORTCUTS`."""
    return _changed.get(id, SHORTCUTS.get(id) or FIXED_KEYS.get(id, ""))


def default_sequences(id: str) -> list[QKeySequence]:
    """Return the shortcuts that a command has unless the user changes them."""
    return [QKeySequence(key) for key in SHORTCUTS.get(id, "").split("; ") if key]


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
