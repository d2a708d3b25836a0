"""From the first label to an export: labels added during the training, evaluation, chosen operating point."""

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
from workbench.ui.widgets.dialogs import Question

# not imported here, since this process runs the window
pytestmark = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="PaddlePaddle is not installed")

FIRST, WRONG, LATER = "lot7/x700.png", "lot8/x800.png", "lot9/x900.png"
# Limited by epochs: trained for seconds, with the same result on any machine.
SHORT = {"epochs": 8, "rate": 1e-2, "widths": [8, 16], "patch": 32, "batch": 8, "validations": 2}


@pytest.fixture
def project_folder(tmp_path):
    """Project of twelve labeled images, an unlabeled one, one with a missed defect, and one that is added later.

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
    """Return x, y of the center of the nonzero pixels."""
    rows, columns = np.nonzero(mask)
    return float(columns.mean()), float(rows.mean())


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the intersection over union of the nonzero pixels."""
    return float(((one > 0) & (other > 0)).sum() / max(1, ((one > 0) | (other > 0)).sum()))


@pytest.mark.slow
def test_from_labels_over_added_labels_and_evaluation_to_an_export(user, qtbot, project_folder):
    root, masks = project_folder
    session, training, window = user.session, user.services.training, user.window
    with qtbot.waitSignal(session.current.opened, timeout=15_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 15, timeout=15_000)

    # Label.
    user.open(FIRST)
    user.scribble(masks[FIRST])
    user.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.rows[FIRST].status == "done", timeout=10_000)
    assert session.flush() and overlap(annotation.load_mask(session.project, FIRST), masks[FIRST]) > 0.6

    # Train, with continuous training; the prediction of the open image arrives.
    events = []
    training.reported.connect(events.append)

    def received(kind, **facts) -> bool:
        return any(isinstance(e, kind) and all(getattr(e, k) == v for k, v in facts.items()) for e in events)

    user.open(LATER)
    controls = window.training.controls
    user.show_training()
    keep = window.training.controls.findChild(ContinuousSwitch)
    user.click(keep.check)
    assert keep.check.isChecked()
    user.services.saved_overrides.save("unet", SHORT)
    blank = user.canvas.grab().toImage()
    user.click(controls.button)
    qtbot.waitUntil(lambda: received(Preview, picture=LATER), timeout=90_000)
    run = training.run
    assert FIRST in {item.key for item in run.dataset().items}
    qtbot.waitUntil(lambda: window.overlay.maps is not None and window.overlay.maps.step is not None, timeout=20_000)
    qtbot.waitUntil(lambda: user.services.suggestions.shown != [], timeout=90_000)
    assert user.canvas.grab().toImage() != blank
    qtbot.waitUntil(lambda: received(BestKept, waiting=True), timeout=90_000)

    last = max(event.step for event in events if isinstance(event, Preview) and event.picture == LATER)
    qtbot.waitUntil(lambda: window.overlay.maps is not None and window.overlay.maps.step >= last, timeout=20_000)

    # Accept the suggestion: it becomes the label exactly, and the note records its origin.
    accepted = []
    user.canvas.suggestions.accepted.connect(accepted.extend)
    assert not session.mask.any()
    user.point_at(*middle(masks[LATER]))
    qtbot.waitUntil(lambda: user.canvas.suggestions.current is not None, timeout=20_000)
    user.key(Qt.Key.Key_Space)
    (one,) = accepted
    assert session.flush()
    stored = annotation.load_mask(session.project, LATER)
    assert np.array_equal(stored > 0, session.mask > 0) and set(np.unique(stored)) == {0, one.class_id}
    assert np.count_nonzero(stored) == one.area and overlap(stored, masks[LATER]) > 0.5
    user.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.rows[LATER].status == "done", timeout=10_000)
    assert session.flush()
    note = annotation.load_note(session.project, LATER)
    assert [(one.what, one.model) for one in note.decided] == [("accepted", run.name)]
    (act,) = [act for act in note.history if act.what == "accept proposal"]
    assert act.detail.startswith(f"run {run.name}: scratch, score ")

    # Correct a label of a training image; both labels enter the training, which continues.
    assert WRONG in {item.key for item in run.dataset().of("train")}
    user.open(WRONG)
    assert not session.mask.any()
    user.scribble(masks[WRONG])
    qtbot.waitUntil(lambda: received(LabelsAdded, picture=LATER, how="new"), timeout=60_000)
    qtbot.waitUntil(lambda: received(LabelsAdded, picture=WRONG, how="corrected"), timeout=60_000)
    qtbot.waitUntil(lambda: received(Step, round=1), timeout=60_000)
    with qtbot.waitSignal(training.ended, timeout=120_000) as ended:
        user.click(keep.check)  # end the continuous training
    assert isinstance(ended.args[0], Finished) and ended.args[0].why == "done", ended.args[0]
    joined = json.loads(run.dataset_path.read_text("utf-8"))["joined"]
    assert {entry["item"]["key"] for entry in joined} == {LATER, WRONG}

    # Evaluate: the metrics are those of the validation/test images.
    room, page = user.services.evaluation, window.evaluation.segmentation
    with qtbot.waitSignals([room.evaluated, room.sweep_finished], timeout=60_000):
        user.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    held_out = run.dataset().of(room.split)
    labels = [annotation.load_mask(session.project, item.key) for item in held_out]
    defects = sum(cv2.connectedComponents((label == 1).astype(np.uint8), connectivity=8)[0] - 1 for label in labels)
    found = room.result.figures.get("recall")
    assert room.run.root == run.root and held_out and defects and found.total == defects and found.hits
    assert page.summary.metrics["recall"].number.text() == f"{found.hits:.0f} of {defects}"
    assert page.browser.tabs["missed"].text() == f"Missed defects  {defects - found.hits:.0f}"

    # Another operating point is chosen and used from now on.
    trained = operating_point.settings_of(run)
    expected = 0.62 if trained.thresholds[0] < 0.6 else 0.41
    with qtbot.waitSignal(room.evaluated, timeout=30_000):
        page.points.threshold.setValue(round(100 * expected))
    with qtbot.waitSignal(room.evaluated, timeout=30_000):
        page.points.area.setValue(page.points.area.value() + 2)
    area = room.point.min_area
    assert area[0] > trained.min_area[0] and room.point.thresholds == (expected,)
    user.click(page.points.store)
    assert operating_point.read(run).chosen_on == (room.split,) and "set in the evaluation" in page.points.in_use.text()
    user.key(Qt.Key.Key_Escape)
    assert not window.center.in_evaluation

    # The export contains it and gives the results of the run.
    ended = []
    user.services.export_job.finished.connect(ended.append)
    user.services.export_job.failed.connect(ended.append)
    user.click(controls.export)
    user.click(user.dialog(Question).buttons["export"])  # no good image was held out
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
    assert (user.inputs.clicks, user.inputs.keys) == (7, 5)
