"""Entries that belong together in several tables and pages: what is forgotten after a task of CONTRIBUTING.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from tests.syntax_trees import nodes
from workbench.cli.log import TARGETS
from workbench.cli.verb_help import JSON_KEYS
from workbench.core.evaluation.figures import MASK_METRICS
from workbench.core.runs.export_options import LAYOUTS
from workbench.core.runs.training_settings import Augmentation, value_name
from workbench.inference.engines.registry import KINDS
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.labels.history_panel import STEPS
from workbench.ui.text import settings_texts

ROOT = Path(__file__).resolve().parents[1]


def test_each_step_of_the_canvas_tools_has_a_name():
    """Without one, the list of steps shows the id of the step in English."""
    steps = set()
    for path in (ROOT / "workbench" / "ui" / "canvas" / "tools").glob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("begin", "paint_step", "replace"):
                values = [part for argument in node.args for part in ast.walk(argument)]
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "action":
                values = [node.value]
            else:
                continue
            steps |= {each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    assert {"paint", "erase", "polygon", "rectangle", "wand", "box_cut"} <= steps
    assert steps <= STEPS.keys() | TOOLS.keys()


def test_each_tool_of_a_menu_has_a_key_and_an_icon():
    assert [name for name, tool in TOOLS.items() if tool.menu and not tool.keys] == []
    assert [name for name in TOOLS if not (ROOT / "resources" / "icons" / f"{name}.svg").exists()] == []


@pytest.mark.parametrize(("language", "key"), [("en", "({})"), ("zh_CN", "（{}）")])
def test_the_guide_names_the_key_of_each_tool(language, key):
    page = (ROOT / "resources" / "guide" / language / "labeling.md").read_text("utf-8")
    assert [name for name, tool in TOOLS.items() if tool.keys and key.format(tool.keys) not in page] == []


def test_each_export_format_and_augmentation_has_a_name():
    assert {*KINDS, *LAYOUTS} <= settings_texts._FORMATS.keys()
    assert [name for name in get_args(Augmentation) if value_name(name) is None] == []


def test_each_metric_of_a_whole_model_is_listed_in_the_help():
    keys = {metric.json_key for metric in MASK_METRICS if metric.scopes[0] in ("any", "good")}
    assert keys <= JSON_KEYS["evaluate"][""].keys()


def test_packages_of_the_log_targets_are_in_their_extra():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = {name: text.partition(f"\nlog-{name} = [")[2].partition("\n]")[0] for name in TARGETS}
    missing = [name for name, target in TARGETS.items() for need in target.packages if f'"{need}>=' not in extras[name]]
    assert missing == []


def test_requirements_are_stated_once():
    """Exports have no metadata of the application, so that its inference package repeats requirements: equal ones."""
    declared = set(re.findall(r'"([A-Za-z0-9_.-]+[<>=!][^";]*)', (ROOT / "pyproject.toml").read_text("utf-8")))
    names = {re.split("[<>=!]", need)[0].casefold() for need in declared}
    for path in (ROOT / "workbench").rglob("*.py"):
        for need in re.findall(r'"([A-Za-z][A-Za-z0-9_-]+(?:>=|==)[0-9][^" ]*)"', path.read_text("utf-8")):
            if re.split("[<>=!]", need)[0].casefold() in names:
                assert need in declared, path
