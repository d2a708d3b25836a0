"""Previews of a run, with the maturity of the model in each of them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.image_row import read_row
from workbench.core.runs.events import Evaluated, Preview
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.session.training.preview_reader import PreviewReader

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
    assert states(reader, qtbot, *events) == ["everything", "nothing", "mature", "mature"]
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
