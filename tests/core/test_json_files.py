"""The loader of JSON files: one problem for every fault; and each reader that uses it."""

from __future__ import annotations

import json
import math
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from workbench.core import problems
from workbench.core.evaluation import operating_point
from workbench.core.json_files import load_versioned, to_dataclass
from workbench.core.project.class_merge import newest_merge
from workbench.core.project.project import Project, read_project_file
from workbench.core.project.storage import write_json
from workbench.core.runs import events, training_settings
from workbench.core.runs.gpu_facts import GpuSample, decode_sample
from workbench.core.runs.run import create_run, find_run
from workbench.core.runs.run_history import diagnose, read_past
from workbench.core.runs.training_settings import request
from workbench.core.suggestions.suggestion_files import load_stored
from workbench.inference.io.json_io import JsonError, parse_json, read_json, read_lines
from workbench.session import display_presets

FAULTS = {
    "empty": b"",
    "text": b"hello",
    "nested": b"[" * 100_000,
    "deep": b"[" * 150 + b"]" * 150,
    "deep object": b'{"a":' * 100_000,
    "huge": b"1" + b"0" * 400,
    "longer": b"1" * 5000,
    "beyond 64 bits": b"9223372036854775808",
    "utf-16": b"\xff\xfe{\0}\0",
    "latin-1": '{"a": "ä"}'.encode("latin-1"),
    "nul": b'{"a": "x\\u0000"}',
    "surrogate": b'{"a": "\\ud800"}',
    "surrogate as key": b'{"\\uDC80": 1}',
}


@pytest.mark.parametrize("content", FAULTS.values(), ids=FAULTS)
def test_every_fault_raises_the_same_problem(tmp_path, content):
    with pytest.raises(JsonError, match="not valid JSON"):
        parse_json(content)
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(JsonError):
        read_json(tmp_path / "x.json")


def test_valid_json_is_returned():
    value = {"a": [1, -(2**63), 2**63 - 1, 0.5, None, True, "\\u0000 \\ud800", "裂纹", "😀"]}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert parse_json(text) == parse_json(text.encode()) == parse_json(text.encode("utf-8-sig")) == value
    assert parse_json('"\\udc80"', surrogates=True) == "\udc80"
    assert math.isnan(parse_json("NaN"))
    for text in ("NaN", "-Infinity", "1e999"):
        with pytest.raises(JsonError):
            parse_json(text, finite=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_only_regular_files_of_a_bounded_size_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").write_bytes(b" " * 101)
    for name in ("pipe", "zero", "loop", ".", "x" * 300, "large", "large/x"):
        with pytest.raises(JsonError):
            read_json(tmp_path / name, limit=100)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "missing")


def test_too_long_lines_are_skipped(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n" + b"x" * 100 + b"\ntwo\n" + b"y" * 9 + b"\nlast")
    assert list(read_lines(path, limit=10)) == [(0, b"one\n"), (105, b"two\n"), (109, b"y" * 9 + b"\n"), (119, b"last")]


@pytest.mark.parametrize("found", [0, -1, "1", 1.0, True, None, [1], 10**30])
def test_a_format_version_that_is_no_number_is_refused(tmp_path, found):
    write_json(tmp_path / "x.json", {"format": found})
    with pytest.raises(problems.ProjectBroken):
        load_versioned(tmp_path / "x.json", display_presets.DisplayFile, 1, problems.ProjectBroken)


def test_every_reader_of_a_project_names_the_file_that_is_broken(labeled_project):
    run = create_run(labeled_project, request("unet", epochs=1))
    key = labeled_project.images()[0]
    readers = {
        labeled_project.root / "display.json": lambda: display_presets.load_displays(labeled_project),
        labeled_project.root / "training.json": lambda: training_settings.load_overrides(labeled_project),
        labeled_project.root / "proposals" / f"{key}.json": lambda: load_stored(labeled_project, key),
        labeled_project.root / "journal/changes/000001/plan.json": lambda: newest_merge(labeled_project),
        run.settings_path: run.settings,
        run.dataset_path: run.dataset,
        run.best / "model.json": lambda: operating_point.read(run),
        labeled_project.root / "project.json": lambda: read_project_file(labeled_project.root),
    }
    for path, read in readers.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        for content in (b"[" * 100_000, b"[]", b'{"format": 2}', b'{"format": "9"}', b"\xff", b"1" * 500):
            path.write_bytes(content)
            with pytest.raises(problems.Problem) as caught:
                read()
            assert str(path) in str(caught.value), content


INVALID_PROJECTS = [
    {"sources": [{"name": "*" * 300, "path": "/x"}]},
    {"sources": [{"name": "a", "path": "x" * 300}]},
    {"sources": [{"name": "a", "path": "/a\0b"}]},
    {"name": "\ud800"},
    {"um_per_pixel": 10**400},
    {"um_per_pixel": math.inf},
    {"classes": [{"id": 1, "name": "a\0", "color": "#000000"}]},
    {"split_seed": 2**70},
]


@pytest.mark.parametrize("changes", INVALID_PROJECTS)
def test_invalid_values_in_project_json_are_reported(project, changes):
    content = json.loads((project.root / "project.json").read_bytes())
    (project.root / "project.json").write_text(json.dumps({**content, **changes}), "utf-8")
    with pytest.raises(problems.ProjectBroken) as caught:
        Project.open(project.root, write=False)
    assert "project.json" in str(caught.value)


def test_one_run_with_a_broken_dataset_does_not_hide_the_best(labeled_project):
    runs = [create_run(labeled_project, request("unet", epochs=1)) for _ in range(3)]
    for run, score in zip(runs, (0.5, 0.9, 0.7)):
        for name in ("model.json", "network.onnx"):
            (run.best / name).parent.mkdir(exist_ok=True)
            (run.best / name).write_bytes(b"")
        run.events_path.write_text(events.encode(events.Evaluated(step=1, score=score, best=True)) + "\n", "utf-8")
    assert find_run(labeled_project.root, "best").name == runs[1].name
    for broken, best in ((2, 1), (1, 0)):
        runs[broken].dataset_path.write_text("[" * 100_000, "utf-8")
        assert find_run(labeled_project.root, "best").name == runs[best].name
    runs[0].dataset_path.unlink()
    assert find_run(labeled_project.root, "best").name == runs[1].name  # runs without data sets can still predict


# --- events ------------------------------------------------------------------------------------------

WRONG = [
    {"kind": "step", "step": "7", "loss": 1.0, "rate": 0.1},
    {"kind": "step", "step": 7, "loss": [1], "rate": 0.1},
    {"kind": "step", "step": 7, "loss": 1.0, "rate": 0.1, "skipped": None},
    {"kind": "step", "step": True, "loss": 1, "rate": 1},
    {"kind": "step", "step": 7, "loss": 1.0, "rate": 0.1, "time": "now"},
    {"kind": "step", "step": 7, "loss": 1, "rate": 1, "time": -5},
    {"kind": "evaluated", "step": 1, "score": "high"},
    {"kind": "evaluated", "step": 1, "metrics": [1]},
    {"kind": "evaluated", "step": 1, "metrics": {"regions": {"defects": "many"}}},
    {"kind": "evaluated", "step": 1, "metrics": {"dice": {}}},
    {"kind": "started", "model": "unet", "device": 5},
    {"kind": "started", "model": "unet", "device": "cpu", "pictures": {"val": "x"}},
    {"kind": "preview", "step": 1, "picture": "a", "corner": [1]},
    {"kind": "preview", "step": 1, "picture": "a", "size": [0, 5]},
    {"kind": "preview", "step": 1, "picture": "a", "mask": "../../x.png"},
    {"kind": "preview", "step": 1, "picture": "a", "mask": "x" * 300},
    {"kind": "finished", "why": None},
    {"kind": "finished", "result": {"metrics": 5}},
    {"kind": "failed", "why": "x", "problem": 3},
    {"kind": "trouble", "what": 1},
    {"kind": ["step"]},
    {"kind": "step"},
    ["kind"],
    5,
    None,
]


def test_an_event_with_values_of_other_types_is_skipped_and_counted(labeled_project):
    for line in WRONG:
        assert isinstance(events.decode(json.dumps(line)), events.Unknown), line
    run = create_run(labeled_project, request("unet", epochs=1))
    good = [events.Started(model="unet", device="cpu"), events.Step(step=1, loss=math.nan, rate=0.1, time=1)]
    lines = [events.encode(good[0]), *map(json.dumps, WRONG), events.encode(good[1])]
    run.events_path.write_text("\n".join(lines) + "\n", "utf-8")
    past = read_past(run)
    assert past.skipped == len(WRONG) and past.series.steps.count == 1 and past.notable == good[:1]
    assert math.isnan(past.state.step.loss) and diagnose(past.state).kind


def test_events_that_are_written_are_read(labeled_project):
    every = [
        events.Step(step=3, loss=math.nan, rate=1, grad_norm=math.inf, time=2),
        events.Started(model="unet", device="gpu:0", pictures={"train": 2}, seconds_planned=None),
        events.Finished(result={"forced": True, "usable": True, "resumable": False, "anything": [1, {"a": None}]}),
    ]
    step, *others = [events.decode(events.encode(event)) for event in every]
    assert math.isnan(step.loss) and step.grad_norm is None and step.rate == 1
    assert others == every[1:]


def test_samples_with_values_of_other_types_are_left_out():
    sample = {"run_time": 1, "time": 0, "cpu": 1, "ram_used": 1, "ram_total": 1, "gpus": []}
    assert decode_sample(json.dumps(sample)) is not None
    gpu = dict.fromkeys(("utilisation", "memory_used", "memory_total", "temperature", "power", "clock"))
    for changes in (
        {"cpu": "1"},
        {"ram_used": None},
        {"gpus": 5},
        {"gpus": [5]},
        {"run_time": [1]},
        {"disk_read_mb_s": {}},
        {"gpus": [{**gpu, "index": 10**9, "name": "x"}]},
        {"gpus": [{**gpu, "index": -1, "name": "x"}]},
    ):
        assert decode_sample(json.dumps({**sample, **changes})) is None, changes
    assert to_dataclass(GpuSample, {**gpu, "index": 0, "name": "Card", "later": 1}).name == "Card"


def test_an_operating_point_of_another_type_is_replaced_by_the_trained_one(labeled_project):
    from tests.inference.conftest import gray_settings
    from workbench.inference.model_settings import save_settings

    run = create_run(labeled_project, request("unet", epochs=1))
    save_settings(gray_settings(), run.best / "model.json")
    now = operating_point.OperatingPoint.of(gray_settings())
    good = {"thresholds": list(now.thresholds), "min_area": list(now.min_area)}
    for trained in (
        None,
        [],
        {**good, "thresholds": ["x", 1]},
        {**good, "thresholds": [5.0, 0.5]},
        {**good, "min_area": [1.5, -1]},
    ):
        write_json(run.root / operating_point.FILE, {"format": 1, "trained": trained, "chosen": good, "chosen_on": []})
        assert operating_point.read(run).trained.on(gray_settings()) is not None
    text = json.dumps({"format": 1, "trained": good, "chosen": {**good, "unsure": 10**400}, "chosen_on": []})
    (run.root / operating_point.FILE).write_text(text, "utf-8")
    assert operating_point.read(run).trained == now
    content = (run.best / "model.json").read_text("utf-8").replace('"high": 255.0', f'"high": {10**400}')
    Path(run.best / "model.json").write_text(content, "utf-8")
    with pytest.raises(problems.RunBroken):
        operating_point.read(run)


@pytest.mark.parametrize(
    "changes", [{"gamma": 0}, {"gamma": -1}, {"low": 1e300}, {"low": 9, "high": 3}, {"local_contrast": -1}]
)
def test_an_unusable_display_is_refused(project, changes):
    write_json(project.root / "display.json", {"format": 1, "presets": {"a": changes}})
    with pytest.raises(problems.ProjectBroken, match="presets.a"):
        display_presets.load_displays(project)


def test_a_loss_scale_below_zero_is_left_out():
    line = {"kind": "step", "step": 30, "loss": 1.0, "rate": 0.1, "loss_scale": -2.0}
    assert isinstance(events.decode(json.dumps(line)), events.Unknown)


def test_a_small_file_is_read_without_reserving_the_limit(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[1]")
    tracemalloc.start()
    try:
        assert read_json(tmp_path / "a.json") == [1]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
