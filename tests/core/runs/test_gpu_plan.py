"""Batch and network of a GPU, from steps of a simulated GPU; and the device that the planner expects."""

from __future__ import annotations

import sys
import types

import pytest

from tests.gpu_stand_ins import NvmlModule, StandInGpu
from workbench.core.messages import Message
from workbench.core.runs import planner
from workbench.core.runs.child_process import ChildOutput
from workbench.core.runs.network_stats import multiplications, receptive_field
from workbench.core.runs.planner import BATCH_REASON, StepCost, adapt, planned_batch
from workbench.core.runs.run import plan_run
from workbench.core.runs.training_settings import TrainingSettings, request


class Gpu:
    """GPU with a fixed cost per step, a speed, and a memory for a number of multiplications."""

    def __init__(self, *, launch: float, speed: float, memory: float) -> None:
        self.launch, self.speed, self.memory = launch, speed, memory
        self.batches: list[int] = []

    def __call__(self, settings: TrainingSettings) -> StepCost:
        self.batches.append(settings.batch)
        work = 3 * multiplications(settings) * settings.batch
        if work > self.memory:
            raise MemoryError("Out of memory error on GPU 0.")
        return StepCost(max(self.launch, work / self.speed), work / self.memory)


def planned(quality: str = "balanced", *, patch: int = 256, model: str = "unet", **choices) -> TrainingSettings:
    sizes = planner.SIZES[model][quality]
    reasons = {key: Message(planner.REASONS[key]) for key in sizes} | {"batch": Message(BATCH_REASON)}
    side = {"patch": patch} if model == "unet" else {"input_size": patch}
    batch = planned_batch(model, patch, "gpu")
    values = {**sizes, **side, "batch": batch, "minutes": 5.0, **choices}
    return TrainingSettings(model=model, quality=quality, reasons=reasons, **values)


def test_batch_is_raised_until_a_step_keeps_the_gpu_busy():
    gpu = Gpu(launch=0.025, speed=30e12, memory=1e15)
    settings = adapt(planned(patch=96), gpu)
    cost = gpu(settings)
    assert 0.030 <= cost.seconds <= 0.060 and settings.batch > planned(patch=96).batch
    assert settings.reasons["batch"].split("takes ")[1] >= "30 ms" and "GPU" in settings.reasons["batch"]


def test_batch_is_not_raised_beyond_the_memory_or_without_a_gain():
    # 3 * multiplications * batch of the planned batch fills 40 % of this memory: twice that is more than 70 %.
    settings = planned()
    work = 3 * multiplications(settings) * settings.batch
    assert adapt(settings, Gpu(launch=0.001, speed=1e18, memory=work / 0.4)).batch == settings.batch
    slow = Gpu(launch=0.0, speed=work / 0.025, memory=1e18)  # twice the batch takes twice as long
    assert adapt(settings, slow).batch == settings.batch
    quick = Gpu(launch=0.001, speed=1e18, memory=1e18)
    assert adapt(settings, quick).batch == planner.MAX_BATCH


def test_memory_of_other_programs_does_not_grow_with_the_batch():
    settings = planned()

    def measure(other: float) -> int:
        def cost(candidate: TrainingSettings) -> StepCost:
            factor = candidate.batch / settings.batch
            return StepCost(0.01 + 0.001 * factor, other + 0.25 * factor, other)

        return adapt(settings, cost).batch // settings.batch

    assert [measure(other) for other in (0.0, 0.15, 0.3)] == [2, 2, 1]


def test_batch_is_halved_until_it_fits_and_a_step_that_never_fits_is_left_to_the_training():
    settings = planned()
    work = 3 * multiplications(settings) * settings.batch
    assert adapt(settings, Gpu(launch=0.05, speed=1e18, memory=work / 3)).batch == settings.batch // 4
    assert adapt(settings, Gpu(launch=0.05, speed=1e18, memory=1.0)).batch == 1


@pytest.mark.parametrize(("model", "patch"), [("unet", 256), ("resnet", 224)])
def test_a_larger_network_must_make_enough_steps_on_the_gpu(model, patch):
    slow, quick = (Gpu(launch=launch, speed=1e18, memory=1e18) for launch in (0.5, 0.03))
    small = planner.SIZES[model]["balanced"]
    chosen = adapt(planned("best", model=model, patch=patch), slow)
    assert all(getattr(chosen, key) == value for key, value in small.items())
    assert any("reaches only about 500 steps" in chosen.reasons[key] for key in small)
    kept = adapt(planned("best", model=model, patch=patch), quick)
    assert all(getattr(kept, key) == value for key, value in planner.SIZES[model]["best"].items())


def test_manual_values_and_epochs_are_not_adapted():
    gpu = Gpu(launch=0.001, speed=1e18, memory=1e18)
    manual = planned()
    manual.reasons["batch"] = Message("plan.manual")
    assert adapt(manual, gpu) == manual and adapt(planned(epochs=3), gpu).batch == planned().batch and not gpu.batches
    wide = planned("best", widths=[80, 96, 128, 256, 256])
    wide.reasons["widths"] = Message("plan.manual")
    assert adapt(wide, Gpu(launch=0.5, speed=1e18, memory=1e18)).widths == [80, 96, 128, 256, 256]


@pytest.mark.parametrize(("side", "batch"), [(256, 16), (128, 64), (96, 112), (64, 128), (512, 16)])
def test_batch_follows_the_patch_and_is_a_multiple_of_the_gpus(side, batch):
    assert planned_batch("unet", side, "gpu") == batch
    assert planned_batch("unet", side, "gpu:0,1,2") % 3 == 0


@pytest.mark.parametrize("quality", ["fast", "balanced", "best"])
def test_receptive_field_on_a_gpu_is_at_least_that_on_a_cpu(project, quality, monkeypatch):
    from tests.core.runs.planned_projects import brushed, with_verdicts
    from workbench.core.project import annotation

    with_verdicts(project, 4)
    for number in range(4):
        mask = (brushed(number) > 200).astype("uint8")
        annotation.save_mask(project, f"{number}.png", mask)
    monkeypatch.setattr(planner, "core_speed", lambda: 1e9)
    on_gpu, on_cpu = (
        plan_run(project, request("unet", quality=quality, device=device))[1] for device in ("gpu", "cpu")
    )
    assert receptive_field(on_gpu) >= receptive_field(on_cpu) and on_gpu.stem == 2 and len(on_gpu.widths) == 5
    assert on_gpu.reasons["stem"] and on_gpu.batch > on_cpu.batch


# --- the device that the planner expects --------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch):
    """A machine with a GPU build of Paddle and a driver; `answer` is printed by the training program."""
    nvml = NvmlModule(StandInGpu("NVIDIA RTX A2000"))
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "3.3.1")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    state = types.SimpleNamespace(answer='{"device": "gpu:0"}\n', started=0, nvml=nvml)

    def run_captured(command, **options) -> ChildOutput:
        state.started += 1
        return ChildOutput(0, state.answer, "")

    monkeypatch.setattr(planner, "run_captured", run_captured)
    planner.selects_gpu.cache_clear()
    yield state
    planner.selects_gpu.cache_clear()


def test_planner_expects_the_device_that_the_training_program_selects_once(machine):
    assert planner.uses_gpu("auto") and planner.uses_gpu("AUTO ") and machine.started == 1
    assert planner.uses_gpu("gpu:1") and not planner.uses_gpu("cpu:2") and machine.started == 1


@pytest.mark.parametrize(
    "answer", ['{"device": "cpu", "fault": "the driver is too old"}\n', "", "Segmentation fault\n"]
)
def test_gpu_that_the_training_program_does_not_select_is_not_planned_for(machine, answer):
    machine.answer = answer
    assert not planner.uses_gpu("auto")


@pytest.mark.parametrize("visible", ["", "-1", "NoDevFiles", "1"])
def test_hidden_gpus_are_not_planned_for(machine, monkeypatch, visible):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert not planner.uses_gpu("auto") and machine.started == 0


def test_machine_without_a_gpu_starts_nothing(machine):
    machine.nvml.gpus = ()
    assert not planner.uses_gpu("auto") and machine.started == 0
