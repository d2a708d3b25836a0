"""Shown run in numbers with machine samples, and the list of runs."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest
from PySide6.QtCore import QObject, Signal

from workbench.core.messages import Message
from workbench.core.problems import RunBroken
from workbench.core.project.project import read_project_file
from workbench.core.project.storage import write_json
from workbench.core.runs.events import Evaluated, Finished, Started, Step, encode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, read_samples
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.run_history import machine_path
from workbench.core.runs.training_settings import request
from workbench.session.error_log import LOG_FILE, ErrorLog
from workbench.session.session import Session
from workbench.session.training.shown_runs import MOST, RunList, RunMonitor
from workbench.session.training.training_control import TrainingControl

SAMPLE = SystemSample(time=0, cpu=40.0, ram_used=1 << 30, ram_total=4 << 30, reason=Message("device.no_driver"))


class Machine(QObject):
    """Telemetry with samples from the test."""

    sampled = Signal(object)


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def training(opened, trainer_command):
    training = TrainingControl(opened, command=lambda run, resume: trainer_command("execute", run))
    yield training
    training.close()


@pytest.fixture
def monitor(opened, training, machine):
    monitor = RunMonitor(opened, training, machine)
    yield monitor
    monitor.close()


@pytest.fixture
def run_list(opened, training):
    run_list = RunList(opened, training)
    yield run_list
    run_list.close()


def finished(session, score: float = 0.5, count: int = 30, **settings) -> Run:
    run = create_run(session.project, request("unet", epochs=1, device="cpu", **settings))
    steps = [Step(step=i, time=i / 5, loss=1.0, rate=0.1) for i in range(count)]
    events = [
        Started(model="unet", device="cpu", pictures={"val": 1}),
        *steps,
        Evaluated(step=9, time=5, score=score, best=True),
        Finished(time=9),
    ]
    run.events_path.write_text("\n".join(map(encode, events)) + "\n")
    return run


def test_active_run_is_recorded_with_machine_samples(monitor, training, machine, qtbot):
    machine.sampled.emit(SAMPLE)
    assert not monitor.series.machine.count and monitor.series.no_gpu_reason == SAMPLE.reason  # no training is running
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: monitor.series.started is not None, timeout=10_000)
    assert training.running
    for _ in range(3):
        machine.sampled.emit(SAMPLE)
        qtbot.wait(30)
    assert monitor.series.machine.count == 3 and list(monitor.series.machine["cpu"]) == [40.0] * 3
    monitor.tasks.wait()
    kept = list(read_samples(machine_path(training.run)))
    assert [sample for _, sample in kept] == [SAMPLE] * 3
    assert [at for at, _ in kept] == pytest.approx(list(monitor.series.machine.times), abs=0.01)
    training.pause()
    machine.sampled.emit(SAMPLE)
    assert monitor.series.machine.count == 3 and monitor.finding().kind == "paused"
    training.unpause()
    machine.sampled.emit(SAMPLE)
    assert monitor.series.machine.count == 3  # its clock is known after its next event
    with qtbot.waitSignal(training.ended, timeout=10_000):
        training.stop()
    machine.sampled.emit(SAMPLE)
    assert monitor.series.machine.count == 3 and monitor.state.ending is not None
    run = training.run
    training.follow(run)
    qtbot.waitUntil(lambda: monitor.series.machine.count == 3, timeout=10_000)  # from the disk


def test_samples_of_long_runs_are_thinned(monitor, training, machine, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: monitor.series.started is not None, timeout=10_000)
    monitor._clock = time.monotonic() - 40_000  # samples are then 20 seconds apart
    for _ in range(5):
        machine.sampled.emit(SAMPLE)
    monitor.tasks.wait()
    assert len(list(read_samples(machine_path(training.run)))) == 1 and monitor.series.machine.count == 5


def test_history_of_a_run_replaces_shown_events(monitor, training, opened, qtbot):
    first, second = finished(opened), finished(opened, count=50)
    for run, count in ((first, 30), (second, 50)):
        with qtbot.waitSignal(training.recalled, timeout=10_000):
            training.follow(run)
        assert monitor.series.steps.count == count and monitor.series.best == (5, 0.5)
        assert monitor.result.score == 0.5 and monitor.run is run
    opened.close_project()
    assert monitor.series.started is None and not monitor.series.steps.count


def test_missing_events_are_diagnosed(monitor, training, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: monitor.series.started is not None, timeout=10_000)
    assert monitor.finding().kind != "silent"
    monitor._newest_event -= 500
    assert monitor.finding().kind == "silent" and monitor.finding().fields["seconds"] > 499


def test_runs_are_listed_newest_first_and_read_once(run_list, opened, qtbot, monkeypatch):
    runs = [finished(opened, score) for score in (0.25, 0.75)]
    run_list.refresh()
    qtbot.waitUntil(lambda: len(run_list.lines) == 2, timeout=5000)
    assert [(line.run.name, line.score) for line in run_list.lines] == [(runs[1].name, 0.75), (runs[0].name, 0.25)]
    from workbench.session.training import shown_runs

    read = []
    plain = shown_runs.run_line
    monkeypatch.setattr(shown_runs, "run_line", lambda run: read.append(run.name) or plain(run))
    third = finished(opened)
    with qtbot.waitSignal(run_list.listed, timeout=5000):
        run_list.refresh()
    assert read == [third.name]
    opened.close_project()
    assert not run_list.lines


def make_usable(run: Run) -> Run:
    run.best.mkdir()
    for name in ("model.json", "network.onnx"):
        (run.best / name).write_text("")
    return run


def test_usable_runs_and_exports_are_listed_off_the_thread_of_the_window(run_list, opened, qtbot, monkeypatch):
    from workbench.session.training import shown_runs

    threads = []
    plain = shown_runs.list_runs
    monkeypatch.setattr(shown_runs, "list_runs", lambda root: threads.append(threading.current_thread()) or plain(root))
    runs = [make_usable(finished(opened)), finished(opened), make_usable(finished(opened))]
    names = "a", f"{runs[2].name}-10", f"{runs[2].name}-2", runs[0].name, f".{runs[2].name}.part"
    exports = [opened.project.root / "exports" / name for name in names]
    for number, export in enumerate(exports):
        export.mkdir(parents=True)
        write_json(export / "model.json", {"run": runs[0 if number == 3 else 2].name})
        (export / "SHA256SUMS").touch()
        os.utime(export / "SHA256SUMS", (0, 99 - number))
    assert run_list.default() is None
    run_list.refresh()
    assert run_list.refreshing
    qtbot.waitUntil(lambda: not run_list.refreshing, timeout=5000)
    assert run_list.default().root == runs[2].root
    assert [line.run.root for line in run_list.usable("unet")] == [runs[2].root, runs[0].root]
    assert run_list.usable("resnet") == []
    assert run_list.models() == [*exports[:3], runs[2].root]  # of the model in use, the newest export first
    assert threads and threading.main_thread() not in threads


def test_chosen_model_is_used_until_another_one_is_chosen(run_list, training, opened, qtbot):
    """Otherwise the best run is used, not the one that was trained last or whose curves are shown."""
    worse, best, last = (make_usable(finished(opened, score)) for score in (0.4, 0.9, 0.5))
    changes = []
    run_list.in_use_changed.connect(lambda: changes.append(run_list.in_use))
    run_list.refresh()
    qtbot.waitUntil(lambda: not run_list.refreshing, timeout=5000)
    training.run = last  # as after a training
    assert run_list.in_use.name == best.name and run_list.models() == [best.root] and run_list.chosen is None
    run_list.choose(worse)
    assert read_project_file(opened.project.root).model_in_use == worse.name
    for run in (last, make_usable(finished(opened, 0.95))):
        with qtbot.waitSignal(training.ended, timeout=10_000):
            training.follow(run)
        qtbot.waitUntil(lambda: not run_list.refreshing, timeout=5000)
        assert run_list.in_use.name == run_list.chosen.name == worse.name and run_list.models() == [worse.root]
    run_list.choose(None)
    assert run_list.in_use.name == run.name and run_list.chosen is None
    assert [used.name for used in changes] == [best.name, worse.name, run.name]
    # A chosen model that cannot be used any more.
    run_list.choose(worse)
    (worse.best / "network.onnx").unlink()
    assert run_list.in_use.name == run.name and run_list.chosen is None


def test_choice_is_stored_by_the_writer_of_the_project_only(run_list, opened, qtbot):
    """Another program's choice is followed once project.json is read again."""
    first, second = (make_usable(finished(opened, score)) for score in (0.4, 0.9))
    run_list.refresh()
    qtbot.waitUntil(lambda: len(run_list.lines) == 2, timeout=5000)
    path = opened.project.root / "project.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "model_in_use": first.name}), "utf-8")
    with qtbot.waitSignal(run_list.in_use_changed):
        opened.project.refresh()
    assert run_list.in_use.name == first.name
    reader = Session()
    assert reader.open_project(opened.project.root) and not reader.writable
    other = RunList(reader, TrainingControl(reader))
    qtbot.waitUntil(lambda: len(other.lines) == 2, timeout=5000)
    other.choose(second)
    assert other.in_use.name == first.name and read_project_file(opened.project.root).model_in_use == first.name
    other.close()
    reader.close_project()


def test_only_model_can_be_used_before_it_is_listed(run_list, training, opened, qtbot):
    run = finished(opened)
    run_list.refresh()
    qtbot.waitUntil(lambda: not run_list.refreshing, timeout=5000)
    training.run = run
    assert run_list.in_use is None
    make_usable(run)
    assert run_list.in_use.name == run.name


def test_run_that_becomes_usable_without_a_new_event_is_noticed(run_list, opened, qtbot):
    run = finished(opened)
    run_list.refresh()
    qtbot.waitUntil(lambda: len(run_list.lines) == 1 and not run_list.refreshing, timeout=5000)
    assert run_list.default() is None
    make_usable(run)
    run_list.refresh()
    qtbot.waitUntil(lambda: run_list.default() is not None, timeout=5000)


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), ValueError("bad name")])
def test_runs_that_cannot_be_listed_leave_the_list_as_it_was(run_list, opened, qtbot, monkeypatch, tmp_path, error):
    """The error is reported, and logged once."""
    from workbench.session.training import shown_runs

    run = finished(opened)
    run_list.refresh()
    qtbot.waitUntil(lambda: not run_list.refreshing, timeout=5000)

    def fail(root):
        raise error

    monkeypatch.setattr(shown_runs, "list_runs", fail)
    with qtbot.capture_exceptions() as reported:
        error_log = ErrorLog(tmp_path / "log")
        error_log.install()
        with qtbot.waitSignal(run_list.listed, timeout=5000):
            run_list.refresh()
        error_log.close()
    assert [problems_met[1] for problems_met in reported] == [error]
    assert (tmp_path / "log" / LOG_FILE).read_text("utf-8").count("Traceback") == 1
    assert [line.run.name for line in run_list.lines] == [run.name] and not run_list.refreshing


def test_comparison_follows_the_shown_run(run_list, training, opened, qtbot):
    runs = [finished(opened, patch=size) for size in (64, 96, 128, 160, 192)]
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(runs[0])
    with qtbot.waitSignal(run_list.compared_changed, timeout=10_000):
        run_list.compare(runs)
    assert [other.run.name for other in run_list.compared] == [run.name for run in runs[1 : MOST + 1]]
    assert all(other.series.steps.count == 30 and other.comparison.scores for other in run_list.compared)
    with qtbot.waitSignal(run_list.compared_changed, timeout=10_000):
        training.follow(runs[1])
    assert [other.run.name for other in run_list.compared] == [runs[2].name, runs[3].name]


def test_metrics_on_other_images_are_dropped(run_list, training, opened, qtbot):
    shown, other = finished(opened), finished(opened, 0.9)
    dataset = other.dataset()
    dataset.items[0].split = "val" if dataset.items[0].split == "train" else "train"
    other.dataset_path.write_text(dataset.model_dump_json())
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(shown)
    with qtbot.waitSignal(run_list.compared_changed, timeout=10_000):
        run_list.compare([other])
    found = run_list.compared[0]
    assert not found.comparison.scores and not found.series.scores.count and found.series.best is None
    assert found.series.steps.count == 30


def test_unreadable_run_is_reported(run_list, training, opened, qtbot):
    shown, other = finished(opened), finished(opened)
    other.settings_path.write_text("{")
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(shown)
    with qtbot.waitSignal(run_list.failed, timeout=10_000) as failed:
        run_list.compare([other])
    assert isinstance(failed.args[0], RunBroken) and not run_list.compared


def test_series_of_several_gpus(monitor, training, machine, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: monitor.series.started is not None, timeout=10_000)
    cards = tuple(GpuSample(i, f"Card {i}", 10.0 * i, 1 << 30, 2 << 30, None, None, None) for i in range(2))
    machine.sampled.emit(SystemSample(0, 1.0, 1, 2, gpus=cards))
    assert monitor.series.gpu_names == ["Card 0", "Card 1"] and monitor.series.at("load 1", 1e9) == 10.0
    assert not monitor.series.has("temperature 0")
