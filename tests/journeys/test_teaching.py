"""From the first label to an export: a run is taught while it learns, reviewed, and leaves with the chosen point."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.conftest import fill_project, scratched
from workbench.core.evaluation import operating_point
from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.project import Project
from workbench.core.runs.events import BestKept, Finished, LabelsAdded, Preview, Step
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MODEL_FILE, load_settings
from workbench.ui.training.train_controls import ContinuousSwitch

# Asked without importing it: this process is the window's.
pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")

FIRST, WRONG, LATER = "lot7/x700.png", "lot8/x800.png", "lot9/x900.png"
# Bounded by steps: it is trained for seconds, and learns the same on any machine.
SHORT = {"epochs": 25, "widths": [8, 16], "patch": 32, "batch": 8, "validations": 2}


@pytest.fixture
def taught(tmp_path):
    """Twelve labelled pictures, one nobody has labelled, one whose defect was overlooked, and one for later.

    Returns (folder of the project, {name: exact mask} of the three last).
    """
    root, masks = tmp_path / "产线 [5]", {}
    rng = np.random.default_rng(5)
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 12)
        for key, note in ((FIRST, Note()), (WRONG, Note(status="done", pin="train")), (LATER, Note())):
            image, masks[key] = scratched(rng)
            write_png(project.image_path(key), image)
            annotation.save_note(project, key, note)
        annotation.save_mask(project, WRONG, np.zeros_like(masks[WRONG]))
    return root, masks


def middle(mask: np.ndarray) -> tuple[float, float]:
    """x, y of the middle of what is marked."""
    rows, columns = np.nonzero(mask)
    return float(columns.mean()), float(rows.mean())


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """Intersection over union of what is marked."""
    return float(((one > 0) & (other > 0)).sum() / max(1, ((one > 0) | (other > 0)).sum()))


def test_from_labels_over_teaching_and_review_to_an_export(hand, qtbot, taught):
    root, masks = taught
    session, training, window = hand.session, hand.services.training, hand.window
    with qtbot.waitSignal(session.image_opened, timeout=15_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 15, timeout=15_000)

    # Label.
    hand.open(FIRST)
    hand.scribble(masks[FIRST])
    hand.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.rows[FIRST].status == "done", timeout=10_000)
    assert session.flush() and alike(annotation.load_mask(session.project, FIRST), masks[FIRST]) > 0.6

    # Train, and keep the run open; what it sees in the open picture arrives.
    events = []
    training.reported.connect(events.append)

    def received(kind, **facts) -> bool:
        return any(isinstance(e, kind) and all(getattr(e, k) == v for k, v in facts.items()) for e in events)

    hand.open(LATER)
    controls = window.training.controls
    hand.show_training()
    keep = window.training.controls.findChild(ContinuousSwitch)
    hand.click(keep.check)
    assert keep.check.isChecked()
    hand.services.saved_overrides.save("unet", SHORT)
    blank = hand.canvas.grab().toImage()
    hand.click(controls.button)
    qtbot.waitUntil(lambda: received(Preview, picture=LATER), timeout=90_000)
    run = training.run
    assert FIRST in {item.key for item in run.dataset().items}
    qtbot.waitUntil(lambda: window.overlay.maps is not None and window.overlay.maps.step is not None, timeout=20_000)
    qtbot.waitUntil(lambda: hand.services.suggestions.shown != [], timeout=90_000)
    assert hand.canvas.grab().toImage() != blank
    qtbot.waitUntil(lambda: received(BestKept, waiting=True), timeout=90_000)

    # Accept what it proposes there: exactly that becomes the label, and where it came from stands in the note.
    accepted = []
    hand.canvas.suggestions.accepted.connect(accepted.extend)
    assert not session.mask.any()
    hand.point_at(*middle(masks[LATER]))
    qtbot.waitUntil(lambda: hand.canvas.suggestions.current is not None, timeout=20_000)
    hand.key(Qt.Key.Key_Space)
    (one,) = accepted
    assert session.flush()
    stored = annotation.load_mask(session.project, LATER)
    assert np.array_equal(stored > 0, session.mask > 0) and set(np.unique(stored)) == {0, one.class_id}
    assert np.count_nonzero(stored) == one.area and alike(stored, masks[LATER]) > 0.5
    hand.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.rows[LATER].status == "done", timeout=10_000)
    assert session.flush()
    note = annotation.load_note(session.project, LATER)
    assert [(one.what, one.model) for one in note.decided] == [("accepted", run.name)]
    (act,) = [act for act in note.history if act.what == "accept proposal"]
    assert act.detail.startswith(f"run {run.name}: scratch, score ")

    # Correct a label that it learned from; the run takes both in, and learns on.
    assert WRONG in {item.key for item in run.dataset().of("train")}
    hand.open(WRONG)
    assert not session.mask.any()
    hand.scribble(masks[WRONG])
    qtbot.waitUntil(lambda: received(LabelsAdded, picture=LATER, how="new"), timeout=60_000)
    qtbot.waitUntil(lambda: received(LabelsAdded, picture=WRONG, how="corrected"), timeout=60_000)
    qtbot.waitUntil(lambda: received(Step, round=1), timeout=60_000)
    with qtbot.waitSignal(training.ended, timeout=120_000) as ended:
        hand.click(keep.check)  # let go
    assert isinstance(ended.args[0], Finished) and ended.args[0].why == "done", ended.args[0]
    joined = json.loads(run.dataset_path.read_text("utf-8"))["joined"]
    assert {entry["item"]["key"] for entry in joined} == {LATER, WRONG}

    # Review: its figures are those of the held-out pictures.
    room, page = hand.services.evaluation, window.evaluation.segmentation
    with qtbot.waitSignals([room.evaluated, room.sweep_finished], timeout=60_000):
        hand.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    held_out = run.dataset().of(room.split)
    labels = [annotation.load_mask(session.project, item.key) for item in held_out]
    defects = sum(cv2.connectedComponents((label == 1).astype(np.uint8), connectivity=8)[0] - 1 for label in labels)
    found = room.result.figures.found
    assert room.run.root == run.root and held_out and defects and found.total == defects and found.hits
    assert f"{found.hits} of {defects}" in page.summary.recall.detail.text()
    assert page.browser.tabs["missed"].text() == f"Missed defects  {defects - found.hits}"

    # Another point is chosen there, and used from now on.
    trained = operating_point.settings_of(run)
    expected = 0.62 if trained.thresholds[0] < 0.6 else 0.41
    with qtbot.waitSignal(room.evaluated, timeout=30_000):
        page.points.threshold.setValue(round(100 * expected))
    with qtbot.waitSignal(room.evaluated, timeout=30_000):
        page.points.area.setValue(page.points.area.value() + 2)
    area = room.point.min_area
    assert area[0] > trained.min_area[0] and room.point.thresholds == (expected,)
    hand.click(page.points.store)
    assert operating_point.read(run).chosen_on == (room.split,) and "set in the evaluation" in page.points.in_use.text()
    hand.key(Qt.Key.Key_Escape)
    assert not window.center.in_evaluation

    # The export carries it, and gives what the run gives.
    ended = []
    hand.services.export_job.finished.connect(ended.append)
    hand.services.export_job.failed.connect(ended.append)
    hand.click(controls.export)
    qtbot.waitUntil(lambda: bool(ended), timeout=120_000)
    assert isinstance(ended[0], dict), ended[0]
    (path,) = (root / "exports").glob(f"*/{MODEL_FILE}")
    carried = load_settings(path)
    assert (carried.thresholds, carried.min_area) == ((expected,), area)
    assert (carried.thresholds, carried.min_area) != (trained.thresholds, trained.min_area)
    assert ended[0]["point"] == {
        "chosen_by": "review",
        "chosen_on": [room.split],
        "thresholds": {"scratch": expected},
        "min_area": {"scratch": area[0]},
        "verdict_border": 0,
        "verdict_rule": None,
    }
    parity = ended[0]["parity"]["onnx"]
    assert parity["passed"] and parity["max_abs"] <= 1e-4 and parity["mask_agreement"] >= 0.9999
    assert (hand.inputs.clicks, hand.inputs.keys) == (6, 5)
