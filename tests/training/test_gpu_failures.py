"""Failures of a GPU, its driver or its memory in the middle of a run, simulated by the errors that Paddle raises."""

from __future__ import annotations

import ctypes
import types

import paddle
import pytest

from tests.training.conftest import make_run, state_of
from workbench.core.messages import Message
from workbench.core.problems import DeviceMissing
from workbench.core.runs import planner
from workbench.core.runs.events import Finished, Preview, Progress, Trouble, decode
from workbench.core.runs.run import write_settings
from workbench.training import device, finalize, learner, previews, reporter, training_context, training_loop as loop
from workbench.training.device import Device, first_line, gpu_failure
from workbench.training.evaluator import DygraphEngine
from workbench.training.learner import Learner
from workbench.training.reporter import Clock, ControlChannel, _cause

LAUNCH_FAILURE = (
    "(External) CUDA error(719), unspecified launch failure. \n"
    "  [Hint: 'cudaErrorLaunchFailure'. An exception occurred on the device while executing a kernel.] "
    "(at /paddle/paddle/phi/backends/gpu/cuda/cuda_info.cc:272)\n"
)
UNKNOWN = "(External) CUDA error(999), unknown error. \n  [Hint: 'cudaErrorUnknown'.] (at /paddle/x.cc:1)\n"
OUT_OF_MEMORY = (
    "\n\nOut of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0, 7.9GB memory has been allocated."
)
WITH_STACK = (
    "\n\n--------------------------------------\nC++ Traceback (most recent call last):\n"
    "--------------------------------------\n0   paddle::pybind::eager_api_conv2d(_object*, _object*, _object*)\n"
    "1   common::enforce::EnforceNotMet::EnforceNotMet(common::ErrorSummary const&, char const*, int)\n"
    "\n----------------------\nError Message Summary:\n----------------------\n"
    "ExternalError: CUDA error(719), unspecified launch failure. \n  [Hint: 'cudaErrorLaunchFailure'.] (at /x.cc:1)\n"
)
pytestmark = pytest.mark.filterwarnings("ignore:amp_guard can only be enabled", "ignore:When training, we now")


# --- texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LAUNCH_FAILURE, "(External) CUDA error(719), unspecified launch failure"),
        (WITH_STACK, "ExternalError: CUDA error(719), unspecified launch failure"),
        (OUT_OF_MEMORY, OUT_OF_MEMORY.strip().rstrip(".")),
        ("", "OSError"),
    ],
)
def test_cause_is_neither_the_stack_nor_the_hint_of_an_error(text, line):
    assert first_line(OSError(text)) == line


@pytest.mark.parametrize("level", [1, 2])
def test_cause_of_an_error_of_the_installed_paddle(level):
    before = paddle.get_flags("FLAGS_call_stack_level")
    paddle.set_flags({"FLAGS_call_stack_level": level})
    try:
        with pytest.raises(ValueError) as error:
            paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    finally:
        paddle.set_flags(before)
    assert "[Hint" in str(error.value) and ("C++ Traceback" in str(error.value)) == (level == 2)
    assert "In operator matmul" in first_line(error.value)


@pytest.mark.parametrize("text", [LAUNCH_FAILURE, WITH_STACK, UNKNOWN])
def test_failure_of_the_gpu_is_a_sentence_with_advice(text):
    why = _cause(OSError(text))
    assert why.startswith("the GPU failed (CUDA error(") and "update the NVIDIA driver" in why
    assert "Hint" not in why and "paddle" not in why
    assert not gpu_failure(OSError("No space left on device")) and not gpu_failure(ValueError(""))


# --- in the middle of a run ---------------------------------------------------------------------------


def fail_at(number: int, error: Exception):
    """Return a replacement of `Learner.step` that raises `error` from its call of this number on."""
    step, calls = Learner.step, []

    def step_or_fail(self, *arguments, **options):
        calls.append(None)
        if len(calls) >= number:
            raise error
        return step(self, *arguments, **options)

    return step_or_fail


@pytest.mark.parametrize("text", [LAUNCH_FAILURE, pytest.param(UNKNOWN, marks=pytest.mark.slow)])
def test_run_whose_gpu_fails_can_be_resumed(gpu_training, monkeypatch, text):
    gpu_training.fits, gpu_training.scale = 4, 1.0
    monkeypatch.setattr(loop, "SAVE_SECONDS", 0.0)
    with monkeypatch.context() as failing:
        failing.setattr(Learner, "step", fail_at(3, OSError(text)))
        with pytest.raises(OSError, match=r"CUDA error\("):
            gpu_training.train()
    assert gpu_training.run.resumable and state_of(gpu_training.run)["step"] >= 1
    events = gpu_training.train(resume=True)
    assert isinstance(events[-1], Finished) and events[-1].result["usable"]


def fail_above(side: int, error: Exception, monkeypatch) -> list[int]:
    """Let networks raise `error` for tiles of more pixels. Return the list of all sides, filled by the calls."""
    call, sides = DygraphEngine.__call__, []

    def limited(self, batch):
        sides.append(batch.shape[-1])
        if batch.shape[-1] > side:
            raise error
        return call(self, batch)

    monkeypatch.setattr(DygraphEngine, "__call__", limited)
    return sides


@pytest.mark.parametrize(
    "error", [MemoryError(OUT_OF_MEMORY), pytest.param(OSError(LAUNCH_FAILURE), marks=pytest.mark.slow)]
)
def test_final_evaluation_that_fails_keeps_the_model(gpu_training, monkeypatch, error):
    evaluate_all = finalize._evaluate_all

    def fail_from_now_on(*arguments):
        fail_above(0, error, monkeypatch)
        return evaluate_all(*arguments)

    monkeypatch.setattr(finalize, "_evaluate_all", fail_from_now_on)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    assert [event.done for event in events if isinstance(event, Trouble)][-1] == Message("training.no_final_metric")
    assert isinstance(events[-1], Finished) and events[-1].result["usable"]
    assert (gpu_training.run.best / "network.onnx").is_file()


def test_lighting_is_evaluated_with_the_tile_that_fits(lighting_table, gpu_training, monkeypatch):
    """The tile that the last evaluation had to reduce; otherwise the table of lighting and the forecast are missing."""
    path = gpu_training.run.root / "dataset.json"
    path.write_text(path.read_text("utf-8").replace('"val"', '"test"'), "utf-8")
    gpu_training.fits, gpu_training.scale = 4, 1.0
    sides = fail_above(64, MemoryError(OUT_OF_MEMORY), monkeypatch)
    events = gpu_training.train()
    assert max(sides) > 64 and events[-1].result["lighting"] is not None


def test_progress_of_the_lighting_ends_at_its_total_if_the_unchanged_images_are_measured_twice(
    lighting_table, gpu_training, monkeypatch
):
    """As on a slow computer, where fewer images fit into the time than were measured first."""
    monkeypatch.setattr(finalize, "MAX_SECONDS", 0.0)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    steps = [(e.done, e.total) for e in events if isinstance(e, Progress) and "lighting" in e.what]
    assert [done for done, _ in steps] == [1, 1, *range(2, 11)] and {total for _, total in steps} == {10}


def test_preview_without_memory_is_left_out(gpu_training, monkeypatch):
    preview = previews.preview

    def fail(run, project, engine, *arguments, **options):
        def full(batch):
            raise MemoryError(OUT_OF_MEMORY)

        return preview(run, project, full, *arguments, **options)

    monkeypatch.setattr(previews, "preview", fail)
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    assert isinstance(events[-1], Finished) and not [event for event in events if isinstance(event, Preview)]


@pytest.mark.parametrize(
    "place", ["start", pytest.param("step", marks=pytest.mark.slow), pytest.param("trace", marks=pytest.mark.slow)]
)
def test_profile_that_fails_does_not_end_the_training(gpu_training, monkeypatch, place):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    if place == "trace":
        monkeypatch.setattr(learner, "_FIRST", 1)
        monkeypatch.setattr(learner, "_STEPS", 1)
        monkeypatch.setattr(learner, "sum_operations", fail)
    else:
        monkeypatch.setattr(learner.Profiler, place, fail)
    settings = gpu_training.run.settings().model_copy(update={"profile": True})
    gpu_training.run.settings_path.write_text(settings.model_dump_json())
    gpu_training.fits, gpu_training.scale = 4, 1.0
    events = gpu_training.train()
    failed = [event.what for event in events if isinstance(event, Trouble)]
    assert failed == ["The steps could not be profiled: [Errno 28] No space left on device."]
    assert isinstance(events[-1], Finished)


# --- device and time ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "fails", "name"),
    [("auto", -1, "gpu:1"), ("gpu", -1, "gpu:1"), ("gpu:0", -1, "gpu:0"), ("auto", 1, "gpu:2"), ("gpu", 1, "gpu:2")],
)
def test_largest_gpu_trains_unless_another_one_is_chosen(simulated_gpu, monkeypatch, request_, fails, name):
    """In the order of the driver, a small GPU for the screen is often the first one."""
    gpus = [
        types.SimpleNamespace(name="NVIDIA T1000 8GB", major=7, minor=5, total_memory=32 << 30),
        types.SimpleNamespace(name="NVIDIA GeForce RTX 4090", major=8, minor=9, total_memory=24 << 30),
        types.SimpleNamespace(name="NVIDIA GeForce RTX 3090", major=8, minor=6, total_memory=24 << 30),
    ]

    def set_device(number: str) -> None:
        if number == f"gpu:{fails}":
            raise RuntimeError("(PreconditionNotMet) Unsupported GPU architecture (at gpu_resources.cc:120)")

    monkeypatch.setattr(paddle.device.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(paddle.device.cuda, "get_device_properties", lambda number: gpus[number])
    monkeypatch.setattr(paddle, "set_device", set_device)
    assert device.choose(request_).name == name


def test_full_gpu_is_a_problem_and_automatic_selection_uses_the_cpu(simulated_gpu, monkeypatch):
    """Another program holds all of its memory: Paddle cannot even compute a sum there."""

    def full(shape, *arguments):
        raise MemoryError(OUT_OF_MEMORY)

    monkeypatch.setattr(paddle, "ones", full)
    chosen = device.choose("auto")
    assert chosen.name == "cpu" and "Out of memory error on GPU 0" in chosen.fault
    with pytest.raises(DeviceMissing, match="Out of memory error on GPU 0"):
        device.choose("gpu:0")


@pytest.mark.parametrize("reason", [planner.BATCH_REASON, planner.MEASURED_BATCH, "plan.manual"])
def test_run_of_a_gpu_that_is_resumed_on_a_cpu_warns_of_slow_steps(labeled_project, reason):
    run = make_run(labeled_project, device="auto", widths=[4, 8], stem=1, patch=32, batch=2)
    settings = run.settings()
    reasons = {**settings.reasons, "batch": Message(reason, ms="40", share="50%")}
    write_settings(run, settings.model_copy(update={"reasons": reasons}))
    events = []
    context = training_context.prepare(
        run, lambda event, **options: events.append(event), ControlChannel(None), Clock(), resume=True
    )
    context.loader.close()
    assert context.device == Device("cpu", context.device.title) and context.settings == run.settings()
    warned = [event.done for event in events if isinstance(event, Trouble)]
    assert warned == ([] if reason == "plan.manual" else [Message("training.steps_slow")])


def test_a_run_reports_how_long_the_computer_slept(tmp_path, monkeypatch):
    asleep = [700.0]
    monkeypatch.setattr(reporter, "_asleep_time", lambda: asleep[0])
    path = tmp_path / "events.jsonl"
    report = reporter.Reporter(None, Clock(), path)
    for seconds in (30, 90, 59, 8 * 3600):
        asleep[0] += seconds
        report(Progress(what="x", done=0, total=1))
        report(Progress(what="x", done=0, total=1))
    events = [decode(line) for line in path.read_text("utf-8").splitlines()]
    told = [event.what for event in events if isinstance(event, Trouble)]
    assert told == [Message("training.slept", n=2), Message("training.slept", n=480)] and len(events) == 10


def test_time_of_a_run_does_not_include_the_sleep_of_the_computer(monkeypatch):
    """A notebook that is closed for the night must not have used up the minutes of the run."""
    awake, seconds = [1000.0], [5000.0]

    def query(ticks):
        ticks._obj.value = int(awake[0] * 1e7)
        return 1

    monkeypatch.setattr(reporter.sys, "platform", "win32")
    kernel = types.SimpleNamespace(QueryUnbiasedInterruptTime=query, GetTickCount64=lambda: int(1000 * seconds[0]))
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(reporter.time, "perf_counter", lambda: seconds[0])
    clock = Clock()
    awake[0], seconds[0] = awake[0] + 60, seconds[0] + 60 + 8 * 3600
    assert clock.elapsed == pytest.approx(60) and clock.slept_minutes() == 8 * 60
    monkeypatch.setattr(reporter.sys, "platform", "linux")  # where `perf_counter` stands still
    clock = Clock()
    seconds[0] += 60
    assert clock.elapsed == pytest.approx(60)
