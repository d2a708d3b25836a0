"""A network that returns the gray values of the image."""

from __future__ import annotations

import numpy as np


class Gray:
    """A network: dark is class 3, bright is class 7."""

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        logits = np.concatenate([np.zeros_like(batch), -12 * batch - 6, 12 * batch - 6], axis=1)
        powers = np.exp(logits)
        return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
