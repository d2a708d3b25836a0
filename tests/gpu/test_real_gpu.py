"""Tests of a real GPU at length, beyond `workbench doctor --gpu`. Run `python -m pytest tests/gpu -q -s`."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from tests.gpu.measurements import NETWORKS
from tests.training.conftest import arrays_of
from workbench.core.runs.child_process import end_process, run_captured
from workbench.core.runs.events import Event, Failed, Finished, Started, Step, Trouble
from workbench.core.runs.gpu_facts import GIB, same_gpu
from workbench.core.runs.launch import program_command, worker_command, worker_environment
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.training import acceptance, device as devices, optimizers
from workbench.training.acceptance import open_sample, prepare_small, run_item, take_steps

# Largest differences of outputs and gradients in the Euclidean norm, relative to the reference.
LIMITS = {"fp32": (1e-4, 1e-3), "fp16": (0.02, 0.06), "bf16": (0.04, 0.15)}
# Least speed relative to fp32 by compute capability. GeForce GPUs from 8.6 on multiply 16-bit numbers with 32-bit sums
# at twice the speed of fp32 at most; data-center GPUs at 8 to 16 times.
FASTER = {(7, 0): 1.5, (7, 5): 1.4, (8, 0): 1.8, (8, 6): 1.2, (8, 9): 1.2, (9, 0): 1.8, (10, 0): 1.8, (12, 0): 1.2}
LARGE: dict[str, Any] = {"widths": [64, 128, 256, 512], "stem": 1, "patch": 256, "batch": 16, "validations": 1}
SMALL: dict[str, Any] = {"widths": [8, 16], "stem": 2, "patch": 64, "batch": 4, "validations": 1, "threads": 2}


@pytest.fixture
def trains_in(device):
    """Return a function that skips the test if the device does not train in a number type."""

    def need(kind: str) -> None:
        chosen = devices.choose(device)
        if kind != "fp32" and optimizers.choose_precision("auto", chosen).name == "fp32":
            pytest.skip(f"{chosen.title} trains in 32 bits")
        if kind == "bf16" and chosen.capability < (8, 0):
            pytest.skip(f"{chosen.title} has no bf16")

    return need


@pytest.mark.parametrize("item", acceptance.ITEMS)
def test_item_of_the_acceptance_passes(device, tmp_path, show, item):
    outcome = run_item(item, device, tmp_path)
    show(f"{outcome['status']} {item}: {outcome['detail']}")
    assert outcome["status"] == "PASS", outcome["detail"]


def test_driver_and_cuda_number_the_same_gpu(gpu, measure):
    """MIG instances included. The window shows the load of the GPU that a training reports."""
    uuid, bus_id, reported = measure("cuda_identity", gpu)
    found = [(own, mig) for own, bus, mig in measure("driver") if same_gpu((own, bus), (uuid, bus_id))]
    assert len(found) == 1 and reported
    assert any(name.startswith(reported) for name in (found[0][0], *found[0][1]))


@pytest.mark.parametrize("kind", LIMITS)
def test_layers_compute_as_on_the_cpu_and_in_16_bits_as_in_32(device, measure, trains_in, kind):
    trains_in(kind)
    for name, values in measure("layers", device, kind).items():
        assert all(value <= limit for value, limit in zip(values, LIMITS[kind])), (name, values)


def test_losses_are_those_of_the_cpu(device, measure):
    for name, values in measure("losses", device).items():
        assert all(value <= limit for value, limit in zip(values, LIMITS["fp32"])), (name, values)


def test_loss_scale_doubles_after_500_steps(gpu, measure, trains_in):
    trains_in("fp16")
    first, last, skipped = measure("growth", gpu, 520)
    assert last == 2 * first or skipped


@pytest.mark.parametrize("network", NETWORKS)
def test_16_bits_are_faster_than_32(device, measure, show, network):
    chosen = devices.choose(device)
    default = optimizers.choose_precision("auto", chosen).name
    reduced = () if default == "fp32" else ("fp16", "bf16") if chosen.capability >= (8, 0) else ("fp16",)
    kinds = ("fp32", *reduced)
    rows = {kind: measure("speed", device, network, kind, not chosen.is_gpu) for kind in kinds}
    for kind, row in rows.items():
        show(
            f"{network} {kind}: {row['images_per_second']:.0f} images/s, {row['step_ms']:.1f} ms, "
            f"busy {row['utilization']:.0f} %, {row['bytes'] / GIB:.2f} GiB"
        )
    assert all(row["finite"] for row in rows.values())
    if "fp16" in rows:
        ratio = rows["fp16"]["images_per_second"] / rows["fp32"]["images_per_second"]
        generation = max((one for one in FASTER if one <= chosen.capability), default=(7, 0))
        assert ratio >= (1.0 if NETWORKS[network][1] < 128 else FASTER[generation])
        assert rows["fp16"]["bytes"] <= 0.7 * rows["fp32"]["bytes"]


def test_threads_prepare_images_faster_than_a_small_network_takes_them(device, tmp_path, show):
    context = prepare_small(tmp_path, "unet", device, epochs=50, batch=16)
    take_steps(context, 1)  # reads the images
    waited, began = context.loader.wait_seconds, time.perf_counter()
    take_steps(context, 20 if device != "cpu" else 3)
    share = (context.loader.wait_seconds - waited) / (time.perf_counter() - began)
    context.loader.close()
    show(f"waiting for images: {share:.0%} of the time")
    assert share < 0.5


# --- memory -------------------------------------------------------------------------------------------


def make_run(folder: Path, device: str, settings: dict[str, Any]) -> Run:
    with open_sample(folder) as project:
        return create_run(project, request("unet", **{"epochs": 1, "device": device, **settings}))


def train(run: Run, device: str, **variables: str) -> list[Event]:
    command = worker_command("train", run.root, "--keep-running")
    run_captured(command, seconds=400, environment={**worker_environment(device), **variables})
    events = list(run.events())
    assert isinstance(events[-1], (Finished, Failed)), events[-1:]
    return events


def adapted(events: list[Event]) -> list[str]:
    """Return how a training adapted to little memory. Fails if it ended otherwise than by a sentence about memory."""
    last = events[-1]
    if isinstance(last, Failed):
        assert "memory" in last.why.lower() and not re.search(r"\w+Error\b", last.why), last.why
        return [last.why]
    return [str(event.done) for event in events if isinstance(event, Trouble) and "memory" in event.what.lower()]


@pytest.mark.parametrize("share", [0.6, 0.05])
def test_training_with_too_little_memory_adapts_or_ends_with_a_sentence(gpu, measure, tmp_path, show, share):
    kind = optimizers.choose_precision("auto", devices.choose(gpu)).name
    peak = measure("speed", gpu, "unet-256", kind, False)["bytes"]
    limit = max(64, int(peak * share) >> 20)  # of Paddle's allocator, as the measured peak
    events = train(make_run(tmp_path, gpu, LARGE), gpu, FLAGS_gpu_memory_limit_mb=str(limit))
    show(f"{limit} MB of {peak / GIB:.2f} GiB: {adapted(events)}")
    assert adapted(events)


def fill(measure, device: str, folder: Path) -> tuple[threading.Thread, Path]:
    """Let another process fill the memory of a GPU until the file is removed."""
    ready = folder / "full"
    thread = threading.Thread(target=measure, args=("hold", device, str(ready)))
    thread.start()
    until = time.monotonic() + 60
    while not ready.exists() and time.monotonic() < until:
        time.sleep(0.2)
    assert ready.exists()
    return thread, ready


@pytest.mark.parametrize("count", [1, 2])
def test_training_beside_a_program_that_fills_the_gpu(gpu, measure, tmp_path, count):
    """With two GPUs, the second one is filled: both continue in parts, or end with a sentence."""
    if count > devices.count_gpus():
        pytest.skip("needs two GPUs")
    thread, ready = fill(measure, gpu if count == 1 else "gpu:1", tmp_path)
    try:
        adapted(train(make_run(tmp_path, gpu if count == 1 else "gpu:0,1", LARGE), gpu))
    finally:
        ready.unlink()
        thread.join()


# --- two processes ------------------------------------------------------------------------------------


@pytest.fixture
def two_devices(device) -> str:
    if device.startswith("gpu") and devices.count_gpus() < 2:
        pytest.skip("needs two GPUs")
    return "gpu:0,1" if device.startswith("gpu") else "cpu:2"


def test_two_gpus_compute_as_two_replicas_on_the_cpu(two_devices, tmp_path):
    """Each process, as each replica, normalizes its own part of a batch; one GPU alone would normalize all of it."""
    results = []
    for name in ("cpu", two_devices):
        settings = {**SMALL, "workers": 2, "optimizer": "adamw", "average": 0.0, "augment": [], "precision": "fp32"}
        run = make_run(tmp_path, name, settings)
        last = train(run, name)[-1]
        assert isinstance(last, Finished), last
        results.append(arrays_of(next(run.last.glob("weights.*.safetensors"))))
    for part in ("weight", "_mean"):
        names = sorted(name for name in results[0] if name.endswith(part))
        one, other = (np.concatenate([arrays[name].ravel() for name in names]) for arrays in results)
        assert np.linalg.norm(one - other) <= 2e-2 * np.linalg.norm(one), part


def test_run_whose_second_process_is_killed_ends_with_a_sentence(two_devices, tmp_path):
    run = make_run(tmp_path, two_devices, {**SMALL, "epochs": 100_000, "workers": 1})
    process = psutil.Popen(worker_command("train", run.root, "--keep-running"), env=worker_environment(two_devices))
    try:
        assert wait_for(run, Step, 180)
        leader = next(event for event in run.events() if isinstance(event, Started)).process
        ranks = {child.environ().get("PADDLE_TRAINER_ID"): child for child in process.children(recursive=True)}
        assert ranks["1"].pid != leader
        ranks["1"].kill()
        assert wait_for(run, Failed, 60)
    finally:
        end_process(process.pid, kill=True)
    assert list(run.events())[-1].problem


def wait_for(run: Run, kind: type[Event], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if any(isinstance(event, kind) for event in run.events()):
            return True
        time.sleep(0.2)
    return False


# --- workflow -----------------------------------------------------------------------------------------


def verb(device: str, *arguments: object) -> dict[str, Any]:
    command = program_command(*map(str, arguments), "--json")
    output = run_captured(command, seconds=800, environment=worker_environment(device))
    assert output.returncode == 0, output.last_line
    return json.loads(output.stdout)


@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_model_is_trained_evaluated_exported_and_predicts(device, tmp_path, show, model):
    on_gpu = device.startswith("gpu")
    with open_sample(tmp_path, small=not on_gpu) as project:
        root = project.root
    length = ("--minutes", 1.0) if on_gpu else ("--epochs", 2)
    trained = verb(device, "train", root, "--model", model, *length, "--device", device)
    measured = verb(device, "evaluate", root, "--model", model, "--split", "val")
    options = ("--formats", "onnx,paddle", "--seconds", "0", "--out", tmp_path / "export")
    exported = verb(device, "export", root, "--model", model, *options)
    images = sorted((root / "pictures").rglob("*.png"))[:6]
    predicted = verb(device, "predict", exported["path"], *images, "--out", tmp_path / "results")
    score = measured["macro_f1"] if model == "resnet" else measured["any_defect"]["dice"]
    show(f"{model}: {trained['device']}, {trained['precision']}, {trained['steps']} steps, metric {score}")
    assert str(trained["device"]).startswith("gpu" if on_gpu else "cpu")
    assert all(entry["passed"] for entry in exported["parity"].values()) and len(predicted["pictures"]) == len(images)
    assert not on_gpu or score > 0.3


def test_gpu_reaches_at_least_the_quality_of_the_cpu_in_equal_minutes(gpu, tmp_path, show):
    with open_sample(tmp_path, small=False) as project:
        root = project.root
    scores = {}
    for name in (gpu, "cpu"):
        run = verb(name, "train", root, "--model", "unet", "--minutes", 1.5, "--device", name)["run"]
        scores[name] = verb(name, "evaluate", root, "--run", run, "--split", "val")["any_defect"]["dice"]
    show(f"Dice in equal minutes: {scores}")
    assert scores[gpu] >= scores["cpu"] - 0.05  # smaller differences are noise on so few images
