"""Budget of a run, learning rate (one cycle over the used share of the budget), and progress between two steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

_START, _END = 1 / 25, 1 / 2000  # relative to the peak rate

# Reserved for the end before a measurement exists.
_RESERVE_SECONDS = 3.0


def one_cycle(progress: float, *, peak: float, warm_up: float) -> float:
    """Return the learning rate at `progress` 0..1: rises along a cosine during `warm_up`, then falls to almost 0.

    After Smith and Topin 2018. As progress is relative to the budget, a run always ends annealed.
    """
    progress = min(1.0, max(0.0, progress))
    if progress < warm_up:
        return _interpolate(peak * _START, peak, progress / warm_up)
    return _interpolate(peak, peak * _END, (progress - warm_up) / max(1e-9, 1 - warm_up))


def _interpolate(first: float, last: float, share: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2


@dataclass
class Budget:
    """Budget of a run: a number of steps, or seconds that include everything from start to end.

    reserve: seconds kept for the work after the last step.
    """

    steps: int | None
    seconds: float | None
    reserve: float = _RESERVE_SECONDS

    def progress(self, step: int, elapsed: float) -> float:
        """Return the share of the training that is done, 0..1."""
        if self.steps is not None:
            return min(1.0, step / max(1, self.steps))
        assert self.seconds is not None
        # The reserve is limited to 40 % of a short run, which then ends later than planned.
        usable = self.seconds - min(self.reserve, 0.4 * self.seconds)
        return min(1.0, max(0.0, elapsed / usable))

    def progress_of_round(self, steps: int, seconds: float) -> float:
        """Return the progress of a further round, with a quarter of the budget, after these steps and seconds."""
        if self.steps is not None:
            return min(1.0, steps / max(1, self.steps // 4))
        assert self.seconds is not None
        return min(1.0, seconds / min(600.0, max(20.0, self.seconds / 4)))

    def evaluation_seconds(self, validations: int) -> float | None:
        """Return the time limit in seconds of one validation during the run; None for no limit."""
        return None if self.seconds is None else 0.1 * self.seconds / validations

    def final_evaluation_seconds(self) -> float | None:
        return None if self.seconds is None else max(20.0, 0.25 * self.seconds)


@dataclass
class TrainingProgress:
    """Progress of a run, saved completely in state.json."""

    step: int = 0
    skipped: int = 0  # steps skipped because gradients overflowed
    validated: int = 0  # number of validations made
    rollbacks: int = 0
    rate_factor: float = 1.0  # halved after every divergence
    halvings: int = 0  # of the patch, after running out of memory
    fp32: str = ""  # id of the message that states why a run in mixed precision continues in 32 bits
    reserve: float | None = None  # seconds reserved for the end; None: not measured yet
    subset: list[str] | None = None  # validation images evaluated during the run; None: not chosen yet
    round: int = 0  # of a run kept open, see training.live_labels; 0 is the planned round
    round_step: int = 0  # first step of the round
    round_time: float = 0.0
