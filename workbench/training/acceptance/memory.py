"""Training with too little GPU memory: it continues in parts or on smaller patches, or ends with a sentence."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paddle

from workbench.core.runs.events import Event, Failed, Finished, Trouble
from workbench.core.runs.gpu_facts import GIB
from workbench.training import device as devices
from workbench.training.acceptance import trial_runs
from workbench.training.acceptance.facts import default_type
from workbench.training.acceptance.items import FAIL, PASS, Conditions, Outcome
from workbench.training.acceptance.speed import driver_index
from workbench.training.acceptance.trial_runs import LARGE, make_run

_SECONDS = 240.0
_HELD = "held"  # file written when the memory is full
_LEFT = 700 << 20  # bytes that the other program leaves free, about a CUDA context and its libraries


def check_limit(conditions: Conditions) -> Outcome:
    """Train with a share of the memory that a step takes. argument: the share."""
    share = float(conditions.argument)
    measured = trial_runs.call(
        "speed:measure", conditions, ["unet-256", default_type(conditions.device)], seconds=_SECONDS
    )
    peak, limit = measured["bytes"], int(measured["bytes"] * share)
    # FLAGS_gpu_memory_limit_mb counts the memory of Paddle's allocator only, as does the measured peak.
    megabytes = max(64, limit >> 20)
    events = _train(conditions, FLAGS_gpu_memory_limit_mb=str(megabytes))
    values = {"peak": peak, "limit_mb": megabytes, **summary(events)}
    outcome = assess(events, must_adapt=share < 0.9)
    return Outcome(outcome.status, f"{megabytes} MB of {peak / GIB:.2f} GiB: {outcome.detail}", values)


def check_shared(conditions: Conditions) -> Outcome:
    """Train while another process holds nearly all of the GPU's memory."""
    with filled(conditions):
        events = _train(conditions)
    outcome = assess(events, must_adapt=False)
    return Outcome(outcome.status, f"beside a full GPU: {outcome.detail}", summary(events))


@contextlib.contextmanager
def filled(conditions: Conditions) -> Iterator[None]:
    """Let another process hold nearly all of the GPU's memory within the context. Raises ChildFailed."""
    command = trial_runs.target_command("memory:hold", conditions, None)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=trial_runs.environment(conditions)
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        try:
            if not _wait_for(conditions.folder / _HELD):
                raise trial_runs.ChildFailed("the other program did not fill the memory")
            yield
        finally:
            other.stdin.close()
            other.kill()


def hold(conditions: Conditions) -> Outcome:
    """Allocate nearly all free memory of the GPU and wait until standard input is closed."""
    chosen = devices.choose(conditions.device)
    free = chosen.memory - _used_bytes(driver_index(chosen))
    held, block = [], 256 << 20
    while free > _LEFT + block:
        try:
            held.append(paddle.zeros([block], dtype="uint8"))
        except (MemoryError, OSError, RuntimeError):
            break
        free -= block
    (conditions.folder / _HELD).write_text(str(len(held)), "utf-8")
    sys.stdin.read()
    return Outcome(PASS, f"held {len(held)} blocks")


def assess(events: list[Event], *, must_adapt: bool) -> Outcome:
    """Assess a training with little memory: adapted and finished, or failed with a sentence about memory."""
    last, adapted = events[-1], summary(events)["adapted"]
    if isinstance(last, Finished):
        if must_adapt and not adapted:
            return Outcome(FAIL, "the training finished without running out of memory, so nothing was tested")
        return Outcome(PASS, adapted[-1] if adapted else "finished without running out of memory")
    assert isinstance(last, Failed)
    if "memory" in last.why.lower() and not re.search(r"\w+Error\b", last.why):  # no name of an exception
        return Outcome(PASS, f"ended with a sentence: {last.why}")
    return Outcome(FAIL, f"ended with: {last.why}")


def summary(events: list[Event]) -> dict[str, Any]:
    """Return the adaptations that a training reported and its end. JSON-ready."""
    adapted = [str(event.done) for event in events if isinstance(event, Trouble) and "memory" in event.what.lower()]
    last = events[-1]
    return {"adapted": adapted, "end": str(last.why) if isinstance(last, (Finished, Failed)) else ""}


def _train(conditions: Conditions, **variables: str) -> list[Event]:
    run = make_run(conditions, precision=default_type(conditions.device), **LARGE)
    return trial_runs.train(run, conditions, seconds=_SECONDS, **variables)


def _wait_for(path: Path, seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.2)
    return path.exists()


def _used_bytes(number: int | None) -> int:
    """Return the used bytes of a GPU by the driver, 0 if it does not report them."""
    if number is None:
        return 0
    try:
        import pynvml

        pynvml.nvmlInit()
        try:
            return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(number)).used)
        finally:
            pynvml.nvmlShutdown()
    except Exception:
        return 0
