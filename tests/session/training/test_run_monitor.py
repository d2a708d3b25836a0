"""The run that is shown, in numbers: the machine beside its steps, on disk as well; and the list of runs."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import RunBroken
from workbench.core.runs.events import Evaluated, Finished, Started, Step, encode
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.run_history import machine_path
from workbench.core.runs.system_stats import GpuSample, SystemSample, read_samples
from workbench.core.runs.training_settings import request
from workbench.session.training.run_list import MOST, RunList
from workbench.session.training.run_monitor import RunMonitor
from workbench.session.training.training_control import TrainingControl

SAMPLE = SystemSample(time=0, cpu=40.0, ram_used=1 << 30, ram_total=4 << 30, reason="No NVIDIA driver found")


class Machine(QObject):
    """What telemetry says, said by the test."""

    sampled = Signal(object)


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def training(opened, trainer_command):
    training = TrainingControl(opened, command=lambda run, resume: trainer_command("obey", run))
    yield training
    training.close()


@pytest.fixture
def story(opened, training, machine):
    story = RunMonitor(opened, training, machine)
    yield story
    story.close()


@pytest.fixture
def shelf(opened, training):
    shelf = RunList(opened, training)
    yield shelf
    shelf.close()


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


def test_a_run_under_way_is_seen_beside_the_machine_and_kept(story, training, machine, qtbot):
    machine.sampled.emit(SAMPLE)
    assert not story.track.machine.count and story.track.no_cards == SAMPLE.reason  # no run goes on
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: story.track.begun is not None, timeout=10_000)
    assert training.running
    for _ in range(3):
        machine.sampled.emit(SAMPLE)
        qtbot.wait(30)
    assert story.track.machine.count == 3 and list(story.track.machine["cpu"]) == [40.0] * 3
    story._tasks.wait()
    kept = list(read_samples(machine_path(training.run)))
    assert [sample for _, sample in kept] == [SAMPLE] * 3
    assert [at for at, _ in kept] == pytest.approx(list(story.track.machine.times), abs=0.01)
    training.pause()
    machine.sampled.emit(SAMPLE)
    assert story.track.machine.count == 3 and story.finding().kind == "paused"
    training.unpause()
    machine.sampled.emit(SAMPLE)
    assert story.track.machine.count == 3  # its clock is known again with its next event
    with qtbot.waitSignal(training.ended, timeout=10_000):
        training.stop()
    machine.sampled.emit(SAMPLE)
    assert story.track.machine.count == 3 and story.vitals.ending is not None
    run = training.run
    training.follow(run)
    qtbot.waitUntil(lambda: story.track.machine.count == 3, timeout=10_000)  # from the disk


def test_long_runs_keep_samples_further_apart(story, training, machine, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: story.track.begun is not None, timeout=10_000)
    story._clock = time.monotonic() - 40_000  # then they stand 20 seconds apart
    for _ in range(5):
        machine.sampled.emit(SAMPLE)
    story._tasks.wait()
    assert len(list(read_samples(machine_path(training.run)))) == 1 and story.track.machine.count == 5


def test_a_past_replaces_what_was_shown(story, training, opened, qtbot):
    first, second = finished(opened), finished(opened, count=50)
    for run, count in ((first, 30), (second, 50)):
        with qtbot.waitSignal(training.recalled, timeout=10_000):
            training.follow(run)
        assert story.track.steps.count == count and story.track.best == (5, 0.5)
        assert story.result.score == 0.5 and story.run is run
    opened.close_project()
    assert story.track.begun is None and not story.track.steps.count


def test_silence_is_noticed(story, training, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: story.track.begun is not None, timeout=10_000)
    assert story.finding().kind != "silent"
    story._heard -= 500
    assert story.finding().kind == "silent" and story.finding().fields["seconds"] > 499


def test_runs_are_listed_newest_first_and_read_once(shelf, opened, qtbot, monkeypatch):
    runs = [finished(opened, score) for score in (0.25, 0.75)]
    shelf.refresh()
    qtbot.waitUntil(lambda: len(shelf.lines) == 2, timeout=5000)
    assert [(line.run.name, line.score) for line in shelf.lines] == [(runs[1].name, 0.75), (runs[0].name, 0.25)]
    from workbench.session.training import run_list

    read = []
    monkeypatch.setattr(run_list, "run_line", lambda run: read.append(run.name))
    third = finished(opened)
    with qtbot.waitSignal(shelf.listed, timeout=5000):
        shelf.refresh()
    assert read == [third.name]
    opened.close_project()
    assert not shelf.lines


def test_what_is_compared_follows_the_shown_run(shelf, training, opened, qtbot):
    runs = [finished(opened, patch=size) for size in (64, 96, 128, 160, 192)]
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(runs[0])
    with qtbot.waitSignal(shelf.compared_changed, timeout=10_000):
        shelf.compare(runs)
    assert [other.run.name for other in shelf.compared] == [run.name for run in runs[1 : MOST + 1]]
    assert all(other.track.steps.count == 30 and other.comparison.scores for other in shelf.compared)
    with qtbot.waitSignal(shelf.compared_changed, timeout=10_000):
        training.follow(runs[1])
    assert [other.run.name for other in shelf.compared] == [runs[2].name, runs[3].name]


def test_scores_on_other_pictures_are_not_even_handed_on(shelf, training, opened, qtbot):
    shown, other = finished(opened), finished(opened, 0.9)
    dataset = other.dataset()
    dataset.items[0].split = "val" if dataset.items[0].split == "train" else "train"
    other.dataset_path.write_text(dataset.model_dump_json())
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(shown)
    with qtbot.waitSignal(shelf.compared_changed, timeout=10_000):
        shelf.compare([other])
    found = shelf.compared[0]
    assert not found.comparison.scores and not found.track.scores.count and found.track.best is None
    assert found.track.steps.count == 30


def test_a_run_that_cannot_be_read_is_told(shelf, training, opened, qtbot):
    shown, other = finished(opened), finished(opened)
    other.settings_path.write_text("{")
    with qtbot.waitSignal(training.recalled, timeout=10_000):
        training.follow(shown)
    with qtbot.waitSignal(shelf.failed, timeout=10_000) as failed:
        shelf.compare([other])
    assert isinstance(failed.args[0], RunBroken) and not shelf.compared


def test_cards_are_told_apart(story, training, machine, qtbot):
    training.start("unet", epochs=1)
    qtbot.waitUntil(lambda: story.track.begun is not None, timeout=10_000)
    cards = tuple(GpuSample(i, f"Card {i}", 10.0 * i, 1 << 30, 2 << 30, None, None, None) for i in range(2))
    machine.sampled.emit(SystemSample(0, 1.0, 1, 2, gpus=cards))
    assert story.track.cards == ["Card 0", "Card 1"] and story.track.at("load 1", 1e9) == 10.0
    assert not story.track.has("temperature 0")
