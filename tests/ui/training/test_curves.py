"""Curves of a run in the window: choice, zoom, values under the pointer, export, comparison of runs."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import time

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QSettings, Qt
from PySide6.QtGui import QFontMetrics, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.training.run_events import METRICS, STARTED, live, steps, without_trainer
from workbench.core.messages import Message
from workbench.core.runs.events import Evaluated, Finished, Progress, Started, Step, encode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, encode_sample
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.run_history import machine_path
from workbench.core.runs.run_series import MOST
from workbench.core.runs.training_settings import request
from workbench.ui.training.curve_legend import PLOTS
from workbench.ui.training.curves import MIN_HEIGHT, CurvePlot, ValueAxis, columns_for

GPUS = tuple(GpuSample(i, "GPU", 40.0 + i, 6 << 30, 16 << 30, 60.0, 120.0, 1500.0) for i in range(2))


@pytest.fixture(autouse=True)
def default_plots():
    """Remove the stored choice of plots."""
    QSettings().remove("training/plots")
    yield
    QSettings().remove("training/plots")


@pytest.fixture
def shown(opened, old_run, qtbot):
    """The panel with an earlier run that used two GPUs."""
    lines = [encode_sample(t / 2, SystemSample(0, 50.0, 4 << 30, 8 << 30, gpus=GPUS)) for t in range(10)]
    machine_path(old_run).write_text("\n".join(lines))
    opened.window.training.reset()
    with qtbot.waitSignal(opened.services.training.ended, timeout=10_000):
        pass
    panel = opened.window.training
    qtbot.waitUntil(lambda: panel.curves.isVisible() and len(panel.curves.plots) == 6, timeout=5000)
    qtbot.waitUntil(lambda: panel.curves.plots["loss"].drawn("loss") == 40, timeout=5000)
    return panel


def make_other_run(project, *, score: float, **settings) -> Run:
    run = create_run(project, request("unet", minutes=0.2, device="cpu", **settings))
    best = Evaluated(step=19, time=2, metrics={**METRICS, "dice": score}, score=score, best=True)
    events = [STARTED, *steps(20), best, Finished(time=9)]
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")
    return run


def wheel(plot, at: QPoint, turns: int) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(plot.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot.viewport(), event)


def center(plot) -> QPoint:
    return QPoint(plot.width() // 2, plot.height() // 2)


def test_the_gpu_that_trains_is_drawn_in_the_color_of_the_legend(opened, old_run, qtbot):
    """Also if it is not the first one of the computer, whose curve is not shown then."""
    events = old_run.events_path.read_text("utf-8").splitlines()
    gpus = (GPUS[0], dataclasses.replace(GPUS[1], name="RTX 4090", uuid="GPU-bb"))
    events[0] = encode(dataclasses.replace(STARTED, device="gpu:1", gpu="GPU-bb"))
    old_run.events_path.write_text("\n".join(events) + "\n", "utf-8")
    lines = [encode_sample(t / 2, SystemSample(0, 50.0, 4 << 30, 8 << 30, gpus=gpus)) for t in range(10)]
    machine_path(old_run).write_text("\n".join(lines))
    panel = opened.window.training
    panel.reset()
    with qtbot.waitSignal(opened.services.training.ended, timeout=10_000):
        pass
    qtbot.waitUntil(lambda: "gpu_load" in panel.curves.plots, timeout=5000)
    qtbot.waitUntil(lambda: "load 1" in panel.curves.plots["gpu_load"].lines, timeout=5000)
    pen = panel.curves.plots["gpu_load"].lines["load 1"].opts["pen"]
    assert set(panel.curves.plots["gpu_load"].lines) == {"load 1"} and pen.style() == Qt.PenStyle.SolidLine
    assert pen.color() == opened.window.theme_manager.theme.color("curve_2")
    entry = panel.view.legend.items["gpu_load"]
    assert entry.toolTip(0) == "GPU 1: RTX 4090" and entry.text(1) == "41%"


def test_values_of_the_legend_are_whole_with_large_texts(shown, opened, qtbot):
    legend = shown.view.legend
    opened.style.set_text_size(150)
    try:
        opened.window.grab()  # lays the legend out
        view, item = legend.view, legend.items["rate"]
        item.setText(1, "0.0024")
        index = view.indexFromItem(item, 1)
        text = view.fontMetrics().boundingRect(item.text(1)).size()
        assert view.visualRect(index).width() >= text.width() + 8 and view.visualRect(index).height() >= text.height()
    finally:
        opened.style.set_text_size(100)


def test_legend_chooses_plots_and_choice_is_stored(shown, opened, qtbot):
    legend, curves = shown.view.legend, shown.curves
    first = {"loss", "score", "gpu_load", "gpu_memory", "cpu", "ram"}
    qtbot.waitUntil(lambda: set(curves.plots) == first, timeout=3000)
    item = legend.items["rate"]
    position = legend.view.visualItemRect(item).center()
    QTest.mouseClick(legend.view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert "rate" in curves.plots and list(curves.plots)[:3] == ["loss", "score", "rate"]
    legend.view.setCurrentItem(legend.items["gpu_load"])
    QTest.keyClick(legend.view, Qt.Key.Key_Space)
    assert "gpu_load" not in curves.plots
    again = type(legend)(opened.style)
    assert "rate" in again.shown and "gpu_load" not in again.shown
    for name in list(curves.plots):
        legend.items[name].setCheckState(0, Qt.CheckState.Unchecked)
    assert not curves.plots


def test_wheel_zooms_all_plots_and_double_click_shows_all(shown, opened):
    curves, whole = shown.curves, shown.curves.span
    loss, cpu = curves.plots["loss"], curves.plots["cpu"]
    position = center(loss)
    at = loss.time_at(QPointF(position))
    wheel(loss, position, 2)
    first, last = curves.span
    assert 0.3 < (last - first) / (whole[1] - whole[0]) < 0.8
    assert loss.time_at(QPointF(position)) == pytest.approx(at, abs=0.3)
    assert cpu.item.viewRange()[0] == pytest.approx([first, last]) and shown.view.legend.fit.isEnabled()
    QTest.mousePress(loss.viewport(), Qt.MouseButton.LeftButton, pos=position)
    QTest.mouseMove(loss.viewport(), position + QPoint(20, 0))
    QTest.mouseRelease(loss.viewport(), Qt.MouseButton.LeftButton, pos=position + QPoint(20, 0))
    assert curves.span[0] < first and curves.span[1] - curves.span[0] == pytest.approx(last - first)
    wheel(loss, position, 100)
    assert curves.span[1] - curves.span[0] == pytest.approx(2.0)  # the shortest span
    QTest.mouseDClick(loss.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert curves.span == whole and not shown.view.legend.fit.isEnabled()
    curves.zoom((3, 5))
    opened.window.table["whole_run"].trigger()
    assert curves.span == whole


def test_pointer_shows_values_of_all_curves_at_one_time(shown, opened):
    curves, legend = shown.curves, shown.view.legend
    plot = curves.plots["cpu"]
    QTest.mouseMove(plot.viewport(), center(plot))
    at = plot.time_at(QPointF(center(plot)))
    lines = {id: other._cursor for id, other in curves.plots.items()}
    assert all(line.isVisible() and line.value() == pytest.approx(at) for line in lines.values())
    loss = opened.services.run_monitor.series.steps["loss"]
    newest = min(40, math.floor(at * 10) + 1)
    smoothed = loss[max(0, newest - 5) : newest].mean()
    assert legend.moment.text() == f"At 0:{int(at):02d}"
    assert float(legend.items["loss"].text(1)) == pytest.approx(smoothed, abs=0.006)
    assert legend.items["gpu_load"].text(1) == "40 · 41%" and legend.items["gpu_memory"].text(1) == "6.0 · 6.0 GB"
    plot.hovered.emit(None)
    assert not any(line.isVisible() for line in lines.values()) and legend.moment.text() == "Final values"


def test_curves_are_saved_as_image_and_table(shown, opened, old_run, tmp_path, qtbot):
    files, folder = shown.view.files, tmp_path / "保存 [1]"
    folder.mkdir()
    with qtbot.waitSignal(files.saved, timeout=5000):
        files.write_image(folder / "a.png")
    image = QImage(str(folder / "a.png"))
    positions = [(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)]
    assert (
        image.width() == 2 * shown.view.width() and len({image.pixel(*position) for position in positions}) > 50
    )  # not blank
    with qtbot.waitSignal(files.saved, timeout=5000):
        files.write_table(folder / "a.csv")
    rows = list(csv.DictReader(io.StringIO((folder / "a.csv").read_text("utf-8-sig"))))
    losses = [float(row["loss"]) for row in rows if row["loss"]]
    assert losses == pytest.approx([event.loss for event in steps(40)], rel=1e-6)
    assert {row["run"] for row in rows} == {old_run.name} and sum(row["load 1"] == "41" for row in rows) == 10
    assert "saved in" in opened.window.messages.texts[-1]
    with qtbot.waitSignal(files.failed, timeout=5000):
        files.write_table(folder / "a.png" / "b.csv")  # a file is no folder
    assert "a.png" in opened.window.messages.texts[-1]


def test_runs_are_compared(shown, opened, old_run, qtbot):
    run_list, project = opened.services.run_list, opened.services.session.project
    other = make_other_run(project, score=0.9, patch=64)
    run_list.refresh()
    qtbot.waitUntil(lambda: len(run_list.lines) == 2, timeout=5000)
    assert [line.score for line in run_list.lines] == [0.9, 0.81] and "0.81" in shown.runs.currentText()
    opened.window.table["compare_runs"].trigger()
    assert shown.header.compare_menu.isVisible() and shown.header.compare_menu.view.count() == 1
    item = shown.header.compare_menu.view.item(0)
    assert "0.90" in item.text()
    with qtbot.waitSignal(run_list.compared_changed, timeout=5000):
        item.setCheckState(Qt.CheckState.Checked)
    shown.header.compare_menu.hide()
    line = shown.view.compared.lines[0]
    assert line.full_text == "Different settings: Minutes 0.1 ↔ 0.2, Patch size 96 ↔ 64."
    curves = shown.curves
    qtbot.waitUntil(lambda: curves.plots["loss"].drawn("other 0") == 20, timeout=3000)
    qtbot.waitUntil(lambda: curves.plots["score"].drawn("other 0") == 1, timeout=3000)
    assert curves.plots["cpu"].drawn("other 0") == 0
    run_list.compare([])
    qtbot.waitUntil(lambda: curves.plots["loss"].drawn("other 0") == 0, timeout=3000)
    assert shown.view.compared.isHidden() and other.name in [line.run.name for line in run_list.lines]


def test_metrics_on_other_validation_images_are_not_compared(shown, opened, qtbot):
    run_list, project = opened.services.run_list, opened.services.session.project
    other = make_other_run(project, score=0.9)
    dataset = other.dataset()
    for item in dataset.items:
        item.split = "val" if item.split == "train" else "train"
    other.dataset_path.write_text(dataset.model_dump_json(), "utf-8")
    run_list.refresh()
    qtbot.waitUntil(lambda: len(run_list.lines) == 2, timeout=5000)
    shown.header.compare()
    assert (
        "0.90" not in shown.header.compare_menu.view.item(0).text()
        and "different validation images" in shown.header.compare_menu.view.item(0).text()
    )
    shown.header.compare_menu.hide()
    with qtbot.waitSignal(run_list.compared_changed, timeout=5000):
        run_list.compare([other])
    assert "metrics are not compared" in shown.view.compared.lines[0].full_text
    qtbot.waitUntil(lambda: shown.curves.plots["loss"].drawn("other 0") == 20, timeout=3000)
    shown.curves.redraw()
    assert shown.curves.plots["score"].drawn("other 0") == 0 and shown.curves.plots["score"].drawn("dice") == 2


def test_long_run_is_drawn_with_few_points(opened, qtbot):
    story, panel = opened.services.run_monitor, opened.window.training
    panel.heading.setChecked(True)
    live(opened)
    opened.services.training.reported.emit(STARTED)
    for number in range(100_000):
        loss = 5.0 if number == 50_001 else 1.0
        story.series.add_event(Step(step=number, time=number / 5, loss=loss, rate=0.1))
    opened.services.training.reported.emit(Step(step=100_000, time=20_000.0, loss=1.0, rate=0.1))
    panel.view.refresh()
    panel.curves.refresh()
    panel.curves.redraw()
    plot = panel.curves.plots["loss"]
    values = plot.lines["loss"].getData()[1]
    assert len(values) <= MOST * 1.5 and np.nanmax(values) == 5.0
    without_trainer(opened)


def test_plots_are_redrawn_in_turn_and_only_for_new_data(opened, qtbot):
    panel, training = opened.window.training, opened.services.training
    panel.heading.setChecked(True)
    live(opened)
    training.reported.emit(STARTED)
    for event in steps(3):
        training.reported.emit(event)
    panel.view.refresh()
    curves, drawn = panel.curves, []
    opened.services.telemetry.stop()
    qtbot.waitUntil(lambda: not curves.draw_timer.isActive(), timeout=5000)
    for id, plot in curves.plots.items():
        plot.draw = lambda *_, id=id, **__: drawn.append((id, time.monotonic()))
    for event in steps(60):
        training.reported.emit(event)  # far more often than plots are redrawn
    qtbot.waitUntil(lambda: {id for id, _ in drawn} == set(curves.plots), timeout=5000)
    qtbot.waitUntil(lambda: not curves.draw_timer.isActive(), timeout=5000)
    times = [moment for _, moment in drawn]
    assert len(drawn) <= 2 * len(curves.plots) and len(set(times)) == len(times)
    without_trainer(opened)


def test_time_left_is_that_of_the_whole_run(opened, qtbot):
    panel, training = opened.window.training, opened.services.training
    panel.heading.setChecked(True)
    live(opened)
    training.receive(Started(model="unet", device="cpu", seconds_planned=300.0, pictures={"val": 1}))
    training.receive(Step(step=1, time=100.0, loss=1.0, rate=0.1, progress=0.4))
    panel.refresh()
    assert panel.controls.left.full_text == "3 min 20 s left of 5 min" and panel.controls.bar.value() == 333
    line = panel.controls.line
    narrow = line.minimumSizeHint().width()
    width = panel.controls.left.sizeHint().width()
    for missing, text in ((0, "3 min 20 s left of 5 min"), (10, "3 min 20 s left")):  # the time left is never cut
        panel.controls.left.resize(width - missing, panel.controls.left.height())
        assert panel.controls.left.text() == text
    training.receive(Step(step=2, time=290.0, loss=1.0, rate=0.1, progress=1.0))
    training.receive(Progress(what=Message("progress.evaluating"), done=3, total=40, time=305.0))
    panel.refresh()
    assert panel.controls.left.full_text == "Evaluating validation/test images: 3 of 40"
    assert panel.controls.bar.value() == 1000
    assert line.minimumSizeHint().width() == narrow  # a long text yields to the buttons
    training.started.emit(training.run)  # of another training, which has no step yet
    training.progress.steps = 0.0
    panel.refresh()
    assert panel.controls.left.full_text == "Starting…"
    without_trainer(opened)


def test_pause_and_resume(driver, qtbot):
    training, panel = driver.services.training, driver.window.training
    live(driver)
    orders = []
    training._thread.pause, training._thread.resume = lambda: orders.append("pause"), lambda: orders.append("resume")
    training.state_changed.emit()
    training.reported.emit(STARTED)
    training.reported.emit(steps(2)[1])
    assert panel.controls.pause.isVisible()
    QTest.mouseClick(panel.controls.pause, Qt.MouseButton.LeftButton)
    assert orders == ["pause"] and training.paused and panel.view.status.full_text.startswith("Paused.")
    before = driver.services.run_monitor.series.machine.count
    driver.services.telemetry.sampled.emit(SystemSample(0, 50.0, 4 << 30, 8 << 30))
    assert driver.services.run_monitor.series.machine.count == before  # the time is on hold
    qtbot.waitUntil(driver.window.table["pause"].isEnabled, timeout=2000)
    driver.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert orders == ["pause", "resume"] and not training.paused
    without_trainer(driver)
    training.state_changed.emit()
    assert panel.controls.pause.isHidden()
    qtbot.waitUntil(lambda: not driver.window.table["pause"].isEnabled(), timeout=2000)


def test_columns_of_plots_fit_available_space():
    space, high, narrow = (740, 205), (2000, 900), (200, 900)
    for count, size, columns in ((4, space, 2), (6, space, 3), (13, high, 3), (1, space, 1), (3, narrow, 1)):
        assert columns_for(count, *size) == columns
        assert -(-count // columns) * MIN_HEIGHT <= size[1]


def test_labels_of_the_value_axis_do_not_touch(qapp):
    axis = ValueAxis("left")
    for low, high in ((0, 100), (0.1, 1.42), (0, 23.5), (1.40, 1.43)):
        for height in (30, 45, 60, 120, 300):
            ((spacing, values),) = axis.tickValues(low, high, height)
            assert spacing / (high - low) * height >= QFontMetrics(qapp.font()).height(), (low, high, height)
            assert len(values) <= 6 and (height < 60 or values), (low, high, height)


def test_labels_of_the_value_axis_differ_for_a_single_value(opened, qtbot):
    (loss,) = [definition for definition in PLOTS if definition.id == "loss"]
    plot = CurvePlot(loss, opened.style.theme)
    qtbot.addWidget(plot)
    axis = ValueAxis("left")
    for value in (1.65, 0.0, 97.5):
        plot._fit(value, value)
        low, high = plot.item.viewRange()[1]
        ((spacing, values),) = axis.tickValues(low, high, 120)
        labels = axis.tickStrings(values, 1, spacing)
        assert low <= value < high and len(labels) >= 2 and len(set(labels)) == len(labels), value


def test_result_is_left_out_where_not_even_its_shortest_text_fits(style_sheet, driver, qtbot):
    result = driver.window.training.view.result
    driver.window.training.heading.setChecked(True)
    metrics = {"dice": 0.9, "regions": {"defects": 20, "found": 18, "false_per_picture": 0.5}}
    driver.window.training.view.add_event(Evaluated(time=1.0, step=1, metrics=metrics, best=True), live=False)
    result.resize(result.fontMetrics().horizontalAdvance("Dice 0."), 20)
    assert result.text() == ""
