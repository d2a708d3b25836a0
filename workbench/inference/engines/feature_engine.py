"""Engines of networks whose encoder's features are an output beside the probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

Outputs = tuple[np.ndarray, np.ndarray | None]  # output, and features if the network has them


@runtime_checkable
class FeatureEngine(Protocol):
    """Engine whose network may have features."""

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the same as `__call__`, and float32 (N,F,rows,columns), None if this network has none.

        cancelled: as of `predictor.CancellableEngine`.
        """
        ...


def outputs_of(engine: Any, batch: np.ndarray) -> Outputs:
    """Return the output of any engine, and its features if it has them."""
    return engine.with_features(batch) if isinstance(engine, FeatureEngine) else (np.asarray(engine(batch)), None)


class FunctionEngine:
    """Engine made of a function. outputs: returns the outputs for a batch."""

    def __init__(self, outputs: Callable[[np.ndarray], Outputs]) -> None:
        self._outputs = outputs

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self._outputs(batch)[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        return self._outputs(batch)
