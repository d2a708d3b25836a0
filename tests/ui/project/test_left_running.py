"""A training continues after its window is closed; the next window follows and stops it."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.conftest import fill_project
from workbench.core.project.project import Project
from workbench.core.runs.events import Started, Step
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.run import list_runs
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl

WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application
from workbench.ui.widgets.dialogs import Question
app = QApplication([])
application = Application(app, Preferences(language="en"))
application.show()
session, training, window = application.services.session, application.services.training, application.window

def start(key):
    if training.run is None and not training.busy:
        training.start("unet", minutes=60, device="cpu", widths=[8, 16, 32], stem=2, patch=64, batch=4, threads=1)

def reported(event):
    if event.kind == "step" and window.isVisible() and not timer.isActive():
        timer.start(50)
        QTimer.singleShot(0, window.close)

def answer():
    for dialog in window.findChildren(Question):
        print(dialog.text(), flush=True)
        timer.stop()
        dialog.buttons["leave"].click()

timer = QTimer()
timer.timeout.connect(answer)
session.current.opened.connect(start)
training.reported.connect(reported)
training.ended.connect(lambda ending: print("ended", ending, flush=True))
session.open_project(sys.argv[1])
app.exec()
application.end()
"""


def last_step(run) -> int:
    return max((event.step for event in run.events() if isinstance(event, Step)), default=-1)


@pytest.mark.skipif(not paddle_installed(), reason="PaddlePaddle is not installed")
def test_training_continues_in_the_background_and_is_reattached(tmp_path, qtbot):
    root = tmp_path / "p"
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 4)
    done = subprocess.run([sys.executable, "-c", WINDOW, str(root)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Training is running" in done.stdout and "ended" not in done.stdout
    (run,) = list_runs(root)
    process = psutil.Process(next(event.process for event in run.events() if isinstance(event, Started)))
    try:
        step = last_step(run)
        qtbot.waitUntil(lambda: last_step(run) > step + 3, timeout=120_000)
        assert process.is_running() and run.ending() is None

        session = Session()
        training = TrainingControl(session)
        received, endings = [], []
        training.reported.connect(received.append)
        training.ended.connect(endings.append)
        assert session.open_project(root)
        qtbot.waitUntil(lambda: training.running, timeout=30_000)
        assert training.run.root == run.root
        qtbot.waitUntil(lambda: any(isinstance(event, Step) for event in received), timeout=60_000)
        training.stop()
        qtbot.waitUntil(lambda: bool(endings), timeout=120_000)
        assert endings[0].why == "stopped" and run.ending().why == "stopped" and run.resumable
        training.close()
        session.end()
    finally:
        if process.is_running():
            process.kill()
