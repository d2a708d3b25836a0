"""Shortcut table: it covers the commands and the keys of the canvas, and no text quotes a shortcut by itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from tests.syntax_trees import nodes
from workbench.core import resources
from workbench.ui.actions.menus import commands, default_shortcuts, menu_tables
from workbench.ui.shortcuts import FIXED_KEYS, key_sequences, key_text, with_key

UI = resources.folder().parent / "workbench" / "ui"
# A key sequence such as "Ctrl+T" or "F5", or a single key in parentheses. "Ctrl + drag" is a gesture.
QUOTED = re.compile(r"\b(Ctrl|Alt|Shift|Meta)\+\S|\bF([1-9]|1[0-2])\b(?!1)|\((Enter|Return|Space|Tab|Esc|Del|[A-Z])\)$")
SCORE = re.compile(r"\bF1$|F1[ ,]|\{f1\}")  # metric


def string_constants(path: Path) -> Iterator[str]:
    """Yield the string literals of a source file, without docstrings and the keys of the command table."""
    left_out = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    left_out |= {id(node.value) for node in nodes(path) if isinstance(node, ast.keyword) and node.arg == "keys"}
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def test_no_text_quotes_a_shortcut_by_itself():
    quoted = [
        (path.name, text)
        for path in UI.rglob("*.py")
        if path.name != "shortcuts.py"
        for text in string_constants(path)
        if QUOTED.search(text) and not SCORE.search(text)
    ]
    assert quoted == []


def test_keys_of_the_canvas_are_no_commands():
    assert not {command.id for command in commands(menu_tables())} & set(FIXED_KEYS)


def test_every_key_sequence_is_valid():
    for id in (*default_shortcuts(), *FIXED_KEYS):
        assert all(keys.count() == 1 and keys.toString() for keys in key_sequences(id)), id


def test_every_key_of_the_canvas_is_listed():
    listed = {keys[0].key() for id in (*FIXED_KEYS, *default_shortcuts()) for keys in key_sequences(id)}
    handled = {
        node.attr
        for path in (UI / "canvas").rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr.startswith("Key_")
    }
    digit_offset = {"Key_0"}  # subtracted from a digit key
    assert {"Key_Tab", "Key_Space", "Key_Delete"} <= handled
    assert {name for name in handled - digit_offset if Qt.Key[name] not in listed} == set()


@pytest.mark.parametrize(
    "id, text", [("train", "Start (Ctrl+T)"), ("redo", "Start (Ctrl+Shift+Z)"), ("about", "Start")]
)
def test_texts_are_followed_by_the_first_shortcut(qapp, id, text):
    keys = default_shortcuts().get(id, "").partition(";")[0]
    native = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    assert key_text(id) == native
    assert with_key("Start", id) == (f"Start ({native})" if native else text)


def test_tooltips_of_commands_show_their_shortcuts(application):
    table = application.window.table
    for id in table.commands:
        assert table[id].toolTip().endswith(f"({key_text(id)})") == bool(key_text(id)), id
    assert table["labels"].toolTip().count(key_text("hide_overlays")) == 1
