"""Acceptance items: they detect the faults for which they exist. Their whole commands are rehearsed by doctor --gpu."""

from __future__ import annotations

import contextlib
import json
import types
from pathlib import Path

import numpy as np
import paddle
import pytest

from workbench.core.messages import Message
from workbench.core.runs.events import Failed, Finished, Trouble
from workbench.core.runs.gpu_facts import Gpu, GpuFacts
from workbench.core.runs.gpu_plan import SIZES
from workbench.training import precision
from workbench.training.acceptance import (
    correctness,
    facts,
    items,
    memory,
    overflow,
    resuming,
    speed,
    two_processes,
    user_workflow,
)
from workbench.training.acceptance.correctness import make_small_learner, small_batch
from workbench.training.acceptance.items import FAIL, ITEMS, PASS, SKIP, SLOW, Conditions
from workbench.training.device import Device
from workbench.training.losses import segmentation_loss
from workbench.training.precision import LossScaler


@pytest.fixture
def cpu(tmp_path) -> Conditions:
    return Conditions("cpu", tmp_path, quick=True)


@pytest.fixture
def gpu(tmp_path, monkeypatch) -> Conditions:
    monkeypatch.setattr("workbench.core.runs.run.check_gpu_build", lambda device: None)
    return Conditions("gpu:0", tmp_path)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_names_a_function(item):
    module, _, name = item.target.partition(":")
    assert callable(getattr(__import__(f"workbench.training.acceptance.{module}", fromlist=[name]), name))
    assert item.title and item.seconds <= 900


def test_items_of_mixed_precision_report_why_they_are_left_out_on_a_cpu(cpu):
    outcome = items.run_item(items.find_item("overflow fp16"), cpu)
    assert outcome.status == SKIP and "not on a CPU" in outcome.detail


@pytest.mark.parametrize(
    ("title", "capability", "left_out"),
    [
        ("NVIDIA GeForce GTX 1060", (6, 1), ["fp16", "bf16"]),
        ("NVIDIA GeForce GTX 1660", (7, 5), ["fp16", "bf16"]),
        ("NVIDIA GeForce RTX 2080", (7, 5), ["bf16"]),
        ("NVIDIA GeForce RTX 3060", (8, 6), []),
    ],
)
def test_number_types_in_which_a_gpu_does_not_train_are_left_out(gpu, monkeypatch, title, capability, left_out):
    monkeypatch.setattr(facts.device, "choose", lambda name: Device(name, title, capability))
    monkeypatch.setattr(items, "run_target", lambda target, conditions: items.Outcome(PASS))
    tested = [item for item in ITEMS if item.number_type]
    assert {item.name for item in tested} > {"layers bf16", "loss scale", "resume fp16 O2"}
    for item in tested:
        outcome = items.run_item(item, gpu)
        assert (outcome.status == SKIP) == (item.number_type in left_out), (item.name, outcome.detail)
        assert outcome.status == PASS or "fp32" in outcome.detail or "8.0" in outcome.detail


def test_exception_of_an_item_is_a_failure(cpu, monkeypatch, capsys):
    def broken(conditions):
        raise OSError("(External) CUDA error(35), CUDA driver version is insufficient.\n  [Hint: update the driver.]")

    monkeypatch.setattr(correctness, "check_losses", broken)
    outcome = items.run_item(items.find_item("losses"), cpu)
    assert outcome.status == FAIL and outcome.detail.startswith("OSError: (External) CUDA error(35), CUDA driver")
    assert "Hint" not in outcome.detail and "Hint" in capsys.readouterr().err


# --- correctness ------------------------------------------------------------------------------------------------------


def test_equal_devices_have_equal_layers(cpu, monkeypatch):
    few = {name: correctness.LAYERS[name] for name in ("convolutions", "upsampling", "local contrast")}
    monkeypatch.setattr(correctness, "LAYERS", few)
    outcome = correctness.check_layers(cpu)
    assert outcome.status == PASS and all(distance == [0.0, 0.0] for distance in outcome.values.values())


def test_wrong_layer_is_found(cpu, monkeypatch):
    calls = []

    def disturbed(make, state, inputs, place, kind):
        result = original(make, state, inputs, place, kind)
        calls.append(place)
        if len(calls) == 2:  # the device's, after the reference
            result["gradients"] = result["gradients"] * 1.01
        return result

    original = correctness.run_layer
    monkeypatch.setattr(correctness, "run_layer", disturbed)
    monkeypatch.setattr(correctness, "LAYERS", {"stem": correctness.LAYERS["stem"]})
    outcome = correctness.check_layers(cpu)
    assert outcome.status == FAIL and "stem differs by 0.01 from CPU" in outcome.detail


def test_values_that_are_not_finite_are_found():
    nan, one = np.array([np.nan, 1.0]), np.ones(2)
    outcome = correctness.outcome({"norm": [correctness.distance(nan, one)]}, (1e-4,), "CPU")
    assert outcome.status == FAIL and json.loads(items.encode(outcome))["values"] == {"norm": [None]}


@pytest.mark.parametrize(("error", "status"), [(0.0, PASS), (0.001, FAIL)])
def test_images_of_the_device_are_compared_with_those_of_the_cpu(cpu, monkeypatch, error, status):
    original = correctness.prepare_images
    monkeypatch.setattr(correctness, "prepare_images", lambda *arguments: original(*arguments) * (1 + error))
    outcome = correctness.check_images(cpu)
    assert outcome.status == status and set(outcome.values) == {"gray", "color"}


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_wrong_optimizer_is_found(cpu, monkeypatch, name):
    original, places = correctness.train_steps, []

    def disturbed(kind, place):
        before, after, average = original(kind, place)
        places.append(place)
        if len(places) == 1:  # the device: steps longer by a tenth
            after = {n: before[n] + (a - before[n]) * 1.1 for n, a in after.items()}
        return before, after, average

    monkeypatch.setattr(correctness, "train_steps", disturbed)
    outcome = correctness.check_optimizer(Conditions("cpu", cpu.folder, argument=name))
    assert outcome.status == FAIL and "weights differs by 0.1" in outcome.detail


# --- overflow ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_overflow_changes_nothing_and_a_step_changes_everything(kind):
    learner = make_small_learner(kind, "fp32", "cpu")
    learner.step(*small_batch(0), 1e-2)
    before = overflow.state_arrays(learner)
    assert {name.partition("/")[0] for name in before} == {"weights", "average", "optimizer"}
    overflow.overflow(learner)
    assert not overflow.changed_names(before, overflow.state_arrays(learner))
    learner.step(*small_batch(1), 1e-2)
    changed = overflow.changed_names(before, overflow.state_arrays(learner))
    assert {name.partition("/")[0] for name in changed} == {"weights", "average", "optimizer"}


def test_overflow_that_changes_state_is_found(cpu, monkeypatch):
    def stepped(learner):
        learner.step(*small_batch(5), 1e-2)

    monkeypatch.setattr(overflow, "overflow", stepped)
    outcome = overflow.check_overflow(cpu)
    assert outcome.status == FAIL and "adamw changed average/" in outcome.detail


def test_a_changed_bit_is_a_change():
    one, other = {"a": np.zeros(2)}, {"a": np.array([0.0, -0.0])}
    assert overflow.changed_names(one, other) == ["a"] and not overflow.changed_names(one, dict(one))
    assert overflow.changed_names(one, {}) == ["a"]


@pytest.fixture
def half_precision(simulated_gpu, monkeypatch):
    """Stand-in for a GPU whose logits, and therefore gradients, have 16 bits."""

    def loss(logits, truth, **weights):
        return segmentation_loss(logits.astype("float16").astype("float32"), truth, **weights)

    monkeypatch.setattr(correctness, "segmentation_loss", loss)


def test_overflow_in_16_bits_halves_the_scale_only(half_precision, gpu):
    outcome = overflow.check_overflow(Conditions("gpu:0", gpu.folder, argument="fp16"))
    assert outcome.status == PASS, outcome.detail


def test_scale_that_is_not_halved_is_found(half_precision, gpu, monkeypatch):
    update = LossScaler.update_on_device

    def keep(self, gradient, overflow):
        scale = self.tensor.clone()
        update(self, gradient, overflow)
        paddle.assign(scale, self.tensor)

    monkeypatch.setattr(LossScaler, "update_on_device", keep)
    outcome = overflow.check_overflow(Conditions("gpu:0", gpu.folder, argument="fp16"))
    assert outcome.status == FAIL and "the loss scale is" in outcome.detail


@pytest.mark.parametrize(("interval", "status"), [(3, PASS), (100, FAIL)])
def test_loss_scale_must_grow(half_precision, gpu, monkeypatch, interval, status):
    class Scaler(LossScaler):
        def __init__(self, **options):
            super().__init__(**{**options, "incr_every_n_steps": interval})

    monkeypatch.setattr(precision, "LossScaler", Scaler)
    monkeypatch.setattr(overflow, "GROWTH_STEPS", 4)
    outcome = overflow.check_growth(gpu)
    assert outcome.status == status, outcome.detail


# --- resume -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("resumed", "status"), [([0.5, 0.25], PASS), ([0.5, 0.26], FAIL)])
def test_resumed_losses_are_compared(cpu, monkeypatch, resumed, status):
    def run_captured(command, **_):
        argument = json.loads(command[command.index("--argument") + 1])
        expected = {"before": [], "after": [0.5, 0.25], "precision": "fp32"}
        Path(argument["losses"]).write_text(json.dumps(expected), "utf-8")

    answer = {"step": 4, "after": resumed, "precision": "fp32"}
    monkeypatch.setattr(resuming, "run_captured", run_captured)
    monkeypatch.setattr(resuming.trial_runs, "call", lambda *_, **__: answer)
    outcome = resuming.check_resume(Conditions("cpu", cpu.folder, argument=["fp32", "O1"]))
    assert outcome.status == status, outcome.detail


# --- memory -----------------------------------------------------------------------------------------------------------

IN_PARTS = Trouble(what=Message("training.out_of_memory", device="gpu:0"), done=Message("training.batch_in_parts", n=2))
NO_MEMORY = Failed(why="The training process ended: the memory is too small.", problem="WorkerFailed")


@pytest.mark.parametrize(
    ("events", "must_adapt", "status"),
    [
        ([IN_PARTS, Finished()], True, PASS),
        ([Finished()], True, FAIL),
        ([Finished()], False, PASS),
        ([IN_PARTS, NO_MEMORY], True, PASS),
        ([Failed(why="OSError: CUDA error(2), out of memory", problem="WorkerFailed")], True, FAIL),
        ([Failed(why="KeyError: conv2d_0.w_0", problem="WorkerFailed")], True, FAIL),
    ],
)
def test_training_with_little_memory_is_assessed(events, must_adapt, status):
    assert memory.assess(events, must_adapt=must_adapt).status == status


@pytest.mark.parametrize(("count", "status"), [(1, SKIP), (2, PASS)])
def test_second_of_two_gpus_is_filled_while_both_train(gpu, monkeypatch, count, status):
    filled, trained = [], []

    def train(run, conditions, **_):
        trained.append((run.settings().device, list(filled)))
        return [IN_PARTS, Finished()]

    @contextlib.contextmanager
    def fill(conditions):
        filled.append(conditions.device)
        yield
        filled.clear()

    monkeypatch.setattr(two_processes.sys, "platform", "linux")
    monkeypatch.setattr(two_processes.devices, "count_gpus", lambda: count)
    monkeypatch.setattr(two_processes.memory, "filled", fill)
    monkeypatch.setattr(two_processes.trial_runs, "train", train)
    outcome = two_processes.check_memory(gpu)
    assert outcome.status == status, outcome.detail
    assert trained == ([("gpu:0,1", ["gpu:1"])] if count == 2 else [])


# --- speed ------------------------------------------------------------------------------------------------------------


def row(speed_: float, gib: float, *, busy: float | None = 90, capability=(8, 6), finite=True) -> dict:
    return {
        "images_per_second": speed_,
        "step_ms": 1.0,
        "operator_ms": 1.0,
        "device_ms": 1.0,
        "bytes": int(gib * 2**30),
        "utilization": busy,
        "capability": list(capability),
        "finite": finite,
    }


@pytest.mark.parametrize(
    ("name", "plain", "half", "status", "words"),
    [
        ("unet-256", row(100, 4), row(150, 2.64), PASS, "fp16 150 images/s"),
        ("unet-256", row(100, 4), row(110, 2.4), SLOW, "1.10 times as fast as fp32, target 1.2"),
        ("unet-256", row(100, 4), row(150, 3.6), SLOW, "90% of the memory of fp32"),
        ("unet-256", row(100, 4), row(150, 2.4, busy=50), SLOW, "busy 50 % of the time, target 80 %"),
        ("unet-96", row(100, 4), row(105, 2.4, busy=65), PASS, ""),
        ("resnet50-224", row(100, 4), row(150, 2, capability=(9, 0)), SLOW, "target 1.8"),
        ("resnet50-224", row(100, 4), row(150, 2, finite=False), FAIL, "not finite"),
        ("resnet50-224", row(100, 4), row(150, 2, busy=None), PASS, ""),
    ],
)
def test_speeds_are_compared_with_the_targets_of_the_gpu(gpu, name, plain, half, status, words):
    outcome = speed.assess(name, {"fp32": plain, "fp16": half}, {}, gpu)
    assert outcome.status == status and words in outcome.detail


@pytest.mark.parametrize(
    ("capability", "target"),
    [((7, 5), 1.4), ((8, 6), 1.2), ((8, 9), 1.2), ((9, 0), 1.8), ((10, 3), 1.8), ((12, 1), 1.2)],
)
def test_targets_depend_on_the_generation(capability, target):
    assert speed.faster_target(capability) == target


def test_speeds_are_those_of_the_networks_that_are_planned():
    planned = [(one.stem, list(one.widths)) for one in speed.NETWORKS.values() if one.model == "unet"]
    assert all((size["stem"], size["widths"]) in planned for size in (SIZES["unet"]["fast"], SIZES["unet"]["balanced"]))
    assert {one.depth for one in speed.NETWORKS.values() if one.model == "resnet"} == {34, 50}
    small = speed._reduced(speed.NETWORKS["unet-deep"])
    assert small.stem == 2 and small.side == 32


def test_measurement_has_the_columns_of_the_table(cpu):
    outcome = speed.measure(Conditions("cpu", cpu.folder, argument=["unet-96", "fp32"]))
    values = outcome.values
    assert outcome.status == PASS and values["finite"] and values["images_per_second"] > 0
    assert values["operator_ms"] > 0 and values["device_ms"] is None and values["utilization"] is None
    assert json.loads(items.encode(outcome))["values"]["network"] == "unet-96"


# --- identity and workflow --------------------------------------------------------------------------------------------

MACHINE = GpuFacts(
    "Linux",
    (
        Gpu(0, "GT 1030", uuid="GPU-aa", bus_id="00000000:01:00.0"),
        Gpu(1, "H100", uuid="GPU-bb", bus_id="00000000:41:00.0", mig=("MIG-1", "MIG-2")),
    ),
)


@pytest.mark.parametrize(
    ("cuda", "reported", "status"),
    [
        (("GPU-bb", "0000:41:00.0"), "GPU-bb", PASS),
        (("GPU-bb", "0000:41:00.0"), "GPU-aa", FAIL),
        (("GPU-bb", "0000:41:00.0"), "", FAIL),
        (("GPU-xx", "0000:41:00.0"), "MIG-2", PASS),
        (("GPU-zz", "0000:99:00.0"), "GPU-zz", FAIL),
    ],
)
def test_gpu_of_the_training_is_identified(cuda, reported, status):
    assert facts.assess_identity(cuda, reported, MACHINE, {}).status == status


def test_export_that_fails_with_one_engine_is_found(cpu, monkeypatch):
    export, tested = cpu.folder / "export", []
    answers = {
        "train": {"device": "cpu", "precision": "fp32", "steps": 2, "images_per_second": 1.0, "path": str(cpu.folder)},
        "evaluate": {"any_defect": {"dice": 0.5}},
        "export": {"path": str(export), "parity": {"onnx": {"max_abs": 1e-6}}},
        "predict": {"pictures": [{}] * 6},
    }

    def self_test(command, **_):
        tested.append(command[command.index("--engine") + 1])
        broken = tested[-1] == "paddle"
        return types.SimpleNamespace(returncode=int(broken), stdout="", stderr="part.png differs by 0.01\n" * broken)

    monkeypatch.setattr(user_workflow, "_verb", lambda verb, *_, **__: answers[verb])
    monkeypatch.setattr(user_workflow.subprocess, "run", self_test)
    outcome = user_workflow.check_model(Conditions("cpu", cpu.folder, argument="unet"))
    assert outcome.status == FAIL and "self-test with paddle: part.png differs by 0.01" in outcome.detail
    assert tested == ["onnx", "paddle"]


def test_quality_is_the_metric_of_the_model():
    assert user_workflow.quality("unet", {"any_defect": {"dice": 0.7}, "dice": 0.4}) == 0.7
    assert user_workflow.quality("unet", {"dice": 0.4}) == 0.4
    assert user_workflow.quality("resnet", {"macro_f1": 0.9}) == 0.9 and user_workflow.quality("resnet", {}) is None
