"""How much of a run is done, and how fast it learns at that point: one cycle over the share of the budget used."""

from __future__ import annotations

import math
from dataclasses import dataclass

_START, _END = 1 / 25, 1 / 2000  # of the greatest rate

# Kept back for the end before anything was measured.
_RESERVE_SECONDS = 3.0


def one_cycle(progress: float, *, peak: float, warm_up: float) -> float:
    """Learning rate at `progress` 0..1: up along a cosine during `warm_up`, then down to almost nothing.

    After Smith and Topin 2018. Because the progress is that of the budget, a run always ends annealed.
    """
    progress = min(1.0, max(0.0, progress))
    if progress < warm_up:
        return _between(peak * _START, peak, progress / warm_up)
    return _between(peak, peak * _END, (progress - warm_up) / max(1e-9, 1 - warm_up))


def _between(first: float, last: float, share: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2


@dataclass
class Budget:
    """What a run may cost: a number of steps, or seconds that include all it does from start to end.

    reserve: seconds kept back for what follows the last step.
    """

    steps: int | None
    seconds: float | None
    reserve: float = _RESERVE_SECONDS

    def progress(self, step: int, elapsed: float) -> float:
        """Share of the learning that is done, 0..1."""
        if self.steps is not None:
            return min(1.0, step / max(1, self.steps))
        assert self.seconds is not None
        # A reserve that would eat the run is not kept: then the end comes later than promised.
        usable = self.seconds - min(self.reserve, 0.4 * self.seconds)
        return min(1.0, max(0.0, elapsed / usable))

    def progress_of_round(self, steps: int, seconds: float) -> float:
        """The same of a further round, of a quarter of the budget, that has taken so many steps and seconds."""
        if self.steps is not None:
            return min(1.0, steps / max(1, self.steps // 4))
        assert self.seconds is not None
        return min(1.0, seconds / min(600.0, max(20.0, self.seconds / 4)))

    def evaluation_seconds(self, validations: int) -> float | None:
        """What one look at the held-out pictures may cost during the run; None: as long as it takes."""
        return None if self.seconds is None else 0.1 * self.seconds / validations

    def final_evaluation_seconds(self) -> float | None:
        return None if self.seconds is None else max(20.0, 0.25 * self.seconds)
