"""Comparison of two runs: differences are listed, metrics on different images are not compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conftest import scratched
from workbench.core.project import annotation
from workbench.core.runs.events import Evaluated, Failed, Finished, Preview, Progress, Started, Step, Trouble, encode
from workbench.core.runs.gpu_facts import SystemSample, encode_sample
from workbench.core.runs.model_lookup import model_folder
from workbench.core.runs.run import Run, choose_default, create_run, default_run, find_run, write_settings
from workbench.core.runs.run_history import RunLine, machine_path, read_past, run_line
from workbench.core.runs.run_series import compare_runs
from workbench.core.runs.training_settings import request


@pytest.fixture
def train(labeled_project):
    """Function that creates a run of the project in its present state."""

    def train(model: str = "unet", **settings) -> Run:
        return create_run(labeled_project, request(model, **{"epochs": 1, **settings}))

    return train


def kinds(shown: Run, other: Run) -> list[str]:
    return [difference.kind for difference in compare_runs(shown, other).differences]


def relabel(project, key: str) -> None:
    import numpy as np

    mask = scratched(np.random.default_rng(99))[1]
    assert not np.array_equal(mask, annotation.load_mask(project, key))
    annotation.save_mask(project, key, mask)


def test_equal_runs_may_be_compared(train):
    found = compare_runs(train(), train())
    assert found.curves and found.scores and not found.differences


def test_other_settings_are_reported(train):
    found = compare_runs(train(minutes=2.0, patch=64), train(minutes=5.0, patch=128))
    assert found.scores and [d.kind for d in found.differences] == ["recipe"]
    settings = found.differences[0].fields["settings"]
    assert settings["minutes"] == (2.0, 5.0) and settings["patch"] == (64, 128)


def test_different_kinds_of_models_are_not_compared(train):
    found = compare_runs(train("unet"), train("resnet"))
    assert not found.curves and not found.scores and [d.kind for d in found.differences] == ["model"]


def test_more_training_images_do_not_prevent_a_comparison(labeled_project, train):
    first = train()
    dropped = next(item.key for item in first.dataset().of("train") if item.classes)
    relabelled = [item.key for item in first.dataset().of("train") if item.classes][1]
    for item in first.dataset().items:  # keep the split
        note = annotation.load_note(labeled_project, item.key)
        note.pin = item.split
        if item.key == dropped:
            note.status = "new"
        annotation.save_note(labeled_project, item.key, note)
    labeled_project.mask_path(dropped).unlink()
    relabel(labeled_project, relabelled)
    found = compare_runs(first, train())
    received = next(d for d in found.differences if d.kind == "train")
    assert found.scores and received.fields == {"more": 1, "fewer": 0, "changed": 1}


def test_scores_on_other_images_or_labels_are_refused(labeled_project, train):
    first = train()
    for item in first.dataset().items:
        note = annotation.load_note(labeled_project, item.key)
        note.pin = item.split
        annotation.save_note(labeled_project, item.key, note)
    held = first.dataset().of("val")[0].key
    relabel(labeled_project, held)
    relabelled = train()
    found = compare_runs(first, relabelled)
    assert found.curves and not found.scores and found.differences[0].kind == "labels"
    assert found.differences[0].fields == {"count": 1}
    note = annotation.load_note(labeled_project, held)
    note.pin = "train"
    annotation.save_note(labeled_project, held, note)
    moved = compare_runs(relabelled, train())
    assert moved.curves and not moved.scores and moved.differences[0].kind == "held_out"
    assert moved.differences[0].fields["fewer"] == 0 and moved.differences[0].fields["more"] >= 1  # its part


def test_other_classes_are_refused(labeled_project, train):
    first = train()
    added = labeled_project.add_class("pit")
    labeled_project.save()
    assert compare_runs(first, train()).scores  # a class that was never painted is not trained
    key = next(item.key for item in first.dataset().of("train") if item.classes)
    mask = annotation.load_mask(labeled_project, key)
    mask[0, :9] = added.id
    annotation.save_mask(labeled_project, key, mask)
    assert not compare_runs(first, train()).scores and "classes" in kinds(first, train())


# --- history of a run ---------------------------------------------------------------------------------


def test_history_of_a_run_contains_system_samples(train):
    run = train()
    previews = [Preview(step=i, picture=key) for i, key in enumerate(("a", "b", "a"))]
    events = [
        Started(model="unet", device="cpu"),
        Step(step=1, time=1, loss=2.0, rate=0.1),
        *previews,
        Progress(what="x", done=1, total=2),
        Trouble(what="y"),
        Evaluated(step=1, time=2, score=0.5, best=True),
        Finished(time=3),
    ]
    run.events_path.write_text("\n".join(map(encode, events)) + '\n{"kind": "st', "utf-8")
    sample = SystemSample(time=0, cpu=40.0, ram_used=1 << 30, ram_total=2 << 30)
    machine_path(run).write_text(encode_sample(0.5, sample) + "\n" + encode_sample(2.5, sample) + "\n")
    past = read_past(run)
    assert past.series.steps.count == 1 and past.series.best == (2, 0.5) and past.series.machine.count == 2
    assert (
        past.ending == Finished(time=3) and len(past.state.machine) == 1
    )  # the final evaluation belongs to another stage
    assert past.notable == [events[0], *previews[1:], events[6], events[7], events[8]]


def test_a_run_is_one_line(train):
    run = train()
    assert run_line(run).model == "unet" and run_line(run).score is None and run_line(run).ended == ""
    steps = [Step(step=i, loss=1.0, rate=0.1) for i in range(5)]
    events = [
        Started(model="unet", device="cpu"),
        *steps,
        Evaluated(step=1, score=0.5, best=True),
        Evaluated(step=2, score=0.4),
        Failed(why="x"),
    ]
    run.events_path.write_text("\n".join(map(encode, events)), "utf-8")
    line = run_line(run)
    assert line.score == 0.5 and line.ended == "failed" and line.when is not None
    assert line.images == len(run.dataset().of("train")) and line.held_out == run.dataset().held_out_hash
    run.dataset_path.write_text("{")
    assert run_line(run).held_out == "" and run_line(run).model == "unet"


def line(name: str, score: float | None, **fields) -> RunLine:
    return RunLine(Run(f"runs/{name}"), "unet", None, score, held_out="x", ended="done", usable=True, **fields)


def test_best_comparable_run_is_the_default():
    assert choose_default([]) is None
    assert choose_default([line("b", 0.5), line("a", 0.7)]).run.name == "a"
    newer_images = replace(line("c", 0.2), held_out="y")
    assert choose_default([newer_images, line("a", 0.7)]).run.name == "c"  # other images: not comparable
    assert choose_default([line("b", None), line("a", 0.7)]).run.name == "b"  # nothing held out
    assert choose_default([replace(line("b", 0.9), usable=False), line("a", 0.7)]).run.name == "a"


def test_run_stopped_after_seconds_does_not_replace_the_default():
    stopped = replace(line("c", 0.2, interrupted=True), held_out="y")
    assert choose_default([stopped, line("b", 0.5), line("a", 0.7)]).run.name == "a"
    assert choose_default([stopped]).run.name == "c"
    lucky = replace(stopped, held_out="x", score=0.99)  # measured on few images or none
    assert choose_default([lucky, line("b", 0.5)]).run.name == "b"
    unreadable = replace(line("d", 0.9), held_out="")
    assert choose_default([unreadable, line("b", 0.5)]).run.name == "b"


def usable_run(train, **fields) -> Run:
    run = train()
    write_settings(run, run.settings().model_copy(update={"epochs": None, "minutes": 10.0}))
    run.best.mkdir()
    for name in ("model.json", "network.onnx"):
        (run.best / name).write_text("")
    minutes, score, ended = fields["minutes"], fields.get("score"), fields.get("ended", True)
    events = [Started(model="unet", device="cpu"), Step(step=9, time=60 * minutes, loss=1.0, rate=0.1)]
    if score is not None:
        events.append(Evaluated(step=9, score=score, best=True))
    if ended:
        events.append(Finished(time=60 * minutes, why="done" if minutes >= 10 else "stopped"))
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")
    return run


def test_command_line_and_window_choose_the_same_run(train):
    good, worse = usable_run(train, minutes=10, score=0.8), usable_run(train, minutes=10, score=0.6)
    root = good.project_root
    usable_run(train, minutes=0.1, score=0.9)
    usable_run(train, minutes=0.1)
    active = usable_run(train, minutes=0.2, ended=False)  # or killed
    assert find_run(root, "best").name == default_run(root).name == good.name
    assert find_run(root, "best", "unet").name == good.name and find_run(root, "last").name == active.name
    assert default_run(root, "resnet") is None
    assert model_folder(root) == model_folder("best", root) == good.best
    for run in (good, worse):
        (run.best / "network.onnx").unlink()
    assert find_run(root, "best").name == active.name  # there is no other


def test_early_stop_is_recognized(train):
    run = train()
    write_settings(run, run.settings().model_copy(update={"epochs": None, "minutes": 10.0}))
    planned = 600
    for seconds, expected in ((0.1 * planned, True), (0.5 * planned, False)):
        run.events_path.write_text(encode(Finished(why="stopped", time=seconds)) + "\n", "utf-8")
        assert run_line(run).interrupted is expected
