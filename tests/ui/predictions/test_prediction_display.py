"""Predictions in the window: display modes, thresholds, earlier training steps, continuous training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, write_onnx
from workbench.core.project.storage import write_json
from workbench.core.runs.events import BestKept, Finished, LabelsAdded, Preview, Started, Step, encode
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor
from workbench.ui.canvas.layers.canvas_layers import MODES
from workbench.ui.training.train_controls import ContinuousSwitch

SHIFT = Qt.KeyboardModifier.ShiftModifier
STEP_30 = "After step 30: the model still marks almost everything"
CLASSES = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "pit", "#00ff00"))


@pytest.fixture
def run(driver) -> Run:
    """A finished run with a real network of two classes and four previews of the current image."""
    run = create_run(driver.session.project, request("unet", minutes=0.1, device="cpu"))
    dataset = run.dataset()
    dataset.classes = driver.session.project.classes[:2]  # also one that is painted nowhere
    write_json(run.dataset_path, dataset.model_dump(mode="json"))
    write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(classes=CLASSES), run.best / "model.json")
    events = [Started(model="unet", device="cpu")]
    for step in (10, 20, 30, 40):
        names = {kind: f"previews/p.{step}.{kind}.png" for kind in ("mask", "scores")}
        write_png(run.root / names["mask"], np.full((80, 96), step // 20, np.uint8))
        planes = np.concatenate([np.full((80, 96), level, np.uint8) for level in (step, 2 * step)])
        write_png(run.root / names["scores"], planes)
        events.append(Preview(step=step, picture=driver.session.key, **names, thresholds=[0.5, 0.6], min_area=[0, 0]))
    (run.previews / "p.20.mask.png").unlink()  # as if later previews had replaced it
    run.events_path.write_text("\n".join(map(encode, [*events, Finished()])) + "\n")
    return run


@pytest.fixture
def shown(driver, run, qtbot):
    """The run is shown and its model has predicted the current image."""
    training, run_list, overlay = driver.services.training, driver.services.run_list, driver.window.overlay
    with qtbot.waitSignal(training.ended):  # the image is predicted again then
        training.follow(run)
    assert training.run.name == run.name
    qtbot.waitUntil(lambda: overlay.maps is not None and bool(overlay.steps) and not run_list.refreshing)
    return driver


def mask_of(driver) -> np.ndarray:
    return driver.canvas.scene.predictions.pyramid.mask


def test_thresholds_change_display_only(shown, run, qtbot):
    display, image = shown.window.layers.display, shown.session.image
    own = (run.best / "model.json").read_bytes()
    before = mask_of(shown).copy()
    assert (
        display.threshold.isVisibleTo(display) and display.class_choice.count() == 3 and not display.value.isEnabled()
    )

    def expected(*thresholds: float) -> np.ndarray:
        settings = replace(gray_settings(classes=CLASSES), thresholds=thresholds)
        return Predictor(settings, Predictor.open(run.best).engine).predict(image).mask

    display.class_choice.setCurrentIndex(1)
    display.threshold.setValue(7)
    qtbot.waitUntil(lambda: np.array_equal(mask_of(shown), expected(0.07, 0.6)), timeout=5000)
    assert shown.window.header.prediction.text() == "Prediction (thresholds changed)"
    display.class_choice.setCurrentIndex(0)
    display.threshold.setValue(3)
    qtbot.waitUntil(lambda: np.array_equal(mask_of(shown), expected(0.03, 0.03)), timeout=5000)
    assert not np.array_equal(mask_of(shown), before) and display.value.text() == "3%"
    QTest.mouseClick(display.value, Qt.MouseButton.LeftButton)
    assert np.array_equal(mask_of(shown), before) and not shown.window.overlay.own_thresholds
    assert "defect" in shown.window.header.prediction.text()
    assert (run.best / "model.json").read_bytes() == own


def test_earlier_steps_are_shown(shown, qtbot):
    display, overlay, window = shown.window.layers.display, shown.window.overlay, shown.window
    now = mask_of(shown).copy()
    assert (
        overlay.steps == [10, 30, 40]
        and display.step.isVisibleTo(display)
        and display.step_name.text() == "Latest step"
    )
    display.step.setValue(1)
    qtbot.waitUntil(lambda: (mask_of(shown) == 1).all(), timeout=5000)
    assert display.step_name.text() == "Step 30" and window.header.prediction.text() == STEP_30
    shown.key(Qt.Key.Key_Comma)
    qtbot.waitUntil(lambda: (mask_of(shown) == 0).all() and overlay.step == 10, timeout=5000)
    assert overlay.maps.planes.shape == (2, 80, 96) and (overlay.maps.planes[1] == 20).all()
    display.threshold.setValue(4)  # all classes, also at an earlier step
    qtbot.waitUntil(lambda: (mask_of(shown) == 2).all(), timeout=5000)
    overlay.reset_thresholds()
    for _ in range(3):
        shown.key(Qt.Key.Key_Period)
    qtbot.waitUntil(lambda: overlay.step is None and np.array_equal(mask_of(shown), now), timeout=5000)
    assert display.step.value() == 3
    shown.open("lot1/new.png")
    assert overlay.steps == [] and not display.step.isVisibleTo(display)


def test_display_modes_differ_and_have_own_opacity(shown, qtbot):
    display, layers, canvas = shown.window.layers.display, shown.window.layers, shown.canvas
    grabs = []
    for mode in ("outline", "filled", "heat", "uncertainty"):
        assert canvas.scene.prediction_style.mode == mode and MODES[display.modes.currentIndex()] == mode
        assert shown.window.table[f"display_{mode}"].isChecked()
        grabs.append(canvas.grab().toImage())
        layers.predictions.slider.setValue(35)
        shown.key(Qt.Key.Key_C, SHIFT)
        qtbot.wait(20)
    assert canvas.scene.prediction_style.mode == "outline" and layers.predictions.slider.value() == 35
    assert all(a != b for i, a in enumerate(grabs) for b in grabs[:i])


def test_continuous_training_shows_added_labels(driver, qtbot):
    training, kept, window = driver.services.training, driver.services.continuous_training, driver.window
    sent = []

    class Thread:
        live = True

        def send_command(self, command: str, picture: str | None = None) -> None:
            sent.append(command)

        watch = report_labels = stop = lambda self, *_: None

    driver.key(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | SHIFT)
    line = window.training.controls.findChild(ContinuousSwitch)
    assert kept.on and line.check.isChecked()
    training._thread = Thread()
    for event in (Started(model="unet", device="cpu"), Step(step=1, loss=1.0, rate=0.1, progress=1.0)):
        training.receive(event)
    assert sent == ["keep_open"]
    training.receive(BestKept(step=1, round=0, waiting=True))
    qtbot.waitUntil(lambda: "Waiting for new labels" in window.training.controls.left.full_text, timeout=2000)
    training.receive(LabelsAdded(step=1, picture="a.png", how="new"))
    assert line.status.text() == "1 label added"
    window.training.heading.setChecked(True)
    qtbot.waitUntil(
        lambda: line.status.isVisible() and line.check.width() >= line.check.sizeHint().width(), timeout=5000
    )
    assert line.status.width() >= line.status.sizeHint().width()
    training.receive(BestKept(step=1, round=1))
    training.receive(Step(step=2, loss=1.0, rate=0.1, progress=1.0, round=1))
    window.training.refresh()
    assert "Training continues" in window.training.controls.left.full_text
    driver.key(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | SHIFT)
    assert sent[-1] == "let_end" and not kept.on and not line.check.isChecked()
    training._thread = None
