"""Proposals of a real network on real pictures: what becomes of the mask, the note and the files on the disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, write_onnx
from tests.session.conftest import saved_mask, settle, show
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
from workbench.session.predictions import Predictions
from workbench.session.session import Session
from workbench.session.suggest_all import SuggestAll

SCRATCH, DENT = ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "dent", "#00ff80")
KEY = "spots 图.png"


@pytest.fixture
def root(tmp_path):
    """One unlabelled picture with three dark and two bright spots, another with none, and a run that sees them."""
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


class Room:
    """A session with predictions and proposals, as the window has them."""

    def __init__(self, root, qtbot) -> None:
        self.session = Session(save_delay=0.02, retry=0.1)
        self.predictions = Predictions(self.session)
        self.proposals = ImageSuggestions(self.session, self.predictions)
        self.qtbot, self.root = qtbot, root
        assert self.session.open_project(root)
        settle(self.session, qtbot)

    def look(self, key: str = KEY) -> None:
        show(self.session, self.qtbot, key)
        self.predictions.load(Run(self.root / "runs" / "20260101-000000-unet"))
        with self.qtbot.waitSignal(self.predictions.predicted, timeout=10_000):
            self.predictions.predict(key)
        self.rest()

    def rest(self) -> None:
        self.qtbot.wait(5)
        self.proposals.wait()

    @property
    def at(self) -> list[tuple[int, int]]:
        return sorted((one.origin.y, one.origin.x) for one in self.proposals.shown)

    def one(self, y: int, x: int):
        return next(p for p in self.proposals.shown if (p.origin.y, p.origin.x) == (y, x))

    def end(self) -> None:
        self.session.close_project()
        self.predictions.close()


@pytest.fixture
def services(root, qtbot):
    made: list[Room] = []

    def make() -> Room:
        made.append(Room(root, qtbot))
        return made[-1]

    yield make
    for room in made:
        room.end()


EVERY = [(10, 10), (10, 60), (10, 110), (60, 10), (60, 60)]


def test_accepting_is_one_undo_step_with_origin(services, root):
    room = services()
    room.look()
    assert room.at == EVERY and not room.session.mask.any() and not room.session.can_undo()
    spot = room.one(10, 60)
    expected = np.zeros((100, 150), np.uint8)
    expected[spot.selection.rect.slices][spot.selection.inside] = 1
    assert np.count_nonzero(expected) == 96
    assert room.proposals.accept([spot])
    room.rest()
    assert np.array_equal(room.session.mask, expected) and (10, 60) not in room.at and len(room.at) == 4
    assert room.session.flush() and np.array_equal(saved_mask(room.session, KEY), expected)
    act = annotation.load_note(room.session.project, KEY).history[-1]
    assert act.what == "accept proposal" and act.who and act.when
    assert act.detail == f"run 20260101-000000-unet: scratch, score {spot.score:.2f}"
    room.session.undo()
    room.rest()
    assert not room.session.mask.any() and room.at == EVERY
    assert annotation.load_note(room.session.project, KEY).decided == [] or not room.session.note.decided
    room.session.redo()
    room.rest()
    assert np.array_equal(room.session.mask, expected) and len(room.at) == 4


def test_accepting_all_is_one_step(services):
    room = services()
    room.look()
    expected = Predictor.open(root_of(room) / "best").predict(room.session.image).mask
    assert room.proposals.accept_all()
    room.rest()
    assert room.at == [] and np.array_equal(room.session.mask, expected)
    assert room.session.note.history[-1].detail.startswith("run 20260101-000000-unet: 5 regions, scores 0.")
    room.session.undo()
    room.rest()
    assert room.at == EVERY and not room.session.mask.any() and not room.session.can_undo()


def root_of(room: Room):
    return room.root / "runs" / "20260101-000000-unet"


def test_rejecting_keeps_mask_and_can_be_undone(services):
    room = services()
    room.look()
    assert room.proposals.reject([room.one(10, 10), room.one(60, 60)])
    room.rest()
    assert room.at == [(10, 60), (10, 110), (60, 10)] and room.proposals.rejected == 2
    assert not room.session.mask.any() and room.session.note.status == "new"
    room.session.undo()
    room.rest()
    assert room.at == EVERY and room.proposals.rejected == 0
    room.session.redo()
    room.rest()
    assert len(room.at) == 3
    room.session.flush()
    assert not room.session.project.mask_path(KEY).exists()  # a picture that nobody painted on has no mask


def test_decisions_are_persistent(services):
    first = services()
    first.look()
    first.proposals.reject([first.one(10, 10)])
    first.proposals.accept([first.one(60, 60)])
    changed = first.one(10, 60)
    first.proposals.change(changed, changed.with_class(2))
    first.proposals.accept([first.one(10, 60)])
    first.rest()
    first.end()
    again = services()
    again.look()
    assert again.at == [(10, 110), (60, 10)]
    assert again.session.mask[14, 66] == 2 and again.session.mask[66, 64] == 2 and again.session.mask[14, 14] == 0
    assert again.proposals.restore_rejected()
    again.rest()
    assert again.at == [(10, 10), (10, 110), (60, 10)]  # what was accepted, as another class too, stays away
    again.session.undo()
    again.rest()
    assert again.at == [(10, 110), (60, 10)]


def test_rejection_is_written_at_once(services, root):
    """As after a kill: what is on the disk when the writing thread has done what it was told."""
    room = services()
    room.look()
    room.proposals.reject([room.one(10, 10)])
    room.session.autosave._tasks.wait()
    note = annotation.Note.model_validate_json((root / "notes" / f"{KEY}.json").read_bytes())
    assert [(one.what, one.y, one.x) for one in note.decided] == [("rejected", 10, 10)]


def test_suggestion_can_be_changed_before_acceptance(services):
    room = services()
    room.look()
    one = room.one(10, 10)
    wide = np.ones((10, 14), bool)
    room.proposals.change(one, one.with_class(2).reshaped(Selection(Rect(9, 9, 14, 10), wide)))
    room.rest()
    now = room.one(10, 10)
    assert now.edited and now.class_id == 2 and not room.session.mask.any()
    room.proposals.accept([now])
    room.rest()
    expected = np.zeros((100, 150), np.uint8)
    expected[9:19, 9:23] = 2
    assert np.array_equal(room.session.mask, expected) and (10, 10) not in room.at
    assert room.session.note.history[-1].detail.endswith("changed before")


def test_painted_regions_are_not_suggested(services):
    room = services()
    room.look()
    room.session.editor.paint_region(np.ones((9, 12), bool), (10, 10), 1)
    room.rest()
    assert (10, 10) not in room.at and len(room.at) == 4
    room.session.undo()
    room.rest()
    assert room.at == EVERY


def test_locked_class_is_not_painted_over_by_suggestion(services):
    room = services()
    room.look()
    room.session.editor.paint_region(np.ones((100, 150), bool), (0, 0), 2)
    room.session.classes.set_locked(2, True)
    room.rest()
    refused = []
    room.proposals.refused.connect(refused.append)
    assert room.at == [(10, 10), (10, 60), (60, 10)]  # the dents are there already
    assert not room.proposals.accept([room.one(10, 10)]) and refused == ["locked"]
    assert (room.session.mask == 2).all() and room.session.note.decided == []


def test_read_only_project_is_unchanged(services, qtbot):
    with_lock = services()
    reader = Room(with_lock.root, qtbot)
    try:
        assert not reader.session.writable
        reader.look()
        received = []
        reader.session.problem_met.connect(received.append)
        assert not reader.proposals.accept_all() and not reader.proposals.reject([reader.one(10, 10)])
        assert len(received) == 2 and not reader.session.mask.any() and reader.session.note.decided == []
    finally:
        reader.end()


def test_stored_suggestions_are_shown_and_removed_when_decided(services, root):
    first = services()
    first.look()
    shown, project = first.proposals.shown, first.session.project
    save_stored(project, KEY, shown, model="20251231-unet", fingerprint="", size=(150, 100))
    first.end()
    room = services()
    show(room.session, room.qtbot, KEY)
    room.rest()
    assert room.at == EVERY
    room.proposals.accept([room.one(10, 10)])
    room.proposals.reject([room.one(60, 60)])
    room.rest()
    assert len(load_stored(room.session.project, KEY)[1]) == 3
    room.session.undo()
    room.rest()
    assert len(load_stored(room.session.project, KEY)[1]) == 4 and (60, 60) in room.at
    room.look()  # another model sees the same spots: once each, the rejected one of the other model too
    assert len(room.at) == 4
    room.proposals.accept_all()
    room.rest()
    assert load_stored(room.session.project, KEY)[1] == () and room.at == []


def test_broken_suggestion_file_is_reported_and_kept(services, root):
    path = suggestions_path(Project.open(root, write=False), KEY)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    room = services()
    received = []
    room.session.problem_met.connect(received.append)
    room.look()
    assert room.at == EVERY and [type(problem).__name__ for problem in received] == ["SuggestionsBroken"]
    assert path.read_text() == "{"


def test_each_image_shows_its_own_suggestions(services):
    room = services()
    room.look()
    room.look("calm.png")
    assert room.at == []
    show(room.session, room.qtbot, KEY)  # its prediction is kept
    room.rest()
    assert room.at == EVERY


KILLED = """
import os, signal, sys
from PySide6.QtCore import QCoreApplication
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
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL here")
def test_decisions_survive_kill(services, root):
    first = services()
    first.look()
    shown, project = first.proposals.shown, first.session.project
    save_stored(project, KEY, shown, model="20251231-unet", fingerprint="", size=(150, 100))
    first.end()
    command = [sys.executable, "-c", KILLED, str(root), KEY]
    done = subprocess.run(command, env=worker_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    room = services()
    show(room.session, room.qtbot, KEY)
    room.rest()
    assert room.at == EVERY[2:]
    expected = np.zeros((100, 150), np.uint8)
    expected[10:18, 60:72] = 1
    assert np.array_equal(room.session.mask, expected) and room.proposals.rejected == 1


def test_further_suggestions_follow_decisions(services, root):
    with Project.open(root) as project:
        image = np.full((120, 640), 128, np.uint8)
        image[2:118:6, 2:638:6] = 10  # 20 x 106 single pixels are too small for the run
        image[3:118:6, 2:638:6] = image[2:118:6, 3:638:6] = image[3:118:6, 3:638:6] = 10
        write_png(project.image_path(KEY), image)
    room = services()
    room.look()
    assert len(room.proposals.shown) == 200 and room.proposals.left_out == 20 * 106 - 200
    for done in range(200, 20 * 106, 200):  # far beyond as many as are listed at a time
        assert room.proposals.accept_all()
        room.rest()
        assert len(room.proposals.shown) == min(200, 20 * 106 - done)
        assert room.proposals.left_out == max(0, 20 * 106 - done - 200)
    assert room.proposals.accept_all()
    assert np.count_nonzero(room.session.mask == 1) == 20 * 106 * 4


def test_suggest_all_can_be_stopped_and_resumed(services, root, qtbot):
    with Project.open(root) as project:
        for number in range(40):
            write_png(project.image_path(f"many/{number:02}.png"), np.full((90, 90), 128, np.uint8))
        project.image_path("broken.png").write_bytes(b"no picture")
    room = services()
    everywhere = SuggestAll(room.session)
    model = root / "runs" / "20260101-000000-unet"
    (model / "recipe.json").write_text("{}")
    everywhere.predicted.connect(lambda number, *_: number == 3 and everywhere.cancel())
    with qtbot.waitSignal(everywhere.ended, timeout=20_000) as stopped:
        everywhere.start(model)
        everywhere.start(model)  # one round at a time
    assert not stopped.args[0].whole and 2 <= stopped.args[0].images < 42
    everywhere.predicted.disconnect()
    with qtbot.waitSignal(everywhere.ended, timeout=20_000) as ended:
        everywhere.start(model)
    found = ended.args[0]
    assert (found.images, found.suggestions, found.skipped, found.whole) == (42, 5, 1, True)
    everywhere.start(model)
    room.session.close_project()  # ends it without a word
    assert not everywhere.running
    assert not list((root / "masks").rglob("*")) and services().session.writable


def test_classification_model_is_refused_for_suggestions(services, root, qtbot):
    run = Run(root / "runs" / "20260303-000000-resnet")
    write_onnx(run.best / "network.onnx", np.ones((2, 1)), np.zeros(2), pooled=True)
    verdicts = gray_settings(task="classification", classes=(), thresholds=(), min_area=(), verdicts=("OK", "NG"))
    save_settings(verdicts, run.best / "model.json")
    (run.root / "recipe.json").write_text("{}")
    everywhere = SuggestAll(services().session)
    with qtbot.waitSignal(everywhere.failed, timeout=20_000) as failed:
        everywhere.start(run.root)
    assert isinstance(failed.args[0], ProposesNothing)
