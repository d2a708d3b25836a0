"""Instant overlay: predictions from the labels of this moment, without a training."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.inference.conftest import gray_settings, write_onnx
from tests.label_queue_network import BIAS, WEIGHTS
from tests.session.conftest import settle, show
from tests.spot_images import scene
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.events import Evaluated, Finished, Started, encode
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.session.instant_overlay import InstantOverlay
from workbench.session.preferences import Preferences
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl

KEYS = [f"{letter}.png" for letter in "abcdefgh"]
PLACES = [(16 * number, 10 * number) for number in range(len(KEYS))]


@pytest.fixture
def root(tmp_path):
    """Project of eight images with one defect each and no labels; each image is a part of its own."""
    with Project.create(tmp_path / "project", classes=["pit", "rust"]) as project:
        for number, key in enumerate(KEYS):
            write_png(project.image_path(key), scene(number, PLACES[number])[0])
    return tmp_path / "project"


@pytest.fixture
def make_overlay(session, root, qtbot):
    """Return a function that opens the project with an overlay, and the list of its runs in `runs`."""
    made: list = []

    def make(*, on: bool = True) -> InstantOverlay:
        training = TrainingControl(session)
        runs = RunList(session, training)
        overlay = InstantOverlay(session, training, runs, Preferences(instant_overlay=on))
        overlay.runs = runs
        made.extend((overlay, runs, training))
        assert session.open_project(root)
        settle(session, qtbot)
        qtbot.waitUntil(lambda: not runs.refreshing)
        show(session, qtbot, KEYS[0])
        return overlay

    yield make
    for part in made:
        part.close()


def label(root, *numbers: int) -> None:
    """Write finished labels of images."""
    with Project.open(root) as project:
        for number in numbers:
            annotation.save_mask(project, KEYS[number], scene(number, PLACES[number])[1])
            annotation.save_note(project, KEYS[number], annotation.Note(status="done"))


def add_run(root, dice: float) -> None:
    """Write a finished run with this Dice on its validation images."""
    with Project.open(root) as project:
        run = create_run(project, request("unet", minutes=0.1, device="cpu"))
    write_onnx(run.best / "network.onnx", WEIGHTS, BIAS)
    settings = gray_settings(classes=(ClassSettings(1, "pit", "#ff0000"),), thresholds=(0.5,), min_area=(6,))
    save_settings(settings, run.best / "model.json")
    evaluated = Evaluated(step=1, split="val", metrics={"dice": dice}, best=True)
    events = Started(model="unet", device="cpu"), evaluated, Finished()
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")


def paint(session, number: int) -> None:
    """Paint the middle of the defect of an image in one stroke."""
    x, y = PLACES[number]
    session.editor.begin("paint")
    session.editor.paint_segment((x + 8, y + 12), (x + 16, y + 12), 6, 1)
    session.editor.commit()


def marks_defect(overlay, number: int) -> bool:
    prediction, (x, y) = overlay.prediction, PLACES[number]
    if prediction is None:
        return False
    scores = prediction.maps.scores
    return scores[y + 4 : y + 20, x + 4 : x + 20].mean() > 128 > 4 * np.median(scores)


def test_stroke_shows_the_defects_of_this_image_and_the_next(make_overlay, session, qtbot):
    overlay = make_overlay()
    qtbot.wait(300)
    assert overlay.prediction is None and not overlay.leads and not overlay._tasks.busy, "nothing is painted yet"
    overlay.expect(KEYS[1])
    paint(session, 0)
    qtbot.waitUntil(lambda: marks_defect(overlay, 0), timeout=30_000)
    assert overlay.leads and overlay.prediction.images == 1 and overlay.prediction.dice is None
    assert not overlay.prediction.maturity.mature, "no list before a score"
    assert [entry.name for entry in overlay.prediction.maps.settings.classes] == ["pit"], "rust was never painted"
    qtbot.waitUntil(lambda: not overlay._tasks.busy, timeout=30_000)
    show(session, qtbot, KEYS[1])
    qtbot.waitUntil(lambda: marks_defect(overlay, 1), timeout=30_000)


def test_undone_stroke_is_forgotten(make_overlay, session, qtbot):
    overlay = make_overlay()
    paint(session, 0)
    qtbot.waitUntil(lambda: overlay.prediction is not None, timeout=30_000)
    session.undo()
    qtbot.waitUntil(lambda: overlay._learner._reduced.head is None, timeout=30_000)


def test_nothing_is_computed_during_a_stroke(make_overlay, session, qtbot):
    overlay = make_overlay()
    paint(session, 0)
    session.editor.begin("paint")
    session.editor.paint_segment((100, 90), (104, 90), 3, 1)
    qtbot.wait(500)
    assert overlay.prediction is None and not overlay._tasks.busy
    session.editor.commit()
    qtbot.waitUntil(lambda: overlay.prediction is not None, timeout=30_000)


def test_five_labels_have_a_score_and_suggest_regions(make_overlay, root, session, qtbot):
    label(root, 1, 2, 3, 4, 5)
    overlay = make_overlay()
    qtbot.waitUntil(lambda: overlay.prediction is not None and overlay.prediction.dice is not None, timeout=60_000)
    assert overlay.prediction.dice > 0.5 and overlay.prediction.maturity.mature and overlay.prediction.images == 5
    assert overlay.prediction.maturity.facts.regions == 1
    qtbot.waitUntil(lambda: not overlay._tasks.busy, timeout=30_000)


def test_label_of_another_program_is_learned(make_overlay, root, session, qtbot):
    label(root, 1)
    overlay = make_overlay()
    qtbot.waitUntil(lambda: overlay.prediction is not None and overlay.prediction.images == 1, timeout=30_000)
    assert session.close_project()
    label(root, 2)
    assert session.open_project(root)
    settle(session, qtbot)
    show(session, qtbot, KEYS[0])
    qtbot.waitUntil(lambda: overlay.prediction is not None and overlay.prediction.images == 2, timeout=30_000)


@pytest.mark.parametrize("dice, leads", [(0.1, True), (1.0, False)])
def test_the_better_model_is_shown(make_overlay, root, session, qtbot, dice, leads):
    label(root, 1, 2, 3, 4, 5, 6)
    add_run(root, dice)
    overlay = make_overlay()
    assert not overlay.leads and not overlay._tasks.busy, "a trained model is used until a stroke is made"
    paint(session, 0)
    qtbot.waitUntil(lambda: overlay._dice is not None, timeout=60_000)
    assert overlay.leads is leads and overlay.trained_dice() == dice
    assert overlay._needed() is leads, "a worse overlay is not computed any more"


def test_switched_off_it_computes_nothing(make_overlay, root, session, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr("workbench.session.preferences.settings_path", lambda: tmp_path / "settings.json")
    overlay = make_overlay()
    paint(session, 0)
    qtbot.waitUntil(lambda: overlay.leads, timeout=30_000)
    overlay.switch(False)
    assert not overlay.leads and overlay.prediction is None and overlay._learner is None
    paint(session, 1)
    qtbot.wait(400)
    assert overlay.prediction is None and not overlay._tasks.busy
    assert not Preferences.load(tmp_path / "settings.json").instant_overlay
    overlay.switch(True)
    qtbot.waitUntil(lambda: overlay.leads, timeout=30_000)


def test_closed_project_ends_the_thread(make_overlay, session, qtbot):
    overlay = make_overlay()
    threads = threading.active_count()
    paint(session, 0)
    qtbot.waitUntil(lambda: overlay._tasks.busy, timeout=30_000)
    assert session.close_project()
    assert not overlay.leads and overlay.prediction is None and not overlay._tasks.busy and overlay._learner is None
    qtbot.waitUntil(lambda: threading.active_count() <= threads, timeout=10_000)
