"""Suggestions of a real network: changes of the mask, the note and the stored files."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests import hard_end
from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, write_onnx
from tests.session.conftest import saved_mask, settle, show
from tests.session.task_work import runner_of
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.problems import ProposesNothing
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.launch import worker_environment
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestion_files import load_stored, save_stored, suggestions_path
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.prediction_jobs import SuggestAll
from workbench.session.predictions import Predictions
from workbench.session.session import Session

SCRATCH, DENT = ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "dent", "#00ff80")
KEY = "spots 图.png"


@pytest.fixture
def root(tmp_path):
    """Project of an image with three dark and two bright spots, an empty image, and a run that detects them."""
    root = tmp_path / "项目"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        image = np.full((100, 150), 128, np.uint8)
        for y, x in ((10, 10), (10, 60), (60, 10)):
            image[y : y + 8, x : x + 12] = 10
        for y, x in ((60, 60), (10, 110)):
            image[y : y + 12, x : x + 8] = 250
        write_png(project.image_path(KEY), image)
        write_png(project.image_path("calm.png"), np.full((100, 150), 128, np.uint8))
    run = Run(root / "runs" / "20260101-000000-unet")
    write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(classes=(SCRATCH, DENT), run=run.name), run.best / "model.json")
    return root


class SuggestionSession:
    """Session with predictions and suggestions, as in the window."""

    def __init__(self, root, qtbot) -> None:
        self.session = Session(save_delay=0.02, retry=0.1)
        self.predictions = Predictions(self.session)
        self.suggestions = ImageSuggestions(self.session, self.predictions)
        self.qtbot, self.root = qtbot, root
        assert self.session.open_project(root)
        settle(self.session, qtbot)

    def predict(self, key: str = KEY) -> None:
        show(self.session, self.qtbot, key)
        self.predictions.load(Run(self.root / "runs" / "20260101-000000-unet"))
        with self.qtbot.waitSignal(self.predictions.predicted, timeout=10_000):
            self.predictions.predict(key)
        self.rest()

    def rest(self) -> None:
        self.qtbot.wait(5)
        self.suggestions.wait()

    @property
    def at(self) -> list[tuple[int, int]]:
        return sorted((one.origin.y, one.origin.x) for one in self.suggestions.shown)

    def one(self, y: int, x: int):
        return next(p for p in self.suggestions.shown if (p.origin.y, p.origin.x) == (y, x))

    def end(self) -> None:
        self.session.close_project()
        self.predictions.close()


@pytest.fixture
def open_session(root, qtbot):
    made: list[SuggestionSession] = []

    def make() -> SuggestionSession:
        made.append(SuggestionSession(root, qtbot))
        return made[-1]

    yield make
    for opened in made:
        opened.end()


EVERY = [(10, 10), (10, 60), (10, 110), (60, 10), (60, 60)]


def test_accepting_is_one_undo_step_with_origin(open_session, root):
    opened = open_session()
    opened.predict()
    assert opened.at == EVERY and not opened.session.mask.any() and not opened.session.can_undo()
    spot = opened.one(10, 60)
    expected = np.zeros((100, 150), np.uint8)
    expected[spot.selection.rect.slices][spot.selection.inside] = 1
    assert np.count_nonzero(expected) == 96
    assert opened.suggestions.accept([spot])
    opened.rest()
    assert np.array_equal(opened.session.mask, expected) and (10, 60) not in opened.at and len(opened.at) == 4
    assert opened.session.flush() and np.array_equal(saved_mask(opened.session, KEY), expected)
    act = annotation.load_note(opened.session.project, KEY).history[-1]
    assert act.what == "accept proposal" and act.who and act.when
    assert act.detail == f"run 20260101-000000-unet: scratch, score {spot.score:.2f}"
    opened.session.undo()
    opened.rest()
    assert not opened.session.mask.any() and opened.at == EVERY
    assert annotation.load_note(opened.session.project, KEY).decided == [] or not opened.session.note.decided
    opened.session.redo()
    opened.rest()
    assert np.array_equal(opened.session.mask, expected) and len(opened.at) == 4


def test_accepting_all_is_one_step(open_session):
    opened = open_session()
    opened.predict()
    expected = Predictor.open(root_of(opened) / "best").predict(opened.session.image).mask
    assert opened.suggestions.accept_all()
    opened.rest()
    assert opened.at == [] and np.array_equal(opened.session.mask, expected)
    assert opened.session.note.history[-1].detail.startswith("run 20260101-000000-unet: 5 regions, scores 0.")
    opened.session.undo()
    opened.rest()
    assert opened.at == EVERY and not opened.session.mask.any() and not opened.session.can_undo()


def root_of(opened: SuggestionSession):
    return opened.root / "runs" / "20260101-000000-unet"


def test_rejecting_keeps_mask_and_can_be_undone(open_session):
    opened = open_session()
    opened.predict()
    assert opened.suggestions.reject([opened.one(10, 10), opened.one(60, 60)])
    opened.rest()
    assert opened.at == [(10, 60), (10, 110), (60, 10)] and opened.suggestions.rejected == 2
    assert not opened.session.mask.any() and opened.session.note.status == "new"
    opened.session.undo()
    opened.rest()
    assert opened.at == EVERY and opened.suggestions.rejected == 0
    opened.session.redo()
    opened.rest()
    assert len(opened.at) == 3
    opened.session.flush()
    assert not opened.session.project.mask_path(KEY).exists()  # an image without strokes has no mask


def test_decisions_are_persistent(open_session):
    first = open_session()
    first.predict()
    first.suggestions.reject([first.one(10, 10)])
    first.suggestions.accept([first.one(60, 60)])
    changed = first.one(10, 60)
    first.suggestions.change(changed, changed.with_class(2))
    first.suggestions.accept([first.one(10, 60)])
    first.rest()
    first.end()
    again = open_session()
    again.predict()
    assert again.at == [(10, 110), (60, 10)]
    assert again.session.mask[14, 66] == 2 and again.session.mask[66, 64] == 2 and again.session.mask[14, 14] == 0
    assert again.suggestions.restore_rejected()
    again.rest()
    # accepted suggestions, also as another class, are not shown again
    assert again.at == [(10, 10), (10, 110), (60, 10)]
    again.session.undo()
    again.rest()
    assert again.at == [(10, 110), (60, 10)]


def test_rejection_is_written_at_once(open_session, root):
    """Check the files on the disk after the writing thread has finished, as a killed process would leave them."""
    opened = open_session()
    opened.predict()
    opened.suggestions.reject([opened.one(10, 10)])
    runner_of(opened.session.autosave).wait()
    note = annotation.Note.model_validate_json((root / "notes" / f"{KEY}.json").read_bytes())
    assert [(one.what, one.y, one.x) for one in note.decided] == [("rejected", 10, 10)]


def test_suggestion_can_be_changed_before_acceptance(open_session):
    opened = open_session()
    opened.predict()
    one = opened.one(10, 10)
    wide = np.ones((10, 14), bool)
    opened.suggestions.change(one, one.with_class(2).reshaped(Selection(Rect(9, 9, 14, 10), wide)))
    opened.rest()
    now = opened.one(10, 10)
    assert now.edited and now.class_id == 2 and not opened.session.mask.any()
    opened.suggestions.accept([now])
    opened.rest()
    expected = np.zeros((100, 150), np.uint8)
    expected[9:19, 9:23] = 2
    assert np.array_equal(opened.session.mask, expected) and (10, 10) not in opened.at
    assert opened.session.note.history[-1].detail.endswith("changed before")


def test_painted_regions_are_not_suggested(open_session):
    opened = open_session()
    opened.predict()
    opened.session.editor.paint_region(np.ones((9, 12), bool), (10, 10), 1)
    opened.rest()
    assert (10, 10) not in opened.at and len(opened.at) == 4
    opened.session.undo()
    opened.rest()
    assert opened.at == EVERY


def test_locked_class_is_not_painted_over_by_suggestion(open_session):
    opened = open_session()
    opened.predict()
    opened.session.editor.paint_region(np.ones((100, 150), bool), (0, 0), 2)
    opened.session.classes.set_locked(2, True)
    opened.rest()
    refused = []
    opened.suggestions.refused.connect(refused.append)
    assert opened.at == [(10, 10), (10, 60), (60, 10)]  # the dents are labeled already
    assert not opened.suggestions.accept([opened.one(10, 10)]) and refused == ["locked"]
    assert (opened.session.mask == 2).all() and opened.session.note.decided == []


def test_read_only_project_is_unchanged(open_session, qtbot):
    with_lock = open_session()
    reader = SuggestionSession(with_lock.root, qtbot)
    try:
        assert not reader.session.writable
        reader.predict()
        received = []
        reader.session.problem_met.connect(received.append)
        assert not reader.suggestions.accept_all() and not reader.suggestions.reject([reader.one(10, 10)])
        assert len(received) == 2 and not reader.session.mask.any() and reader.session.note.decided == []
    finally:
        reader.end()


def test_stored_suggestions_are_shown_and_removed_when_decided(open_session, root):
    first = open_session()
    first.predict()
    shown, project = first.suggestions.shown, first.session.project
    save_stored(project, KEY, shown, model="20251231-unet", fingerprint="", size=(150, 100))
    first.end()
    opened = open_session()
    show(opened.session, opened.qtbot, KEY)
    opened.rest()
    assert opened.at == EVERY
    opened.suggestions.accept([opened.one(10, 10)])
    opened.suggestions.reject([opened.one(60, 60)])
    opened.rest()
    assert len(load_stored(opened.session.project, KEY)[1]) == 3
    opened.session.undo()
    opened.rest()
    assert len(load_stored(opened.session.project, KEY)[1]) == 4 and (60, 60) in opened.at
    # another model predicts the same spots: each is shown once, also the one that was rejected for the other model
    opened.predict()
    assert len(opened.at) == 4
    opened.suggestions.accept_all()
    opened.rest()
    assert load_stored(opened.session.project, KEY)[1] == () and opened.at == []


def test_broken_suggestion_file_is_reported_and_kept(open_session, root):
    path = suggestions_path(Project.open(root, write=False), KEY)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    opened = open_session()
    received = []
    opened.session.problem_met.connect(received.append)
    opened.predict()
    assert opened.at == EVERY and [type(problem).__name__ for problem in received] == ["SuggestionsBroken"]
    assert path.read_text() == "{"


def test_each_image_shows_its_own_suggestions(open_session):
    opened = open_session()
    opened.predict()
    opened.predict("calm.png")
    assert opened.at == []
    show(opened.session, opened.qtbot, KEY)  # its prediction is cached
    opened.rest()
    assert opened.at == EVERY


KILLED = """
import os, sys
from PySide6.QtCore import QCoreApplication
from tests.hard_end import KILL
from workbench.core.project import annotation
from workbench.session.predictions import Predictions
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.session import Session

root, key = sys.argv[1:]
app = QCoreApplication([])
session = Session(save_delay=600)  # no stroke is saved by itself: the journal alone has it
proposals = ImageSuggestions(session, Predictions(session))
session.open_project(root)
session.open_image(key)
while len(proposals.shown) < 5:
    app.processEvents()
first, second, *_ = sorted(proposals.shown, key=lambda one: (one.origin.y, one.origin.x))
proposals.reject([first])
while not annotation.load_note(session.project, key).decided:
    app.processEvents()
proposals.accept([second])
os.kill(os.getpid(), KILL)
"""


def test_decisions_survive_kill(open_session, root):
    first = open_session()
    first.predict()
    shown, project = first.suggestions.shown, first.session.project
    save_stored(project, KEY, shown, model="20251231-unet", fingerprint="", size=(150, 100))
    first.end()
    command = [sys.executable, "-c", KILLED, str(root), KEY]
    done = subprocess.run(command, env=worker_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode in hard_end.KILLED, done.stderr
    opened = open_session()
    show(opened.session, opened.qtbot, KEY)
    opened.rest()
    assert opened.at == EVERY[2:]
    expected = np.zeros((100, 150), np.uint8)
    expected[10:18, 60:72] = 1
    assert np.array_equal(opened.session.mask, expected) and opened.suggestions.rejected == 1


def test_further_suggestions_follow_decisions(open_session, root):
    with Project.open(root) as project:
        image = np.full((120, 160), 128, np.uint8)
        image[2:118:6, 2:158:6] = 10  # 20 x 26 single pixels are too small for the run
        image[3:118:6, 2:158:6] = image[2:118:6, 3:158:6] = image[3:118:6, 3:158:6] = 10
        write_png(project.image_path(KEY), image)
    opened = open_session()
    opened.predict()
    assert len(opened.suggestions.shown) == 200 and opened.suggestions.left_out == 20 * 26 - 200
    for done in range(200, 20 * 26, 200):  # many more than are listed at a time
        assert opened.suggestions.accept_all()
        opened.rest()
        assert len(opened.suggestions.shown) == min(200, 20 * 26 - done)
        assert opened.suggestions.left_out == max(0, 20 * 26 - done - 200)
    assert opened.suggestions.accept_all()
    assert np.count_nonzero(opened.session.mask == 1) == 20 * 26 * 4


def test_suggest_all_can_be_stopped_and_resumed(open_session, root, qtbot):
    with Project.open(root) as project:
        for number in range(40):
            write_png(project.image_path(f"many/{number:02}.png"), np.full((90, 90), 128, np.uint8))
        project.image_path("broken.png").write_bytes(b"no picture")
    opened = open_session()
    everywhere = SuggestAll(opened.session)
    model = root / "runs" / "20260101-000000-unet"
    (model / "recipe.json").write_text("{}")
    everywhere.predicted.connect(lambda number, *_: number == 3 and everywhere.cancel())
    with qtbot.waitSignal(everywhere.ended, timeout=20_000) as stopped:
        everywhere.start(model)
        everywhere.start(model)  # one job at a time
    assert not stopped.args[0].whole and 2 <= stopped.args[0].images < 42
    everywhere.predicted.disconnect()
    with qtbot.waitSignal(everywhere.ended, timeout=20_000) as ended:
        everywhere.start(model)
    found = ended.args[0]
    assert (found.images, found.suggestions, found.skipped, found.whole) == (42, 5, 1, True)
    everywhere.start(model)
    opened.session.close_project()  # ends it without a message
    assert not everywhere.running
    assert not list((root / "masks").rglob("*")) and open_session().session.writable


def test_classification_model_is_refused_for_suggestions(open_session, root, qtbot):
    run = Run(root / "runs" / "20260303-000000-resnet")
    write_onnx(run.best / "network.onnx", np.ones((2, 1)), np.zeros(2), pooled=True)
    verdicts = gray_settings(task="classification", classes=(), thresholds=(), min_area=(), verdicts=("OK", "NG"))
    save_settings(verdicts, run.best / "model.json")
    (run.root / "recipe.json").write_text("{}")
    everywhere = SuggestAll(open_session().session)
    with qtbot.waitSignal(everywhere.failed, timeout=20_000) as failed:
        everywhere.start(run.root)
    assert isinstance(failed.args[0], ProposesNothing)
