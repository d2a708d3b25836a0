"""Training in two processes: on two GPUs, or on a CPU as a rehearsal."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from typing import Any

import numpy as np
import psutil
from safetensors.numpy import load

from workbench.core.runs.captured_program import end_process
from workbench.core.runs.events import Failed, Finished, Started, Step
from workbench.core.runs.launch import worker_command
from workbench.core.runs.run import Run
from workbench.training import device as devices
from workbench.training.acceptance import memory, trial_runs
from workbench.training.acceptance.items import FAIL, PASS, SKIP, Conditions, Outcome
from workbench.training.acceptance.trial_runs import LARGE, SMALL, make_run

_SECONDS = 180.0
_LIMIT = 2e-2  # relative difference of weights and statistics after an epoch
_END_SECONDS = 60.0  # within which the loss of a process must end the run


def check_step(conditions: Conditions) -> Outcome:
    """Train an epoch in two processes, and in one on the CPU with two replicas, which computes the same.

    Each process, as each replica, normalizes its own part of a batch; one GPU alone would normalize the whole batch.
    """
    two = _two_devices(conditions)
    if isinstance(two, Outcome):
        return two
    results = []
    for name in ("cpu", two):
        settings = {**SMALL, "workers": 2, "optimizer": "adamw", "average": 0.0, "augment": []}
        run = make_run(conditions, **{**settings, "device": name, "precision": "fp32"})
        ending = trial_runs.train(run, conditions, seconds=_SECONDS, **_visible(conditions))[-1]
        if isinstance(ending, Failed):
            return Outcome(FAIL, f"{name}: {ending.why}")
        results.append(_last_weights(run))
    groups = {"weights": lambda n: not n.endswith(("_mean", "_variance")), "statistics": lambda n: n.endswith("_mean")}
    values = {kind: _difference(*results, chosen) for kind, chosen in groups.items()}
    listed = ", ".join(f"{kind} {value:.1e}" for kind, value in values.items())
    detail = f"{two} against two replicas on the CPU: relative differences {listed} (limit {_LIMIT})"
    return Outcome(PASS if max(values.values()) <= _LIMIT else FAIL, detail, values)


def check_loss(conditions: Conditions) -> Outcome:
    """Kill one of two training processes; the run must end with a sentence, not hang."""
    two = _two_devices(conditions)
    if isinstance(two, Outcome):
        return two
    run = make_run(conditions, **{**SMALL, "device": two, "epochs": 100_000, "workers": 1})
    variables = trial_runs.environment(conditions, **_visible(conditions))
    command = worker_command("train", run.root, "--keep-running")
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            if not _wait(run, Step, _SECONDS):
                return Outcome(FAIL, f"{two}: no step within {_SECONDS:.0f} s")
            started = next(event for event in run.events() if isinstance(event, Started))
            victim = _other_rank(process.pid, started.process)
            if victim is None:
                return Outcome(FAIL, "the second training process was not found")
            victim.kill()
            began = time.monotonic()
            ended = _wait(run, (Failed, Finished), _END_SECONDS)
            seconds = time.monotonic() - began
        finally:
            end_process(process.pid, kill=True)
    last = list(run.events())[-1]
    if not ended or not isinstance(last, Failed):
        return Outcome(FAIL, f"the run did not end within {_END_SECONDS:.0f} s after a process was killed")
    why = last.why.partition(" Details are in ")[0]  # a log in a folder that is deleted
    return Outcome(PASS if last.problem else FAIL, f"ended after {seconds:.0f} s: {why}", {"seconds": seconds})


def check_memory(conditions: Conditions) -> Outcome:
    """Train on two GPUs while another program fills the second one: both go on in parts, or end with a sentence."""
    two = _two_devices(conditions)
    if isinstance(two, Outcome):
        return two
    with memory.filled(dataclasses.replace(conditions, device="gpu:1")):
        run = make_run(conditions, **{**LARGE, "device": two})
        events = trial_runs.train(run, conditions, seconds=2 * _SECONDS)
    outcome = memory.assess(events, must_adapt=False)
    return Outcome(outcome.status, f"{two} beside a full GPU: {outcome.detail}", memory.summary(events))


def _two_devices(conditions: Conditions) -> str | Outcome:
    """Return the name of two devices, or the reason why there are not two."""
    if not conditions.on_gpu:
        return "cpu:2" if sys.platform != "win32" else Outcome(SKIP, "several processes need Linux")
    if sys.platform == "win32":
        return Outcome(SKIP, "on Windows PaddlePaddle has no NCCL, so one GPU trains at a time")
    count = devices.count_gpus()
    return "gpu:0,1" if count > 1 else Outcome(SKIP, f"{count} GPU in this computer")


def _visible(conditions: Conditions) -> dict[str, str]:
    return {} if conditions.on_gpu else {"CUDA_VISIBLE_DEVICES": ""}


def _wait(run: Run, kinds: Any, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if any(isinstance(event, kinds) for event in run.events()):
            return True
        time.sleep(0.2)
    return False


def _other_rank(launcher: int, leader: int) -> psutil.Process | None:
    """Return the training process that is not the leading one, among the descendants of the launching process."""
    for process in psutil.Process(launcher).children(recursive=True):
        try:
            if process.pid != leader and process.environ().get("PADDLE_TRAINER_ID") == "1":
                return process
        except psutil.Error:
            continue
    return None


def _last_weights(run: Run) -> dict[str, np.ndarray]:
    return load(next(run.last.glob("weights.*.safetensors")).read_bytes())


def _difference(one: dict[str, np.ndarray], other: dict[str, np.ndarray], chosen: Any) -> float:
    names = [name for name in one if chosen(name)]
    a, b = (np.concatenate([arrays[name].ravel() for name in names]) for arrays in (one, other))
    return float(np.linalg.norm(a - b) / max(1e-12, np.linalg.norm(a)))
