"""A training that is killed again and again, and what tells whether it ends as if nothing had been."""

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
class Fate:
    """What has happened to a run. kills: seconds after its process began, for each process that was killed.

    early: how many of them had not begun to learn, so that there was nothing to go on from. seconds: of the longest.
    """

    kills: list[float] = field(default_factory=list)
    early: int = 0
    seconds: float = 0.0


def undisturbed(run: Run) -> Fate:
    return disturbed(run, random.Random(0), longest=0.0, kills=0)


def disturbed(run: Run, rng: random.Random, *, longest: float, kills: int) -> Fate:
    """Carry a run to its end, but kill its process at instants from 0 to `longest` seconds, at most `kills` times.

    Raises AssertionError where what is left behind at a kill is of no use.
    """
    fate = Fate()
    while run.ending() is None:
        began, resumable = time.monotonic(), run.resumable
        command = worker_command("train", run.root, "--keep-running", *(["--resume"] if resumable else []))
        with subprocess.Popen(
            command,
            env=worker_environment("cpu"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            try:
                after = rng.uniform(0.0, longest) if len(fate.kills) < kills else None
                _, message = process.communicate(timeout=after)
                assert process.returncode == 0, message.decode("utf-8", "replace")[-2000:]
            except subprocess.TimeoutExpired as ran_out:
                process.kill()
                process.communicate()
                fate.kills.append(ran_out.timeout)
                fate.early += not run.resumable
        fate.seconds = max(fate.seconds, time.monotonic() - began)
        predict_image(run)
    return fate


def predict_image(run: Run) -> None:
    """What a kill has left must be of use at once, whatever it was done in."""
    assert not run.resumable or all((run.last / name).exists() for name in state_of(run)["files"].values())
    if run.usable:
        Predictor.open(run.best).predict(np.full((40, 50), 140, np.uint8))


def differences(whole: Run, cut: Run) -> list[str]:
    """In what a run that was killed differs from one that was not; nothing, if all is well."""
    found = []
    for stem in ("weights", "average", "optimiser"):
        found += _differ(stem, *(arrays_of(run.last / state_of(run)["files"][stem]) for run in (whole, cut)))
    found += _differ("best", *(arrays_of(run.best / "weights.safetensors") for run in (whole, cut)))
    ends = [run.ending() for run in (whole, cut)]
    assert isinstance(ends[0], Finished) and isinstance(ends[1], Finished)
    found += [key for key in ("best_step", "metrics", "score") if ends[0].result[key] != ends[1].result[key]]
    losses: dict[int, set[float]] = defaultdict(set)
    for run in (whole, cut):
        for event in run.events():
            if isinstance(event, Step):
                losses[event.step].add(event.loss)
    found += [f"loss of step {step}" for step, values in sorted(losses.items()) if len(values) > 1]
    names = [sorted(path.relative_to(run.root).as_posix() for path in run.root.rglob("*.tmp")) for run in (whole, cut)]
    return found + names[0] + names[1]


def _differ(name: str, one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[str]:
    if one.keys() != other.keys():
        return [f"names in {name}"]
    return [f"{name}: {key}" for key in one if not (one[key] == other[key]).all()]
