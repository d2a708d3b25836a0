"""Trainings that are killed repeatedly and resumed, and their differences from an undisturbed one."""

from __future__ import annotations

import random
import subprocess
import time
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from tests.training.conftest import arrays_of, state_of
from workbench.core.runs.events import Finished, Step
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.run import Run
from workbench.inference.predictor import Predictor


@dataclass
class KillRecord:
    """Kills of a run. kills: seconds from the start of each process to its kill.

    early: number of kills before the first checkpoint. seconds: duration of the longest process.
    """

    kills: list[float] = field(default_factory=list)
    early: int = 0
    seconds: float = 0.0


def train_undisturbed(run: Run) -> KillRecord:
    return train_with_kills(run, random.Random(0), longest=0.0, kills=0)


def train_with_kills(run: Run, rng: random.Random, *, longest: float, kills: int) -> KillRecord:
    """Train a run to its end, with at most `kills` kills of its process at random times from 0 to `longest` seconds.

    Raises AssertionError if the files left by a kill cannot be used.
    """
    record = KillRecord()
    while run.ending() is None:
        start, resumable = time.monotonic(), run.resumable
        command = worker_command("train", run.root, "--keep-running", *(["--resume"] if resumable else []))
        with subprocess.Popen(
            command,
            env=worker_environment("cpu"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            try:
                after = rng.uniform(0.0, longest) if len(record.kills) < kills else None
                _, message = process.communicate(timeout=after)
                assert process.returncode == 0, message.decode("utf-8", "replace")[-2000:]
            except subprocess.TimeoutExpired as ran_out:
                process.kill()
                process.communicate()
                record.kills.append(ran_out.timeout)
                record.early += not run.resumable
        record.seconds = max(record.seconds, time.monotonic() - start)
        check_usable(run)
    return record


def check_usable(run: Run) -> None:
    """Check that the files left by a kill can be used at once."""
    assert not run.resumable or all((run.last / name).exists() for name in state_of(run)["files"].values())
    if run.usable:
        Predictor.open(run.best).predict(np.full((40, 50), 140, np.uint8))


def differences(undisturbed: Run, killed: Run) -> list[str]:
    """Return the differences between an undisturbed run and a killed one, as texts."""
    found = []
    for stem in ("weights", "average", "optimiser"):
        found += _differ(stem, *(arrays_of(run.last / state_of(run)["files"][stem]) for run in (undisturbed, killed)))
    found += _differ("best", *(arrays_of(run.best / "weights.safetensors") for run in (undisturbed, killed)))
    ends = [run.ending() for run in (undisturbed, killed)]
    assert isinstance(ends[0], Finished) and isinstance(ends[1], Finished)
    found += [key for key in ("best_step", "metrics", "score") if ends[0].result[key] != ends[1].result[key]]
    losses: dict[int, set[float]] = defaultdict(set)
    for run in (undisturbed, killed):
        for event in run.events():
            if isinstance(event, Step):
                losses[event.step].add(event.loss)
    found += [f"loss of step {step}" for step, values in sorted(losses.items()) if len(values) > 1]
    names = [
        sorted(path.relative_to(run.root).as_posix() for path in run.root.rglob("*.tmp"))
        for run in (undisturbed, killed)
    ]
    return found + names[0] + names[1]


def _differ(name: str, first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> list[str]:
    if first.keys() != second.keys():
        return [f"names in {name}"]
    return [f"{name}: {key}" for key in first if not (first[key] == second[key]).all()]
