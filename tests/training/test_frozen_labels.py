"""Validation labels of a run: its own copies, whose changes are noticed and choose nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.training.conftest import make_run
from tests.training.test_continuous_training import QUICK, label
from workbench.core.problems import MaskUnknownClass, RunLabelChanged
from workbench.core.project import annotation
from workbench.core.runs.events import BestKept, Evaluated, Trouble, encode_command
from workbench.training.frozen_labels import FrozenLabels


def overwrite(path: Path, value: int) -> None:
    """Write another mask in place, as Pillow, OpenCV and GIMP do."""
    with Image.open(path) as image:
        size = image.size
    with path.open("r+b") as file:
        Image.new("P", size, value).save(file, "PNG")
        file.truncate()


def test_masks_overwritten_in_place_do_not_reach_the_labels_of_a_run(labeled_project, inside):
    run = make_run(labeled_project, **QUICK)
    items = run.dataset().of("val", "test")
    before = {item.key: annotation.load_mask(labeled_project, item.key) for item in items}
    for item in items:
        overwrite(labeled_project.mask_path(item.key), 77)
    frozen = FrozenLabels(run, labeled_project, run.dataset())
    for item in items:
        assert np.array_equal(frozen.mask(item, (item.width, item.height)), before[item.key])
    training = inside("train", run.root)
    assert training.end() == 0
    assert not [event for event in training.events if isinstance(event, Trouble)]
    assert training.last.result["metrics"]["pictures"] == len(items)


def test_a_changed_copy_is_replaced_by_the_same_label_of_the_project_only(labeled_project):
    run = make_run(labeled_project, **QUICK)
    item = run.dataset().of("val")[0]
    mask = annotation.load_mask(labeled_project, item.key)
    frozen, size = FrozenLabels(run, labeled_project, run.dataset()), (item.width, item.height)
    overwrite(run.held_out / f"{item.key}.png", 1)
    assert np.array_equal(frozen.mask(item, size), mask)
    annotation.save_mask(labeled_project, item.key, 1 - mask)  # a correction
    with pytest.raises(RunLabelChanged):
        frozen.mask(item, size)


def test_ids_of_a_label_saved_while_the_run_was_created_are_checked(labeled_project):
    run = make_run(labeled_project, **QUICK)
    dataset = run.dataset()
    dataset.classes.clear()
    item = next(item for item in dataset.of("val") if item.classes)
    with pytest.raises(MaskUnknownClass):
        FrozenLabels(run, labeled_project, dataset).mask(item, (item.width, item.height))


def test_changed_labels_are_told_and_choose_no_weights(labeled_project, child):
    """A run kept open: between two rounds, one of its validation labels is changed everywhere."""
    run = make_run(labeled_project, **QUICK)
    items = run.dataset().of("val")
    trainer = child("train", run.root)
    trainer.send(encode_command("keep_open"))
    trainer.next(BestKept)
    evaluated = [event for event in trainer.events if isinstance(event, Evaluated)][-1]
    assert evaluated.metrics["pictures"] == len(items)
    for path in (run.held_out / f"{items[0].key}.png", labeled_project.mask_path(items[0].key)):
        overwrite(path, 77)
    label(labeled_project, "lot9/x900.png")
    trainer.send(encode_command("labels_changed", "lot9/x900.png"))
    trouble = trainer.next(Trouble)
    assert trouble.picture == items[0].key and "was changed or deleted" in trouble.what
    trainer.next(BestKept)
    trainer.send(encode_command("let_end"))
    assert trainer.end() == 0, trainer.stderr[-2000:]
    later = [event for event in trainer.events if isinstance(event, Evaluated)]
    assert later[-1].metrics["pictures"] == len(items) - 1
    chosen = [event for event in later if event.metrics["pictures"] == len(items) - 1]
    assert chosen[0].best  # metrics of other images are not compared
    assert trainer.last.result["metrics"]["pictures"] == len(items) - 1
