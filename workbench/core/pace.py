"""How many steps a training will make in its time: the processor is measured for a moment, the network is known."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from workbench.core.architecture import multiplications
from workbench.core.recipe import Recipe

_SECONDS = 0.05  # that the measurement takes
_SIDE = 64  # of its matrices: such small ones NumPy multiplies on one core, and they stay in the core's cache
_START = 4.0  # seconds before the first step, in which Paddle is loaded
_STEPPING = 0.85  # share of what is left that is spent on steps; held-out pictures and the end take the rest
_BACK = 3  # a step goes the way of a prediction, and twice as much on its way back
_REACHED = 0.7  # of the measured speed, by networks that learn


def expected_steps(recipe: Recipe) -> int:
    """How many steps a processor makes in the recipe's minutes, to two digits; right within a factor of two or so."""
    seconds = max(0.0, (recipe.minutes or 0) * 60 - _START) * _STEPPING
    step = multiplications(recipe) * _BACK * recipe.batch / (core_speed() * _REACHED * recipe.workers)
    return int(float(f"{seconds / step:.2g}"))


@cache
def core_speed() -> float:
    """Multiplications, each with an addition, of 32 bits that one core of this machine makes in a second."""
    matrices = np.random.default_rng(0).normal(size=(256, _SIDE, _SIDE)).astype(np.float32)
    shortest, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < _SECONDS:
        last = time.perf_counter()
        np.matmul(matrices, matrices)
        shortest = min(shortest, time.perf_counter() - last)  # other programs do not disturb each of them
    return len(matrices) * _SIDE**3 / shortest
