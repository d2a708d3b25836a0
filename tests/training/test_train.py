"""Trainings in real child processes: events, commands, files, stop, kill, resume, and failures."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import scratched
from tests.training.conftest import arrays_of, make_run, state_of
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.operating_point import ChosenRule, OperatingPoint
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Grouping
from workbench.core.runs.events import (
    Checkpoint,
    Evaluated,
    Failed,
    Finished,
    Preview,
    Profiled,
    Started,
    Step,
    Trouble,
    decode,
    encode_command,
)
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import read_image
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule
from workbench.training import learner

LONG = {"minutes": 60.0, "epochs": None, "validations": 200}


def kinds(events) -> list[str]:
    return [event.kind for event in events]


# --- a whole run --------------------------------------------------------------------------------------


def test_events_come_in_order_on_the_pipe_and_on_disk(trained):
    lines = (trained.root / "stdout.txt").read_text("utf-8").splitlines()
    assert lines == trained.events_path.read_text("utf-8").splitlines()
    events = [decode(line) for line in lines]  # and stdout has nothing else
    order = kinds(events)
    assert order[0] == "started" and order[-1] == "finished" and "unknown" not in order
    for one, other in (("step", "evaluated"), ("step", "preview")):
        assert order.index(one) < order.index(other)
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps == sorted(set(steps))
    times = [event.time for event in events]
    assert times == sorted(times) and times[0] > 0
    started, finished = events[0], events[-1]
    assert started.device == "cpu" and started.precision == "fp32" and "CPUs train" in started.precision_reason
    assert started.pictures == {"train": 12, "val": 4, "test": 0} and started.steps_planned == 8 * 6
    assert {"metrics", "score", "steps", "seconds", "images_per_second", "device", "precision", "best_step"} <= set(
        finished.result
    )
    assert finished.why == "done" and finished.result["steps"] == 48


def test_trained_model_can_predict(trained):
    finished = trained.ending()
    assert finished.result["score"] > 0.5 and finished.result["metrics"]["regions"]["recall"] == 1.0
    best = trained.best_evaluation()
    assert best.score == finished.result["score"] and best.split == "val"
    predictor = Predictor.open(trained.best, engine="onnx")
    item = next(item for item in trained.dataset().of("val") if item.classes)
    photo = read(trained.project_root / "pictures" / item.key)
    truth = annotation.read_mask(trained.project_root / "masks" / f"{item.key}.png")
    message = predictor.predict(photo).mask
    assert 2 * np.sum((message > 0) & (truth > 0)) / np.sum((message > 0).astype(int) + (truth > 0)) > 0.5


def test_preview_is_at_the_path_of_its_event(trained):
    previews = [event for event in trained.events() if isinstance(event, Preview)]
    (name,) = {event.picture for event in previews}
    mask, scores = (read_image(trained.root / getattr(previews[-1], kind)) for kind in ("mask", "scores"))
    assert mask.shape == scores.shape == (80, 96) and set(np.unique(mask)) <= {0, 1} and scores.max() > 128
    assert next(item for item in trained.dataset().items if item.key == name).split == "val"


def test_a_resnet_is_trained_on_verdicts(trained_resnet):
    finished = trained_resnet.ending()
    assert finished.result["score"] > 0.7
    assert finished.result["metrics"]["confusion"]["names"] == ["OK", "NG"]
    preview = next(event for event in trained_resnet.events() if isinstance(event, Preview))
    assert preview.verdict in ("OK", "NG") and sum(preview.probabilities.values()) == pytest.approx(1, abs=1e-4)
    predictor, rng = Predictor.open(trained_resnet.best), np.random.default_rng(50)
    chances = [predictor.predict(scratched(rng, defects=i % 2)[0]).probabilities["NG"] for i in range(20)]
    # The first weights differ between systems, and with them the probability at which the verdict changes.
    assert np.mean(np.less.outer(chances[::2], chances[1::2])) > 0.9


# --- ends ---------------------------------------------------------------------------------------------


# In the default suite, other tests close the pipe (test_run_lock.py, a resume that waits) and write the file
# (journeys/test_window.py, a window that follows a running training).
@pytest.mark.parametrize(
    "way", ["order", "signal", *(pytest.param(way, marks=pytest.mark.slow) for way in ("file", "closed pipe"))]
)
def test_a_stopped_run_is_usable_and_can_be_resumed(labeled_project, child, way):
    run = make_run(labeled_project, **{**LONG, "patch": 32, "widths": [4, 8]})
    trainer = child("train", run.root)
    trainer.next(Step)
    if way == "order":
        trainer.send("nonsense")
        trainer.send(encode_command("stop"))
    elif way == "file":
        with (run.root / "orders.jsonl").open("a") as file:
            file.write(encode_command("stop") + "\n")
    elif way == "closed pipe":
        trainer.process.stdin.close()
    else:
        trainer.process.terminate()
    assert trainer.end() == 0, trainer.stderr[-2000:]
    assert isinstance(trainer.last, Finished) and trainer.last.why == "stopped"
    assert run.usable and run.resumable and trainer.last.result["best_step"] > 0
    assert Predictor.open(run.best).predict(np.zeros((40, 50), np.uint8)).mask.shape == (40, 50)
    assert state_of(run)["step"] == trainer.last.result["steps"]
    if way == "order":
        resumed = child("train", run.root, "--resume")
        started = resumed.next(Started)
        assert started.resumed and started.step == trainer.last.result["steps"]
        assert run.ending() is None
        assert resumed.next(Step).step > started.step


def test_training_continues_without_a_window_on_command(labeled_project):
    run = make_run(labeled_project, widths=[4, 8], epochs=1, validations=1)
    done = subprocess.run(
        worker_command("train", run.root, "--keep-running"),
        env=worker_environment("cpu"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and run.ending().why == "done"


def test_pause_saves_and_suspends_the_training(labeled_project, child):
    run = make_run(labeled_project, **{**LONG, "widths": [4, 8], "patch": 32})
    trainer = child("train", run.root)
    trainer.next(Step)
    trainer.send(encode_command("pause"))
    trainer.next(Checkpoint)
    # Another checkpoint may follow the first; afterwards nothing is written for longer than in an active run.
    before, deadline = -1, time.monotonic() + 20
    while run.events_path.stat().st_size != before:
        assert time.monotonic() < deadline, "the training continues although it was paused"
        before = run.events_path.stat().st_size
        time.sleep(1.2)
    trainer.send(encode_command("resume"))
    after = trainer.next(Step)
    written = [event for event in run.events() if isinstance(event, Checkpoint) and event.time <= after.time][-1]
    assert after.time - written.time < 1.0  # the pause is not counted


@pytest.mark.slow  # in the default suite: images predicted ahead, and labels added (test_previews.py)
def test_watched_image_has_a_preview_and_a_new_label_is_added(labeled_project, child):
    run = make_run(labeled_project, **{**LONG, "widths": [4, 8], "patch": 32})
    key = run.dataset().of("train")[0].key
    trainer = child("train", run.root)
    trainer.next(Step)
    trainer.send(encode_command("watch", key))
    trainer.send(encode_command("labels_changed", key))
    preview = trainer.next(Preview)
    while preview.picture != key:
        preview = trainer.next(Preview)
    assert (run.root / preview.mask).exists()


# --- resume -------------------------------------------------------------------------------------------


def test_a_killed_run_is_resumed_to_the_same_weights(labeled_project, child):
    choices = {"epochs": 3, "validations": 3, "augment": ["rotate", "zoom", "noise", "brightness"], "rate": 5e-3}
    whole, cut = make_run(labeled_project, **choices), make_run(labeled_project, **choices)
    assert whole.settings().optimizer == "muon" and max(whole.settings().widths) >= 16
    assert child("train", whole.root).end() == 0
    trainer = child("train", cut.root)
    trainer.next(Evaluated)
    trainer.next(Checkpoint)
    trainer.next(Step)  # after the checkpoint: these steps are lost and repeated
    trainer.process.kill()
    trainer.process.wait()
    assert cut.ending() is None and cut.resumable
    with cut.events_path.open("a") as file:
        file.write('{"kind": "step", "torn')  # as a kill during a write leaves it
    assert child("train", cut.root, "--resume").end() == 0
    for name in ("weights", "average", "optimiser"):
        trainer, other = (arrays_of(run.last / state_of(run)["files"][name]) for run in (whole, cut))
        assert trainer.keys() == other.keys() and trainer
        assert all((trainer[key] == other[key]).all() for key in trainer), name
    ends = [run.ending() for run in (whole, cut)]
    assert ends[0].result["best_step"] == ends[1].result["best_step"]
    assert ends[0].result["metrics"] == ends[1].result["metrics"]
    best = [arrays_of(run.best / "weights.safetensors") for run in (whole, cut)]
    assert all((best[0][key] == best[1][key]).all() for key in best[0])
    started = [event for event in cut.events() if isinstance(event, Started)]
    assert [event.resumed for event in started] == [False, True] and started[1].step > 0


def test_training_starts_from_the_weights_of_another_run(trained, labeled_project, inside):
    second = make_run(labeled_project, epochs=1, rate=1e-9, average=0.0, start_from=str(trained.root))
    assert inside("train", second.root).end() == 0
    start, end = (arrays_of(run.best / "weights.safetensors") for run in (trained, second))
    np.testing.assert_allclose(end["head.weight"], start["head.weight"], atol=1e-6)
    other = make_run(labeled_project, "resnet", start_from=str(trained.root))
    trainer = inside("train", other.root)
    assert trainer.end() == 1 and trainer.last.problem == "BadSettings"


def test_the_verdict_rule_of_the_run_in_use_until_now_is_used_again(labeled_project, inside):
    def next_run() -> tuple[Run, Any]:
        run = make_run(labeled_project, epochs=1, validations=1, widths=[4, 8])
        trainer = inside("train", run.root)
        assert trainer.end() == 0, trainer.stderr[-2000:]
        return run, trainer.last.result["rule"]

    def choose(run: Run, choice: RuleChoice) -> None:
        point = OperatingPoint.of(operating_point.settings_of(run))
        operating_point.store(run, point, chosen_on=(), rule=ChosenRule(choice.rule(1e9), choice, ("val",)))

    first, told = next_run()
    assert told is None and operating_point.read(first).rule is None
    sentences = RuleChoice("region", 0.0, (RegionLimit(1, most=3, length=2),), bad="BAD")
    choose(first, sentences)
    second, told = next_run()
    assert operating_point.read(second).rule == ChosenRule(sentences.rule(0), sentences, ("val",))
    assert told == f"The verdict rule of {first.name} is used again, with the same sentences."
    assert operating_point.read(second).trained == OperatingPoint.of(operating_point.settings_of(second))
    labeled_project.file.model_in_use = second.name
    labeled_project.save()
    choose(second, RuleChoice("budget", 5.0))
    third, told = next_run()
    rule = operating_point.read(third).rule
    assert rule.choice == RuleChoice("budget", 5.0) and rule.rule.mass < 1e9 and "chosen again" in told
    choose(second, RuleChoice("mass", 1e9))
    labeled_project.file.model_in_use = third.name
    labeled_project.save()
    unknown = replace(operating_point.settings_of(third), classes=(ClassSettings(9, "x", "#ff0000"),))
    rule = VerdictRule("region", limits=(RegionLimit(9),))
    save_settings(replace(unknown, verdict_rule=rule), third.best / "model.json")
    fourth, told = next_run()
    assert operating_point.read(fourth).rule is None and "is not used: verdict_rule has a limit of an unknown" in told


def test_a_profile_divides_the_time_of_a_step(labeled_project, inside, monkeypatch):
    monkeypatch.setattr(learner, "_FIRST", 2)
    monkeypatch.setattr(learner, "_STEPS", 2)
    run = make_run(labeled_project, epochs=1, validations=1, profile=True, widths=[4, 8])
    assert inside("train", run.root).end() == 0
    received = [event for event in run.events() if isinstance(event, Profiled)]
    assert len(received) == 1 and "convolution" in received[0].what
    folder = run.root / received[0].folder
    names = {event.get("name", "") for event in json.loads((folder / "trace.json").read_text("utf-8"))["traceEvents"]}
    assert any("conv2d" in name for name in names)
    assert "backward convolutions" in (folder / "profile.md").read_text("utf-8")


# --- failures ------------------------------------------------------------------------------------------


def test_an_image_that_becomes_unreadable_is_named_and_left_out(labeled_project, inside):
    early = labeled_project.images()[-1]
    labeled_project.note_path(early).write_text("{")
    run = make_run(labeled_project, epochs=1, widths=[4, 8])
    train, val = (run.dataset().of(split)[0].key for split in ("train", "val"))
    for key in (train, val):
        labeled_project.image_path(key).write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    trainer = inside("train", run.root)
    assert trainer.end() == 0, trainer.stderr[-2000:]
    named = [event for event in trainer.events if isinstance(event, Trouble)]
    assert [event.picture for event in named][0] == early
    assert {event.picture for event in named} == {early, train, val} and all("skipped" in event.done for event in named)
    assert trainer.last.result["metrics"]["pictures"] == len(run.dataset().of("val")) - 1


def test_divergence_is_a_problem(labeled_project, inside):
    run = make_run(
        labeled_project, std=[1e-38], local_contrast=False, widths=[4, 8], patch=32
    )  # normalized values exceed the range of 32 bits
    trainer = inside("train", run.root)
    assert trainer.end() == 1
    troubles = [event for event in trainer.events if isinstance(event, Trouble)]
    assert len(troubles) == 3 and all("halved" in event.done for event in troubles)
    assert (
        isinstance(trainer.last, Failed) and trainer.last.problem == "WorkerFailed" and "diverged" in trainer.last.why
    )
    assert "Traceback" in run.log_path.read_text("utf-8") and trainer.last.log == str(run.log_path)


def test_a_missing_device_is_a_problem(labeled_project, inside):
    run = make_run(labeled_project, device="gpu:7", widths=[4, 8], batch=4)
    trainer = inside("train", run.root)
    assert trainer.end() == 1 and trainer.last.problem == "DeviceMissing"
    assert "gpu:7" in trainer.last.why and trainer.last.fields["device"] == "gpu:7"
    assert kinds(trainer.events) == ["failed"] and not run.usable


@pytest.mark.parametrize("arguments", [("train", "{tmp}/nowhere"), ("train", "{run}", "--resume")])
def test_a_missing_run_is_a_problem(labeled_project, inside, tmp_path, arguments):
    run = make_run(labeled_project, widths=[4, 8])
    trainer = inside(*(text.format(tmp=tmp_path, run=run.root) for text in arguments))
    assert trainer.end() == 1 and trainer.last.problem == "RunBroken"


def test_a_run_without_validation_images_has_no_score(project, inside):
    from tests.conftest import fill_project

    fill_project(project, 4)
    project.file.grouping = Grouping(rule="folder")  # all images of one part
    run = make_run(project, epochs=1, widths=[4, 8])
    assert not run.dataset().of("val", "test")
    trainer = inside("train", run.root)
    assert trainer.end() == 0, trainer.stderr[-2000:]
    assert trainer.last.result["score"] is None and "evaluated" not in kinds(trainer.events) and run.usable
    settings = json.loads((run.best / "model.json").read_text("utf-8"))
    assert settings["thresholds"] == [0.3]
    masks = [annotation.load_mask(project, item.key) for item in run.dataset().items]
    smallest = min(cv2.connectedComponentsWithStats((mask == 1).astype(np.uint8))[2][1:, 4].min() for mask in masks)
    assert settings["min_area"] == [smallest // 4] and smallest >= 8, "specks beside what is labelled are left out"


def test_time_limit_in_minutes(labeled_project, inside):
    """Check that the schedule is complete, at any speed of the machine."""
    run = make_run(labeled_project, minutes=0.05, epochs=None, widths=[4, 8], patch=32)
    trainer = inside("train", run.root)
    assert trainer.end() == 0, trainer.stderr[-2000:]
    steps = [event for event in trainer.events if isinstance(event, Step)]
    assert trainer.events[0].seconds_planned == 3.0 and trainer.events[0].steps_planned is None
    assert steps[-1].progress > 0.8 and steps[-1].rate < 3e-4 < max(step.rate for step in steps)


def test_doctor_reports_working_parts(child):
    trainer = child("doctor")
    assert trainer.end() == 0
    found = json.loads("".join(trainer.lines))
    assert found["ok"] and found["paddle"] and found["checks"][0]["name"] == "cpu" and found["checks"][0]["ok"]
    assert found["devices"][0] == "cpu" and isinstance(found["cuda_compiled"], bool)


def test_no_process_remains(labeled_project, child):
    """After a kill during a conversion to ONNX the converter ends, and the next process removes its files."""
    run = make_run(labeled_project, **{**LONG, "widths": [4, 8], "patch": 32, "minutes": 10.0, "validations": 1000})
    trainer = child("train", run.root)
    trainer.next(Evaluated)
    trainer.process.kill()
    trainer.process.wait()
    resumed = child("train", run.root, "--resume")
    resumed.next(Step)
    resumed.send(encode_command("stop"))
    assert resumed.end() == 0 and run.usable and not (run.root / ".convert").exists()
