"""Help of the verbs: examples that parse, help and default of each option, and keys of the JSON objects."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from workbench import cli
from workbench.cli.verb_help import EXAMPLES, JSON_KEYS, default_text
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


def parser_of(verb: str) -> argparse.ArgumentParser:
    return cli._parser([verb])._subparsers._group_actions[0].choices[verb]


@pytest.mark.parametrize("verb", cli.VERBS)
def test_each_verb_has_two_examples_and_explains_its_options(verb, capsys):
    assert len(EXAMPLES[verb]) == 2
    for example in EXAMPLES[verb]:
        words = example.split()
        options = cli._parser(words).parse_args(words)
        assert options.verb == verb
    parser = parser_of(verb)
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    assert [action.dest for action in shown if not action.help] == []
    text = " ".join(parser.format_help().split())
    for action in shown:
        assert f"(default: {default_text(action)})" in text or not default_text(action)
    assert f"workbench {EXAMPLES[verb][0]}" in text and "options of several commands:" in text


def test_long_help_has_groups_and_every_default_is_stated():
    settings = parser_of("train").format_help().partition("training settings:")[2]
    assert "--device" in settings.partition("options of several commands:")[0]
    serve = " ".join(parser_of("serve").format_help().split())
    assert "library that runs the network (default: auto)" in serve and "(8123;" in serve
    assert "(2.5 and 1.8)" in " ".join(parser_of("demo").format_help().split())


@pytest.fixture
def root(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch"], verdicts=["OK", "NG"]) as project:
        fill_project(project, 2)
    return tmp_path / "p"


@pytest.fixture
def folder(tmp_path):
    write_png(tmp_path / "in" / "images" / "a.png", np.full((16, 24), 60, np.uint8))
    write_png(tmp_path / "in" / "masks" / "a.png", np.eye(16, 24, dtype=np.uint8) * 255)
    return tmp_path / "in"


def keys(capsys, *arguments):
    capsys.readouterr()
    assert cli.main([*map(str, arguments), "--json"]) == 0
    return set(json.loads(capsys.readouterr().out))


def test_import(root, folder, capsys):
    documented = JSON_KEYS["import"]
    assert keys(capsys, "import", root, folder, "--dry-run") == documented["--dry-run"].keys()
    assert keys(capsys, "import", root, folder) == documented[""].keys()
    assert keys(capsys, "import", root, "--undo") == documented["--undo"].keys()


def test_verbs_with_one_object(root, tmp_path, capsys):
    other = tmp_path / "other"
    Project.create(other).close()
    calls = {
        "labels": (root, tmp_path / "out", "--format", "png"),
        "check": (root,),
        "statistics": (root,),
        "spots": (root,),
        "merge": (root, other),
        "pack": (root, tmp_path / "p.zip"),
        "unpack": (tmp_path / "p.zip", tmp_path / "unpacked"),
    }
    for verb, arguments in calls.items():
        assert keys(capsys, verb, *arguments) == JSON_KEYS[verb][""].keys(), verb


def test_sources_and_remove(root, folder, tmp_path, capsys):
    for verb, calls in {
        "sources": (("list",), ("add", folder), ("locate", "in", folder, "--force"), ("remove", "in")),
        "remove": (("--list",),),
    }.items():
        found = set().union(*(keys(capsys, verb, root, *arguments) for arguments in calls))
        assert found - JSON_KEYS[verb][""].keys() == set() and JSON_KEYS[verb][""].keys() - found <= {"removed", "kept"}
    image = Project.open(root, write=False).images()[0]
    removed = keys(capsys, "remove", root, image)
    name = json.loads((lambda: (cli.main(["remove", str(root), "--list", "--json"]), capsys.readouterr().out)[1])())
    restored = keys(capsys, "remove", root, "--restore", name["removals"][0]["name"])
    assert removed | restored == JSON_KEYS["remove"][""].keys()


@pytest.mark.parametrize("verb", JSON_KEYS)
def test_help_lists_the_keys(verb, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main([verb, "--help"]) == 0
    text = capsys.readouterr().out.partition("JSON object")[2]
    for documented in JSON_KEYS[verb].values():
        assert all(f"\n  {key} " in text for key in documented)
    assert max(map(len, text.splitlines())) < 80


def test_evaluate(tmp_path, capsys):
    """Keys with _interval, _counted, _why and _mean are described beside those that they belong to."""
    beside = ("_interval", "_why", "_counted", "_mean")
    documented, found = set(JSON_KEYS["evaluate"][""]), set()
    for make, folder in ((make_mask_project, "masks"), (make_verdict_project, "verdicts")):
        found |= keys(capsys, "evaluate", make(tmp_path / folder).project_root)
    assert {key for key in found if not key.endswith(beside)} == {
        key for key in documented - {"unsure", "fitted"} if not key.endswith(beside)
    }
