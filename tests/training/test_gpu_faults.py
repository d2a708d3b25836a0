"""Faults of GPUs, drivers and libraries, simulated by stand-ins that behave like Paddle."""

from __future__ import annotations

import gc
import json
import os
import sys
import types
import weakref

import numpy as np
import paddle
import pytest

from tests.training.conftest import make_run, small_batch, small_learner, state_of
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, DeviceMissing, RunBroken, WorkerFailed
from workbench.core.runs import launch, planner
from workbench.core.runs.events import Failed, Finished, Started, Step, Trouble
from workbench.core.runs.run import create_run, write_settings
from workbench.core.runs.training_settings import concerns, request
from workbench.inference.engines import EngineError, NotFiniteError, paddle_engine
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Predictor
from workbench.training import (
    checkpoint,
    device,
    device_settings,
    finalize,
    learner,
    training_context,
    training_loop as loop,
)
from workbench.training.__main__ import main
from workbench.training.device import Device, is_out_of_memory
from workbench.training.evaluator import DygraphEngine
from workbench.training.learner import Learner
from workbench.training.losses import segmentation_loss
from workbench.training.networks import LocalContrast
from workbench.training.optimizers import Precision, PrecisionChoice, choose_precision
from workbench.training.reporter import Clock, ControlChannel, Reporter
from workbench.training.training_context import TrainingContext

OLD_DRIVER = (
    "(External) CUDA error(35), CUDA driver version is insufficient for CUDA runtime version. \n"
    "  [Hint: 'cudaErrorInsufficientDriver'.] (at /paddle/phi/backends/gpu/cuda/cuda_info.cc:86)"
)
OUT_OF_MEMORY = "(External) CUDA error(2), out of memory. \n  [Hint: 'cudaErrorMemoryAllocation'.]"
pytestmark = pytest.mark.filterwarnings("ignore:amp_guard can only be enabled", "ignore:When training, we now")


# --- memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("\n\nOut of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0"),
        RuntimeError("ResourceExhaustedError: \n\nOut of memory error on GPU 0."),
        OSError(OUT_OF_MEMORY),
        OSError("(External) CUDNN error(2), CUDNN_STATUS_ALLOC_FAILED. "),
        OSError("(External) CUBLAS error(3). CUBLAS_STATUS_ALLOC_FAILED"),
        OSError("(External) CUDNN error(4003), CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
        OSError("(External) NCCL error(1), unhandled cuda error: 'out of memory'"),
    ],
)
def test_insufficient_memory_is_recognized_from_every_library(error):
    assert is_out_of_memory(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError("(External) CUDA error(700), an illegal memory access was encountered."),
        OSError(OLD_DRIVER),
        OSError(),
        WorkerFailed(what="Training", why="process 2 was killed or the computer ran out of memory", log="rank-1.log"),
    ],
)
def test_other_failures_are_not_insufficient_memory(error):
    assert not is_out_of_memory(error)


def test_memory_is_released_after_the_tensors_of_the_failed_step(gpu_training, monkeypatch):
    """The step's tensors are gone when the cache is released; a failure of the release does not end the run."""
    references: list[weakref.ref] = []
    counts = []
    step = Learner.step

    def fail_once(self, images, truth, rate, **options):
        if not counts:
            activations = paddle.ones([4])
            references.append(weakref.ref(activations))
            raise MemoryError("Out of memory error on GPU 0.") from OSError(OUT_OF_MEMORY)
        return step(self, images, truth, rate, **options)

    def release() -> None:
        gc.collect()
        counts.append(sum(reference() is not None for reference in references))
        raise OSError(OUT_OF_MEMORY)

    monkeypatch.setattr(Learner, "step", fail_once)
    monkeypatch.setattr(paddle.device.cuda, "empty_cache", release)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    assert counts == [0] and isinstance(events[-1], Finished)


def small_settings(tile: int = 128) -> ModelSettings:
    return ModelSettings(
        task="segmentation",
        name="x",
        run="y",
        channels=1,
        classes=(ClassSettings(1, "scratch", "#ff0000"),),
        tile=tile,
        overlap=48,
        multiple=16,
        batch=1,
        thresholds=(0.5,),
        min_area=(0,),
    )


class Limited(paddle.nn.Layer):
    """Network that accepts tiles up to a side, and fails beyond it as the libraries of a GPU do."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side
        self.tiles: set[tuple[int, int]] = set()

    def forward(self, batch):
        self.tiles.add(tuple(batch.shape[2:]))
        if max(batch.shape[2:]) > self.side:
            raise OSError(OUT_OF_MEMORY)
        return paddle.concat([batch, batch * 2], axis=1)


def test_tile_is_halved_until_it_fits():
    net, used = Limited(64), []
    image = np.random.default_rng(0).integers(0, 255, (200, 200), np.uint8)

    def predict(settings: ModelSettings):
        return Predictor(settings, DygraphEngine(net)).predict(image)

    found = finalize.within_memory(predict, small_settings(), Device("gpu:0"), used.append)
    assert [settings.tile for settings in used] == [64] and used[0].overlap == 32
    assert net.tiles == {(128, 128), (64, 64)}
    exact = Predictor(small_settings(), DygraphEngine(Limited(1000))).predict(image)
    assert np.abs(found.scores.astype(int) - exact.scores).max() <= 1
    with pytest.raises(MemoryError):
        finalize.within_memory(predict, small_settings(tile=96), Device("gpu:0"))
    assert finalize.smaller_tile(small_settings(tile=112)) is None


def test_not_finite_failed_and_insufficient_memory_are_different_errors():
    image = np.zeros((64, 64), np.uint8)

    def failing(result) -> Predictor:
        def engine(batch):
            if isinstance(result, Exception):
                raise result
            return np.full((len(batch), 2, *batch.shape[2:]), result, np.float32)

        return Predictor(small_settings(tile=64), engine)

    with pytest.raises(NotFiniteError):
        failing(np.nan).predict(image)
    with pytest.raises(EngineError, match="illegal memory access") as failed:
        failing(OSError("CUDA error(700), an illegal memory access was encountered")).predict(image)
    assert not isinstance(failed.value, NotFiniteError)
    with pytest.raises(MemoryError):
        failing(MemoryError()).predict(image)


def test_validation_with_little_memory_uses_smaller_tiles_and_the_run_is_finished(gpu_training, monkeypatch):
    gpu_training.fits, gpu_training.scale = 4, 1.0
    call = DygraphEngine.__call__

    def limited(self, batch):
        if batch.shape[-1] > 64:
            raise MemoryError("Out of memory error on GPU 0.")
        return call(self, batch)

    monkeypatch.setattr(DygraphEngine, "__call__", limited)
    events = gpu_training.train()
    reduced = [event.done for event in events if isinstance(event, Trouble) and "tiles of" in event.done]
    assert reduced and isinstance(events[-1], Finished) and events[-1].result["usable"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (EngineError("The network failed: it has no output."), "could not be evaluated.*it has no output"),
        (EngineError("The network failed: CUDA error(700)."), r"the GPU failed \(CUDA error\(700\)\)"),
        (MemoryError("Out of memory error on GPU 0."), "memory is too small"),
    ],
)
def test_failed_validation_ends_the_run_with_its_cause_and_without_rollbacks(gpu_training, monkeypatch, error, words):
    def fail(context):
        raise error

    monkeypatch.setattr(loop, "validate", fail)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    with pytest.raises(WorkerFailed, match=words):
        gpu_training.train()
    assert not [e for e in gpu_training.run.events() if isinstance(e, Trouble) and "diverged" in e.what]
    assert gpu_training.run.resumable


# --- drivers and devices ------------------------------------------------------------------------------


def raise_os_error(*arguments: object) -> None:
    raise OSError(OLD_DRIVER)


def test_old_driver_is_a_problem_and_automatic_selection_uses_the_cpu(simulated_gpu, monkeypatch):
    monkeypatch.setattr(paddle.device.cuda, "device_count", raise_os_error)
    chosen = device.choose("auto")
    assert chosen.name == "cpu" and "driver of the NVIDIA GPU is too old" in chosen.fault
    with pytest.raises(DeviceMissing, match="driver of the NVIDIA GPU is too old"):
        device.choose("gpu")
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: False)
    assert device.choose("auto").fault == ""


def test_gpu_of_another_architecture_is_a_problem_and_automatic_selection_uses_the_cpu(simulated_gpu, monkeypatch):
    def unsupported(name: str) -> None:
        if name != "cpu":
            raise RuntimeError("(PreconditionNotMet) Unsupported GPU architecture (at gpu_resources.cc:120)")

    monkeypatch.setattr(paddle, "set_device", unsupported)
    chosen = device.choose("auto")
    assert chosen.name == "cpu" and "Unsupported GPU architecture" in chosen.fault
    with pytest.raises(DeviceMissing, match="Unsupported GPU architecture") as caught:
        device.choose("gpu:0")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_run_with_an_unusable_gpu_reports_it_and_trains_on_the_cpu(simulated_gpu, labeled_project, monkeypatch):
    monkeypatch.setattr(paddle.device.cuda, "device_count", raise_os_error)
    run = make_run(labeled_project, device="auto", epochs=1, widths=[4, 8], stem=1, patch=32)
    events = []
    context = training_context.prepare(
        run, lambda event, **options: events.append(event), ControlChannel(None), Clock()
    )
    context.loader.close()
    assert context.device.name == "cpu" and context.learner.precision.choice.name == "fp32"
    assert "driver" in events[0].what and "CPU" in events[0].done


def test_several_gpus_on_windows_are_refused(simulated_gpu, monkeypatch):
    monkeypatch.setattr(device.sys, "platform", "win32")
    with pytest.raises(DeviceMissing, match="Windows"):
        device.check("gpu:0,1")


def test_gpu_is_identified_as_nvml_does(monkeypatch):
    nvml = types.SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda handle: f"GPU-{handle}".encode(),
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert device.gpu_uuid(1) == "GPU-1"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 2")
    assert device.gpu_uuid(1) == "GPU-2"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-abc")
    assert device.gpu_uuid(0) == "MIG-abc"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert device.gpu_uuid(0) == ""


def test_training_process_shows_warnings_of_libraries_and_numbers_gpus_as_the_driver_does():
    """Paddle warns of a cuDNN other than the one that it was compiled with at level 1 of its log."""
    environment = launch.worker_environment("gpu", base={})
    assert environment["GLOG_minloglevel"] == "1" and environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


# --- precision ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    ["NVIDIA GeForce GTX 1660 SUPER", "NVIDIA GeForce GTX 1650", "NVIDIA T1000 8GB", "Quadro T2000 with Max-Q Design"],
)
def test_gpu_without_tensor_cores_trains_in_32_bits(title):
    assert choose_precision("auto", Device("gpu:0", title, (7, 5))).name == "fp32"
    assert choose_precision("fp16", Device("gpu:0", title, (7, 5))).name == "fp16"
    assert choose_precision("auto", Device("gpu:0", "NVIDIA GeForce RTX 2060", (7, 5))).name == "fp16"


def test_transposed_convolutions_compute_in_16_bits(monkeypatch):
    options = []
    monkeypatch.setattr(paddle.amp, "auto_cast", lambda **given: options.append(given))
    Precision(PrecisionChoice("bf16", "")).cast()
    assert options[0]["custom_white_list"] == {"conv2d_transpose"} and options[0]["dtype"] == "bfloat16"


class Reduced(Precision):
    """Precision that records when it computes, for a loss that is then wrong as on a GPU with faulty arithmetic."""

    used = False

    def cast(self) -> Reduced:
        return self

    def __enter__(self) -> None:
        self.used = True

    def __exit__(self, *error: object) -> None:
        pass


@pytest.mark.parametrize(("fault", "alike"), [(0.0, True), (0.001, True), (float("nan"), False), (2.0, False)])
def test_arithmetic_in_16_bits_is_compared_before_the_first_step(fault, alike):
    precision = Reduced(PrecisionChoice("bf16", ""))

    def loss(logits, truth):
        value = segmentation_loss(logits, truth, dice_weight=1.0, cross_entropy_weight=1.0)
        return value * (1 + fault) if precision.used else value

    learner = small_learner(precision=precision, loss=loss)
    before = {name: tensor.numpy() for name, tensor in learner.net.state_dict().items()}
    assert device_settings.computes_alike(learner, *small_batch()) == alike and precision.used
    after = learner.net.state_dict()
    assert all((before[name] == after[name].numpy()).all() for name in before)  # statistics of the norms included
    assert all(p.grad is None for p in learner.net.parameters())


def test_differing_gradients_are_detected_although_the_losses_agree():
    exact = (1.0, np.array([1.0, 2.0, 3.0]))
    assert device_settings.are_alike(exact, (1.0, np.array([1.0, 2.0, 3.1])))
    assert not device_settings.are_alike(exact, (1.0, np.array([-3.0, 2.0, 1.0])))
    assert device_settings.are_alike((float("nan"), exact[1]), (float("nan"), exact[1]))


def test_run_whose_gpu_computes_wrongly_in_16_bits_trains_in_32(gpu_training, monkeypatch):
    monkeypatch.setattr(loop, "computes_alike", lambda learner, images, truth: False)
    gpu_training.fits = 4
    events = gpu_training.train()
    assert isinstance(events[0], Started) and events[0].precision == "fp32"
    assert "does not compute the same" in events[0].precision_reason
    assert isinstance(events[1], Trouble) and "32 bits" in events[1].done
    assert all(event.loss_scale is None for event in events if isinstance(event, Step))
    assert state_of(gpu_training.run)["course"]["fp32"] == "precision.not_alike"
    longer = gpu_training.run.settings().model_copy(update={"epochs": 2})
    gpu_training.run.settings_path.write_text(longer.model_dump_json())
    monkeypatch.setattr(loop, "computes_alike", lambda *arguments: pytest.fail("the run has 32 bits already"))
    assert next(event for event in gpu_training.train(resume=True) if isinstance(event, Started)).precision == "fp32"


def test_run_that_diverges_twice_in_16_bits_continues_in_32(gpu_training, monkeypatch):
    monkeypatch.setattr(loop, "computes_alike", lambda *arguments: True)
    monkeypatch.setattr(loop, "MAX_SKIPPED", 3)
    gpu_training.fits, gpu_training.scale = 4, 2.0**100  # every step overflows
    events = gpu_training.train()
    troubles = [event for event in events if isinstance(event, Trouble)]
    assert [("diverged at" in event.what, "32 bits" in event.done) for event in troubles[:3]] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    assert isinstance(events[-1], Finished) and events[-1].result["precision"] == "fp32" and events[-1].result["usable"]
    assert state_of(gpu_training.run)["course"]["fp32"] == "precision.diverged"


def test_decision_for_32_bits_survives_a_rollback(gpu_training, monkeypatch):
    monkeypatch.setattr(loop, "computes_alike", lambda *arguments: False)
    failing = iter([True, False, False])
    monkeypatch.setattr(loop, "validate", lambda context: next(failing) and raise_not_finite())
    gpu_training.fits = 4
    events = gpu_training.train()
    assert any("diverged at" in event.what for event in events if isinstance(event, Trouble))
    assert state_of(gpu_training.run)["course"]["fp32"] == "precision.not_alike"


def raise_not_finite() -> None:
    raise NotFiniteError("The network answered with numbers that are not finite.")


def o2_learner() -> Learner:
    """A learner at level O2, decorated as Paddle does on a GPU: 16-bit convolutions, 32-bit norms, masters."""
    learner = small_learner((16, 24), kind="muon")
    for layer in learner.net.sublayers():
        if isinstance(layer, (paddle.nn.Conv2D, paddle.nn.Conv2DTranspose)):
            layer.to(dtype="bfloat16")
    learner.optimizer._multi_precision = True
    return learner


def take_step(learner: Learner, seed: int) -> None:
    generator = np.random.default_rng(seed)
    for parameter in learner.optimizer._parameter_list:
        hidden = parameter.name in learner.optimizer.hidden  # AdamW has no 16-bit step on a CPU
        if not parameter.stop_gradient and (hidden or parameter.dtype == paddle.float32):
            gradient = generator.standard_normal(parameter.shape).astype(np.float32)
            parameter.grad = paddle.to_tensor(gradient).astype(parameter.dtype)
    learner.optimizer.step()
    learner.optimizer.clear_grad()


def test_state_of_level_o2_survives_a_round_trip(monkeypatch):
    """Paddle lists the moments of a 16-bit weight under the name of its master."""
    one, other = o2_learner(), o2_learner()
    take_step(one, 0)
    assert any("fp32_master" in owner for owner in one.optimizer._accumulators["moment1"])
    kept = one.optimizer_arrays()
    names = {name for name, p in one.net.named_parameters() if p.name in one.optimizer.hidden}
    assert names and {f"master/{name}" for name in names} | {f"moment1/{name}" for name in names} <= kept.keys()
    step = other.optimizer.step

    def step_hidden() -> None:
        for parameter in other.net.parameters():
            if parameter.dtype == paddle.bfloat16 and parameter.name not in other.optimizer.hidden:
                parameter.clear_gradient(False)
        step()

    monkeypatch.setattr(other.optimizer, "step", step_hidden)
    other.load_optimizer(kept)
    found = other.optimizer_arrays()
    assert found.keys() == kept.keys() and all((found[name] == kept[name]).all() for name in kept)
    for first, second in zip(one.net.parameters(), other.net.parameters()):
        second.set_value(first)
    take_step(one, 2)
    take_step(other, 2)
    for first, second in zip(one.net.parameters(), other.net.parameters()):
        assert (first.astype("float32").numpy() == second.astype("float32").numpy()).all()
    with pytest.raises(RunBroken):
        other.load_optimizer({"moment1/absent": np.zeros(1, np.float32)})


@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_level_o2_is_not_offered(model):
    assert "amp_level" not in concerns(model) and "precision" in concerns(model)


# --- settings for the device that is used -------------------------------------------------------------


def test_settings_planned_for_a_gpu_are_planned_again_for_the_cpu(labeled_project, monkeypatch):
    monkeypatch.setattr("workbench.core.runs.planner.uses_gpu", lambda name: name == "auto")
    run = create_run(labeled_project, request("unet", minutes=1.0, seed=7))
    assert run.settings().batch >= 16 and run.settings().widths[0] == 48
    events: list = []
    context = training_context.prepare(
        run, lambda event, **options: events.append(event), ControlChannel(None), Clock()
    )
    context.loader.close()
    settings = run.settings()
    assert context.settings == settings and settings.widths == [24, 48, 96, 128] and settings.stem == 4
    assert settings.device == "auto" and settings.seed == 7 and settings.rate == 4e-3
    assert "planned for a GPU" in events[0].what and "planned again" in events[0].done


def test_settings_are_adapted_to_the_gpu_before_the_first_step(simulated_gpu, labeled_project, monkeypatch):
    monkeypatch.setattr("workbench.core.runs.planner.uses_gpu", lambda name: name != "cpu")
    measured = []

    def measure(settings, dataset, chosen):
        measured.append(settings.batch)
        return planner.StepCost(0.005 + 0.005 * settings.batch / 16, 0.05)

    monkeypatch.setattr(device_settings, "measure_step", measure)
    run = make_run(
        labeled_project,
        device="gpu",
        precision="fp32",
        epochs=None,
        minutes=1.0,
        widths=[4, 8],
        stem=1,
        patch=256,
        batch=16,
    )
    context = prepared(run)
    assert context.settings.batch == 16 and measured == []  # chosen manually
    settings = run.settings()
    reasons = {**settings.reasons, "batch": context.settings.reasons["batch"]}
    write_settings(run, settings.model_copy(update={"reasons": {**reasons, "batch": Message(planner.BATCH_REASON)}}))
    context = prepared(run)
    assert measured == [16, 32, 64, 128] and context.settings.batch == 128 == run.settings().batch
    assert "45 ms" in run.settings().reasons["batch"] and context.loader._places == range(128)


def prepared(run) -> TrainingContext:
    context = training_context.prepare(run, Reporter(None, Clock()), ControlChannel(None), Clock())
    context.loader.close()
    return context


def test_step_is_measured_on_the_network_of_the_run(labeled_project):
    run = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)
    cost = device_settings.measure_step(run.settings(), run.dataset(), Device("cpu"))
    assert 0 < cost.seconds < 60 and cost.memory == 0.0


@pytest.mark.parametrize(("free", "name"), [(1 << 30, "cpu"), (3 << 30, "gpu:0"), (None, "gpu:0")])
def test_export_beside_a_training_that_fills_the_gpu_computes_on_the_cpu(simulated_gpu, monkeypatch, free, name):
    def mem_get_info():
        if free is None:
            raise AttributeError("_cudart")
        return free, 12 << 30

    monkeypatch.setattr(paddle.cuda, "mem_get_info", mem_get_info)
    assert device.choose_beside_training().name == name


def test_measured_step_computes_the_local_contrast_as_the_training_does(simulated_gpu, labeled_project, monkeypatch):
    """By the transposed convolution a step takes many milliseconds longer on a GPU: the batch would be too small."""
    run = make_run(labeled_project, device="gpu", precision="fp32", widths=[4, 8], stem=1, patch=32, batch=2)
    context = prepared(run)
    learners = []

    monkeypatch.setattr(Learner, "step", lambda learner, *_: learners.append(learner))
    device_settings.measure_step(run.settings(), run.dataset(), context.device)
    for trained in (context.learner, learners[0]):
        assert trained.net.contrast.interpolated and trained.mean.contrast.interpolated
    on_cpu = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)
    device_settings.measure_step(on_cpu.settings(), on_cpu.dataset(), Device("cpu"))
    assert not learners[-1].net.contrast.interpolated


def test_measurement_without_memory_is_a_memory_error(labeled_project, monkeypatch):
    run = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)
    monkeypatch.setattr(Learner, "step", lambda *a, **k: (_ for _ in ()).throw(OSError(OUT_OF_MEMORY)))
    with pytest.raises(MemoryError):
        device_settings.measure_step(run.settings(), run.dataset(), Device("cpu"))


@pytest.fixture
def memory_in_use(monkeypatch):
    """Memory of a GPU of 10 GB: 2 GB by other programs, 1 GB cached by Paddle, 4 GB by the tensors of a step."""
    used = types.SimpleNamespace(tensors=4 * 10**9, others=2 * 10**9, cached=10**9)
    cuda = paddle.device.cuda
    monkeypatch.setattr(cuda, "max_memory_allocated", lambda: used.tensors)
    monkeypatch.setattr(cuda, "reset_max_memory_allocated", lambda: None)
    monkeypatch.setattr(cuda, "memory_reserved", lambda: used.cached)
    total = 10 * 10**9
    monkeypatch.setattr(paddle.cuda, "mem_get_info", lambda: (total - used.others - used.cached, total))
    return used


def test_memory_of_other_programs_counts_when_a_step_is_measured(labeled_project, memory_in_use):
    run = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)
    measured = device_settings.measure_step(run.settings(), run.dataset(), Device("cpu", memory=10 * 10**9))
    assert measured.memory == pytest.approx(0.6) and measured.other == pytest.approx(0.2)


def test_step_for_which_windows_moves_memory_to_the_computer_does_not_fit(labeled_project, memory_in_use):
    """There the driver reports no failure, and every step takes many times as long."""
    memory_in_use.tensors = 9 * 10**9
    run = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)
    with pytest.raises(MemoryError):
        device_settings.measure_step(run.settings(), run.dataset(), Device("cpu", memory=10 * 10**9))


def test_probe_reports_the_automatic_device(capfd, monkeypatch):
    monkeypatch.setattr("workbench.training.__main__.claim_stdout", lambda: 1)
    assert main(["probe"]) == 0
    assert json.loads(capfd.readouterr().out)["device"] == "cpu"


PADDLE_STACK = "\n\n--------------------------------------\nC++ Traceback (most recent call last):\n---------\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            MemoryError("\n\nOut of memory error on GPU 0. Cannot allocate 1.0GB memory"),
            "the process ran out of memory",
        ),
        (
            OSError(f"{PADDLE_STACK}(External) CUDA error(700), an illegal memory access."),
            "the GPU failed (CUDA error(700), an illegal memory access); if this happens again, restart the computer",
        ),
    ],
)
def test_failure_before_the_first_step_ends_the_run_with_its_cause(labeled_project, inside, monkeypatch, error, words):
    """For example, another program leaves too little memory of the GPU for the weights."""
    run = make_run(labeled_project, device="cpu", widths=[4, 8], stem=1, patch=32, batch=2)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(loop, "prepare", fail)
    assert inside("train", run.root).end() == 1
    last = list(run.events())[-1]
    assert isinstance(last, Failed)
    assert words in last.why and "----" not in last.why and "MemoryError" not in last.why


# --- local contrast -----------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3])
def test_local_contrast_by_interpolation_is_that_by_transposed_convolution(channels):
    layer = LocalContrast(channels)
    images = paddle.to_tensor(np.random.default_rng(0).normal(0.3, 1, (2, channels, 64, 96)).astype(np.float32))
    exact = layer(images).numpy()
    layer.interpolated = True
    np.testing.assert_allclose(layer(images).numpy(), exact, atol=2e-5, rtol=1e-4)


# --- profile and exports ------------------------------------------------------------------------------


def test_profile_separates_the_time_of_kernels_from_that_of_their_start(tmp_path):
    trace = tmp_path / "trace.json"
    events = [("Operator", "conv2d dygraph", 500), ("Operator", "adamw", 300)]
    events += [("Kernel", "sm80_xmma_fprop_implicit_gemm_f16", 4000), ("Kernel", "cudnn_wgrad_engine", 6000)]
    rows = [{"cat": category, "name": name, "dur": dur} for category, name, dur in events * 2]
    trace.write_text(json.dumps({"traceEvents": rows}))
    operations = learner.sum_operations(trace, 2)
    kernels = learner.sum_operations(trace, 2, "Kernel")
    assert sum(operations.values()) == pytest.approx(0.8) and sum(kernels.values()) == pytest.approx(10.0)
    assert learner.sum_kinds(kernels) == {"backward convolutions": 6.0, "forward convolutions": 4.0}
    text = learner.table(12.0, 1.0, operations, kernels)
    assert "The GPU computes for 10.0 ms of a step; starting its work takes the CPU 0.8 ms." in text
    assert text.index("## GPU") < text.index("| backward convolutions | 6.0 |") < text.index("## CPU")
    assert "## GPU" not in learner.table(12.0, 1.0, operations, {})


def test_paddle_engine_of_an_export_computes_without_tf32(monkeypatch):
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    paddle_engine.import_paddle_inference()
    assert os.environ["NVIDIA_TF32_OVERRIDE"] == "0"
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(paddle.device.cuda, "device_count", raise_os_error)
    assert not paddle_engine.has_gpu()


# --- checkpoints --------------------------------------------------------------------------------------


def test_checkpoint_that_cannot_be_written_is_reported_and_retried(gpu_training, monkeypatch):
    save, failed = checkpoint.save_last, []

    def full(run, number, *rest):
        if number and len(failed) < 2:
            failed.append(number)
            raise CannotWrite(path="last", why="no space left on device")
        save(run, number, *rest)

    monkeypatch.setattr(checkpoint, "save_last", full)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    troubles = [event for event in events if isinstance(event, Trouble) and "no space" in event.what]
    assert len(troubles) == len(failed) == 2 and isinstance(events[-1], Finished)
