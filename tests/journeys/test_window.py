"""From a folder of images to a verified export in the window, by mouse and keys, with the real training program."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.conftest import ROOT, PatientQtBot, fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.events import Failed, Finished, Preview, Started, Step
from workbench.core.runs.run import Run
from workbench.ui.project.new_project_dialog import QuickProjectDialog

# not imported here, since this process runs the window
pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")


# Limited by epochs: trained for seconds, with the same result on any machine.
SHORT = {"epochs": 8, "rate": 1e-2, "widths": [8, 16], "patch": 32, "batch": 8, "validations": 2}


def test_from_a_folder_of_images_to_a_verified_export(user, qtbot, tmp_path, raw_images, monkeypatch):
    had_paddle = "paddle" in sys.modules
    folder, masks = raw_images
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")  # the project is created there
    session, training = user.session, user.services.training
    user.drop_folder(folder)
    dialog = user.dialog(QuickProjectDialog)
    qtbot.waitUntil(lambda: dialog.count.text() == "12 images")
    user.type("blob")  # replaces the proposed class
    with qtbot.waitSignal(session.current.opened):
        user.key(Qt.Key.Key_Return)
    user.activate()
    qtbot.waitUntil(lambda: len(session.keys) == 12)
    root = session.project.root
    assert [info.name for info in session.project.classes] == ["blob"]

    # label: paint defects with the mouse, mark good images as done; the next image opens by itself
    for key, mask in zip(session.keys, masks.values()):
        qtbot.waitUntil(lambda key=key: session.key == key and session.mask is not None)
        if mask.any():
            user.scribble(mask)
            painted = session.mask > 0
            assert (painted & (mask > 0)).sum() / (painted | (mask > 0)).sum() > 0.6
        shown = session.mask.copy()
        user.key(Qt.Key.Key_Return)
        qtbot.waitUntil(lambda key=key: session.rows[key].status == "done", timeout=5000)
        # The label is saved automatically as shown.
        qtbot.waitUntil(lambda key=key: session.project.mask_path(key).exists(), timeout=5000)
        assert np.array_equal(annotation.load_mask(session.project, key), shown)
    # with few images none is used for validation, unless the user chooses one
    held_out, learned = session.keys[7], session.keys[6]
    for key in (*session.keys[10:7:-1], held_out):
        user.key(Qt.Key.Key_A)
        qtbot.waitUntil(lambda key=key: session.key == key and session.mask is not None)
    user.choose("split_val")
    user.key(Qt.Key.Key_A)
    qtbot.waitUntil(lambda: session.key == learned and session.mask is not None)
    assert session.flush()

    # train: click the next step; curves and predictions appear
    events = []
    training.reported.connect(events.append)
    user.services.saved_overrides.save("unet", SHORT)
    overlays = []
    training.preview_arrived.connect(
        lambda key: overlays.append(user.canvas.grab().toImage()) if key == session.key else None
    )
    blank = user.canvas.grab().toImage()
    qtbot.waitUntil(lambda: user.window.stage_bar.next.text().startswith("Train "))
    with qtbot.waitSignal(training.ended, timeout=240_000) as ended:
        user.click(user.window.stage_bar.next)
        qtbot.waitUntil(lambda: training.running, timeout=20_000)
    assert isinstance(ended.args[0], Finished), ended.args[0]
    steps = [e for e in events if isinstance(e, Step)]
    assert len(steps) >= 6
    assert np.mean([s.loss for s in steps[-3:]]) < np.mean([s.loss for s in steps[:3]])
    assert user.services.run_monitor.series.steps.count >= len(steps)
    assert user.services.run_monitor.series.machine.count
    assert any(isinstance(e, Preview) for e in events) and overlays
    assert any(image != blank for image in overlays)
    run = training.run
    assert run.usable and held_out in [item.key for item in run.dataset().of("val")]

    # the model predicts an image that it was not trained on
    with qtbot.waitSignal(user.services.predictions.predicted, timeout=20_000):
        user.key(Qt.Key.Key_D)
        qtbot.waitUntil(lambda: session.key == held_out)

    # export: one button, then the export works without the workbench
    finished = []
    user.services.export_job.finished.connect(finished.append)
    user.services.export_job.failed.connect(finished.append)
    controls = user.window.training.controls
    qtbot.waitUntil(lambda: not controls.guard.timer.isActive())  # a click meant for *Stop* is discarded
    user.click(controls.export)
    qtbot.waitUntil(lambda: bool(finished), timeout=120_000)
    result = finished[0]
    assert isinstance(result, dict), result
    assert Path(result["path"]).is_relative_to(root)
    strokes = user.inputs.drags - 1
    assert (user.inputs.clicks, user.inputs.keys) == (5, 23) and strokes >= 8
    assert result["parity"]["onnx"]["max_abs"] <= 1e-4 and result["parity"]["onnx"]["mask_agreement"] >= 0.9999
    export = Path(result["path"])
    done = subprocess.run(
        [
            sys.executable,
            "-P" if sys.version_info >= (3, 11) else "-s",
            str(export / "predict.py"),
            str(folder),
            "--out",
            str(tmp_path / "out"),
            "--json",
        ],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    message = json.loads(done.stdout)["pictures"]
    assert len(message) == 12
    assert ("paddle" in sys.modules) == had_paddle  # an earlier test may have imported it


def start_training(user, labeled_root: Path, minutes: float) -> None:
    with user.qtbot.waitSignal(user.session.current.opened, timeout=15_000):
        user.session.open_project(labeled_root)
        user.qtbot.waitUntil(lambda: bool(user.session.keys), timeout=10_000)
    user.services.training.start("unet", minutes=minutes)


@pytest.fixture
def labeled_root(tmp_path) -> Path:
    with Project.create(tmp_path / "labelled", classes=["scratch"]) as project:
        fill_project(project, 10, good=2)
    return tmp_path / "labelled"


def test_a_killed_trainer_is_reported_and_the_window_can_be_used(user, qtbot, labeled_root):
    training = user.services.training
    events = []
    training.reported.connect(events.append)
    start_training(user, labeled_root, minutes=5)
    qtbot.waitUntil(lambda: any(isinstance(e, Step) for e in events), timeout=60_000)
    started = next(e for e in events if isinstance(e, Started))
    with qtbot.waitSignal(training.ended, timeout=20_000) as ended:
        psutil.Process(started.process).kill()
    assert isinstance(ended.args[0], Failed) and ended.args[0].why
    assert not training.running
    # the window can still be used: paint, undo, and train again
    user.open(user.session.keys[0])
    before = user.session.mask.copy()
    QTest.mousePress(user.canvas, Qt.MouseButton.LeftButton, pos=user.at(40, 40))
    QTest.mouseRelease(user.canvas, Qt.MouseButton.LeftButton, pos=user.at(40, 40))
    assert not np.array_equal(user.session.mask, before)
    undo = next(a for a in user.window.actions() if "Ctrl+Z" in [keys.toString() for keys in a.shortcuts()])
    qtbot.waitUntil(undo.isEnabled, timeout=2000)
    user.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert np.array_equal(user.session.mask, before)
    assert user.window.training.can_train()


@pytest.mark.slow
def test_stopped_training_keeps_a_model(user, qtbot, labeled_root):
    training = user.services.training
    events = []
    training.reported.connect(events.append)
    start_training(user, labeled_root, minutes=5)
    qtbot.waitUntil(lambda: sum(isinstance(e, Step) for e in events) > 3, timeout=60_000)
    with qtbot.waitSignal(training.ended, timeout=60_000) as ended:
        QTest.mouseClick(user.window.training.controls.button, Qt.MouseButton.LeftButton)
    assert isinstance(ended.args[0], Finished) and ended.args[0].why == "stopped"
    assert training.run.usable and training.run.resumable


WINDOW = """
import os
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.core.runs import child_process
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application

if os.name == "posix":  # as the fixture `forked_programs` does
    child_process.NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
app = QApplication([])
application = Application(app, Preferences(language="en"))
application.show()
session, training = application.services.session, application.services.training
session.open_project(Path(sys.argv[1]))
QTimer.singleShot(500, lambda: training.start("unet", minutes=5))
app.exec()
"""


@pytest.mark.slow  # in the default suite: tests/session/test_kills.py, tests/ui/project/test_left_running.py
def test_killed_window_loses_no_label_and_its_run_is_shown_by_the_next(user, qtbot, labeled_root):
    """After kill -9 of the window, the trainer saves a usable model and ends; a new window shows that run."""
    window = subprocess.Popen(
        [sys.executable, "-c", WINDOW, str(labeled_root)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
    )
    try:
        run = wait_for_run(labeled_root)
        wait_for(lambda: sum(isinstance(e, Step) for e in run.events()) > 2)
        trainer = psutil.Process(next(e.process for e in run.events() if isinstance(e, Started)))
        window.kill()
        window.wait(60)
        wait_for(lambda: not trainer.is_running() or trainer.status() == psutil.STATUS_ZOMBIE)
    finally:
        window.kill()
    assert isinstance(run.ending(), Finished)
    assert run.usable and run.resumable
    with qtbot.waitSignal(user.session.project_opened, timeout=15_000):
        user.session.open_project(labeled_root)
    qtbot.waitUntil(lambda: user.window.training.run is not None, timeout=10_000)
    assert user.window.training.run.name == run.name
    assert user.window.training.can_export()


@pytest.mark.slow  # in the default suite: tests/ui/project/test_left_running.py
def test_a_new_window_follows_a_running_training(user, qtbot, labeled_root):
    """A run started from the command line or by a killed window is followed by the next window, which can stop it."""
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "train", str(labeled_root), "--model", "unet", "--minutes", "5", "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        run = wait_for_run(labeled_root)
        wait_for(lambda: any(isinstance(e, Step) for e in run.events()))
        training, events = user.services.training, []
        training.reported.connect(events.append)
        user.session.open_project(labeled_root)
        qtbot.waitUntil(lambda: sum(isinstance(e, Step) for e in events) > 3, timeout=30_000)
        assert training.running
        with qtbot.waitSignal(training.ended, timeout=60_000) as ended:
            training.stop()
        assert isinstance(ended.args[0], Finished) and ended.args[0].why == "stopped"
        assert child.wait(120) == 0
        assert json.loads(child.stdout.read())["run"] == run.name
    finally:
        child.kill()
        child.communicate()


def wait_for(condition) -> None:
    deadline = time.monotonic() + PatientQtBot.PATIENCE / 1000
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def wait_for_run(root: Path) -> Run:
    wait_for(lambda: any((root / "runs").glob("*/events.jsonl")))
    return Run(next((root / "runs").glob("*/events.jsonl")).parent)
