"""Training settings, run folders, events and their index: round trips, and damaged files."""

from __future__ import annotations

import itertools
import math
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.image_row import ImageIndex, with_index
from workbench.core.project.project import Grouping, Project
from workbench.core.runs import events, run_history
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.run import Run, RunName, create_run, find_run, list_runs
from workbench.core.runs.training_settings import parse_settings, request
from workbench.inference.io.image_io import write_png


def test_a_run_holds_its_exact_data_and_every_reason(labeled_project):
    run = create_run(labeled_project, request("unet", epochs=1))
    training_settings, dataset = run.settings(), run.dataset()
    assert training_settings.epochs == 1 and training_settings.channels == 1
    assert 0 <= training_settings.low < training_settings.high <= 255
    assert {"patch", "widths", "batch", "low", "mean"} <= training_settings.reasons.keys()
    assert len(dataset.items) == 16 and all(i.mask_hash for i in dataset.items)
    assert not run.usable and not run.resumable and run.ending() is None
    with pytest.raises(problems.RunUnusable):
        run.need_usable()


def test_runs_created_within_one_second_have_different_names(labeled_project):
    names = [create_run(labeled_project, request("unet", epochs=1)).name for _ in range(3)]
    assert len(set(names)) == 3
    assert [run.name for run in list_runs(labeled_project.root)] == names
    assert find_run(labeled_project.root, "last").name == names[-1]
    assert find_run(labeled_project.root, names[0]).name == names[0]
    with pytest.raises(problems.UnknownRun):
        find_run(labeled_project.root, "no such run")


def test_runs_stay_in_order_when_the_clock_is_set_back(labeled_project, monkeypatch):
    names = []
    for moment in ("20261025-025930", "20261025-020010", "20000101-000000", "20261101-120000"):
        clock = SimpleNamespace(strftime=lambda form, moment=moment: moment)
        monkeypatch.setattr("workbench.core.runs.run.time", clock)
        names.append(create_run(labeled_project, request("unet", epochs=1)).name)
    assert names[1:3] == ["20261025-025931-unet", "20261025-025932-unet"] and names[3] == "20261101-120000-unet"
    assert [run.name for run in list_runs(labeled_project.root)] == names


def test_training_images_of_the_initial_run_are_not_held_out(project):
    fill_project(project, 20)
    project.file.grouping = Grouping(rule="each")
    first = create_run(project, request("unet", epochs=1))
    fill_project(project, 40, good=10)
    on = create_run(project, request("unet", epochs=1, start_from=first.name)).dataset()
    learned = {item.key for item in first.dataset().of("train")}
    assert on.of("val") and not learned & {item.key for item in on.of("val", "test")}


def test_training_images_of_a_run_of_another_project_are_not_held_out(project, tmp_path):
    fill_project(project, 20)
    project.file.grouping = Grouping(rule="each")
    first = create_run(project, request("unet", epochs=1))
    learned = [item.key for item in first.dataset().of("train")]
    with Project.create(tmp_path / "other", classes=["scratch"]) as other:
        other.file.grouping = Grouping(rule="each")
        other.file.split_seed = 1
        fill_project(other, 24, seed=7, good=4)
        for number, key in enumerate(learned[:9]):
            copy = f"under another name/{number}.png"
            other.image_path(copy).parent.mkdir(exist_ok=True)
            shutil.copyfile(project.image_path(key), other.image_path(copy))
            annotation.save_mask(other, copy, annotation.load_mask(project, key))
            annotation.save_note(other, copy, annotation.Note(status="done"))
        anew = create_run(other, request("unet", epochs=1)).dataset().of("val", "test")
        on = create_run(other, request("unet", epochs=1, start_from=str(first.root))).dataset().of("val", "test")
        assert any(item.key.startswith("under") for item in anew)
        assert on and not any(item.key.startswith("under") for item in on)
        shutil.move(first.root, tmp_path / "a run alone")  # unknown then, without an error
        assert create_run(other, request("unet", epochs=1, start_from=str(tmp_path / "a run alone"))).dataset().items


def test_manually_changed_settings_are_kept(labeled_project):
    run = create_run(
        labeled_project, request("unet", epochs=1, **parse_settings(["patch=64", "widths=[8,16]", "stem=1"]))
    )
    training_settings = run.settings()
    assert (training_settings.patch, training_settings.widths, training_settings.stem) == (64, [8, 16], 1)
    assert "manually" in training_settings.reasons["patch"]


@pytest.mark.parametrize(
    ("choices", "key"),
    [({"patch": 3}, "patch"), ({"nonsense": 1}, "nonsense"), ({"minutes": -1}, "minutes"), ({"rate": "fast"}, "rate")],
)
def test_a_bad_setting_is_named(choices, key):
    with pytest.raises(problems.BadSettings) as caught:
        request("unet", **choices)
    assert caught.value.fields["key"] == key
    with pytest.raises(problems.BadSettings):
        parse_settings(["patch"])


def test_sixteen_bit_images_get_a_range_of_their_own(project):
    rng = np.random.default_rng(0)
    for i in range(4):
        write_png(project.image_path(f"{i}.png"), rng.integers(300, 900, (40, 40)).astype(np.uint16))
        mask = np.zeros((40, 40), np.uint8)
        mask[5:9, 5:9] = 1
        annotation.save_mask(project, f"{i}.png", mask)
    training_settings = create_run(project, request("unet", epochs=1)).settings()
    assert (
        training_settings.full_scale == 65535
        and 250 < training_settings.low < 400
        and 800 < training_settings.high < 950
    )


def test_color_is_detected_and_gray_stored_as_color_is_not(project):
    rng = np.random.default_rng(0)
    for i in range(4):
        gray = rng.integers(50, 200, (40, 40, 1)).astype(np.uint8)
        write_png(project.image_path(f"{i}.png"), np.repeat(gray, 3, axis=2))
        mask = np.zeros((40, 40), np.uint8)
        mask[5:9, 5:9] = 1
        annotation.save_mask(project, f"{i}.png", mask)
    assert create_run(project, request("unet", epochs=1)).settings().channels == 1
    for i in range(4):
        write_png(project.image_path(f"{i}.png"), rng.integers(50, 200, (40, 40, 3)).astype(np.uint8))
    assert create_run(project, request("unet", epochs=1)).settings().channels == 3


def test_events_survive_a_round_trip():
    sent = [
        events.Started(model="unet", device="cpu", pictures={"train": 3}),
        events.Step(time=1.5, step=3, loss=0.25, rate=1e-3, loss_scale=None, progress=0.1),
        events.Evaluated(step=3, metrics={"dice": 0.5, "regions": {"recall": None}}, score=0.5, best=True),
        events.Preview(step=3, picture="划痕.png", mask="previews/a.png"),
        events.Trouble(what="a", done="b"),
        events.Failed(why="x", problem="NoLabels", fields={"a": 1}),
        events.Finished(result={"score": 1.0}),
    ]
    assert [events.decode(events.encode(e)) for e in sent] == sent


def test_nan_is_stored_and_truncated_lines_are_skipped():
    line = events.encode(events.Step(step=1, loss=math.nan, rate=0.1))
    assert "NaN" not in line
    assert math.isnan(events.decode(line).loss)
    assert events.decode(line[:-5]) is None
    assert events.decode("") is None
    assert isinstance(events.decode('{"kind": "tomorrow", "x": 1}'), events.Unknown)
    assert isinstance(events.decode('{"kind": "step"}'), events.Unknown)
    assert isinstance(events.decode("[1]"), events.Unknown)


def test_only_lines_of_the_requested_events_are_decoded(tmp_path, monkeypatch):
    """A run of a million steps is searched for its ending and its best evaluation."""
    run = Run(tmp_path)
    started, ended = events.Started(model="unet", device="cpu"), events.Finished(time=9.0)
    step = events.Step(step=1, loss=1.0, rate=0.1)
    best = events.Evaluated(step=1, score=0.5, best=True)
    run.events_path.write_text("".join(f"{events.encode(e)}\n" for e in (started, *[step] * 50, best, ended)), "utf-8")
    decoded = []
    monkeypatch.setattr("workbench.core.runs.run.decode", lambda line: decoded.append(line) or events.decode(line))
    assert list(run.events(events.Started, events.Finished)) == [started, ended]
    assert run.ending() == ended and run.best_evaluation() == best
    assert len(decoded) == 2 + 2 + 1
    assert len(list(run.events())) == 53
    with run.events_path.open("a", encoding="utf-8") as file:  # a line with values of other types ends no run
        file.write('{"kind": "started", "model": 5}\n')
    assert run.ending() == ended and len(list(run.events())) == 54


def test_reading_a_past_run_pauses_for_the_window(tmp_path, monkeypatch):
    """A thread that decodes a million events without pauses delays every callback of the GUI thread."""
    run, clock, pauses = Run(tmp_path), itertools.count(), []
    step = events.Step(step=1, loss=1.0, rate=0.1)
    run.events_path.write_text(f"{events.encode(step)}\n" * 100, "utf-8")
    times = SimpleNamespace(perf_counter=lambda: next(clock) * 0.0004, sleep=pauses.append)
    monkeypatch.setattr(run_history, "time", times)
    assert run_history.read_past(run).series.steps.count == 100
    assert len(pauses) >= 25 and min(pauses) > 0


def test_a_resumed_run_has_not_ended(tmp_path):
    run = Run(tmp_path)
    start = events.Started(model="unet", device="cpu")
    lines = [start, events.Finished(why="stopped"), events.Started(model="unet", device="cpu", resumed=True)]
    run.events_path.write_text("\n".join(map(events.encode, lines)) + '\n{"kind": "st')
    assert run.ending() is None and len(list(run.events())) == 3


@pytest.mark.parametrize("name", ["settings_path", "dataset_path"])
def test_a_broken_run_file_is_named(labeled_project, name):
    run = create_run(labeled_project, request("unet", epochs=1))
    getattr(run, name).write_text("{")
    with pytest.raises(problems.RunBroken):
        run.settings(), run.dataset()
    assert find_run(labeled_project.root, run.name).name == run.name


def test_the_index_is_rebuilt(project):
    keys = fill_project(project, 3)
    index = ImageIndex(project)
    assert {row.key for row in index.refresh(keys)} == set(keys)
    assert list(index.refresh(keys)) == []
    row = index.rows()[keys[0]]
    assert row.status == "done" and row.masked and row.counts[0][0] == 1 and (row.width, row.height) == (96, 80)
    index.close()

    (project.root / ".cache" / "index.sqlite").write_bytes(b"not a database at all" * 100)
    rebuilt, found = [], []
    with_index(project, lambda index: found.append(list(index.refresh(keys))), rebuilt.append)
    assert len(found[-1]) == 3 and len(rebuilt) == 1
    index = ImageIndex(project)
    annotation.save_mask(project, keys[1], np.zeros((80, 96), np.uint8))
    project.image_path(keys[2]).write_bytes(b"torn")
    changed = {row.key: row for row in index.refresh(keys[:2] + keys[2:])}
    assert changed[keys[1]].counts == () and changed[keys[2]].broken
    project.image_path(keys[0]).unlink()
    list(index.refresh(keys[1:]))
    assert keys[0] not in index.rows()


def test_a_folder_moved_while_it_is_listed_is_no_damage_of_the_index(project):
    keys = fill_project(project, 3)
    moved, rebuilt = project.root.with_name("moved"), []

    def move_and_list(index: ImageIndex) -> None:
        project.root.rename(moved)
        list(index.refresh(keys))
        raise sqlite3.DatabaseError("disk I/O error")

    with pytest.raises(problems.ProjectGone, match="is not available"):
        with_index(project, move_and_list, rebuilt.append)
    assert rebuilt == [] and not project.root.exists() and (moved / ".cache" / "index.sqlite").exists()


def test_the_child_gets_its_number_of_threads_unless_the_user_set_it():
    environment = worker_environment("cpu", {"MKL_NUM_THREADS": "7", "PATH": "/bin"})
    assert environment["OMP_NUM_THREADS"] == "1" and environment["MKL_NUM_THREADS"] == "7"
    assert environment["CUDA_VISIBLE_DEVICES"] == ""
    assert worker_command("train", "run folder")[-2:] == ["train", "run folder"]


def test_a_frozen_application_starts_itself_as_the_child(monkeypatch):
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys.executable", "/opt/workbench")
    program = str(Path("/opt/workbench"))
    assert worker_command("export", "run") == [program, "--worker", "export", "run"]


@pytest.mark.parametrize(
    ("name", "model", "year"),
    [
        ("20261120-101500-unet", "unet", 2026),
        ("20261120-101500-unet-2", "unet", 2026),
        ("20261120-101500-resnet-17", "resnet", 2026),
        ("20269920-101500-unet", "", None),
        ("my best unet", "", None),
        ("unet", "", None),
        ("", "", None),
    ],
)
def test_the_parts_of_a_name(name, model, year):
    found = RunName.parse(name)
    assert found.model == model and (found.when.year if found.when else None) == year
