"""Training controller: planning, progress, previews, stop, and attaching to a live run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest

from tests.session.conftest import dot, show
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.events import Failed, Finished, Preview, Started, Step, Trouble, encode
from workbench.core.runs.launch import worker_environment
from workbench.core.runs.run import Run, create_run, list_runs
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.session.training import trainer_thread
from workbench.session.training.trainer_thread import find_live_process
from workbench.session.training.training_control import TrainingControl


@pytest.fixture
def training(opened, trainer_command):
    """Return a controller with a stand-in for the trainer; `behavior` is passed to it."""
    training = TrainingControl(
        opened, command=lambda run, resume: trainer_command(training.behavior, run, *(["--resume"] if resume else []))
    )
    training.behavior = "execute"
    training.events, training.endings = [], []
    training.reported.connect(training.events.append)
    training.ended.connect(training.endings.append)
    yield training
    training.close()


def wait_for(qtbot, training, kind, count=1):
    qtbot.waitUntil(lambda: sum(isinstance(e, kind) for e in training.events) >= count, timeout=10_000)


def test_training_uses_the_present_labels(training, opened, qtbot):
    key = opened.keys[7]
    show(opened, qtbot, key)
    dot(opened, 30, 30)  # not saved yet
    training.behavior = "done"
    with qtbot.waitSignals([training.started, training.ended], timeout=10_000):
        training.start("unet", minutes=1.5, device="cpu", patch=64)
        assert training.preparing and training.busy and not training.running
    assert training.endings == [Finished(time=9.0, why="done")]
    assert training.progress.steps == 1.0 and not training.busy
    training_settings, dataset = training.run.settings(), training.run.dataset()
    assert training_settings.minutes == 1.5 and training_settings.patch == 64
    assert key in [item.key for item in dataset.items]


def test_stop_ends_the_run_and_progress_is_reported(training, qtbot):
    training.start("unet", epochs=1)
    wait_for(qtbot, training, Started)
    assert training.running and 0 < training.eta_seconds <= 60
    training.start("unet")  # one at a time
    with qtbot.waitSignal(training.ended, timeout=10_000):
        training.stop()
        assert training.stopping
    assert training.endings[0].why == "stopped" and not training.stopping and training.eta_seconds is None
    assert len(list_runs(training.run.project_root)) == 1
    training.resume(training.run)
    wait_for(qtbot, training, Started, count=2)
    assert [e.resumed for e in training.events if isinstance(e, Started)] == [False, True]
    training.stop()
    qtbot.waitUntil(lambda: len(training.endings) == 2, timeout=10_000)


def test_problem_before_the_start_ends_no_run(training, opened, qtbot):
    for model, settings, problem in [("resnet", {}, "NoVerdicts"), ("unet", {"patch": 3}, "BadSettings")]:
        with qtbot.waitSignal(training.not_started) as reported:
            training.start(model, **settings)
        assert isinstance(reported.args[0], Failed) and reported.args[0].problem == problem and reported.args[0].fields
    assert not training.busy and list_runs(opened.project.root) == [] and not training.endings


def test_stop_during_planning_leaves_no_run(training, opened, qtbot):
    with qtbot.waitSignal(training.not_started) as reported:
        training.start("unet")
        training.stop()
    assert reported.args == [None] and list_runs(opened.project.root) == []
    assert not (training.endings or training.busy or training.stopping)


def test_open_image_is_watched_and_saved_labels_are_sent(training, opened, qtbot):
    first, second = opened.keys[:2]
    training.start("unet", epochs=1)
    wait_for(qtbot, training, Trouble)
    show(opened, qtbot, second)
    dot(opened, 20, 20, 2)
    wait_for(qtbot, training, Trouble, count=3)
    commands = [(e.what, e.picture) for e in training.events if isinstance(e, Trouble)]
    assert commands == [("received watch", first), ("received watch", second), ("received labels_changed", second)]


def test_closing_the_project_lets_the_trainer_save_and_end(training, opened, qtbot):
    training.start("unet", epochs=1)
    wait_for(qtbot, training, Started)
    run, process = training.run, psutil.Process(training.events[0].process)
    opened.close_project()
    process.wait(10)
    assert (run.root / "saved.txt").read_text() == "window closed"
    assert training.run is None and not training.busy and not training.endings


def write_preview(run: Run, step: int, value: int) -> Preview:
    write_png(run.previews / f"{step}.png", np.full((80, 96), value, np.uint8))
    write_png(run.previews / f"{step}-scores.png", np.full((80, 96), 100 + step, np.uint8))
    return Preview(step=step, picture="a.png", mask=f"previews/{step}.png", scores=f"previews/{step}-scores.png")


def test_newest_preview_is_available_after_a_replay(training, opened, qtbot):
    run = create_run(opened.project, request("unet", epochs=1))
    events = [Started(model="unet", device="cpu", process=1), *(write_preview(run, n, n % 3) for n in range(9))]
    outside = Preview(step=9, picture="b.png", mask="../../masks/secret.png")
    gone = Preview(step=9, picture="c.png", mask="previews/gone.png")
    run.events_path.write_text("\n".join(map(encode, [*events, outside, gone, Finished()])) + "\n")
    arrived = []
    training.preview_arrived.connect(arrived.append)
    training.follow(run)
    qtbot.waitUntil(lambda: bool(training.endings))
    training.previews.tasks.wait()
    qtbot.waitUntil(lambda: training.previews.get("a.png").step == 8)
    preview = training.previews.get("a.png")
    assert (preview.mask == 2).all() and (preview.scores == 108).all() and not preview.adjustable
    assert set(arrived) == {"a.png"} and 1 <= len(arrived) < 9
    assert training.previews.get("b.png") is None and training.previews.get("c.png") is None
    assert training.previews.steps("a.png") == list(range(9)) and training.previews.steps("c.png") == []
    with qtbot.waitSignal(training.previews.recalled) as recalled:
        training.previews.recall("a.png", 4)
    assert recalled.args == ["a.png", 4] and (training.previews.get("a.png", 4).mask == 1).all()
    assert not training.running and training.run is run


def test_previews_are_released_after_the_run_and_reloaded(training, opened, qtbot):
    run = create_run(opened.project, request("unet", epochs=1))
    previews = training.previews
    previews.open(run)
    for step in range(3):
        with qtbot.waitSignal(previews.arrived):
            previews.add(write_preview(run, step, step))
    one = previews.get("a.png", 0).nbytes
    assert previews.nbytes == 3 * one
    training._end(Finished())
    assert previews.nbytes == 0
    for step in (1, 0, 2):
        with qtbot.waitSignal(previews.recalled):
            previews.recall("a.png", step)
        assert (previews.get("a.png", step).mask == step).all() and previews.nbytes == one
    with qtbot.waitSignal(previews.arrived):
        previews.add(write_preview(run, 3, 0))  # was queued
    assert previews.nbytes == one
    previews.open(run)
    for step in range(2):
        with qtbot.waitSignal(previews.arrived):
            previews.add(write_preview(run, step, step))
    assert previews.nbytes == 2 * one


def test_events_of_a_previous_run_are_dropped(training, opened, qtbot):
    runs = [create_run(opened.project, request("unet", epochs=1)) for _ in range(2)]
    for i, run in enumerate(runs):
        steps = [Step(step=i, loss=1.0, rate=0.1) for _ in range(300)]
        run.events_path.write_text("\n".join(map(encode, [*steps, Finished()])) + "\n")
    pasts = []
    training.recalled.connect(pasts.append)
    training.follow(runs[0])
    training._thread.wait()  # its events are queued
    training.follow(runs[1])
    qtbot.waitUntil(lambda: bool(training.endings))
    assert len(pasts) == 1 and len(training.endings) == 1
    assert pasts[0].series.steps.count == 300 and pasts[0].state.step.step == 1


def test_live_run_is_found_when_the_project_opens(training, opened, trainer_command, root, qtbot):
    run = create_run(opened.project, request("unet", epochs=1))
    process = subprocess.Popen(trainer_command("orphan", run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        opened.close_project()
        with qtbot.waitSignal(training.started, timeout=10_000) as started:
            opened.open_project(root)
        assert started.args[0].root == run.root
        wait_for(qtbot, training, Started)
        assert training.running
        with qtbot.waitSignal(training.ended, timeout=10_000) as ended:
            training.stop()
        assert ended.args[0].why == "stopped"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


QUITTER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.session import Session
from workbench.session.training.telemetry import TelemetryThread
from workbench.session.training.training_control import TrainingControl
app = QCoreApplication([])
session = Session(save_delay=600)
trainer = sys.argv[2]
training = TrainingControl(session, command=lambda run, resume: [sys.executable, trainer, "execute", str(run.root)])
telemetry = TelemetryThread(interval=0.01)
telemetry.start()
session.open_project(sys.argv[1])
session.image_list.listed.connect(lambda keys: session.open_image(keys[0]))
session.current.opened.connect(lambda key: training.run is None and training.start("unet", epochs=1))

def stop_at_command(event):
    if event.kind == "trouble":
        session.editor.paint_polygon([(1, 1), (90, 1), (90, 70), (1, 70)], 2)
        print(training.run.root, event.kind, flush=True)
        app.quit()

training.reported.connect(stop_at_command)
app.exec()
"""


def test_quitting_ends_every_thread_and_saves(root, tmp_path, trainer_command):
    trainer_command("execute", Run(tmp_path))  # writes the script
    done = subprocess.run(
        [sys.executable, "-c", QUITTER, str(root), str(tmp_path / "trainer.py")],
        capture_output=True,
        text=True,
        env={**worker_environment(), "QT_QPA_PLATFORM": "offscreen"},
        timeout=60,
    )
    assert done.returncode == 0 and done.stderr == ""
    run = Run(done.stdout.rsplit(" ", 1)[0])
    with Project.open(root) as project:  # the lock is free
        mask = annotation.load_mask(project, project.images()[0])
    assert (mask == 2).sum() > 1000
    pid = next(event.process for event in run.events() if isinstance(event, Started))
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(10)
    assert (run.root / "saved.txt").read_text() == "window closed"


def test_project_closed_during_start_starts_no_trainer(training, opened, monkeypatch):
    run = create_run(opened.project, request("unet", epochs=1))
    open_previews = training.previews.open

    def close_meanwhile(run: Run) -> None:
        open_previews(run)
        training.close()

    monkeypatch.setattr(training.previews, "open", close_meanwhile)
    training.resume(run)
    assert training.run is None and not training.busy
    assert not run.events_path.exists() and not run.log_path.exists()
    monkeypatch.undo()
    training.close()
    training.resume(run)  # another run can be started afterwards
    assert training.run is run


def test_training_is_running_while_its_process_is_being_started(training, monkeypatch, qtbot):
    may_start = threading.Event()
    monkeypatch.setattr(
        trainer_thread, "worker_environment", lambda device: may_start.wait(60) and worker_environment(device)
    )
    with qtbot.waitSignal(training.started, timeout=60_000):
        training.start("unet", epochs=1)
    assert training.running and training.busy
    threading.Timer(0.1, may_start.set).start()
    run = training.run
    assert training.leave_running()
    qtbot.waitUntil(lambda: find_live_process(run) is not None, timeout=60_000)
    find_live_process(run).kill()


def test_run_that_fails_to_start_can_be_closed(training, opened, monkeypatch):
    def fail(run: Run) -> None:
        raise ArithmeticError("not foreseen")

    monkeypatch.setattr(training.previews, "open", fail)
    with pytest.raises(ArithmeticError):
        training.resume(create_run(opened.project, request("unet", epochs=1)))
    assert not training.busy
    training.close()
    assert training.run is None
