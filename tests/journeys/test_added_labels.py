"""Labels added during a training, with the real window and training program."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.project import Project
from workbench.core.runs.events import BestKept, Finished, LabelsAdded, Preview, Step
from workbench.inference.io.image_io import write_png
from workbench.ui.training.train_controls import ContinuousSwitch


@pytest.fixture
def root(tmp_path):
    """Project of twelve labeled images and one unlabeled."""
    root = tmp_path / "产线 [2]"
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 12)
        write_png(project.image_path("lot9/x900.png"), np.full((80, 96), 150, np.uint8))
        annotation.save_note(project, "lot9/x900.png", Note())
    return root


def stroke(user, x: float, y: float) -> None:
    for event in (QTest.mousePress, QTest.mouseRelease):
        event(user.canvas, Qt.MouseButton.LeftButton, pos=user.at(x, y))


@pytest.mark.slow
def test_labels_made_during_a_training_enter_it(user, qtbot, root):
    session, training, window = user.session, user.services.training, user.window
    with qtbot.waitSignal(session.current.opened, timeout=15_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 13, timeout=15_000)
    events = []
    training.reported.connect(events.append)

    def received(kind, **facts) -> bool:
        return any(isinstance(e, kind) and all(getattr(e, k) == v for k, v in facts.items()) for e in events)

    # Two epochs in continuous training; the open image is predicted long before the end.
    user.show_training()
    line = window.training.controls.findChild(ContinuousSwitch)
    QTest.mouseClick(line.check, Qt.MouseButton.LeftButton)
    assert line.check.isChecked()
    training.start("unet", epochs=2, device="cpu", widths=[4, 8], patch=32, batch=4)
    qtbot.waitUntil(lambda: received(Preview, picture=session.key), timeout=60_000)
    # Before it, the instant overlay is shown.
    qtbot.waitUntil(lambda: "After step" in window.header.prediction.text(), timeout=10_000)
    assert window.overlay.maps.adjustable
    following = session.keys[session.keys.index(session.key) + 1]
    qtbot.waitUntil(lambda: received(BestKept, waiting=True), timeout=60_000)
    qtbot.waitUntil(lambda: received(Preview, picture=following), timeout=30_000)  # predicted ahead
    assert training.running and window.training.can_export() and window.training.controls.export.isEnabled()

    # A label is corrected and a new image is labeled: both enter the training, which continues.
    dataset = training.run.dataset()
    corrected = dataset.of("train")[0].key
    user.open(corrected)
    user.canvas.set_diameter(9)
    stroke(user, 8, 8)
    user.open("lot9/x900.png")
    stroke(user, 50, 40)
    user.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: received(LabelsAdded, picture=corrected, how="corrected"), timeout=30_000)
    qtbot.waitUntil(lambda: received(LabelsAdded, picture="lot9/x900.png", how="new"), timeout=30_000)
    qtbot.waitUntil(lambda: received(Step, round=1), timeout=30_000)
    assert line.status.text() == "2 labels added"
    qtbot.waitUntil(
        lambda: events[-1].kind == "kept" and events[-1].waiting or received(BestKept, round=1, waiting=True),
        timeout=60_000,
    )
    user.open(corrected)
    qtbot.waitUntil(lambda: len(window.overlay.steps) >= 1, timeout=30_000)

    # Without continuous training it ends; its training images are recorded.
    with qtbot.waitSignal(training.ended, timeout=60_000) as ended:
        QTest.mouseClick(line.check, Qt.MouseButton.LeftButton)
    assert isinstance(ended.args[0], Finished) and ended.args[0].why == "done"
    after = training.run.dataset()
    assert after.items == dataset.items and {entry.item.key for entry in after.joined} == {corrected, "lot9/x900.png"}
    assert [item.key for item in after.of("val")] == [item.key for item in dataset.of("val")]
    # The model predicts the open image, and earlier training steps can be shown.
    qtbot.waitUntil(lambda: window.overlay.maps is not None and window.overlay.maps.step is None, timeout=20_000)
    first = window.overlay.steps[0]
    window.layers.display.step.setValue(0)
    qtbot.waitUntil(lambda: window.overlay.maps.step == first, timeout=10_000)
