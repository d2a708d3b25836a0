"""Option --plan of the verb train: planned settings with reasons, without a training."""

from __future__ import annotations

import json

import pytest

from workbench.cli import main
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request

REASONED = {
    "scale",
    "patch",
    "batch",
    "widths",
    "stem",
    "encoder",
    "precision",
    "dice_weight",
    "cross_entropy_weight",
    "foreground_share",
    "augment",
    "warm_up",
    "validations",
    "rate",
    "optimizer",
    "mirror",
    "overlap",
}


def test_plan_equals_the_settings_of_a_run_and_writes_nothing(labeled_project, capsys):
    root = str(labeled_project.root)
    before = sorted(path.name for path in labeled_project.root.rglob("*"))
    assert main(["train", root, "--model", "unet", "--minutes", "3", "--set", "batch=6", "--plan", "--json"]) == 0
    received = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in labeled_project.root.rglob("*")) == before
    training_settings = create_run(labeled_project, request("unet", minutes=3, batch=6)).settings()
    assert received["recipe"] == training_settings.model_dump(mode="json", exclude={"format", "reasons"})
    assert received["reasons"] == training_settings.reasons and received["pictures"]["train"] > 0
    assert received["reasons"].keys() >= REASONED
    assert main(["train", root, "--model", "resnet", "--plan"]) == 0
    message = capsys.readouterr().out
    assert "input_size" in message and "foreground_share" not in message  # a ResNet has none


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("batch=x", "must be an integer"),
        ("batch=0", "at least 1"),
        ("batch=2000", "at most 1024"),
        ("rate=fast", "must be a number"),
        ("scale=0", "above 0"),
        ("average=1", "below 1"),
        ("stem=3", "one of 1, 2 or 4"),
        ("augment=none", "must be a list"),
        ("local_contrast=maybe", "true or false"),
        ("size=3", "no such setting"),
        ('widths=[1,"a"]', "must be an integer"),
        ("profile=3", "true or false"),
        ("weights=7", "must be text"),
    ],
)
def test_invalid_settings_are_reported(labeled_project, capsys, setting, why):
    assert main(["train", str(labeled_project.root), "--model", "unet", "--plan", "--set", setting]) == 1
    message = capsys.readouterr().err
    assert why in message and setting.partition("=")[0] in message


def test_plan_requires_a_model(labeled_project):
    assert main(["train", str(labeled_project.root), "--plan"]) == 2
