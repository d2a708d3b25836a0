"""Settings overrides: stored with the project, refused if invalid, and used for planning."""

from __future__ import annotations

import json

import pytest

from workbench.core.problems import BadSettings, ProjectBroken
from workbench.core.runs import dataset
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import adjustable_settings, request
from workbench.session.training.saved_overrides import SavedOverrides


@pytest.fixture
def options(opened):
    room = SavedOverrides(opened)
    yield room
    room.close()


def test_overrides_are_saved_per_project_and_model(options, opened, root):
    options.save("unet", {"batch": 3, "augment": ["noise"]})
    assert options.of("unet") == {"batch": 3, "augment": ["noise"]} and options.of("resnet") == {}
    assert SavedOverrides(opened).of("unet") == options.of("unet")
    opened.close_project()
    assert options.of("unet") == {}
    assert opened.open_project(root)
    assert options.of("unet")["batch"] == 3
    assert "minutes" not in adjustable_settings() and {"rate", "start_from", "weights", "prune"} <= set(
        adjustable_settings()
    )


def test_plan_equals_the_settings_of_a_run(options, opened, qtbot):
    with qtbot.waitSignal(options.planned, timeout=10_000) as received:
        options.plan("unet", {"minutes": 3.0, "device": "cpu", "batch": 5}, replanned=True)
    training_settings = received.args[0]
    assert (
        training_settings.batch == 5
        and training_settings.reasons["batch"] == "Changed manually."
        and training_settings.reasons["patch"]
    )
    run = create_run(opened.project, request("unet", minutes=3.0, device="cpu", batch=5))
    assert run.settings() == training_settings
    with qtbot.waitSignal(options.planned, timeout=10_000) as received:
        options.plan("unet", {"minutes": 3.0, "device": "cpu"}, replanned=False)
    assert received.args[0].batch != 5 or received.args[0].reasons["batch"] != "Changed manually."


def test_plan_depends_on_the_initial_run(options, opened, qtbot, monkeypatch):
    earlier = create_run(opened.project, request("unet"))
    requests = []

    def collect(project, model, trained_keys=()):
        requests.append(set(trained_keys))
        return dataset.collect(project, model, trained_keys)

    monkeypatch.setattr("workbench.core.runs.run.collect", collect)
    for choices in ({}, {"batch": 3}, {"start_from": earlier.name}, {"start_from": earlier.name, "batch": 4}):
        with qtbot.waitSignal(options.planned, timeout=10_000):
            options.plan("unet", choices, replanned=not requests)
    assert requests == [set(), {item.key for item in earlier.dataset().of("train")}] and requests[1]


def test_invalid_overrides_are_reported(options, qtbot):
    with qtbot.waitSignal(options.unplanned, timeout=10_000) as received:
        options.plan("unet", {"encoder": "resnet18", "stem": 4}, replanned=True)
    assert isinstance(received.args[0], BadSettings) and received.args[0].fields["key"] == "stem"
    with qtbot.waitSignal(options.unplanned, timeout=10_000) as received:
        options.plan("resnet", {}, replanned=True)
    assert "verdict" in str(received.args[0])


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": 2}', '{"unet": {"minutes": 3}}', '{"unet": {"batch": "many"}}', '{"unet": 3}']
)
def test_broken_file_is_reported_and_not_overwritten(opened, root, content, qtbot):
    path = root / "training.json"
    path.write_text(content, "utf-8")
    with qtbot.waitSignal(opened.problem_met) as received:
        room = SavedOverrides(opened)
    assert isinstance(received.args[0], ProjectBroken) and room.of("unet") == {}
    with qtbot.waitSignal(opened.problem_met):
        room.save("unet", {"batch": 2})
    assert path.read_text("utf-8") == content and room.of("unet") == {"batch": 2}


def test_only_the_newest_plan_is_reported(options, qtbot):
    received = []
    options.planned.connect(received.append)
    for batch in (2, 3, 4):
        options.plan("unet", {"batch": batch}, replanned=False)
    qtbot.waitUntil(lambda: bool(received), timeout=10_000)
    qtbot.wait(50)
    assert [training_settings.batch for training_settings in received] == [4]


def test_content_of_the_file(options, root):
    options.save("resnet", {"depth": 34})
    assert json.loads((root / "training.json").read_text("utf-8")) == {"format": 1, "unet": {}, "resnet": {"depth": 34}}
