"""Two clicks on a thin line, a crack or a scratch: the way along it between them, and its pixels at measured width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.core.drawing import NOTHING, Rect
from workbench.core.selection.line_width import covered, measure, smoothed
from workbench.core.selection.paths import Guide
from workbench.core.selection.ridges import cost_of, ridges
from workbench.core.selection.selection import EMPTY, Point, Selection, around, padded, pixel_at
from workbench.core.selection.tones import Levels, levels_of, lightness

Polarity = Literal["dark", "bright", "auto"]

SNAP = 3  # pixels: a click is taken to the clearest ridge this near


@dataclass(frozen=True, eq=False)
class Crack:
    """A traced line. `line` float (n, 2), picture points; `width` float (n,), pixels; `selection`, what it covers."""

    line: np.ndarray
    width: np.ndarray
    selection: Selection
    dark: bool


NO_CRACK = Crack(np.zeros((0, 2)), np.zeros(0), EMPTY, True)


class CrackTracer:
    """Follows a thin line from a first click to wherever the hand is, then measures it.

    `picture` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. `widest`: the widest line expected, in pixels;
    lines up to twice as wide are still measured. Work is bound to a window around the clicks (see `Guide`).
    """

    def __init__(
        self,
        picture: np.ndarray,
        start: Point,
        *,
        polarity: Polarity = "auto",
        widest: float = 9.0,
        levels: Levels | None = None,
    ) -> None:
        self._picture, self._widest = picture, widest
        self._levels = levels or levels_of(picture)
        self._polarity: Polarity = polarity
        self._start = start
        self._guides: dict[tuple[bool, int], Guide] = {}  # by whether the line is dark, and how far reduced
        self._kept: dict[int, tuple[Rect, tuple[np.ndarray, np.ndarray]]] = {}

    def way(self, end: Point, *, exact: bool = True) -> tuple[np.ndarray, bool] | None:
        """The pixels int (n, 2) from the first click to `end`, and whether the line is dark.

        None outside the picture or too far (see `Guide.to`). With `exact` False quick on any distance: for a preview.
        """
        shape = self._picture.shape
        if pixel_at(self._start, shape) is None or pixel_at(end, shape) is None:
            return None
        dark = self._is_dark(end)
        if dark is None:
            return None
        way = self._guide(dark).to(self._snapped(end, dark), exact=exact)
        return None if way is None else (way, dark)

    def trace(self, end: Point) -> Crack:
        """The line between the first click and `end` with its width; an empty one where `way` finds none.

        The selection of that is `cut` if both are in the picture, only too far from each other.
        """
        found = self.way(end)
        if found is None:
            shape = self._picture.shape
            far = pixel_at(self._start, shape) is not None and pixel_at(end, shape) is not None
            return replace(NO_CRACK, selection=replace(EMPTY, cut=far))
        way, dark = found
        return self.measured(way, dark=dark)

    def measured(self, way: np.ndarray, *, dark: bool) -> Crack:
        """The width along a way, int (n, 2) pixels, and what it covers. In parts, so that windows stay small."""
        plain = smoothed(way)
        line, width = plain.copy(), np.ones(len(plain))
        shape = self._picture.shape
        reach, part, overlap = int(3 * self._widest) + 4, 512, 16
        for first in range(0, len(line), part):
            low, high = max(0, first - overlap), min(len(line), first + part + overlap)
            rect = around([tuple(p) for p in plain[low:high]], reach, shape)
            light = lightness(self._picture, rect, self._levels)
            moved, widths = measure(light, plain[low:high] - (rect.x, rect.y), widest=self._widest, dark=dark)
            mine = slice(first - low, min(first + part, len(line)) - low)
            line[first : first + part] = moved[mine] + (rect.x, rect.y)
            width[first : first + part] = widths[mine]
        return Crack(line, width, covered(line, width, way, shape), dark)

    def _is_dark(self, end: Point) -> bool | None:
        """Whether the dark or the bright way to `end` is the clearer one; None if there is none.

        Where a crack ends it hardly shows, so the clicks alone decide badly. Half the resolution is enough for this.
        """
        if self._polarity != "auto":
            return self._polarity == "dark"
        clear = []
        for dark in (True, False):
            guide = self._guide(dark, least_step=2)
            way = guide.to(self._snapped(end, dark), exact=False)
            if way is None:
                return None
            columns, rows = (way - (guide.rect.x, guide.rect.y)).T // guide.step
            clear.append(float(np.median(self._ridges(guide.rect, guide.step)[0 if dark else 1][rows, columns])))
        return clear[0] >= clear[1]

    def _guide(self, dark: bool, least_step: int = 1) -> Guide:
        if (dark, least_step) not in self._guides:

            def costs(rect: Rect, step: int) -> np.ndarray:
                return cost_of(self._ridges(rect, step)[0 if dark else 1])

            start = self._snapped(self._start, dark)
            self._guides[dark, least_step] = Guide(costs, start, self._picture.shape, least_step=least_step)
        return self._guides[dark, least_step]

    def _ridges(self, rect: Rect, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The dark and the bright ridges of a window; of each step, those of the largest window so far are kept."""
        kept, found = self._kept.get(step, (NOTHING, None))
        if kept == rect and found is not None:
            return found
        light = lightness(self._picture, rect, self._levels, step)
        found = ridges(light, widest=max(self._widest / step, 3.0))
        if rect.width * rect.height >= kept.width * kept.height:
            self._kept[step] = rect, found
        return found

    def _snapped(self, point: Point, dark: bool) -> Point:
        """The clearest ridge pixel near a click; the click itself where there is none."""
        near = around([point], SNAP, self._picture.shape)
        rect = padded(near, 3 * SNAP + int(self._widest), self._picture.shape)
        ridge = self._ridges(rect)[0 if dark else 1]
        y, x = near.y - rect.y, near.x - rect.x
        ridge = ridge[y : y + near.height, x : x + near.width]
        rows, columns = np.mgrid[near.y : near.y + near.height, near.x : near.x + near.width] + 0.5
        away = np.hypot(columns - point[0], rows - point[1])
        score = np.where(away <= SNAP, ridge * (1 - 0.5 * away / (SNAP + 1)), 0)
        row, column = np.unravel_index(int(score.argmax()), score.shape)
        if score[row, column] <= 0:
            return point
        return near.x + int(column) + 0.5, near.y + int(row) + 0.5


def trace_crack(
    picture: np.ndarray,
    start: Point,
    end: Point,
    *,
    polarity: Polarity = "auto",
    widest: float = 9.0,
    levels: Levels | None = None,
) -> Crack:
    """The thin line between two clicks: see `CrackTracer`."""
    return CrackTracer(picture, start, polarity=polarity, widest=widest, levels=levels).trace(end)
