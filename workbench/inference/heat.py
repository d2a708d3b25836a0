"""Where a network looked before it gave a verdict: what each place of the picture adds to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cv import cv2
from .normalise import normalise, resize_for_network
from .settings import ModelSettings

_FINE = 14  # cells along a side that are worth having; where the network has fewer, it looks from several places
_MOST = 4  # places along a side
_LONGEST = 32_000  # pixels; longer ones OpenCV does not resize to


def look(picture: np.ndarray, settings: ModelSettings, engine: Any, verdict: int) -> np.ndarray | None:
    """uint8 (H,W), 255 where most speaks for a verdict (its number) against the others; None if `engine` cannot tell.

    Class activation maps (Zhou et al. 2016), less the mean of all verdicts, because only differences of logits count.
    The last layer of a network has few cells, so the picture is also shown to it moved by parts of a cell, and
    the answers are put between one another (shift and stitch, as in Sermanet et al. 2014).
    """
    maps = getattr(engine, "maps", None)
    if maps is None or max(picture.shape[:2]) > _LONGEST:
        return None
    ready = normalise(resize_for_network(picture, settings), settings)
    found = maps(ready[None])
    if found is None:
        return None
    rows, columns = found.shape[2:]
    places = int(np.clip(-(-_FINE // max(rows, columns)), 1, _MOST))
    height, width = picture.shape[:2]
    fine = _stitched(maps, ready, places, (rows, columns)) if places > 1 else found[0]
    told = np.maximum(fine[verdict] - fine.mean(axis=0), 0)
    # Smoothly to a size at which bytes are fine enough, then in bytes: the picture may be very large.
    middle = (min(width, 512), min(height, 512))
    told = cv2.resize(told.astype(np.float32), middle, interpolation=cv2.INTER_LINEAR)
    told *= 255 / max(float(told.max()), 1e-12)
    return cv2.resize(np.rint(told).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)


def _stitched(maps: Any, ready: np.ndarray, places: int, cells: tuple[int, int]) -> np.ndarray:
    """float32 (V, rows x places, columns x places) of a normalised picture, float32 (C,h,w)."""
    sides = ready.shape[1:]
    steps = [max(1, side // (cell * places)) for side, cell in zip(sides, cells)]
    # Place i of n lies (i + 1/2) / n into its cell, and the picture is moved so that this comes to the cell's middle.
    moves = [[round((i + 0.5 - places / 2) * step) for i in range(places)] for step in steps]
    reach = [max(map(abs, move)) for move in moves]
    wide = np.pad(ready, ((0, 0), (reach[0],) * 2, (reach[1],) * 2), mode="edge")
    fine: np.ndarray | None = None
    for i, down in enumerate(moves[0]):
        top = reach[0] + down
        lefts = [reach[1] + across for across in moves[1]]
        batch = np.stack([wide[:, top : top + sides[0], left : left + sides[1]] for left in lefts])
        for j, told in enumerate(maps(batch)):
            if fine is None:
                fine = np.zeros((told.shape[0], cells[0] * places, cells[1] * places), np.float32)
            fine[:, i::places, j::places] = told
    assert fine is not None
    return fine
