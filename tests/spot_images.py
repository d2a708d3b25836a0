"""Images with dark spots, and their masks."""

from __future__ import annotations

import numpy as np

PIT = 1  # class of a spot


def scene(seed: int, *places: tuple[int, int], size: tuple[int, int] = (120, 160)) -> tuple[np.ndarray, np.ndarray]:
    """Return a gray image, uint8 (H, W), with a dark spot at each place (x, y), and its mask."""
    rng = np.random.default_rng(seed)
    image, mask = rng.normal(150, 8, size), np.zeros(size, np.uint8)
    for x, y in places:
        image[y : y + 24, x : x + 24] -= 90
        mask[y : y + 24, x : x + 24] = PIT
    return image.clip(0, 255).astype(np.uint8), mask
