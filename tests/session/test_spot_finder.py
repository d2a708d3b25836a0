"""Spots of the open image: when they are offered, shown and withdrawn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.conftest import gray_settings, write_onnx
from tests.label_queue_network import BIAS, WEIGHTS
from tests.session.conftest import dot, settle, show
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.session.spot_finder import SpotFinder
from workbench.session.training.shown_runs import RunList
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.training.training_control import TrainingControl
from workbench.session.workflow_monitor import WorkflowMonitor

DEFECTS = {"lot1/a.png": (60, 40), "lot1/b.png": (130, 70), "lot1/c.png": (30, 90)}  # (x, y)


@pytest.fixture
def root(tmp_path):
    """Project of three images without labels, each with one dark defect."""
    root = tmp_path / "project"
    rng = np.random.default_rng(2)
    with Project.create(root, classes=["pit"]) as project:
        for key, (x, y) in DEFECTS.items():
            image = rng.normal(140, 6, (120, 160))
            image[y - 4 : y + 5, x - 4 : x + 5] -= 60
            write_png(project.image_path(key), image.clip(0, 255).astype(np.uint8))
    return root


@pytest.fixture
def finder(opened):
    training, export_job = TrainingControl(opened), ExportJob()
    runs = RunList(opened, training)
    finder = SpotFinder(opened, runs, WorkflowMonitor(opened, training, runs, export_job))
    finder.runs = runs
    yield finder
    finder.close()
    for part in (runs, export_job, training):
        part.close()


def near(spot, key) -> bool:
    x, y = DEFECTS[key]
    return abs(spot.x - x) < 12 and abs(spot.y - y) < 12


def add_model(root) -> None:
    run = Run(root / "runs" / "20260101-000000-unet")
    write_onnx(run.best / "network.onnx", WEIGHTS, BIAS)
    settings = gray_settings(classes=(ClassSettings(1, "pit", "#ff0000"),), thresholds=(0.5,), min_area=(6,))
    save_settings(settings, run.best / "model.json")
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))


def test_spots_of_each_opened_image(finder, opened, qtbot):
    qtbot.waitUntil(finder.possible)
    assert not finder.spots
    finder.switch(True)
    for key in DEFECTS:
        show(opened, qtbot, key)
        qtbot.waitUntil(lambda: bool(finder.spots), timeout=10_000)
        assert near(finder.spots[0], key) and not finder.searching
    show(opened, qtbot, "lot1/a.png")
    assert near(finder.spots[0], "lot1/a.png"), "kept from before"
    finder.switch(False)
    assert not finder.spots


def test_changed_file_is_searched_again(finder, opened, qtbot):
    key, other, *_ = DEFECTS
    finder.switch(True)
    qtbot.waitUntil(lambda: bool(finder.spots), timeout=10_000)
    moved = np.random.default_rng(3).normal(140, 6, (120, 160))
    moved[90:98, 120:128] -= 60
    show(opened, qtbot, other)
    write_png(opened.project.image_path(key), moved.clip(0, 255).astype(np.uint8))
    show(opened, qtbot, key)
    qtbot.waitUntil(lambda: bool(finder.spots) and abs(finder.spots[0].x - 124) < 12, timeout=10_000)


def test_done_image_has_no_spots(finder, opened, qtbot):
    finder.switch(True)
    qtbot.waitUntil(lambda: bool(finder.spots), timeout=10_000)
    opened.verdict_steps.set_status("done")
    assert not finder.spots and not finder.possible()
    opened.undo()
    assert finder.spots


def test_model_replaces_the_spots(finder, opened, root, qtbot):
    finder.switch(True)
    qtbot.waitUntil(lambda: bool(finder.spots), timeout=10_000)
    add_model(root)
    with qtbot.waitSignal(finder.runs.listed, timeout=10_000):
        finder.runs.refresh()
    assert not finder.spots and not finder.possible() and not finder.offered


def test_offer_ends_with_the_first_label(finder, opened, qtbot):
    qtbot.waitUntil(lambda: finder.offered)
    dot(opened, 60, 40)
    assert opened.flush()
    qtbot.waitUntil(lambda: not finder.offered)
    finder.switch(True)
    qtbot.waitUntil(lambda: bool(finder.spots), timeout=10_000)


def test_offer_is_declined_for_the_project(finder, opened, root, qtbot):
    qtbot.waitUntil(lambda: finder.offered)
    finder.decline()
    assert not finder.offered
    assert opened.open_project(root)
    settle(opened, qtbot)
    show(opened, qtbot, opened.keys[0])
    qtbot.waitUntil(lambda: finder.offered)


def test_project_is_closed_during_the_search(finder, opened, qtbot):
    finder.switch(True)
    assert opened.close_project()
    assert not finder.on and not finder.spots and not finder.searching
