"""Verb adopt: a foreign network is added, evaluated and used for prediction; wrong options are explained."""

from __future__ import annotations

import json

import pytest

from tests.conftest import fill_project
from tests.core.adoption.toy_networks import toy_network
from workbench import cli
from workbench.cli.verb_help import JSON_KEYS
from workbench.core.project.project import Project
from workbench.core.runs.run import list_runs


@pytest.fixture
def root(tmp_path):
    with Project.create(tmp_path / "项目", classes=["scratch"]) as project:
        fill_project(project, 3, good=1)
    return project.root


def printed(capsys, *arguments) -> tuple[int, dict]:
    status = cli.main([*map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_added_model_is_evaluated_and_predicts(root, tmp_path, capsys):
    """The network has a class that the project lacks; mean and deviation are those of a network for 0 to 255."""
    path = toy_network(tmp_path / "net.onnx", "sigmoid-logits", classes=2, channels=3, mean=0.4, std=0.2)
    options = ("--mean", "102,102,102", "--std", "51", "--white", "255", "--size", "64x64", "--stride", "8")
    status, found = printed(
        *(capsys, "adopt", path, "--project", root, "--classes", "scratch,dent", "--output", "sigmoid-logits"), *options
    )
    assert status == 0 and set(found) == set(JSON_KEYS["adopt"][""])
    assert (found["classes"], found["added_classes"], found["labelled"]) == (["scratch", "dent"], ["dent"], 4)
    assert (found["channels"], found["tile"], found["multiple"]) == (3, 64, 8)
    status, evaluated = printed(capsys, "evaluate", root)
    assert status == 0 and evaluated["run"] == found["run"] and evaluated["regions"]["recall"] == 1.0
    assert any("Whether the model was trained on them is not known" in note for note in evaluated["notes"])
    status, predicted = printed(capsys, "predict", found["path"], root / "pictures", "--out", tmp_path / "out")
    assert status == 0 and len(predicted["pictures"]) == 4


def test_wrong_options_are_explained(root, tmp_path, capsys):
    path = toy_network(tmp_path / "net.onnx")
    for options, status, text in (
        (("--mean", "a"), 2, "no list of numbers"),
        (("--size", "64x32"), 2, "no side of a square"),
        (("--size", "60"), 1, "The setting size cannot be 60: it must be a multiple of 32, the stride."),
        (("--classes", "scratch,dent"), 1, "the output softmax needs 3 for the background"),
    ):
        found = printed(capsys, "adopt", path, "--project", root, *options)
        assert found[0] == status and text in found[1]["error"]
    assert not list_runs(root)
