"""Progress of the training in the taskbar."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from PySide6.QtWidgets import QWidget

from workbench.core.runs.events import Finished, Started, Step
from workbench.session.training.training_control import TrainingControl
from workbench.ui.shell.taskbar_progress import TaskbarProgress

SENT_ON_THE_BUS = """
import os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication
from workbench.ui.shell.taskbar_progress import show_on_bus
app = QApplication([])
app.setDesktopFileName("defect-workbench")
show_on_bus(None, 42, False)
show_on_bus(None, None, False)
app.processEvents()
"""


def test_each_percent_of_a_training_is_shown_once_and_its_end_removes_it(opened, monkeypatch):
    training, window, shown = opened.services.training, QWidget(), []
    progress = TaskbarProgress(training, window, show=lambda *state: shown.append(state[1:]))
    assert progress.parent() is window
    running = True
    monkeypatch.setattr(TrainingControl, "running", property(lambda _: running))

    def receive(event):
        training.progress.add(event)
        training.reported.emit(event)

    receive(Started(model="unet", device="cpu", seconds_planned=100.0, time=0.0))
    for number, seconds in enumerate((1.0, 1.2, 1.4, 50.0)):
        receive(Step(step=number + 1, time=seconds, loss=1.0, rate=0.1))
    assert shown == [(0, False), (1, False), (50, False)]
    training.paused = True
    training.state_changed.emit()
    running = False
    receive(Finished(why="done", time=100.0))
    assert shown[3:] == [(50, True), (None, False)]
    window.deleteLater()


@pytest.mark.skipif(shutil.which("dbus-run-session") is None, reason="no session bus is installed")
def test_progress_is_sent_on_the_session_bus(tmp_path):
    (tmp_path / "send.py").write_text(SENT_ON_THE_BUS)
    monitor = "dbus-monitor \"interface='com.canonical.Unity.LauncherEntry'\" > seen & sleep 1; "
    command = f"{monitor} {sys.executable} send.py; sleep 1; kill $!"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run(["dbus-run-session", "sh", "-c", command], cwd=tmp_path, env=environment, timeout=60, check=False)
    seen = (tmp_path / "seen").read_text()
    assert seen.count("application://defect-workbench.desktop") == 2 and "double 0.42" in seen
    assert seen.count("boolean true") == 1 and seen.count("boolean false") == 1
