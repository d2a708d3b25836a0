"""Saving, killing and resuming a training: the steps after it equal those of a training that was not interrupted."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from workbench.core.runs.captured_program import run_captured
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training.acceptance import trial_runs
from workbench.training.acceptance.items import FAIL, PASS, SKIP, Conditions, Outcome
from workbench.training.acceptance.trial_runs import SMALL, make_run, prepare_run, step_loss

_BEFORE, _AFTER = 4, 3  # steps before and after the kill
_LIMITS = {"fp32": 2e-3, "fp16": 1e-2, "bf16": 2e-2}  # of the loss, relative; a CPU gives equal losses
_SECONDS = 120.0


def check_resume(conditions: Conditions) -> Outcome:
    """Kill a training after a save and compare the losses that follow. argument: [number type, AMP level]."""
    kind, level = conditions.argument
    settings = {"precision": kind if conditions.on_gpu else "auto"}
    if level != "O1":
        if "amp_level" not in TrainingSettings.model_fields:
            return Outcome(SKIP, f"level {level} is not offered")
        settings["amp_level"] = level
    run = make_run(conditions, epochs=100, **SMALL, **settings)
    losses = run.root / "losses.json"
    argument = {"run": str(run.root), "losses": str(losses)}
    killed = run_captured(
        trial_runs.target_command("resuming:train_and_die", conditions, argument),
        seconds=_SECONDS,
        environment=trial_runs.environment(conditions),
    )
    if not losses.exists():
        return Outcome(FAIL, f"the training ended before it was killed: {killed.last_line}")
    expected = json.loads(losses.read_text("utf-8"))
    found = trial_runs.call("resuming:resume_and_continue", conditions, argument, seconds=_SECONDS)
    values = {"uninterrupted": expected["after"], "resumed": found["after"], "step": found["step"]}
    if found["step"] != _BEFORE or found["precision"] != expected["precision"]:
        return Outcome(FAIL, f"resumed at step {found['step']} in {found['precision']}", values)
    largest = max(abs(a - b) / max(1e-9, abs(b)) for a, b in zip(found["after"], expected["after"]))
    limit = _LIMITS[expected["precision"]] if conditions.on_gpu else 0.0
    detail = f"{expected['precision']}: {_AFTER} losses after the resume differ by {largest:.1e} at most"
    return Outcome(PASS if largest <= limit else FAIL, f"{detail} (limit {limit:g})", values)


def train_and_die(conditions: Conditions) -> Outcome:
    """Make steps, save, make further steps, write their losses, and kill this process."""
    context = prepare_run(Run(Path(conditions.argument["run"])))
    before = [step_loss(context) for _ in range(_BEFORE)]
    context.save_last()
    after = [step_loss(context) for _ in range(_AFTER)]
    values = {"before": before, "after": after, "precision": context.learner.precision.choice.name}
    Path(conditions.argument["losses"]).write_text(json.dumps(values), "utf-8")
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return Outcome(FAIL, "the process survived its kill")


def resume_and_continue(conditions: Conditions) -> Outcome:
    """Resume the killed training and make the steps that it lost."""
    context = prepare_run(Run(Path(conditions.argument["run"])), resume=True)
    first = context.state.step
    after = [step_loss(context) for _ in range(_AFTER)]
    context.loader.close()
    return Outcome(PASS, "", {"step": first, "after": after, "precision": context.learner.precision.choice.name})
