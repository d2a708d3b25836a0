"""JSON objects of the verbs about projects and labels have the keys that `--help` lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from workbench import cli
from workbench.cli.verb_help import JSON_KEYS
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


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
