"""Steps whose gradients overflow: nothing may change except the loss scale."""

from __future__ import annotations

import numpy as np

from workbench.training.acceptance.correctness import make_small_learner, small_batch
from workbench.training.acceptance.items import FAIL, PASS, Conditions, Outcome
from workbench.training.learner import Learner
from workbench.training.network_state import weights

GROWTH_STEPS = 520  # more than the number of steps after which the scale doubles
_HUGE_SCALE = 2.0**60  # every scaled gradient is then beyond the range of fp16
_STATISTICS = ("_mean", "_variance")  # running statistics of norms, which every forward pass moves


def check_overflow(conditions: Conditions) -> Outcome:
    """Make steps, then one whose gradients are infinite. argument: number type."""
    kind = conditions.argument or "fp32"
    failures, counts = [], {}
    for optimizer in ("adamw", "muon"):
        learner = make_small_learner(optimizer, kind, conditions.device)
        if learner.precision.choice.name != kind:
            return Outcome(FAIL, f"{kind} was requested, but {learner.precision.choice.name} is used")
        for step in range(3):
            learner.step(*small_batch(step), 1e-2)
        before, scale = state_arrays(learner), learner.precision.loss_scale
        overflow(learner)
        changed = changed_names(before, state_arrays(learner))
        counts[optimizer] = len(before)
        failures += [f"{optimizer} changed {name}" for name in changed]
        after = learner.precision.loss_scale
        if kind == "fp16" and (scale is None or after != _HUGE_SCALE / 2):
            failures.append(f"{optimizer}: the loss scale is {after} instead of half of {_HUGE_SCALE}")
    if failures:
        return Outcome(FAIL, "; ".join(failures[:5]), {"failures": failures})
    arrays = ", ".join(f"{count} arrays with {name}" for name, count in counts.items())
    return Outcome(PASS, f"{arrays} are bitwise unchanged", {"arrays": counts})


def check_growth(conditions: Conditions) -> Outcome:
    """Check that the loss scale doubles after enough steps without overflow."""
    learner = make_small_learner("adamw", "fp16", conditions.device)
    first = learner.precision.loss_scale
    skipped = sum(learner.step(*small_batch(step % 8), 1e-3).skipped for step in range(GROWTH_STEPS))
    last = learner.precision.loss_scale
    values = {"first": first, "last": last, "skipped": skipped}
    if first is None or last is None or (not skipped and last != 2 * first):
        return Outcome(FAIL, f"the loss scale is {last} after {GROWTH_STEPS} steps, it began with {first}", values)
    return Outcome(PASS, f"loss scale {first:g} became {last:g} in {GROWTH_STEPS} steps, {skipped} skipped", values)


def overflow(learner: Learner) -> None:
    """Make a step with infinite gradients: by the loss scale in fp16, otherwise by an image that is not finite."""
    images, truth = small_batch(99)
    if learner.precision.scaler is not None:
        learner.precision.load({**learner.precision.state(), "scale": [_HUGE_SCALE]})
    else:
        images = np.full_like(images, np.inf)
    result = learner.step(images, truth, 1e-2)
    if not result.skipped and not result.diverged:
        raise AssertionError("the step was neither skipped nor reported as diverged")


def state_arrays(learner: Learner) -> dict[str, np.ndarray]:
    """Return weights, averaged weights, and the optimizer's moments, powers and master weights."""
    arrays = {
        f"weights/{name}": array for name, array in weights(learner.net).items() if not name.endswith(_STATISTICS)
    }
    arrays |= {f"average/{name}": array for name, array in weights(learner.mean).items()}
    return arrays | {f"optimizer/{name}": array for name, array in learner.optimizer_arrays().items()}


def changed_names(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> list[str]:
    """Return the names of arrays that are missing, new, or not bitwise equal."""
    names = sorted(before.keys() | after.keys())
    return [n for n in names if n not in before or n not in after or before[n].tobytes() != after[n].tobytes()]
