"""Training panel and prediction overlay driven by events of a run, without the training program."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.session.stored_result import store_result, stored_result
from tests.ui.training.run_events import METRICS, STARTED, live, steps, without_trainer
from workbench.core.messages import Message
from workbench.core.runs.events import Evaluated, Failed, Finished, Preview, Progress, Started, Trouble, encode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Prediction
from workbench.inference.regions import Region
from workbench.ui.text import formatting
from workbench.ui.training.train_controls import TrainControls


def test_earlier_run_is_shown_with_curves_and_result(opened, old_run, qtbot):
    panel = opened.window.training
    panel.reset()
    with qtbot.waitSignal(opened.services.training.ended, timeout=10_000):
        pass
    assert panel.run.name == old_run.name and panel.runs.currentData() == old_run.name
    series = opened.services.run_monitor.series
    assert series.steps.count == 40 and series.best == (4, 0.81)
    qtbot.waitUntil(panel.curves.isVisible, timeout=2000)
    qtbot.waitUntil(lambda: panel.curves.plots["loss"].drawn("loss") == 40, timeout=2000)
    assert "11 of 12" in panel.view.result.full_text and "0.3 false alarms" in panel.view.result.full_text
    assert "Finished after 1 min 5 s." in panel.view.status.full_text
    assert not opened.window.messages.texts
    assert not panel.controls.export.isEnabled()  # the run has no model


def test_name_of_the_shown_run_is_whole_with_large_texts(opened, old_run, qtbot):
    runs = opened.window.training.runs
    opened.style.set_text_size(150)
    try:
        runs.show_default()
        qtbot.waitUntil(lambda: runs.count() > 0)
        name = runs.fontMetrics().horizontalAdvance(formatting.run_name(old_run))
        assert runs.minimumWidth() >= name + 32
    finally:
        opened.style.set_text_size(100)


def test_running_training_shows_status_text(opened, qtbot):
    training, panel = opened.services.training, opened.window.training
    live(opened)
    training.state_changed.emit()
    controls = panel.controls
    assert controls.button.text() == "Stop and keep best model" and controls.button.objectName() == ""  # no alarm color
    assert not any(widget.isVisible() for widget in (controls.minutes, controls.unet, controls.settings))
    training.reported.emit(STARTED)
    qtbot.waitUntil(lambda: "3 training images, 1 validation image." in panel.view.status.full_text, timeout=2000)
    for event in steps(30, data_wait=0.62):
        training.reported.emit(event)
    qtbot.waitUntil(lambda: "62%" in panel.view.status.full_text, timeout=2000)
    assert "GPU:0 (Card), fp16" in panel.view.status.full_text
    legend = panel.view.legend.items
    assert legend["images_per_second"].text(1) == "120" and legend["data_wait"].text(1) == "62%"
    training.reported.emit(Evaluated(step=30, time=3, metrics=METRICS, score=0.81, best=True))
    assert "11 of 12" in panel.view.result.full_text
    assert panel.view.sparkline.isVisible() and not panel.body.isVisible()
    qtbot.waitUntil(lambda: "0.81" in panel.view.sparkline.toolTip(), timeout=2000)
    sentence = panel.view.sentence
    assert sentence.isVisible() and sentence.full_text and panel.view.status.full_text.startswith(sentence.full_text)
    training.reported.emit(Trouble(what=Message("training.diverged", n=7), done=Message("training.rolled_back", n=3)))
    assert any("diverged" in text for text in opened.window.messages.texts)
    without_trainer(opened)
    training.ended.emit(Finished(why="stopped", time=3))
    assert "Stopped. The best" in panel.view.status.full_text and not opened.window.messages.texts
    assert sentence.full_text
    training.state_changed.emit()
    assert (
        panel.controls.button.text() == "Train"
        and controls.minutes.isVisible()
        and not panel.view.sparkline.isVisible()
    )


def test_system_stats_use_time_axis_of_run(opened, qtbot):
    training, panel = opened.services.training, opened.window.training
    gpu = GpuSample(0, "Card", 88.0, 6 << 30, 16 << 30, 60.0, 120.0, 1500.0)
    sample = SystemSample(time=time.time(), cpu=33.0, ram_used=4 << 30, ram_total=8 << 30, gpus=(gpu,))
    opened.services.telemetry.sampled.emit(sample)
    live(opened)
    training.reported.emit(STARTED)
    training.reported.emit(steps(30)[29])
    for _ in range(3):
        opened.services.telemetry.sampled.emit(sample)
    machine, legend = opened.services.run_monitor.series.machine, panel.view.legend.items
    mine = machine["load 0"] == 88.0  # besides samples of this computer
    assert mine.sum() == 3 and set(machine["used 0"][mine]) == {6.0} and set(machine["cpu"][mine]) == {33.0}
    assert all(2.8 <= t <= 4 for t in machine.times)
    assert not legend["gpu_load"].isDisabled()
    panel.heading.setChecked(True)  # curves are created when they are shown
    qtbot.waitUntil(lambda: {"gpu_load", "gpu_memory", "cpu"} <= set(panel.curves.plots), timeout=3000)
    without_trainer(opened)


def test_missing_data_is_disabled_with_reason(opened, qtbot):
    opened.services.telemetry.stop()  # no samples of this computer
    training, panel = opened.services.training, opened.window.training
    live(opened)
    without = SystemSample(
        time=time.time(), cpu=33.0, ram_used=4 << 30, ram_total=8 << 30, reason=Message("device.no_driver")
    )
    reason = Message("precision.cpu")
    training.reported.emit(Started(model="resnet", device="cpu", precision_reason=reason, pictures={"val": 2}))
    training.reported.emit(steps(3)[2])
    for _ in range(2):
        opened.services.telemetry.sampled.emit(without)
    panel.view.refresh()
    legend = panel.view.legend.items
    assert legend["loss_scale"].isDisabled() and reason in legend["loss_scale"].toolTip(0)
    assert legend["gpu_load"].isDisabled() and legend["gpu_load"].toolTip(0) == "No NVIDIA driver is installed"
    panel.heading.setChecked(True)  # curves are created when they are shown
    qtbot.waitUntil(lambda: {"cpu", "ram"} <= set(panel.curves.plots), timeout=3000)
    assert "gpu_load" not in panel.curves.plots
    assert legend["score"].text(0) == "F1, mean of verdicts" and legend["cpu"].text(1) == "33%"
    without_trainer(opened)


def test_failed_run_shows_advice(opened, qtbot):
    training, panel = opened.services.training, opened.window.training
    training.preparing = True
    training.state_changed.emit()
    training.preparing = False
    training.not_started.emit(Failed(why="raw", problem="PaddleMissing", fields={"command": "pip install x"}))
    assert any(
        "PaddlePaddle is not installed" in text and "pip install x" in text for text in opened.window.messages.texts
    )
    training.not_started.emit(Failed(why="raw", problem="NoSuchProblem", fields={}, log="/a/log"))
    assert panel.view.status.full_text == "raw"


def test_missing_labels_are_a_hint_and_no_fault(opened):
    """Hints disappear by themselves; messages of faults stay until they are closed."""
    messages, training, panel = [], opened.services.training, opened.window.training
    panel.view.messaged.connect(lambda *message: messages.append(message))
    for problem in ("TooFewLabels", "NoSpace", "NoLabels"):
        training.preparing = True
        training.state_changed.emit()
        training.preparing = False
        training.not_started.emit(Failed(why="raw", problem=problem, fields={"found": 1}))
    assert [shown for shown, *_ in messages] == ["info", "problem", "info"]


def test_shortcut_of_training_predictions_and_export(driver, monkeypatch, tmp_path):
    # Ctrl+T starts and stops.
    training = driver.services.training
    calls = []
    monkeypatch.setattr(training, "start", lambda model, **how: calls.append((model, how)))
    monkeypatch.setattr(training, "stop", lambda: calls.append("stop"))
    driver.window.training.controls.set_values("resnet", 7.5, "cpu")
    driver.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert calls == [("resnet", {"minutes": 7.5, "device": "cpu"})]
    live(driver)
    training.state_changed.emit()
    QTest.mouseClick(driver.window.training.controls.button, Qt.MouseButton.LeftButton)
    assert calls[-1] == "stop"
    without_trainer(driver)
    # Predictions are shown for the current image only.
    session, canvas, predictions = driver.session, driver.canvas, driver.services.predictions
    mask = np.zeros((80, 96), np.uint8)
    mask[5:9, 5:9] = 2
    region = Region(2, "pit", 5, 5, 4, 4, 16, None, (6.5, 6.5), 0.9, 0.99)
    predictions.predicted.emit(session.key, Prediction(mask, mask, [region], None, None, 3.0))
    assert canvas.scene.predictions is not None and driver.window.header.prediction.text() == "Prediction: 1 defect"
    predictions.predicted.emit("another.png", Prediction(mask, mask, [], None, None, 3.0))
    assert driver.window.header.prediction.text() == "Prediction: 1 defect"
    predictions.predicted.emit(session.key, Prediction(None, None, [], "NG", {"NG": 0.97, "OK": 0.03}, 3.0))
    assert (
        canvas.scene.predictions is None
        and driver.window.header.prediction.text() == f"Prediction: NG ({formatting.percent(0.97)})"
    )
    predictions.predicted.emit(session.key, Prediction(mask[:9, :9].copy(), mask, [], None, None, 3.0))
    assert canvas.scene.predictions is None  # of another size: the image was replaced
    # The export shows progress and result.
    exporter, window = driver.services.export_job, driver.window
    exporter._task = object()
    exporter.state_changed.emit()
    assert window.training.controls.export.text() == "Cancel export"
    assert window.training.controls.left.full_text == "Starting…" and window.training.controls.bar.isVisible()
    exporter.progressed.emit(Progress(what=Message("progress.evaluating"), done=3, total=4))
    assert window.training.controls.bar.value() == 750 and window.training.controls.bar.isVisible()
    exporter._task = None
    exporter.finished.emit({"path": str(tmp_path), "formats": ["onnx"], "parity": {"onnx": {"mask_agreement": 1.0}}})
    exporter.state_changed.emit()
    text = window.messages.texts[-1]
    assert str(tmp_path) in text and "exactly" in text and not window.training.controls.bar.isVisible()
    exporter.finished.emit({"path": str(tmp_path), "parity": {"onnx": {"mask_agreement": 0.99991}}})
    assert "99.991%" in window.messages.texts[-1]
    exporter.cancelled.emit()
    assert "canceled" in window.messages.texts[-1]


def test_preview_of_current_image_is_shown(driver, old_run, qtbot):
    training, canvas = driver.services.training, driver.canvas
    live(driver)
    key = driver.session.key
    training.previews.open(old_run)
    mask = np.zeros((80, 96), np.uint8)
    mask[10:30, 20:50] = 1
    write_png(old_run.previews / "p.png", mask)
    event = Preview(step=12, picture=key, mask="previews/p.png")
    training.previews.add(event)
    qtbot.waitUntil(lambda: canvas.scene.predictions is not None, timeout=5000)
    assert np.array_equal(canvas.scene.predictions.pyramid.mask, mask)
    assert driver.window.header.prediction.text() == "After step 12: the model still marks far too much"
    driver.open("lot1/new.png")
    assert canvas.scene.predictions is None and driver.window.header.prediction.text() == ""
    without_trainer(driver)


@pytest.fixture
def controls(qtbot, application):
    """Controls of their own, whose guard lasts however slow the machine is. `clicked` lists the signals."""
    controls = TrainControls(application.style)
    qtbot.addWidget(controls)
    qtbot.addWidget(controls.line)
    controls.guard.timer.setInterval(1_000_000)
    controls.clicked = []
    controls.train_clicked.connect(lambda: controls.clicked.append("train"))
    controls.export_clicked.connect(lambda: controls.clicked.append("export"))
    controls.show_export(True, False, "UNet 17:03")
    controls.show_state("running", "")
    controls.line.show()
    return controls


def test_click_on_stop_does_not_hit_the_button_that_takes_its_place(controls):
    controls.show_state("idle", "")
    for button in (controls.button, controls.export):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert controls.clicked == []
    controls.guard.timer.stop()
    QTest.mouseClick(controls.export, Qt.MouseButton.LeftButton)
    assert controls.clicked == ["export"]


def test_click_on_cancel_export_does_not_start_another(controls):
    controls.show_export(True, True, "UNet 17:03")
    QTest.mousePress(controls.export, Qt.MouseButton.LeftButton)
    controls.show_export(True, False, "UNet 17:03")
    QTest.mouseRelease(controls.export, Qt.MouseButton.LeftButton)
    assert controls.clicked == [] and not controls.export.isDown()
    controls.export.click()  # as keys do
    assert controls.clicked == ["export"]


def test_start_that_is_refused_leaves_the_status_of_the_shown_run(opened, old_run, qtbot):
    training, panel = opened.services.training, opened.window.training
    panel.reset()
    with qtbot.waitSignal(training.ended, timeout=10_000):
        pass
    before = panel.view.status.full_text
    training.not_started.emit(Failed(why="raw", problem="PaddleMissing", fields={"command": "pip install x"}))
    assert before and panel.view.status.full_text == before
    assert any("PaddlePaddle is not installed" in text for text in opened.window.messages.texts)


def test_run_that_was_stopped_early_does_not_replace_the_best_one(opened, old_run, qtbot):
    """Predictions, export and the next step use the best run; a message states it. The user can choose the other."""
    training, panel, runs = opened.services.training, opened.window.training, opened.services.run_list
    stopped = create_run(opened.services.session.project, request("unet", minutes=10, device="cpu"))
    ending = Finished(time=3, why="stopped")
    stopped.events_path.write_text("\n".join(map(encode, [STARTED, *steps(5), ending])) + "\n", "utf-8")
    for run in (old_run, stopped):
        run.best.mkdir()
        for name in ("model.json", "network.onnx"):
            (run.best / name).write_text("{}")
    live(opened)
    training.run = stopped
    training.state_changed.emit()
    training._thread = None
    with qtbot.waitSignal(runs.listed, timeout=10_000):
        training._end(ending)
    assert opened.window.overlay.run.name == runs.in_use.name == old_run.name
    assert any("stopped early" in text for text in opened.window.messages.texts)
    panel.runs.activated.emit(panel.runs.findData(stopped.name))
    assert opened.window.overlay.run.name == runs.in_use.name == old_run.name  # only its curves are shown
    runs.choose(stopped)
    assert opened.window.overlay.run.name == runs.in_use.name == stopped.name


def test_finished_run_states_the_range_on_other_parts(opened, old_run, qtbot):
    panel, shown = opened.window.training, {**METRICS, "dice": 0.94, "pictures": 120}
    store_result(old_run, metrics=shown, **stored_result())
    panel.reset()
    with qtbot.waitSignal(opened.services.training.ended, timeout=10_000):
        pass
    result = panel.view.result
    assert re.fullmatch(
        r"Dice, any defect 0\.94 on 120 validation images; expect 0\.8\d to 0\.9\d on other parts", result.full_text
    )
    tip = result.toolTip()
    assert "11 of 12" in tip and "on 40 parts that are not in the training images" in tip and "worst “darker”" in tip
    runs = panel.runs
    qtbot.waitUntil(lambda: "Expect Dice" in runs.itemData(0, Qt.ItemDataRole.ToolTipRole), timeout=5000)
