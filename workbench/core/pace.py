"""Estimate of the training steps in a given time, from a short CPU measurement and the network's structure."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from workbench.core.architecture import multiplications
from workbench.core.recipe import Recipe

_SECONDS = 0.1  # duration of the measurement
_SIDE = 64  # of its matrices: NumPy multiplies such small ones on one core, and they fit in the core's cache
_START = 4.0  # seconds before the first step, while Paddle is loaded
_STEPPING = 0.85  # share of the remaining time spent on steps; evaluation and completion take the rest
_BACK = 3  # cost of a step in predictions: forward pass, and a backward pass of twice that
_REACHED = 0.7  # share of the measured speed that training reaches


def expected_steps(recipe: Recipe) -> int:
    """Return the number of steps on a CPU in the planned minutes, to two digits; accurate within a factor of about two.
    """
    seconds = max(0.0, (recipe.minutes or 0) * 60 - _START) * _STEPPING
    step = multiplications(recipe) * _BACK * recipe.batch / (core_speed() * _REACHED * recipe.workers)
    return int(float(f"{seconds / step:.2g}"))


@cache
def core_speed() -> float:
    """Return the 32-bit multiply-adds per second of one core of this machine."""
    matrices = np.random.default_rng(0).normal(size=(256, _SIDE, _SIDE)).astype(np.float32)
    product = matrices @ matrices  # reused memory: a new allocation takes as long as the arithmetic
    # Measure the time of this thread only, without other threads and programs.
    count, begin, taken = 0, time.thread_time(), 0.0
    while taken < _SECONDS:
        np.matmul(matrices, matrices, out=product)
        count, taken = count + 1, time.thread_time() - begin
    return count * len(matrices) * _SIDE**3 / taken
