"""Every way out of an open project asks before unsaved labels or running work are lost."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from tests import disk
from tests.conftest import fill_project
from tests.project_copy import copy_project
from tests.read_only import read_only
from tests.session.conftest import TRAINER
from tests.ui.conftest import CanvasDriver
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.child_process import ChildProcess
from workbench.core.runs.events import Progress, encode
from workbench.core.runs.run import Run, list_runs
from workbench.session import prediction_jobs
from workbench.session.autosave import Autosave
from workbench.session.prediction_jobs import FolderSummary
from workbench.session.tasks import TaskRunner
from workbench.session.training import trainer_thread, training_control
from workbench.session.training.trainer_thread import find_live_process
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog
from workbench.ui.shell.application import Application
from workbench.ui.widgets.dialogs import Question, Waiting


class Full:
    """The window with unsaved strokes on two images of a project on a full disk."""

    def __init__(self, application: Application, qtbot, folder: Path, root: Path, other: Path) -> None:
        self.application, self.qtbot, self.folder, self.other = application, qtbot, folder, other
        self.root = folder / "p"
        copy_project(root, self.root)
        self.session, self.window = application.services.session, application.window
        with qtbot.waitSignal(self.session.current.opened, timeout=10_000):
            assert self.session.open_project(self.root)
        qtbot.waitUntil(lambda: len(self.session.rows) == 5, timeout=10_000)
        self.before = self.masks(self.root)
        runners = [*self.session.findChildren(TaskRunner), *self.window.findChildren(TaskRunner)]
        qtbot.waitUntil(lambda: not any(runner.busy for runner in runners), timeout=30_000)  # they free disk space
        self.ballast = disk.fill_up(folder)
        driver = CanvasDriver(application, qtbot)
        self.painted: dict[str, np.ndarray] = {}
        for key in self.session.keys[:2]:
            driver.open(key)
            self.session.editor.paint_region(np.random.default_rng(3).random((80, 96)) > 0.5, (0, 0), 2)
            driver.drag((20, 20), (60, 50))
            self.painted[key] = self.session.mask.copy()
        qtbot.waitUntil(lambda: self.session.autosave.state == "failed", timeout=10_000)

    @staticmethod
    def masks(root: Path) -> dict[str, np.ndarray]:
        with Project.open(root, write=False) as project:
            loaded = {key: annotation.load_mask(project, key) for key in project.images()}
        return {key: mask for key, mask in loaded.items() if mask is not None}

    def go(self, way: str) -> None:
        table, window = self.window.table, self.window
        self.former = self.session.project
        if way == "window":
            window.close()
        elif way == "quit":
            table["quit"].trigger()
        elif way == "close":
            table["close_project"].trigger()
        elif way == "recent":
            window.project_commands.recent.menu.aboutToShow.emit()
            actions = [a for a in window.project_commands.recent.menu.actions() if str(self.other.parent) in a.text()]
            next(a for a in actions if a.text().startswith(self.other.name)).trigger()
        elif way == "drop":
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(str(self.other))])
            how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(window, QDragEnterEvent(QPoint(10, 10), *how))
            QApplication.sendEvent(window, QDropEvent(QPointF(10, 10), *how))
        elif way == "new":
            table["new_project"].trigger()
            dialog = window.findChild(NewProjectDialog)
            dialog.name.setText("new")
            dialog.location.setText(str(self.other.parent))
            dialog.create.click()
        elif way == "sample":
            table["make_sample"].trigger()
        elif way == "again":
            window.project_commands.open(self.root)

    def question(self) -> Question:
        def dialog() -> Question | None:
            return next((d for d in self.window.findChildren(Question) if d.isVisible()), None)

        self.qtbot.waitUntil(lambda: dialog() is not None, timeout=30_000)
        return dialog()

    def answer(self, name: str) -> Question:
        dialog = self.question()
        dialog.buttons[name].click()
        return dialog

    def choose(self, folder: Path) -> None:
        self.qtbot.waitUntil(lambda: bool(self.window.findChildren(QFileDialog)), timeout=10_000)
        dialog = self.window.findChild(QFileDialog)
        dialog.findChild(QLineEdit, "fileNameEdit").setText(str(folder))
        dialog.accept()

    def left(self, way: str) -> bool:
        project = self.session.project
        if way in ("window", "quit"):
            return not self.window.isVisible()
        if way == "close":
            return project is None
        if way == "again":
            return project is not None and project is not self.former
        return project is not None and project.root != self.root

    def wait_left(self, way: str) -> None:
        self.qtbot.waitUntil(lambda: self.left(way), timeout=30_000)


@pytest.fixture
def early_retries(monkeypatch):
    """Repeat failed saves after half a second instead of five."""
    monkeypatch.setattr(Autosave.__init__, "__kwdefaults__", {**Autosave.__init__.__kwdefaults__, "retry": 0.5})


@pytest.fixture
def full(early_retries, application, qtbot, tmp_path, root, monkeypatch):
    import workbench.core.sample_project as sample

    make = sample.make_sample
    monkeypatch.setattr(sample, "make_sample", lambda root, **options: make(root, small=True, **options))
    other = tmp_path / "other" / "second"
    with Project.create(other, classes=["scratch"]) as project:
        fill_project(project, 1)
    monkeypatch.setattr(type(application.window.project_commands), "projects_folder", lambda self: other.parent)
    application.services.preferences.recent_projects[:] = [str(other)]
    with disk.small_disk(tmp_path / "disk", kilobytes=2500) as folder:
        yield Full(application, qtbot, folder, root, other)
        application.services.session.end()


def same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    return all(key in found and np.array_equal(found[key], mask) for key, mask in expected.items())


WAYS = ("window", "quit", "close", "recent", "drop", "new", "sample", "again")


def test_cancel_keeps_the_project_open(full):
    for way in WAYS:
        full.go(way)
        dialog = full.answer("cancel")
        assert "2 images" in dialog.text() and "No space left" in dialog.text(), way
        assert not full.left(way) and full.session.project.root == full.root and full.window.isVisible(), way
        for dialog in full.window.findChildren(NewProjectDialog):
            dialog.reject()
        for key, mask in full.painted.items():
            assert np.array_equal(full.session.autosave.unsaved(key).mask, mask), way
    full.ballast.unlink()
    full.qtbot.waitUntil(lambda: full.session.autosave.state == "saved", timeout=20_000)
    assert same(full.masks(full.root), full.painted)


# Each way out asks the same question (`test_cancel_keeps_the_project_open`) and is taken after one of the answers.
@pytest.mark.parametrize("way", ["window", "recent"])
def test_try_again_saves_and_closes_when_space_is_available(full, way):
    full.go(way)
    full.answer("retry")  # still full: asked again
    full.question()
    assert not full.left(way)
    full.ballast.unlink()
    full.answer("retry")
    full.wait_left(way)
    assert same(full.masks(full.root), full.painted)


@pytest.mark.parametrize("way", ["quit", "again"])
def test_copy_contains_every_unsaved_label(full, way, tmp_path):
    target = tmp_path / "副本 copy"
    target.mkdir()
    full.go(way)
    full.answer("copy")
    full.choose(target)
    full.wait_left(way)
    for key, mask in full.painted.items():
        assert np.array_equal(annotation.read_mask(target / "masks" / f"{key}.png"), mask)
        assert (target / "notes" / f"{key}.json").is_file()
    assert same(full.masks(full.root), {k: m for k, m in full.before.items() if k not in full.painted})
    if way not in ("window", "quit"):
        assert any(str(target) in text for text in full.window.messages.texts)


@pytest.mark.parametrize(
    "way", ["close", "drop", *(pytest.param(way, marks=pytest.mark.slow) for way in ("new", "sample"))]
)
def test_discard_closes_without_saving(full, way):
    full.go(way)
    full.answer("discard")
    full.wait_left(way)
    full.session.end()
    full.ballast.unlink()
    assert full.session.open_project(full.root) and full.session.flush()
    assert same(full.masks(full.root), full.before)


def test_failed_copy_is_shown_and_requested_again(full, tmp_path):
    full.go("window")
    full.answer("copy")
    full.choose(full.folder)  # on the same full disk
    dialog = full.question()
    assert str(full.folder) in dialog.text() and "No space left" in dialog.text()
    dialog.buttons["copy"].click()
    full.qtbot.waitUntil(lambda: bool(full.window.findChildren(QFileDialog)), timeout=10_000)
    full.window.findChild(QFileDialog).reject()
    target = tmp_path / "other"  # holds another project: its files stay as they are
    before = sorted(path for path in target.rglob("*"))
    full.answer("copy")
    full.choose(target)
    full.wait_left("window")
    (made,) = [path for path in target.iterdir() if path.name.startswith("p-unsaved")]
    assert all((made / "masks" / f"{key}.png").is_file() for key in full.painted)
    assert all(path.exists() for path in before) and not (target / "masks").exists()


def test_session_keeps_unsaved_labels_by_default(full):
    session, problems_met = full.session, []
    session.problem_met.connect(problems_met.append)
    assert not session.close_project() and not session.open_project(full.other)
    assert not session.open_project(full.root) and not session.create_project(full.other.parent / "third")
    assert session.project.root == full.root and not (full.other.parent / "third").exists()
    assert [type(problem).__name__ for problem in problems_met] == ["UnsavedLabels"] * 4
    full.ballast.unlink()
    assert session.close_project() and same(full.masks(full.root), full.painted)


def test_failed_open_asks_nothing(full):
    full.window.project_commands.open(full.other.parent)
    assert not full.window.findChildren(Question) and full.session.project.root == full.root
    assert any("not a Defect Workbench project" in text for text in full.window.messages.texts)


def test_language_change_asks_nothing_and_keeps_the_labels(full):
    full.window.table["language_zh_CN"].trigger()
    full.qtbot.waitUntil(lambda: full.application.window is not full.window, timeout=10_000)
    assert full.session.project.root == full.root and set(full.session.autosave.unsaved_keys) == set(full.painted)


# --- training and other work --------------------------------------------------------------------------------


class Working:
    """The window with a stand-in training."""

    def __init__(self, application: Application, qtbot, tmp_path: Path) -> None:
        self.application, self.qtbot, self.window = application, qtbot, application.window
        self.session, self.training = application.services.session, application.services.training
        script = tmp_path / "trainer.py"
        script.write_text(TRAINER, encoding="utf-8")
        self.training._command = lambda run, resume: [sys.executable, str(script), "execute", str(run.root)]

    question, answer = Full.question, Full.answer

    def train(self) -> None:
        self.training.start("unet", minutes=1)
        training = self.training
        self.qtbot.waitUntil(lambda: training.running and training.progress.planned_seconds is not None, timeout=20_000)


@pytest.fixture
def working(opened, qtbot, tmp_path):
    return Working(opened, qtbot, tmp_path)


def test_cancel_keeps_the_training_running(working):
    working.train()
    working.window.close()
    dialog = working.answer("cancel")
    assert "Training is running" in dialog.text() and "left)" in dialog.text()
    assert working.window.isVisible() and working.training.running and not working.training.stopping


@pytest.mark.parametrize("way", ["window", "close"])
def test_stop_waits_until_the_trainer_has_saved(working, qtbot, way):
    working.train()
    run = working.training.run
    working.window.close() if way == "window" else working.window.table["close_project"].trigger()
    working.answer("stop")
    assert working.window.findChild(Waiting).isVisible()
    qtbot.waitUntil(lambda: not working.window.isVisible() or working.session.project is None, timeout=20_000)
    assert (run.root / "saved.txt").read_text() == "stopped" and run.ending().why == "stopped"


@pytest.fixture
def preparation(monkeypatch):
    """Event until which a training that is started only prepares its run folder."""
    may_end, create_run = threading.Event(), training_control.create_run

    def wait_and_create(*arguments) -> Run:
        assert may_end.wait(60)
        return create_run(*arguments)

    monkeypatch.setattr(training_control, "create_run", wait_and_create)
    yield may_end
    may_end.set()


@pytest.mark.parametrize("way, name", [("window", "leave"), ("close", "stop"), ("window", "cancel")])
def test_leaving_during_the_preparation_of_a_training_needs_a_confirmation(working, preparation, qtbot, way, name):
    training, session, root = working.training, working.session, working.session.project.root
    training.start("unet", minutes=1)
    assert training.preparing and not training.running
    working.window.close() if way == "window" else working.window.table["close_project"].trigger()
    assert "Training is running." in working.answer(name).text()
    assert working.window.isVisible() and session.project is not None and training.busy
    if name != "cancel":
        assert working.window.findChild(Waiting).isVisible()
    preparation.set()
    if name == "cancel":
        qtbot.waitUntil(lambda: training.progress.planned_seconds is not None, timeout=60_000)
        assert working.window.isVisible() and not training.stopping
        return
    qtbot.waitUntil(lambda: not working.window.isVisible() or session.project is None, timeout=60_000)
    runs = list_runs(root)
    if name == "stop":
        assert not runs
        return
    (run,) = runs
    qtbot.waitUntil(lambda: find_live_process(run) is not None, timeout=60_000)
    assert run.ending() is None and not training.running  # another process trains it
    with contextlib.suppress(psutil.NoSuchProcess):
        process = find_live_process(run)
        process.kill()
        process.wait(60)


def start_prediction(working, tmp_path, monkeypatch, *, watch: bool = False):
    """Start the prediction of a folder that ends when it is stopped or the returned event is set."""
    finished = threading.Event()

    def predict(request, stop, task) -> FolderSummary:
        while not (finished.wait(0.01) or stop.requested()):
            pass
        return FolderSummary(request.out, 0, 0, whole=finished.is_set())

    monkeypatch.setattr(prediction_jobs, "predict_folder", predict)
    working.window.table["predict_folder"].trigger()
    dialog = working.window.findChild(PredictFolderDialog)
    dialog.model.line.setText(str(tmp_path))
    dialog.images.line.setText(str(tmp_path))
    dialog.out.line.setText(str(tmp_path / "out"))
    dialog.watch.setChecked(watch)
    dialog.start_button.click()
    assert dialog.job.running
    return dialog, finished


@pytest.mark.parametrize("name", ["stop", "wait", pytest.param("cancel", marks=pytest.mark.slow)])
def test_leaving_during_a_folder_prediction_needs_a_confirmation(working, qtbot, tmp_path, monkeypatch, name):
    dialog, finished = start_prediction(working, tmp_path, monkeypatch)
    working.window.close()
    assert "folder of images is being predicted" in working.answer(name).text()
    assert working.window.isVisible()
    if name == "cancel":
        assert dialog.job.running and dialog.isVisible()
        finished.set()
        return
    if name == "wait":
        assert dialog.job.running and working.window.findChild(Waiting).isVisible()
        finished.set()
    qtbot.waitUntil(lambda: not working.window.isVisible(), timeout=60_000)
    assert finished.is_set() == (name == "wait")


def test_waiting_is_not_offered_for_a_watched_folder(working, qtbot, tmp_path, monkeypatch):
    start_prediction(working, tmp_path, monkeypatch, watch=True)
    working.window.close()
    assert list(working.question().buttons) == ["cancel", "stop"]
    working.answer("stop")
    qtbot.waitUntil(lambda: not working.window.isVisible(), timeout=60_000)


def test_closing_the_project_does_not_stop_the_prediction_of_a_folder(working, tmp_path, monkeypatch):
    dialog, finished = start_prediction(working, tmp_path, monkeypatch)
    working.window.table["close_project"].trigger()
    assert working.session.project is None and dialog.job.running
    finished.set()


EXPORT = [sys.executable, "-c", f"print({encode(Progress(what='a', done=0, total=1))!r}, flush=True)\ninput()"]


def start_export(working, tmp_path) -> None:
    run = Run(tmp_path / "q" / "runs" / "one")
    run.best.mkdir(parents=True)
    (run.best / "model.json").write_text("{}")
    (run.best / "network.onnx").write_text("")
    exporter = working.application.services.export_job
    exporter._command = lambda run, out, formats: EXPORT
    exporter.start(run)
    assert exporter.running


@pytest.mark.parametrize("name", ["stop", "cancel", pytest.param("wait", marks=pytest.mark.slow)])
def test_leaving_during_an_export_needs_a_confirmation(working, qtbot, tmp_path, monkeypatch, name):
    children = []

    class RecordedChild(ChildProcess):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)
            children.append(self)

    monkeypatch.setattr(trainer_thread, "ChildProcess", RecordedChild)
    start_export(working, tmp_path)
    exporter = working.application.services.export_job
    working.window.close()
    assert "export is running" in working.answer(name).text()
    if name == "cancel":
        assert working.window.isVisible() and exporter.running
        return
    if name == "wait":
        assert working.window.isVisible() and exporter.running
        children[0].send("go on")  # it ends by itself now
    qtbot.waitUntil(lambda: not working.window.isVisible(), timeout=20_000)
    assert not exporter.running


def test_closing_the_project_does_not_ask_about_an_export(working, qtbot, tmp_path):
    start_export(working, tmp_path)
    working.window.table["close_project"].trigger()
    assert working.session.project is None and working.application.services.export_job.running


# --- read-only folders --------------------------------------------------------------------------------------


def test_a_read_only_folder_is_named_as_the_reason(application, qtbot, tmp_path, root):
    session, window = application.services.session, application.window
    with disk.small_disk(tmp_path / "disk", kilobytes=2500) as folder:
        project = copy_project(root, folder / "p")
        with read_only(project):
            with qtbot.waitSignal(session.current.opened, timeout=10_000):
                window.project_commands.open(project)
            assert not session.writable
            (text,) = window.messages.texts
            assert "read-only" in text and "Read-only file system" in text and "kept in memory" not in text
            driver = CanvasDriver(application, qtbot)
            driver.drag((20, 20), (40, 40))
            texts = " ".join(window.messages.texts)
            assert "Read-only file system" in texts and "Close the other window" not in texts
            session.end()


def test_command_line_message_does_not_mention_a_retry(tmp_path):
    with disk.small_disk(tmp_path / "disk", kilobytes=100) as folder, read_only(folder):
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "create", str(folder / "p")], capture_output=True, text=True
        )
    assert done.returncode != 0 and "Read-only file system" in done.stderr
    assert "kept in memory" not in done.stderr and "Traceback" not in done.stderr


# --- the end by a signal -------------------------------------------------------------------------------------

TERMINATED = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from workbench.session.session import Session
from workbench.ui.shell import application
Session.__init__.__kwdefaults__["save_delay"] = 600  # no save by itself
app = QApplication([])
real = application.Application.show

def show(self):
    real(self)
    session = self.services.session
    def painted(key):
        session.editor.paint_polygon([(1, 1), (90, 1), (90, 70), (1, 70)], 2)
        print("painted", key, flush=True)
    session.current.opened.connect(painted)

application.Application.show = show
sys.exit(application.run(Path(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_termination_saves_without_a_question(root):
    with subprocess.Popen([sys.executable, "-c", TERMINATED, str(root)], stdout=subprocess.PIPE, text=True) as process:
        key = process.stdout.readline().split(" ", 1)[1].strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    with Project.open(root) as project:
        assert (annotation.load_mask(project, key) == 2).sum() > 1000
