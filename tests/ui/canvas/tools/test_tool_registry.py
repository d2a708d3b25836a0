"""Tool registry: each row has a tool, an icon, texts and a command with its key."""

from __future__ import annotations

from workbench.core import resources
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.shortcuts import key_sequences
from workbench.ui.text.formatting import plain


def test_rows_are_complete():
    icons = {path.stem for path in resources.path("icons").glob("*.svg")}
    for name, spec in TOOLS.items():
        assert spec.name == name and issubclass(spec.tool, Tool) and spec.hint
        assert name in icons
        assert bool(spec.title) == bool(spec.tip)
    assert len({spec.tool for spec in TOOLS.values()}) == len(TOOLS)


def test_each_tool_has_a_command_from_its_row(driver):
    table = driver.window.table
    for name, spec in TOOLS.items():
        table.commands[name].run(table.context)
        assert driver.canvas.tool == name and type(driver.canvas.current) is spec.tool
        if spec.title:
            assert plain(table[name].text()) == plain(spec.title) and spec.tip in table[name].toolTip()
            assert table[name].shortcut() == key_sequences(name)[0]
    driver.canvas.choose_tool("brush")


def test_option_fields_exist(driver):
    fields = set(driver.window.options.fields)
    used = {option for spec in TOOLS.values() for option in spec.options}
    assert used == fields
