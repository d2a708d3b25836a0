"""Settings overrides: stored with the project, refused if invalid, and used for planning."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workbench.core.problems import BadSettings, ProjectBroken
from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.image_row import read_row
from workbench.core.runs import dataset
from workbench.core.runs.events import Evaluated, Preview
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import adjustable_settings, request
from workbench.inference.io.image_io import write_png
from workbench.session.training.preview_reader import PreviewReader
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
    assert json.loads((root / "training.json").read_text("utf-8")) == {
        "format": 1,
        "unet": {},
        "resnet": {"depth": 34},
        "good": {},
    }


SIZE = (80, 96)


@pytest.fixture
def run(opened) -> Run:
    return create_run(opened.project, request("unet", epochs=1))


@pytest.fixture
def reader(opened, run):
    reader = PreviewReader(opened)
    reader.open(run)
    yield reader
    reader.close()


def write_preview(run: Run, step: int, mask: np.ndarray, key: str = "a.png") -> Preview:
    name = f"previews/{key}.{step}"
    write_png(run.root / f"{name}.png", mask)
    write_png(run.root / f"{name}s.png", np.where(mask > 0, np.uint8(230), np.uint8(10)))
    return Preview(step=step, picture=key, mask=f"{name}.png", scores=f"{name}s.png")


def box(height: int, width: int) -> np.ndarray:
    mask = np.zeros(SIZE, np.uint8)
    mask[:height, :width] = 1
    return mask


def states(reader: PreviewReader, qtbot, *events: Preview) -> list[str]:
    """Return the state of each preview, read one after another."""
    for event in events:
        with qtbot.waitSignal(reader.arrived, timeout=5000):
            reader.add(event)
    return [reader.maturity(event.picture, event.step).state for event in events]


def test_maturity_follows_the_training(reader, run, qtbot):
    nothing, all_of_it, little = np.zeros(SIZE, np.uint8), np.ones(SIZE, np.uint8), box(6, 6)
    events = [write_preview(run, step, mask) for step, mask in enumerate((all_of_it, nothing, little, nothing), 1)]
    assert states(reader, qtbot, *events) == ["everything", "nothing", "unmeasured", "mature"]
    assert reader.maturity("a.png").facts.regions == 0 and reader.maturity("a.png", 3).facts.regions == 1
    assert reader.maturity("unknown.png") is None and reader.maturity("a.png", 99) is None
    other = write_preview(run, 4, nothing, "other.png")  # of a model that has been mature
    assert states(reader, qtbot, other) == ["mature"]
    reader.open(run)
    assert reader.maturity("a.png") is None


def test_validation_counts_from_its_step_on(reader, run, qtbot):
    reader.add_validation(Evaluated(step=5, metrics={"dice": 0.7}))
    reader.add_validation(Evaluated(step=9, metrics={"dice": 0.0}, split="test"))
    large = box(60, 40)
    assert states(reader, qtbot, write_preview(run, 4, large), write_preview(run, 6, large)) == ["too_much", "mature"]


def test_prediction_is_compared_with_the_label_of_a_finished_image(reader, run, opened, qtbot):
    key = opened.keys[0]
    label = np.zeros(SIZE, np.uint8)
    label[40:46, 40:46] = 1
    annotation.save_mask(opened.project, key, label)
    annotation.save_note(opened.project, key, Note(status="done"))
    opened.image_list.rows[key] = read_row(opened.project, key)
    elsewhere = write_preview(run, 1, box(6, 6), key)
    assert states(reader, qtbot, elsewhere, write_preview(run, 2, label, key)) == ["wrong", "mature"]


def test_maturity_outlasts_the_maps_of_a_run_that_has_ended(reader, run, qtbot):
    event = write_preview(run, 1, np.ones(SIZE, np.uint8))
    assert states(reader, qtbot, event) == ["everything"]
    reader.drop_cache()
    assert reader.nbytes == 0 and reader.maturity("a.png", 1).state == "everything"
    with qtbot.waitSignal(reader.recalled, timeout=5000):
        reader.recall("a.png", 1)
    assert reader.maturity("a.png", 1).state == "everything"
