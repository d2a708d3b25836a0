"""Mixed precision on a simulated GPU: loss scaling, and gradients that overflow in 16 bits.

Each fault of Paddle that has ended or silently changed a training with mixed precision has a test.
"""

from __future__ import annotations

import re

import numpy as np
import paddle
import pytest

from tests.training.conftest import arrays_of, small_batch, small_learner, state_of
from workbench.core.problems import WorkerFailed
from workbench.core.runs.events import Finished, Started, Step, Trouble
from workbench.training import device, evaluator, losses, optimizers, training_loop
from workbench.training.device import Device
from workbench.training.learner import Learner
from workbench.training.optimizers import LossScaler, Precision, PrecisionChoice
from workbench.training.training_context import TrainingContext


class Half:
    """Weight with its optimizer and a precision whose gradients are rounded to 16 bits."""

    def __init__(self, scale: float = 1024.0) -> None:
        self.precision = Precision(
            PrecisionChoice("fp16", ""), scaler=LossScaler(init_loss_scaling=scale, incr_every_n_steps=2)
        )
        self.weight = paddle.create_parameter([4], "float32")
        self.optimizer = paddle.optimizer.AdamW(0.1, parameters=[self.weight])

    def backward(self, factor: float) -> None:
        self.precision.backward((self.weight.astype("float16").astype("float32") * factor).sum())

    def step(self, factor: float) -> tuple[float, bool]:
        self.backward(factor)
        outcome = self.precision.step(self.optimizer, [self.weight], 1.0)
        self.optimizer.clear_grad()
        return outcome


def test_first_overflow_with_this_numpy_raises_no_error(simulated_gpu, capfd):
    half = Half()
    assert half.step(70.0)[1] and half.precision.loss_scale == 512.0
    assert half.step(70.0) == (pytest.approx(140.0), False)
    assert capfd.readouterr().out == ""


def test_loss_scale_grows_after_steps_without_overflow_and_its_count_is_saved(simulated_gpu):
    half = Half(scale=16.0)
    scales = []
    for _ in range(3):
        half.step(3.0)
        scales.append(half.precision.loss_scale)
    assert scales == [16.0, 32.0, 32.0]
    saved = half.precision.state()
    assert saved["incr_count"] == 1 and saved["scale"] == [32.0]
    resumed = Half()
    resumed.precision.load(saved)
    resumed.step(3.0)
    assert resumed.precision.loss_scale == 64.0


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("number_type", ["fp16", "bf16"])
def test_overflow_leaves_everything_bitwise_as_it_was(simulated_gpu, kind, number_type):
    """Except the running statistics of the network in training, which each forward pass moves."""

    def state() -> dict[str, bytes]:
        state = learner.state_arrays()
        trained = {name for name, p in learner.net.named_parameters() if not p.stop_gradient}
        state["weights"] = {name: state["weights"][name] for name in trained}
        return {f"{stem}/{name}": array.tobytes() for stem, arrays in state.items() for name, array in arrays.items()}

    half = Precision(PrecisionChoice(number_type, ""))
    learner = small_learner((16, 24), kind=kind, precision=half)
    loss, (images, truth) = learner.loss, small_batch()
    assert not learner.step(images, truth, 1e-3).skipped
    before, updates, scale = state(), learner.updates, half.loss_scale
    learner.loss = lambda logits, truth: loss(logits, truth).detach() + (logits * 1e-3).sum() * 3e38 * 10
    result = learner.step(images, truth, 1e-3)
    assert result.skipped and not result.diverged and learner.updates == updates
    assert state() == before and half.loss_scale == (scale / 2 if number_type == "fp16" else None)
    learner.loss = loss
    assert not learner.step(images, truth, 1e-3).skipped and state() != before


@pytest.mark.parametrize("before", ["nothing", "bf16"])
def test_scaler_stays_enabled_before_any_cast_and_after_one_to_another_type(simulated_gpu, before):
    half = Half()
    if before == "bf16":
        with pytest.warns(UserWarning), paddle.amp.auto_cast(dtype="bfloat16"):
            pass
    half.step(3.0)
    assert half.precision.scaler.is_enable() and half.precision.scaler.is_use_dynamic_loss_scaling()
    assert half.step(70.0)[1] and half.precision.loss_scale == 512.0


def test_a_step_interrupted_after_unscaling_can_be_repeated(simulated_gpu, monkeypatch):
    half = Half()
    half.backward(3.0)
    step = half.optimizer.step

    def full() -> None:
        raise MemoryError("ResourceExhaustedError: Out of memory error on GPU 0.")

    monkeypatch.setattr(half.optimizer, "step", full)
    with pytest.raises(MemoryError):
        half.precision.step(half.optimizer, [half.weight], 1.0)
    monkeypatch.setattr(half.optimizer, "step", step)
    half.optimizer.clear_grad()
    assert half.step(3.0) == (pytest.approx(6.0), False)


def test_state_of_a_disabled_scaler_is_ignored(simulated_gpu, monkeypatch):
    half = Half()
    half.precision.load({})  # state of a run on a CPU that is resumed on a GPU
    assert half.precision.loss_scale == 1024.0
    half.step(3.0)
    state = half.precision.state()
    single = Precision(PrecisionChoice("fp32", ""))
    single.load(state)  # and reverse
    assert single.loss_scale is None and single.state() == {}
    monkeypatch.undo()  # without a GPU, Paddle disables a new scaler
    with pytest.warns(UserWarning):
        off = Precision(PrecisionChoice("fp16", ""))
    assert off.loss_scale == 1.0 and off.state() == {} and not off.scaler.skipped
    off.scaler._update()
    off.load(state)


def test_types_without_a_scaler_skip_steps_that_are_not_finite():
    half = Precision(PrecisionChoice("bf16", ""))
    weight = paddle.create_parameter([4], "float32")
    optimizer = paddle.optimizer.AdamW(0.1, parameters=[weight])
    before = weight.numpy().copy()
    with pytest.warns(UserWarning), half.cast():  # without a cast on the CPU
        loss = (weight * float("inf")).sum()
    half.backward(loss)
    norm, skipped = half.step(optimizer, [weight], 1.0)
    assert skipped and not np.isfinite(norm) and (weight.numpy() == before).all()
    assert half.scaler is None and half.loss_scale is None


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_16_bit_weights_on_request_only(monkeypatch, level):
    received = []
    monkeypatch.setattr(paddle.amp, "decorate", lambda **options: received.append(options))
    net, optimizer = object(), object()
    Precision(PrecisionChoice("bf16", ""), level).prepare(net, optimizer)
    Precision(PrecisionChoice("fp32", ""), level).prepare(net, optimizer)
    expected = {"models": net, "optimizers": optimizer, "level": "O2", "dtype": "bfloat16", "master_grad": True}
    assert received == ([expected] if level == "O2" else [])


@pytest.mark.parametrize(
    ("requested", "capability", "name"),
    [("fp32", (8, 0), "fp32"), ("fp16", (7, 0), "fp16"), ("bf16", (9, 0), "bf16"), ("auto", (7, 5), "fp16")],
)
def test_precision_of_a_gpu(requested, capability, name):
    assert optimizers.choose_precision(requested, Device("gpu:0", "A card", capability)).name == name


def test_reason_for_a_missing_gpu(simulated_gpu, monkeypatch):
    with pytest.raises(device.DeviceMissing, match="no GPU 1"):
        device.choose("gpu:1")
    monkeypatch.setattr(paddle.device.cuda, "device_count", lambda: 0)
    with pytest.raises(device.DeviceMissing, match="driver"):
        device.choose("gpu")
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: False)
    with pytest.raises(device.DeviceMissing, match="CPU version"):
        device.choose("gpu")


# --- a whole training ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
def test_training_on_a_gpu_ends_despite_overflows_and_insufficient_memory(gpu_training):
    events = gpu_training.train()
    started, ended = events[0], events[-1]
    assert isinstance(started, Started) and (started.device, started.precision) == ("gpu:0", "fp16")
    assert started.device_name == "A card"
    (trouble,) = [event for event in events if isinstance(event, Trouble)]
    assert "gpu:0 ran out of memory" in trouble.what and "2 parts" in trouble.done and gpu_training.emptied
    steps = [event for event in events if isinstance(event, Step)]
    waiting = [event for event in steps if event.step == 0]
    # a skipped step does not advance the schedule
    assert len(waiting) > 4 and len({event.rate for event in waiting}) == 1
    scales = [event.loss_scale for event in steps]
    assert scales == sorted(scales, reverse=True) and scales[0] == 2.0**35 and scales[-1] < 2.0**30
    assert list(dict.fromkeys(event.step for event in steps)) == list(range(started.steps_planned + 1))
    assert steps[-1].skipped == len(steps) - started.steps_planned >= len(waiting)
    assert isinstance(ended, Finished) and ended.result["steps"] == started.steps_planned
    assert (ended.result["device"], ended.result["precision"]) == ("gpu:0", "fp16") and ended.result["usable"]
    kept = state_of(gpu_training.run)
    assert kept["scaler"]["scale"] == [scales[-1]] and kept["parts"] == 2
    training_settings = gpu_training.run.settings().model_copy(update={"epochs": 2})
    gpu_training.run.settings_path.write_text(training_settings.model_dump_json())
    events = gpu_training.train(resume=True)
    steps = [event for event in events if isinstance(event, Step)]
    assert steps[0].step - started.steps_planned in (0, 1) and steps[0].loss_scale in (scales[-1], scales[-1] / 2)
    assert steps[-1].step == 2 * started.steps_planned


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
def test_killed_training_of_a_gpu_continues_bit_by_bit(gpu_training, monkeypatch):
    """Also with the number of skipped steps, whose batches are not taken again."""
    gpu_training.fits, gpu_training.scale = 4, 2.0**36
    monkeypatch.setattr(training_loop, "SAVE_SECONDS", 0.0)
    step, calls = Learner.step, []

    def killed(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 15:
            raise ZeroDivisionError
        return step(self, *arguments, **options)

    monkeypatch.setattr(Learner, "step", killed)
    with pytest.raises(ZeroDivisionError):
        gpu_training.train()
    interrupted = state_of(gpu_training.run)
    assert interrupted["step"] and interrupted["course"]["skipped"]
    finished = []
    for resume in (True, False):
        gpu_training.train(resume=resume)
        files = state_of(gpu_training.run)["files"]
        finished.append({stem: arrays_of(gpu_training.run.last / name) for stem, name in files.items()})
    for stem, arrays in finished[0].items():
        assert all((array == finished[1][stem][name]).all() for name, array in arrays.items()), stem


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
def test_divergence_of_one_step_is_rolled_back(gpu_training, monkeypatch):
    gpu_training.fits, gpu_training.scale = 4, 1.0
    loss, calls = losses.segmentation_loss, []

    def diverging(answer, truth, **options):
        calls.append(1)
        return loss(answer, truth, **options) * (float("nan") if len(calls) == 6 else 1.0)

    monkeypatch.setattr(losses, "segmentation_loss", diverging)
    events = gpu_training.train()
    assert len([e for e in events if isinstance(e, Trouble) and "diverged" in e.what]) == 1
    assert isinstance(events[-1], Finished) and events[-1].result["steps"] == events[0].steps_planned
    assert all(np.isfinite(array).all() for array in arrays_of(gpu_training.run.best / "weights.safetensors").values())


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
def test_smaller_patches_if_one_does_not_fit_also_after_a_resume(gpu_training):
    gpu_training.scale, gpu_training.side = 1.0, 64
    training_settings = gpu_training.run.settings().model_copy(update={"patch": 128})
    gpu_training.run.settings_path.write_text(training_settings.model_dump_json())
    events = gpu_training.train()
    troubles = [event for event in events if isinstance(event, Trouble) and "memory" in event.what]
    done = [re.search(r"\d+ (parts|pixels)", event.done)[0] for event in troubles]
    assert done == ["2 parts", "4 parts", "64 pixels"]
    started, ended = events[0], events[-1]
    assert isinstance(ended, Finished) and ended.result["steps"] == started.steps_planned and ended.result["usable"]
    assert state_of(gpu_training.run)["course"]["halvings"] == 1 and state_of(gpu_training.run)["parts"] == 2
    longer = training_settings.model_copy(update={"epochs": 2})
    gpu_training.run.settings_path.write_text(longer.model_dump_json())
    events = gpu_training.train(resume=True)
    assert not [event for event in events if isinstance(event, Trouble) and "memory" in event.what]
    assert events[-1].result["steps"] == 2 * started.steps_planned


def test_problem_if_the_network_has_no_smaller_patch(gpu_training):
    gpu_training.fits = 0
    training_settings = gpu_training.run.settings().model_copy(update={"patch": 64, "stem": 4, "widths": [4] * 5})
    gpu_training.run.settings_path.write_text(training_settings.model_dump_json())
    with pytest.raises(WorkerFailed, match="smaller network"):
        gpu_training.train()


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
def test_problem_if_nothing_fits_or_no_step_is_finite(gpu_training, monkeypatch):
    gpu_training.fits = 0
    with pytest.raises(WorkerFailed, match="smaller network"):
        gpu_training.train()
    gpu_training.fits, gpu_training.scale = 4, 2.0**100
    monkeypatch.setattr(training_loop, "MAX_SKIPPED", 3)
    monkeypatch.setattr(TrainingContext, "use_fp32", lambda context, reason: False)  # as with level O2
    with pytest.raises(WorkerFailed, match="diverged 4 times"):
        gpu_training.train()


def test_predicting_images_needs_less_memory_in_smaller_batches():
    class Net(paddle.nn.Layer):
        def forward(self, batch):
            if len(batch) > 1:
                raise MemoryError("ResourceExhaustedError: Out of memory error on GPU 0.")
            return batch * 2

    images = np.arange(3 * 8 * 8, dtype=np.float32).reshape(3, 1, 8, 8)
    assert evaluator.DygraphEngine(Net())(images).shape == (3, 1, 8, 8)
    assert paddle.is_grad_enabled()  # gradients are enabled again


def test_other_errors_are_not_changed_to_memory_errors(simulated_gpu):
    def wrong(answer, truth):
        raise ValueError("(InvalidArgument) something else")

    learner = small_learner(loss=wrong)
    images = np.ones((2, 1, 16, 16), np.float32)
    with pytest.raises(ValueError, match="something else"):
        learner.step(images, images[:, 0].astype(np.uint8), 1e-3)
