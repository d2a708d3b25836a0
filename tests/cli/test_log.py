"""Verb `log`: values of a run, and the logs as TensorBoard, VisualDL and MLflow read them."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import threading

import pytest

from workbench import cli
from workbench.cli import log, run_values
from workbench.cli.log import TARGETS
from workbench.cli.run_values import STEP_NAMES, Scalar, Text
from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Started, Step, Trouble, encode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, encode_sample
from workbench.core.runs.launch import RunLock
from workbench.core.runs.pip_commands import pip_command, requirement
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.run_history import machine_path
from workbench.core.runs.training_settings import request

GPU = GpuSample(0, "GPU", 80.0, 3 << 30, 8 << 30, 61.0, 120.5, None)
METRICS = {
    "dice": 0.75,
    "iou": 0.5,
    "per_class": {"刮痕/1 %": {"dice": 0.625, "recall_interval": [0.25, 0.875]}, "刮痕:1_?": {"dice": 0.25}},
    "regions": {"recall": 1.0, "found": 3},
    "only_background": False,
}


def step(number: int, loss: float, time: float | None = None) -> Step:
    return Step(step=number, loss=loss, rate=0.001, time=float(number) if time is None else time)


def started(**values) -> Started:
    return Started(model="unet", device="cpu", precision="fp32", parameters=1000, **values)


EVENTS: list[Event] = [
    started(),
    *(step(number, 1 / number) for number in range(1, 5)),
    Evaluated(step=4, metrics=METRICS, score=0.75, best=True, time=4.5),
    Trouble(what="The batch did not fit.", done="It was halved.", time=4.6),
    step(5, math.nan),
    Finished(time=6),
]


@pytest.fixture
def run(labeled_project) -> Run:
    run = create_run(labeled_project, request("unet", epochs=2))
    labeled_project.close()
    return run


def write(run: Run, events: list[Event], samples: tuple[float, ...] = (2.5,)) -> None:
    with run.events_path.open("a", encoding="utf-8") as file:
        file.writelines(encode(event) + "\n" for event in events)
    with machine_path(run).open("a", encoding="utf-8") as file:
        file.writelines(
            encode_sample(at, SystemSample(1e9 + at, 50, 1 << 30, 4 << 30, gpus=(GPU,))) + "\n" for at in samples
        )


class Recorder:
    """Log that keeps its values in memory."""

    location = "memory"

    def __init__(self) -> None:
        self.scalars: list[Scalar] = []
        self.texts: list[Text] = []
        self.closed: list[str | None] = []
        self.grown = threading.Event()

    def add_scalar(self, scalar: Scalar) -> None:
        self.scalars.append(scalar)

    def add_text(self, text: Text) -> None:
        self.texts.append(text)

    def flush(self) -> None:
        if self.scalars:
            self.grown.set()

    def close(self, ending: str | None) -> None:
        self.closed.append(ending)

    def curve(self, name: str) -> list[tuple[int, float]]:
        return [(value.step, value.value) for value in self.scalars if value.name == name]


@pytest.fixture
def recorder(monkeypatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(log, "open_log", lambda *_: recorder)
    return recorder


def call(capsys, *arguments) -> dict:
    capsys.readouterr()
    status = cli.main(["log", *map(str, arguments), "--json"])
    result = json.loads(capsys.readouterr().out)
    return {**result, "status": status}


def test_every_value_of_a_step_has_a_name():
    assert {field.name for field in dataclasses.fields(Step)} == STEP_NAMES.keys() | {"time", "step", "progress"}


def test_values_of_a_run(run, recorder, tmp_path, capsys):
    write(run, EVENTS)
    result = call(capsys, run.root, "--to", "tensorboard", "--out", tmp_path)
    assert result["finished"] and result["values"] == len(recorder.scalars) and recorder.closed == ["done"]
    loss = recorder.curve("train/loss")
    assert loss[:4] == [(n, 1 / n) for n in range(1, 5)] and loss[4][0] == 5 and math.isnan(loss[4][1])
    found = {value.name: value.value for value in recorder.scalars}
    assert found["val/dice"] == 0.75 and found["val/regions/recall"] == 1 and found["val/best_score"] == 0.75
    assert found["val/class/刮痕_1__/dice"] == 0.625 and found["val/class/刮痕_1__/recall_high"] == 0.875
    assert found["val/class/刮痕_1___2/dice"] == 0.25
    assert found["system/gpu_0_memory_usage_megabytes"] == 3072 and "system/gpu_0_clock_megahertz" not in found
    assert recorder.curve("system/cpu_utilization_percentage") == [(2, 50.0)]
    assert [(text.text, text.step) for text in recorder.texts] == [("The batch did not fit. It was halved.", 4)]
    times = [value.time for value in recorder.scalars if value.name == "train/loss"]
    assert times[1] - times[0] == pytest.approx(1) and abs(times[0] - run.settings_path.stat().st_mtime) < 60


def test_values_computed_again_after_a_resume_are_written_once(run, recorder, tmp_path, capsys):
    write(run, [started(), *(step(n, 1.0) for n in range(1, 7))], (1, 2, 20))
    write(run, [started(resumed=True, step=3, time=3.5), *(step(n, 2.0) for n in range(4, 9))], (4, 5))
    write(run, [started(resumed=True, step=5, time=5.5), step(6, 3.0)], ())
    result = call(capsys, run.root, "--to", "tensorboard", "--out", tmp_path)
    assert recorder.curve("train/loss") == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3)]
    assert [value.time - 1e9 for value in recorder.scalars if value.name.endswith("cpu_utilization_percentage")] == [
        *(1, 2, 4, 5)
    ]
    assert not result["finished"] and recorder.closed == [None]


@pytest.mark.parametrize("ending", [Finished(why="stopped", time=9), Failed(why="x", time=9), None])
def test_following_ends_with_the_training(run, recorder, tmp_path, capsys, monkeypatch, ending):
    monkeypatch.setattr(run_values, "POLL", 0.01)
    lock = RunLock(run.root)
    lock.acquire(0)
    write(run, EVENTS[:3])

    def train() -> None:
        assert recorder.grown.wait(60)
        line = encode(step(3, 0.25)) + "\n"
        for part in (line[:20], line[20:]):
            with run.events_path.open("a", encoding="utf-8") as file:
                file.write(part)
        write(run, [] if ending is None else [ending])
        lock.release()

    thread = threading.Thread(target=train)
    thread.start()
    result = call(capsys, run.project_root, "--to", "visualdl", "--out", tmp_path, "--follow")
    thread.join()
    assert recorder.curve("train/loss") == [(1, 1.0), (2, 0.5), (3, 0.25)]
    assert recorder.closed == [{Finished: "stopped", Failed: "failed"}.get(type(ending))]
    assert result["status"] == 0 and result["finished"] == isinstance(ending, Finished)


def test_following_ends_if_the_run_never_starts(run, recorder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run_values, "POLL", 0.01)
    monkeypatch.setattr(run_values, "START_SECONDS", 0.05)
    result = call(capsys, run.root, "--to", "mlflow", "--out", tmp_path, "--follow")
    assert result["values"] == 0 and not result["finished"]


@pytest.mark.parametrize("name", TARGETS)
def test_missing_library_is_named_with_its_command(run, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setitem(sys.modules, TARGETS[name].module, None)
    result = call(capsys, run.root, "--to", name, "--out", tmp_path)
    assert result["status"] == 1 and TARGETS[name].title in result["error"]
    assert pip_command(*map(requirement, TARGETS[name].packages)) in result["error"]


@pytest.mark.parametrize("adopted, why", [(True, "it was adopted, not trained here"), (False, "has not reported any")])
def test_a_run_without_values_is_described_in_a_sentence(run, recorder, tmp_path, capsys, adopted, why):
    if adopted:
        run.adopted_path.write_text("{}")
    assert cli.main(["log", str(run.root), "--to", "tensorboard", "--out", str(tmp_path / "logs")]) == 0
    out = capsys.readouterr().out
    assert f"{run.name} has no values to log: " in out and why in out and "0 values" not in out


def test_wrong_use(run, tmp_path, capsys):
    result = call(capsys, run.root, "--to", "visualdl", "--out", "http://localhost:5000")
    assert result["status"] == 2 and "must be a folder" in result["error"]
    assert call(capsys, tmp_path / "nothing", "--to", "visualdl", "--out", tmp_path)["status"] == 1


@pytest.mark.parametrize("name", TARGETS)
def test_a_log_that_cannot_be_written_is_reported(run, tmp_path, capsys, name):
    pytest.importorskip(TARGETS[name].module)
    (tmp_path / "file").write_bytes(b"")
    result = call(capsys, run.root, "--to", name, "--out", tmp_path / "file" / "logs")
    assert result["status"] == 1 and f"The log for {TARGETS[name].title}" in result["error"]


def test_tensorboard_reads_its_log(run, tmp_path, capsys):
    pytest.importorskip("tensorboardX")
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    write(run, EVENTS)
    for _ in range(2):  # the second call replaces the file of the first
        result = call(capsys, run.root, "--to", "tensorboard", "--out", tmp_path / "日志")
    found = EventAccumulator(result["path"])
    found.Reload()
    losses = found.Scalars("train/loss")
    assert [value.step for value in losses] == [1, 2, 3, 4, 5] and losses[1].value == 0.5
    assert losses[1].wall_time - losses[0].wall_time == pytest.approx(1)
    assert found.Scalars("val/class/刮痕_1__/dice")[0].value == 0.625
    text = found.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| epochs | 2 |" in text and found.Tensors("messages/text_summary")
    assert result["view"] == f'tensorboard --logdir "{tmp_path / "日志"}"'


def test_visualdl_reads_its_log(run, tmp_path, capsys):
    pytest.importorskip("visualdl")
    from visualdl import LogReader

    write(run, EVENTS)
    for _ in range(2):
        result = call(capsys, run.root, "--to", "visualdl", "--out", tmp_path / "日志")
    reader = LogReader(file_path=f"{result['path']}/vdlrecords.workbench.log")
    losses = reader.get_data("scalar", "train/loss")
    assert [record.id for record in losses] == [1, 2, 3, 4] and losses[1].value == 0.5  # NaN is left out
    assert losses[1].timestamp - losses[0].timestamp == 1000
    assert reader.get_data("scalar", "val/class/刮痕_1__/dice")[0].value == 0.625
    assert {"text", "hyper_parameters"} <= reader.get_tags().keys()


def test_mlflow_reads_its_log(run, tmp_path, capsys):
    pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    from mlflow.tracking import MlflowClient

    write(run, EVENTS)
    for _ in range(2):
        result = call(capsys, run.root, "--to", "mlflow", "--out", tmp_path / "日志")
    client = MlflowClient(result["path"])
    experiments = [entry.experiment_id for entry in client.search_experiments()]
    (found,) = client.search_runs(experiments)
    assert found.info.run_name == run.name and found.info.status == "FINISHED"
    assert found.data.params["model"] == "unet" and found.data.params["epochs"] == "2"
    assert found.data.metrics["val/class/刮痕_1__/dice"] == 0.625
    losses = client.get_metric_history(found.info.run_id, "train/loss")
    assert [(value.step, value.value) for value in losses[:4]] == [(n, 1 / n) for n in range(1, 5)]
    assert losses[1].timestamp - losses[0].timestamp == 1000
    assert [entry.path for entry in client.list_artifacts(found.info.run_id)] == ["messages.txt"]
    assert (tmp_path / "日志" / "artifacts").is_dir()
