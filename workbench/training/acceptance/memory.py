"""Training with too little GPU memory: it continues in parts or on smaller patches, or ends with a sentence."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import paddle

from workbench.core.runs.events import Event, Failed, Finished, Trouble
from workbench.core.runs.gpu_facts import GIB, read_gpu_facts
from workbench.training import device as devices
from workbench.training.acceptance import child
from workbench.training.acceptance.items import FAIL, PASS, Conditions, Outcome
from workbench.training.acceptance.sample_runs import LARGE, make_run

_SECONDS = 240.0
_LEFT = 700 << 20  # bytes that the other program leaves free, about a CUDA context and its libraries


def check_limit(conditions: Conditions) -> Outcome:
    """Train with a share of the memory that a step takes. argument: the share."""
    share = float(conditions.argument)
    measured = child.call("speed:measure", conditions, ["unet-256", "fp16"], seconds=_SECONDS)
    peak, limit = measured["bytes"], int(measured["bytes"] * share)
    # FLAGS_gpu_memory_limit_mb counts the memory of Paddle's allocator only, as does the measured peak.
    megabytes = max(64, limit >> 20)
    events = _train(conditions, FLAGS_gpu_memory_limit_mb=str(megabytes))
    values = {"peak": peak, "limit_mb": megabytes, **summary(events)}
    outcome = judge(events, must_adapt=share < 0.9)
    return Outcome(outcome.status, f"{megabytes} MB of {peak / GIB:.2f} GiB: {outcome.detail}", values)


def check_shared(conditions: Conditions) -> Outcome:
    """Train while another process holds nearly all of the GPU's memory."""
    command = child.target_command("memory:hold", conditions, None)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=child.environment(conditions)
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        try:
            _wait_until_full()
            events = _train(conditions)
        finally:
            other.stdin.close()
            other.kill()
    outcome = judge(events, must_adapt=False)
    return Outcome(outcome.status, f"beside a full GPU: {outcome.detail}", summary(events))


def hold(conditions: Conditions) -> Outcome:
    """Allocate nearly all free memory of the GPU and wait until standard input is closed."""
    chosen = devices.choose(conditions.device)
    number = int(chosen.name.partition(":")[2] or 0)
    facts = read_gpu_facts()
    free = paddle.device.cuda.get_device_properties(number).total_memory - _used_bytes(number)
    held, block = [], 256 << 20
    while free > _LEFT + block:
        try:
            held.append(paddle.zeros([block], dtype="uint8"))
        except (MemoryError, OSError, RuntimeError):
            break
        free -= block
    (conditions.folder / "held").write_text(str(len(held)), "utf-8")
    input_closed = False
    while not input_closed:
        input_closed = not _read_line()
    return Outcome(PASS, f"held {len(held)} blocks on {len(facts.gpus)} GPUs")


def judge(events: list[Event], *, must_adapt: bool) -> Outcome:
    """Judge a training with little memory: adapted and finished, or failed with a sentence about memory."""
    last, adapted = events[-1], summary(events)["adapted"]
    if isinstance(last, Finished):
        if must_adapt and not adapted:
            return Outcome(FAIL, "the training finished without running out of memory, so nothing was tested")
        return Outcome(PASS, adapted[-1] if adapted else "finished without running out of memory")
    assert isinstance(last, Failed)
    if last.problem and "memory" in last.why.lower():
        return Outcome(PASS, f"ended with a sentence: {last.why}")
    return Outcome(FAIL, f"ended with: {last.why}")


def summary(events: list[Event]) -> dict[str, Any]:
    """Return the adaptations that a training reported and its end. JSON-ready."""
    adapted = [str(event.done) for event in events if isinstance(event, Trouble) and "memory" in event.what.lower()]
    last = events[-1]
    return {"adapted": adapted, "end": str(last.why) if isinstance(last, (Finished, Failed)) else ""}


def _train(conditions: Conditions, **variables: str) -> list[Event]:
    network = {**LARGE, **({"validations": 1} if conditions.quick else {})}
    run = make_run(conditions, precision="fp16", **network)
    return child.train(run, conditions, seconds=_SECONDS, **variables)


def _wait_until_full(seconds: float = 60.0) -> None:
    """Wait until the memory of a GPU no longer changes, at most `seconds`."""
    until, before = time.monotonic() + seconds, -1
    time.sleep(5.0)  # the process imports Paddle first
    while time.monotonic() < until:
        used = _used_bytes(0)
        if used == before and used > 2 * GIB:
            return
        before = used
        time.sleep(1.0)


def _used_bytes(number: int) -> int:
    """Return the used bytes of a GPU by the driver, 0 if it does not report them."""
    try:
        import pynvml

        pynvml.nvmlInit()
        try:
            return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(number)).used)
        finally:
            pynvml.nvmlShutdown()
    except Exception:
        return 0


def _read_line() -> str:
    import sys

    return sys.stdin.readline()
