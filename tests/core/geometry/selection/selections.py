"""Expected selections."""

from __future__ import annotations

from collections import deque

import numpy as np

from workbench.core.geometry.drawing import Rect


def everywhere(selection, shape):
    return selection.within(Rect(0, 0, shape[1], shape[0]))


def flooded(member, pixel, connectivity):
    """Return the True pixels connected to (column, row), found by a plain search."""
    steps = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    steps += [(1, 1), (1, -1), (-1, 1), (-1, -1)] if connectivity == 8 else []
    out = np.zeros(member.shape, bool)
    queue = deque([pixel])
    out[pixel[1], pixel[0]] = True
    while queue:
        x, y = queue.popleft()
        for dx, dy in steps:
            column, row = x + dx, y + dy
            if not (0 <= column < member.shape[1] and 0 <= row < member.shape[0]):
                continue
            if member[row, column] and not out[row, column]:
                out[row, column] = True
                queue.append((column, row))
    return out
