"""How many steps a training will make in its time: the processor is measured for a moment, the network is known."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from workbench.core.architecture import multiplications
from workbench.core.recipe import Recipe

_SECONDS = 0.1  # that the measurement takes
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
    product = matrices @ matrices  # its memory is used again and again: to get new one takes as long as the arithmetic
    # Time of this thread, not of the clock: the window's other threads, and other programs, must not count.
    count, begin, taken = 0, time.thread_time(), 0.0
    while taken < _SECONDS:
        np.matmul(matrices, matrices, out=product)
        count, taken = count + 1, time.thread_time() - begin
    return count * len(matrices) * _SIDE**3 / taken
