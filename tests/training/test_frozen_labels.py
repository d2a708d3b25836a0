"""Validation labels of a run: its own copies, whose changes are noticed and choose nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import make_run
from workbench.core.problems import MaskUnknownClass, RunLabelChanged
from workbench.core.project import annotation
from workbench.core.runs.events import Trouble
from workbench.training.evaluator import FrozenLabels

QUICK = {"widths": [4, 8], "epochs": 1, "validations": 1}


def overwrite(path: Path, value: int) -> None:
    """Write another mask in place, as Pillow, OpenCV and GIMP do."""
    path.write_bytes(annotation.encode_mask(np.full_like(annotation.read_mask(path), value), []))


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
