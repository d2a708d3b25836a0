"""Time series of a run; thinning of a million values keeps every peak. Comparison of two runs."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import scratched
from workbench.core.project import annotation
from workbench.core.runs.events import Evaluated, Failed, Finished, Preview, Progress, Started, Step, Trouble, encode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, decode_sample, encode_sample, read_samples
from workbench.core.runs.model_lookup import model_folder
from workbench.core.runs.run import Run, choose_default, create_run, default_run, find_run, write_settings
from workbench.core.runs.run_history import RunLine, machine_path, read_past, run_line
from workbench.core.runs.run_series import MOST, Columns, RunSeries, compare_runs, series_table
from workbench.core.runs.training_settings import request

GB = 1 << 30


def step(number: int, **more) -> Step:
    return Step(**{"step": number, "time": number / 10, "loss": 1 / (number + 1), "rate": 0.01, **more})


def sample(cpu: float = 50.0, *gpus: GpuSample, reason: str = "") -> SystemSample:
    return SystemSample(time=0.0, cpu=cpu, ram_used=4 * GB, ram_total=8 * GB, gpus=gpus, reason=reason)


def card(index: int, load: float) -> GpuSample:
    return GpuSample(index, f"Card {index}", load, 2 * GB, 16 * GB, 60.0, 100.0, 1500.0, GB)


@pytest.mark.parametrize("count", [1000, 5000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_thinned_series_keeps_every_peak(count):
    columns = Columns(("a", "b"))
    rng = np.random.default_rng(0)
    values = rng.normal(size=count)
    peaks = rng.choice(count, 12, replace=False)
    values[peaks] = np.arange(12) * 10 + 100
    for time, value in enumerate(values.tolist()):
        columns.add(time, {"a": value})
    whole = columns.indexes("a", -math.inf, math.inf)
    assert len(whole) <= 1.5 * MOST and (np.diff(whole) >= 0).all() and whole[0] == 0 and whole[-1] == count - 1
    assert columns["a"][whole].max() == columns["a"].max() and columns["a"][whole].min() == columns["a"].min()
    first, last = count // 3, count // 3 + count // 2
    part = columns.indexes("a", first, last)
    inside = columns["a"][first : last + 1]
    assert columns["a"][part].max() >= inside.max() and columns["a"][part].min() <= inside.min()
    assert columns.times[part[0]] <= first and columns.times[part[-1]] >= last  # the line reaches both edges


def test_missing_values_stay_missing():
    columns = Columns(("a",))
    for time in range(300):
        columns.add(time, {"a": None if time % 2 else time, "new": time if time > 250 else None})
    assert np.isnan(columns["a"][1]) and columns["a"][2] == 2 and np.isnan(columns["new"][100])
    assert columns["new"][299] == 299 and columns.present == {"a", "new"}
    assert columns.at("a", 7.5) == 6 and math.isnan(columns.at("a", -1)) and columns.at("a", math.inf) == 298
    columns.cut(10)
    assert columns.count == 11 and columns.at("a", 100) == 10
    columns.add(5, {"a": 1})
    assert columns.times[-1] == 10  # time does not go back


def test_the_smoothed_loss_is_the_mean_of_the_newest_steps():
    series = RunSeries()
    losses = np.random.default_rng(1).normal(1, 0.3, 4000)
    losses[77] = math.nan
    for number, loss in enumerate(losses.tolist()):
        series.add_event(step(number, loss=loss))
    times, smoothed = series.smoothed()
    reach = 4000 // 50
    for time, value in list(zip(times, smoothed))[:: len(times) // 20]:
        at = round(time * 10)
        assert value == pytest.approx(np.nanmean(losses[max(0, at + 1 - reach) : at + 1]), abs=1e-6)
    assert len(times) <= MOST and series.at("smoothed", 399.9) == pytest.approx(losses[-reach:].mean(), abs=1e-6)


def test_metric_is_the_dice_of_all_classes_together():
    track = RunSeries()
    track.add_event(Evaluated(step=10, time=1.5, score=0.4, metrics={"any_defect": {"dice": 0.6}}, best=True))
    assert track.metric == "dice" and track.best == (1.5, 0.6) and track.at("dice", 2.0) == pytest.approx(0.6)
    verdicts = RunSeries()
    verdicts.add_event(Evaluated(step=10, time=1.5, score=0.4, metrics={"accuracy": 0.7, "macro_f1": 0.4}, best=True))
    assert verdicts.metric == "score" and verdicts.best == (1.5, 0.4)


def test_scores_skipped_steps_and_system_samples():
    series = RunSeries()
    series.add_event(Started(model="unet", device="gpu:0", precision="fp16"))
    for number in range(30):
        series.add_event(step(number, skipped=number // 10, loss_scale=1024.0, data_wait=0.25))
    assert series.skips == [1.0, 2.0]
    series.add_event(Evaluated(step=10, time=1.5, score=0.4, best=True))
    series.add_event(Evaluated(step=20, time=2.5, score=0.3))
    series.add_event(Evaluated(step=20, time=2.6, score=0.9, split="test"))
    series.add_event(Evaluated(step=20, time=2.7, score=None))
    assert series.best == (1.5, 0.4) and list(series.scores["score"]) == pytest.approx([0.4, 0.3])
    series.add_sample(1, sample(40.0, reason="asleep"))
    series.add_sample(2, sample(60.0, card(0, 80), card(1, 20)))
    assert series.gpu_names == ["Card 0", "Card 1"] and series.no_gpu_reason == ""
    assert series.at("load 1", 2.5) == 20 and math.isnan(series.at("load 1", 1.5))
    assert series.at("used 0", 3) == 2 and series.at("reserved 0", 3) == 1 and series.at("ram_total", 3) == 8
    assert series.has("load 1") and not series.has("load 7") and not series.has("disk") and series.has("data_wait")
    assert [len(part) for part in series.points("load 7")] == [0, 0]


def test_steps_lost_before_a_resume_are_dropped():
    series = RunSeries()
    series.add_event(Started(model="unet", device="cpu"))
    for number in range(100):
        series.add_event(step(number))
    series.add_event(Evaluated(step=90, time=9.0, score=0.4))
    series.add_sample(9, sample())
    series.add_event(Started(model="unet", device="cpu", resumed=True, time=5.0))
    series.add_event(step(50, time=5.1, loss=7.0))
    assert series.steps.count == 52 and series.steps["loss"][-1] == 7 and not series.scores.count
    assert series.last == 5.1 and not series.machine.count


def test_system_samples_are_stored_line_by_line(tmp_path):
    path = tmp_path / "machine.jsonl"
    first, second = sample(33.0, card(0, 5)), sample(44.0, reason="Der Treiber fehlt – 没有")
    torn = encode_sample(9, first)[:50]
    foreign = ['{"run_time": 3}', "[]", '{"run_time": "x", "cpu": 1, "ram_used": 1, "ram_total": 1, "time": 0}', torn]
    path.write_text("\n".join([encode_sample(1.234, first), *foreign, encode_sample(2, second)]), "utf-8")
    assert list(read_samples(path)) == [(1.23, first), (2.0, second)]
    assert decode_sample(encode_sample(1, first).replace('"index"', '"newer": 1, "index"')) == (1.0, first)
    assert not list(read_samples(tmp_path / "none.jsonl"))


def test_the_table_has_a_line_for_each_moment():
    series, other = RunSeries(), RunSeries()
    for number in range(3):
        series.add_event(step(number, grad_norm=0.5 if number else None))
    series.add_event(Evaluated(step=2, time=0.15, score=0.25))
    series.add_sample(0.1, sample(77.0))
    other.add_event(step(5))
    data = series_table([("划痕, run", series), ("b", other)])
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert [(row["run"], float(row["seconds"])) for row in rows] == [
        ("划痕, run", 0.0),
        ("划痕, run", 0.1),
        ("划痕, run", 0.15),
        ("划痕, run", 0.2),
        ("b", 0.5),
    ]
    assert rows[1]["cpu"] == "77" and rows[1]["grad_norm"] == "0.5" and rows[0]["grad_norm"] == ""
    assert rows[2]["score"] == "0.25" and rows[2]["loss"] == "" and float(rows[1]["loss"]) == pytest.approx(0.5)


def test_the_name_of_a_run_is_no_formula_in_the_table():
    series = RunSeries()
    series.add_event(step(1))
    rows = list(csv.reader(io.StringIO(series_table([("=1+1", series), ("-2", series)]).decode("utf-8-sig"))))
    assert [row[0] for row in rows[1:]] == ["'=1+1", "-2"]


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
