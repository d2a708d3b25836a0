"""GPUs of a run among those of the machine, full GPU memory, and conditions of several GPUs."""

from __future__ import annotations

import contextlib
import dataclasses
import sys

import pytest

from workbench.core import problems
from workbench.core.runs import launch, pip_commands
from workbench.core.runs.events import Profiled, Started, Step, decode, encode
from workbench.core.runs.gpu_facts import (
    Gpu,
    GpuFacts,
    GpuSample,
    SystemSample,
    decode_sample,
    encode_sample,
    has_tensor_cores,
    training_gpus,
)
from workbench.core.runs.pip_commands import parse_version_file
from workbench.core.runs.run import create_run, plan_run
from workbench.core.runs.run_history import RunState, diagnose
from workbench.core.runs.run_series import RunSeries
from workbench.core.runs.training_settings import request

GB = 1 << 30
SCREEN = GpuSample(0, "GT 1030", 2.0, GB, 2 * GB, 40.0, 9.0, 900.0, uuid="GPU-aa11")
FAST = GpuSample(1, "RTX 4090", 97.0, 20 * GB, 24 * GB, 70.0, 400.0, 2500.0, uuid="GPU-bb22")
SPLIT = GpuSample(2, "H100", None, None, None, 50.0, 300.0, 1700.0, uuid="GPU-cc33", mig=["MIG-1f", "MIG-2f"])
ALL = (SCREEN, FAST, SPLIT)


@pytest.mark.parametrize(
    ("uuids", "device", "names"),
    [
        ("GPU-bb22", "gpu:0", ["RTX 4090"]),  # CUDA_VISIBLE_DEVICES=1: CUDA's GPU 0 is the driver's GPU 1
        ("GPU-bb22,GPU-aa11", "gpu:0,1", ["GT 1030", "RTX 4090"]),
        ("GPU-bb", "gpu:0", ["RTX 4090"]),  # beginning of a UUID, as CUDA_VISIBLE_DEVICES allows
        ("MIG-2f", "gpu:0", ["H100"]),
        ("GPU-zz", "gpu:1", []),
        ("", "gpu:1", ["RTX 4090"]),  # run of an earlier version
        ("", "gpu:0,1", ["GT 1030", "RTX 4090"]),
        ("", "cpu", []),
    ],
)
def test_gpus_that_train_are_matched_by_uuid(uuids, device, names):
    assert [gpu.name for gpu in training_gpus(ALL, uuids, device)] == names


@pytest.mark.parametrize(
    ("name", "capability", "expected"),
    [
        ("NVIDIA GeForce GTX 1650", (7, 5), False),
        ("NVIDIA T400 4GB", (7, 5), False),
        ("NVIDIA T1000 8GB", (7, 5), False),
        ("Quadro T2000 with Max-Q Design", (7, 5), False),
        ("NVIDIA GeForce MX450", (7, 5), False),
        ("NVIDIA GeForce GTX 1080 Ti", (6, 1), False),
        ("Tesla T4", (7, 5), True),
        ("Quadro RTX 4000", (7, 5), True),
        ("NVIDIA GeForce RTX 2060", (7, 5), True),
        ("NVIDIA RTX A2000 12GB", (8, 6), True),
        ("Tesla V100-SXM2-16GB", (7, 0), True),
    ],
)
def test_gpus_without_tensor_cores_are_known_by_name(name, capability, expected):
    """The chips TU116 and TU117 have the capability of the RTX 20 series."""
    assert has_tensor_cores(name, capability) is expected
    other = Gpu(1, "NVIDIA GeForce GTX 1080 Ti", 11 * GB, (6, 1))
    assert GpuFacts("Linux", (Gpu(0, name, 4 * GB, capability), other)).main_number == (0 if expected else 1)


def test_curves_show_only_the_gpu_that_trains():
    series = RunSeries()
    series.add_event(Started(model="unet", device="gpu:0", gpu="GPU-bb22"))
    series.add_sample(1.0, sample(*ALL))
    assert (
        series.at("load 1", 2) == 97 and not series.has("load 0") and [n for n in series.gpu_names if n] == ["RTX 4090"]
    )
    on_cpu = RunSeries()
    on_cpu.add_event(Started(model="unet", device="cpu"))
    on_cpu.add_sample(1.0, sample(*ALL))
    assert len(on_cpu.gpu_names) == 3


def test_advice_is_about_the_gpu_that_trains():
    state = RunState()
    for event in started_and_steps():
        state.add_event(event)
    for _ in range(25):
        state.add_sample(sample(*ALL))
    assert state.mean("gpu") == 97 and diagnose(state).kind != "idle_gpu"


def test_identity_survives_the_files():
    _, read = decode_sample(encode_sample(1.0, sample(*ALL)))
    assert read.gpus == ALL
    assert decode(encode(Started(model="unet", device="gpu:0", gpu="GPU-bb22"))).gpu == "GPU-bb22"
    profiled = Profiled(what="x", folder="profile", operator_ms=21.5, device_ms=80.0)
    assert decode(encode(profiled)) == profiled
    assert decode('{"kind": "profiled", "what": "x", "folder": "profile"}').device_ms is None


def sample(*gpus: GpuSample) -> SystemSample:
    return SystemSample(time=0, cpu=30.0, ram_used=GB, ram_total=8 * GB, gpus=gpus)


def started_and_steps() -> list:
    started = Started(model="unet", device="gpu:0", gpu="GPU-bb22", pictures={"train": 9, "val": 3})
    return [started, *(Step(step=i, time=float(i), loss=1 / (i + 1), rate=0.01, progress=0.1) for i in range(30))]


@pytest.mark.parametrize(
    ("share", "count", "windows", "kind"),
    [
        (0.99, 5, True, "gpu_memory_full"),
        (0.99, 4, True, "learning"),
        (0.9, 5, True, "learning"),
        (0.99, 5, False, "learning"),
    ],
)
def test_full_gpu_memory_is_reported_on_windows(share, count, windows, kind):
    state = RunState(pages_gpu_memory=windows)
    for event in started_and_steps():
        state.add_event(event)
    full = dataclasses.replace(FAST, memory_used=int(share * 24 * GB))
    other = dataclasses.replace(SCREEN, memory_used=2 * GB)  # another GPU is full all the time
    for _ in range(count):
        state.add_sample(sample(other, full))
    finding = diagnose(state)
    assert finding.kind == kind
    if kind == "gpu_memory_full":
        assert finding.fields == {"card": "RTX 4090", "used": full.memory_used, "total": 24 * GB}


def test_memory_that_the_driver_reserves_counts_as_full():
    """Of a GPU with 4 GB it takes so much that programs never reach 97%."""
    state = RunState(pages_gpu_memory=True)
    for event in started_and_steps():
        state.add_event(event)
    small = dataclasses.replace(FAST, memory_used=int(3.84 * GB), memory_reserved=int(0.15 * GB), memory_total=4 * GB)
    for _ in range(5):
        state.add_sample(sample(small))
    assert diagnose(state).kind == "gpu_memory_full"


# --- several GPUs -----------------------------------------------------------------------------------------------------


def test_several_gpus_on_windows_are_refused_before_a_run_is_created(labeled_project, monkeypatch):
    monkeypatch.setattr(launch.platform, "system", lambda: "Windows")
    monkeypatch.setattr(pip_commands, "installed_build", lambda: None)
    with pytest.raises(problems.DeviceMissing, match="NCCL"):
        create_run(labeled_project, request("unet", device="gpu:0,1"))
    assert not list((labeled_project.root / "runs").iterdir())
    launch.check_several_gpus("gpu:1")
    launch.check_several_gpus("cpu:2")
    monkeypatch.setattr(launch.platform, "system", lambda: "Linux")
    launch.check_several_gpus("gpu:0,1")


@pytest.mark.parametrize(
    ("device", "version", "refused"),
    [
        ("gpu", "full_version = '3.3.1'\ncuda_version = 'False'", True),
        (" GPU:1", "full_version = '3.3.1'\ncuda_version = 'False'", True),
        ("gpu", "full_version = '3.3.1'\ncuda_version = '12.6'", False),
        ("gpu", "", False),  # unknown
        ("auto", "full_version = '3.3.1'\ncuda_version = 'False'", False),
        ("cpu", "full_version = '3.3.1'\ncuda_version = 'False'", False),
    ],
)
def test_gpu_with_the_cpu_build_is_refused_before_a_run_is_created(
    labeled_project, monkeypatch, device, version, refused
):
    monkeypatch.setattr(pip_commands, "installed_build", lambda: parse_version_file(version))
    with pytest.raises(problems.DeviceMissing, match="CPU version") if refused else contextlib.nullcontext():
        create_run(labeled_project, request("unet", device=device, epochs=1))
    assert len(list((labeled_project.root / "runs").iterdir())) == (not refused)


several = pytest.mark.skipif(sys.platform == "win32", reason="one GPU is used there")


@pytest.mark.parametrize(
    ("device", "batch", "rounded"),
    [pytest.param(*case, marks=several) for case in (("gpu:0,1", 7, 8), ("gpu:0,1", 8, 8), ("gpu:0,1,2", 1, 3))]
    + [("gpu:0", 7, 7), ("cpu:2", 5, 6)],
)
def test_batch_is_a_multiple_of_the_processes(labeled_project, device, batch, rounded):
    _, settings = plan_run(labeled_project, request("unet", device=device, batch=batch, epochs=1))
    assert settings.batch == rounded
    reason = settings.reasons["batch"]
    assert ("Rounded up from" in reason) == (batch != rounded)
    if batch != rounded:
        assert f"from {batch}," in reason
