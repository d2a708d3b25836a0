"""Steps of a GPU, which are enqueued and read one step later. Computed on the CPU, by the same operations."""

from __future__ import annotations

import copy
import threading
import types
from collections import Counter

import numpy as np
import paddle
import pytest

from tests.training.conftest import arrays_of, state_of
from workbench.core.runs.events import Checkpoint, Evaluated, Finished, Preview, Step, Trouble
from workbench.training import device_update, losses, training_context, training_loop
from workbench.training.control_channel import ControlChannel
from workbench.training.device_update import DeviceUpdate
from workbench.training.distributed import process_group
from workbench.training.flat_tensors import FlatTensors, HostCopy
from workbench.training.learner import Learner, StepResult
from workbench.training.losses import segmentation_loss
from workbench.training.network_state import load_weights, weights
from workbench.training.optimizers import make_optimizer
from workbench.training.precision import LossScaler, Precision, PrecisionChoice
from workbench.training.reporter import Clock, Reporter
from workbench.training.training_context import TrainingContext
from workbench.training.unet import UNet

pytestmark = pytest.mark.filterwarnings("ignore:amp_guard can only be enabled", "ignore:When training, we now")
READS = ("numpy", "item", "tolist", "__bool__", "__float__", "__int__", "__array__")


def loss_of(logits: paddle.Tensor, truth: paddle.Tensor) -> paddle.Tensor:
    return segmentation_loss(logits, truth, dice_weight=1.0, cross_entropy_weight=1.0)


def make_learner(kind: str = "muon", *, on_gpu: bool = True, precision: Precision | None = None, clip: float = 1.0):
    paddle.seed(0)
    nets = [UNet(1, 2, (16, 24), contrast=False) for _ in range(2)]
    precision = precision or Precision(PrecisionChoice("fp32", ""))
    optimizer = make_optimizer(nets[0], kind, weight_decay=0.1)
    return Learner(nets[0], nets[1], loss_of, precision, optimizer, grad_clip=clip, average=0.9, on_gpu=on_gpu)


def batch(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    images = np.random.default_rng(seed).normal(size=(4, 1, 16, 16)).astype(np.float32)
    return images, (images[:, 0] > 0.5).astype(np.uint8)


def scaled(scale: float = 2.0**10, growth: int = 500) -> Precision:
    return Precision(PrecisionChoice("fp16", ""), scaler=LossScaler(init_loss_scaling=scale, incr_every_n_steps=growth))


def state(learner: Learner) -> dict[str, np.ndarray]:
    """Return what an overflow must not change: all except the running statistics of the network in training."""
    own = {name: p.numpy() for name, p in learner.net.named_parameters() if not p.stop_gradient}
    mean = {f"mean/{name}": array for name, array in weights(learner.mean).items()}
    return {**own, **mean, **learner.optimizer_arrays()}


def overflow(learner: Learner) -> None:
    learner.loss = lambda logits, truth: loss_of(logits, truth).detach() + (logits * 1e-3).sum() * 3e38 * 10


# --- results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("clip", [1e6, 0.01])
def test_step_of_a_gpu_gives_the_results_of_a_step_of_a_cpu(kind, clip):
    one, other = make_learner(kind, on_gpu=False, clip=clip), make_learner(kind, clip=clip)
    for number in range(5):
        results = [learner.step(*batch(number), 1e-3) for learner in (one, other)]
        assert results[0].loss == pytest.approx(results[1].loss, rel=1e-5)
        assert results[0].grad_norm == pytest.approx(results[1].grad_norm, rel=1e-4)
    assert one.updates == other.updates == other.device_update.updates.item() == 5
    tables = state(one), state(other)
    assert tables[0].keys() == tables[1].keys()
    for name, array in tables[0].items():
        np.testing.assert_allclose(tables[1][name], array, rtol=1e-2, atol=1e-4, err_msg=name)


def test_result_of_a_step_is_that_of_the_step_before():
    one, other = make_learner(), make_learner()
    expected = [one.step(*batch(number), 1e-3) for number in range(3)]
    results = []
    for number in range(3):
        results.append(other.advance(*batch(number), 1e-3))
        assert other.enqueued == 1 and other.updates == number
    assert results == [None, *expected[:2]]
    assert other.complete() == expected[2] and other.complete() is None and other.enqueued == 0
    other.advance(*batch(), 1e-3)
    other.discard()
    assert other.complete() is None and other.updates == 3


def test_step_of_a_cpu_has_its_result_at_once():
    learner = make_learner(on_gpu=False)
    assert isinstance(learner.advance(*batch(), 1e-3), StepResult)
    assert learner.enqueued == 0 and learner.complete() is None


# --- overflow -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("with_scale", [True, False])
def test_overflow_leaves_everything_bitwise_as_it_was(simulated_gpu, kind, with_scale):
    learner = make_learner(kind, precision=scaled() if with_scale else Precision(PrecisionChoice("bf16", "")))
    assert not learner.step(*batch(), 1e-3).skipped
    before, updates = state(learner), learner.updates
    overflow(learner)
    result = learner.step(*batch(), 1e-3)
    assert result.skipped and not result.diverged and learner.updates == updates
    after = state(learner)
    assert before.keys() == after.keys() and all(before[name].tobytes() == after[name].tobytes() for name in before)
    assert learner.precision.loss_scale == (2.0**9 if with_scale else None)
    learner.loss = loss_of
    assert not learner.step(*batch(), 1e-3).skipped


def test_image_that_is_not_finite_leaves_weights_and_averages_as_they_were():
    learner = make_learner()
    learner.step(*batch(), 1e-3)
    before = state(learner)
    images, truth = batch()
    assert learner.step(np.full_like(images, np.inf), truth, 1e-3).skipped
    after = state(learner)
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)


def test_step_after_an_unread_overflow_equals_that_after_a_read_one(simulated_gpu):
    """The loss scale, the count of updates and the powers of the decay rates follow on the device."""
    waiting, early = make_learner("adamw", precision=scaled()), make_learner("adamw", precision=scaled())
    for learner in (waiting, early):
        learner.step(*batch(), 1e-3)
        overflow(learner)
    waiting.step(*batch(1), 1e-3)
    early.advance(*batch(1), 1e-3)
    for learner in (waiting, early):
        learner.loss = loss_of
    known = waiting.step(*batch(2), 1e-3)
    assert early.advance(*batch(2), 1e-3).skipped
    assert early.complete() == known and not known.skipped
    tables = state(waiting), state(early)
    assert all(tables[0][name].tobytes() == tables[1][name].tobytes() for name in tables[0])
    assert early.precision.loss_scale == waiting.precision.loss_scale == 2.0**9


def test_loss_scale_grows_after_steps_without_overflow_and_its_count_is_saved(simulated_gpu):
    learner = make_learner(precision=scaled(growth=3))
    scales = []
    for _ in range(4):
        learner.step(*batch(), 1e-3)
        scales.append(learner.precision.loss_scale)
    assert scales == [2.0**10, 2.0**10, 2.0**11, 2.0**11]
    saved = learner.precision.state()
    assert saved["incr_count"] == 1 and saved["scale"] == [2.0**11]
    other = make_learner(precision=scaled(growth=3))
    other.precision.load(saved)
    for _ in range(2):
        other.step(*batch(), 1e-3)
    assert other.precision.loss_scale == 2.0**12


# --- reads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("parts", [1, 2])
def test_step_of_a_gpu_reads_nothing_but_the_result_of_the_step_before(simulated_gpu, monkeypatch, kind, parts):
    """A read waits for all work of the GPU, unless the value was copied to the host when it was computed."""
    learner = make_learner(kind, precision=scaled())
    learner.parts = parts
    tensors = [paddle.to_tensor(array) for array in batch()]
    learner.advance(*tensors, 1e-3)
    reads: Counter[str] = Counter()
    inside: list[str] = []
    known = HostCopy.read

    def read_copy(self):
        inside.append("copy")
        reads["of a copy"] += 1
        values = known(self)
        inside.pop()
        return values

    monkeypatch.setattr(HostCopy, "read", read_copy)
    for name in READS:
        read = getattr(paddle.Tensor, name)

        def counted(self, *arguments, read=read, name=name, **options):
            if not inside:
                reads[name] += 1
            return read(self, *arguments, **options)

        monkeypatch.setattr(paddle.Tensor, name, counted)
    assert not learner.advance(*tensors, 1e-3).skipped
    assert reads == {"of a copy": 1}


class GpuTensor:
    """A tensor on a GPU, of which copies to page-locked memory are made."""

    def __init__(self, order: list[str], value: paddle.Tensor, *, locked: bool = True, memory: bool = True) -> None:
        self.order, self.value, self.locked, self.memory = order, value, locked, memory
        self.place = self

    def is_gpu_place(self) -> bool:
        return True

    def _copy_to(self, place: object, blocking: bool) -> GpuTensor:
        if not self.locked:
            raise OSError("(External) CUDA error(2), out of memory.")
        self.order.append("copy, blocking" if blocking else "copy")
        return self

    def clone(self) -> GpuTensor:
        if not self.memory:
            raise MemoryError("Out of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0")
        self.order.append("clone")
        return self

    def cpu(self) -> GpuTensor:
        self.order.append("read at once")
        return self

    def numpy(self) -> np.ndarray:
        self.order.append("read")
        return self.value.numpy()


@pytest.mark.parametrize("locked", [True, False])
def test_result_is_read_after_its_own_event(monkeypatch, locked):
    order: list[str] = []

    class Event:
        def record(self) -> None:
            order.append("record")

        def query(self) -> bool:
            order.append("query")
            return order.count("query") > 2

    monkeypatch.setattr(paddle.device.cuda, "Event", Event)
    monkeypatch.setattr(paddle, "CUDAPinnedPlace", lambda: "page-locked")
    result = HostCopy([GpuTensor(order, paddle.ones([2]), locked=locked)])
    order.append("next step")
    assert result.read()[0].tolist() == [1, 1]
    waited = ["copy", "record", "next step", "query", "query", "query", "read"]
    assert order == (waited if locked else ["clone", "next step", "read"])


def test_state_is_read_at_once_if_neither_gpu_nor_host_has_memory_for_a_copy():
    """Weights and moments of a checkpoint take several times the memory of the weights."""
    order: list[str] = []
    copy = HostCopy([GpuTensor(order, paddle.ones([2]), locked=False, memory=False)])
    order.append("next step")
    assert copy.read()[0].tolist() == [1, 1] and order == ["read at once", "next step", "read"]


def test_other_threads_run_while_a_result_is_awaited(monkeypatch):
    """`Event.synchronize` of Paddle keeps the interpreter lock: images would be prepared only between two waits."""
    ready = threading.Event()

    class Event:
        def record(self) -> None: ...

        def synchronize(self) -> None:
            raise AssertionError("no other thread would run")

        def query(self) -> bool:
            return ready.is_set()

    monkeypatch.setattr(paddle.device.cuda, "Event", Event)
    monkeypatch.setattr(paddle, "CUDAPinnedPlace", lambda: "page-locked")
    result = HostCopy([GpuTensor([], paddle.ones([2]))])
    other = threading.Timer(0.05, ready.set)
    other.start()
    assert result.read()[0].tolist() == [1, 1]
    other.join()


# --- tensors in one -----------------------------------------------------------------------------------


def test_arrays_of_tensors_in_one_take_their_own_memory(simulated_gpu):
    """`Tensor.numpy` of a part copies the whole: as many times as there are weights, gigabytes for a ResNet-50."""
    learner = make_learner("muon", on_gpu=True)
    learner.step(*batch(), 1e-2)
    for arrays in (weights(learner.net), weights(learner.mean), learner.optimizer_arrays()):
        assert len(arrays) > 10
        for name, array in arrays.items():
            assert array.base is None or array.base._holder_size() <= array.nbytes + 256, name


def test_state_is_loaded_without_a_read_of_tensors_in_one(simulated_gpu, monkeypatch):
    learner = make_learner("adamw", on_gpu=True)
    learner.step(*batch(), 1e-2)
    arrays = learner.optimizer_arrays()
    monkeypatch.setattr(paddle.Tensor, "numpy", lambda tensor: pytest.fail("a tensor was read"))
    learner.load_optimizer(arrays)
    monkeypatch.undo()
    assert all(np.array_equal(array, arrays[name]) for name, array in learner.optimizer_arrays().items())


def test_wait_for_a_message_reads_a_single_value(monkeypatch):
    """Of a view, `numpy` would read all gradients in every step."""
    sizes = []

    def numpy(tensor):
        sizes.append(tensor._holder_size())
        return read(tensor)

    read = paddle.Tensor.numpy
    monkeypatch.setattr(paddle.Tensor, "numpy", numpy)
    on_gpu = types.SimpleNamespace(is_gpu_place=lambda: True)
    process_group._wait_for(types.SimpleNamespace(place=on_gpu, flatten=paddle.zeros([100, 1000]).flatten))
    assert sizes and max(sizes) <= 256


def test_tensors_stay_views_of_one_tensor_after_every_change():
    paddle.seed(1)
    net = UNet(1, 2, (4, 8), contrast=False)
    before = {name: array.copy() for name, array in weights(net).items()}
    parameters = net.parameters()
    flat = FlatTensors(parameters)
    assert flat.is_intact and all(start % 64 == 0 for start in flat.starts)
    assert all((array == before[name]).all() for name, array in weights(net).items())
    net.train()
    net(paddle.to_tensor(batch()[0])).sum().backward()  # moves the running statistics
    load_weights(net, before, "x")
    parameters[0].set_value(np.ones(parameters[0].shape, np.float32))
    with paddle.no_grad():
        paddle.assign(paddle.ones(parameters[1].shape) * 2, parameters[1])
        parameters[2].scale_(3.0)
        flat.whole.scale_(2.0)
    assert flat.is_intact and (parameters[0].numpy() == 2).all() and (parameters[1].numpy() == 4).all()
    for array, parameter in zip(flat.arrays(flat.whole.numpy()), parameters):
        assert (array == parameter.numpy()).all()
    joined = flat.join([None, *parameters[1:]]).numpy()
    assert (
        not joined[: parameters[0].size].any()
        and (joined[flat.starts[1] :] == flat.whole.numpy()[flat.starts[1] :]).all()
    )
    stray = FlatTensors([paddle.ones([3])])
    stray.tensors[0] = paddle.ones([3])
    assert not stray.is_intact


def test_state_of_a_gpu_equals_that_of_a_cpu_and_is_restored():
    gpu, cpu = make_learner(), make_learner(on_gpu=False)
    for learner in (gpu, cpu):
        learner.step(*batch(), 1e-3)
    for one, other in zip(gpu.copy_state()(), cpu.copy_state()()):
        assert one.keys() == other.keys()
        for name in one:
            assert one[name].shape == other[name].shape and one[name].dtype == np.float32
            np.testing.assert_allclose(one[name], other[name], rtol=1e-2, atol=1e-4, err_msg=name)
    copied = gpu.copy_state()
    expected = copy.deepcopy([weights(gpu.net), gpu.optimizer_arrays(), weights(gpu.mean)])
    gpu.step(*batch(1), 1e-2)  # a later step does not change what was copied
    saved = copied()
    for one, other in zip(saved, expected):
        assert one.keys() == other.keys() and all((one[name] == other[name]).all() for name in one)
    for fresh in (make_learner(), make_learner(on_gpu=False)):  # a run may be resumed on another device
        fresh.load_optimizer(saved[1])
        load_weights(fresh.net, saved[0], "x")
        load_weights(fresh.mean, saved[2], "x")
        fresh.updates = gpu.updates - 1
        fresh.step(*batch(1), 1e-2)
        assert fresh.updates == gpu.updates
        for name, array in state(gpu).items():
            np.testing.assert_allclose(state(fresh)[name], array, rtol=1e-2, atol=1e-4, err_msg=name)
    assert gpu.device_update.is_intact


def test_weights_of_16_bits_are_updated_with_a_read():
    """Level O2 has 32-bit copies of the weights, which are not moved into one tensor."""
    paddle.seed(0)
    nets = [UNet(1, 2, (16, 24), contrast=False) for _ in range(2)]
    nets[0].head.to(dtype="bfloat16")
    assert not device_update.can_be_flat(*nets)


def test_snapshot_does_not_wait_after_the_copies_are_started(gpu_training, monkeypatch):
    """A checkpoint takes the time of the copies from the steps of a GPU, and that of the disk from none."""
    gpu_training.fits, gpu_training.scale = 4, 1.0
    context = training_context.prepare(gpu_training.run, Reporter(None, Clock()), ControlChannel(None), Clock())
    context.learner.step(*context.loader.take(0), 1e-3)
    context.loader.close()
    order = []
    begin, read = DeviceUpdate.copy_state, HostCopy.read
    monkeypatch.setattr(DeviceUpdate, "copy_state", lambda self: order.append("copy") or begin(self))
    monkeypatch.setattr(HostCopy, "read", lambda self: order.append("wait") or read(self))
    for name in READS:
        plain = getattr(paddle.Tensor, name)
        monkeypatch.setattr(
            paddle.Tensor, name, lambda self, *a, plain=plain, **k: order.append("read") or plain(self, *a, **k)
        )
    write = context.snapshot()
    assert order[-1] == "copy" and "wait" not in order
    write()
    assert order.count("wait") == 1 and state_of(gpu_training.run)["step"] == 0


# --- a training ---------------------------------------------------------------------------------------


def test_training_knows_the_results_of_all_steps_where_it_needs_them(gpu_training, monkeypatch):
    """No validation, checkpoint or preview is made while the result of a step is not known."""
    gpu_training.fits, gpu_training.scale = 4, 2.0**36
    enqueued = []
    report = training_loop.Reporter.__call__

    def watched(self, event, **options):
        if contexts and isinstance(event, (Checkpoint, Evaluated, Preview, Finished)):
            enqueued.append((type(event), contexts[0].learner.enqueued))
        report(self, event, **options)

    contexts: list[TrainingContext] = []
    prepare = training_loop.prepare
    monkeypatch.setattr(training_loop, "prepare", lambda *a, **k: contexts.append(prepare(*a, **k)) or contexts[0])
    monkeypatch.setattr(training_loop.Reporter, "__call__", watched)
    events = gpu_training.train()
    planned = events[0].steps_planned
    kinds = {kind for kind, count in enqueued if kind is not Checkpoint}
    assert {Evaluated, Finished} <= kinds and not any(count for kind, count in enqueued if kind is not Checkpoint)
    steps = [event for event in events if isinstance(event, Step)]
    assert 0 < steps[-1].skipped == len(steps) - planned and steps[-1].step == planned
    assert contexts[0].batch_number == planned + steps[-1].skipped
    saved = state_of(gpu_training.run)
    assert saved["step"] == planned and saved["updates"] == planned
    name = saved["files"]["weights"]
    stored = arrays_of(gpu_training.run.last / name)
    assert all((array == stored[key]).all() for key, array in weights(contexts[0].learner.net).items())


def test_divergence_is_detected_one_step_later_and_rolled_back(gpu_training, monkeypatch):
    gpu_training.fits, gpu_training.scale = 4, 1.0
    calls = []
    loss = losses.segmentation_loss

    def diverging(answer, truth, **options):
        calls.append(1)
        return loss(answer, truth, **options) * (float("nan") if len(calls) == 6 else 1.0)

    monkeypatch.setattr(losses, "segmentation_loss", diverging)
    events = gpu_training.train()
    diverged = [event for event in events if isinstance(event, Trouble) and "diverged" in event.what]
    assert len(diverged) == 1 and isinstance(events[-1], Finished)
    assert events[-1].result["steps"] == events[0].steps_planned
    assert all(np.isfinite(array).all() for array in arrays_of(gpu_training.run.best / "weights.safetensors").values())


def test_killed_training_of_a_gpu_continues_bit_by_bit(gpu_training, monkeypatch):
    gpu_training.fits, gpu_training.scale = 4, 2.0**36
    monkeypatch.setattr(training_loop, "SAVE_SECONDS", 0.0)
    advance, calls = Learner.advance, []

    def killed(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 15:
            raise ZeroDivisionError
        return advance(self, *arguments, **options)

    monkeypatch.setattr(Learner, "advance", killed)
    with pytest.raises(ZeroDivisionError):
        gpu_training.train()
    broken_off = state_of(gpu_training.run)
    assert broken_off["step"] and broken_off["course"]["skipped"]
    gpu_training.train(resume=True)
    names = state_of(gpu_training.run)["files"]
    resumed = {stem: arrays_of(gpu_training.run.last / names[stem]) for stem in names}
    gpu_training.train()
    names = state_of(gpu_training.run)["files"]
    for stem, arrays in resumed.items():
        known = arrays_of(gpu_training.run.last / names[stem])
        assert all((array == known[name]).all() for name, array in arrays.items()), stem
