"""Navigation from one labeled or predicted region to the next at a constant scale."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.canvas_layers import MaskLayer
from workbench.ui.canvas.layers.image_pyramid import RANKS, MaskPyramid
from workbench.ui.canvas.scene_view import SceneView

_SEARCHED = 4_000_000  # cells: largest level in which regions are searched
_FIRST_SCALE = 2.0


class RegionNavigator(QObject):
    """Region navigation. `stepped` carries the number of the visible region, from 1, and the count; or 0 of 0."""

    stepped = Signal(int, int)
    arrived = Signal(object)  # Rect: bounding rectangle of the region

    def __init__(self, view: SceneView) -> None:
        super().__init__(view)
        self._view = view
        self._at: tuple[int, int] | None = None  # row and column of the present region
        self._scale, self._made = _FIRST_SCALE, 0.0
        view.image_changed.connect(self._forget)

    def possible(self) -> bool:
        return bool(self._view.labels is not None or self._view.predictions is not None or self._view.suggested.rects)

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) region in reading order, wrapping around."""
        found = self.regions()
        if not found:
            self.stepped.emit(0, 0)
            return
        places = [(rect.y, rect.x) for rect in found]
        if self._at is None:
            number = 0 if step > 0 else len(found) - 1
        elif step > 0:
            number = next((i for i, place in enumerate(places) if place > self._at), 0)
        else:
            number = next((i for i in range(len(places) - 1, -1, -1) if places[i] < self._at), len(places) - 1)
        self._at = places[number]
        self._show(found[number])
        self.arrived.emit(found[number])
        self.stepped.emit(number + 1, len(found))

    def regions(self) -> list[Rect]:
        """Return the bounding rectangles of visible labels and predictions; regions closer than a cell count as one.

        If no prediction is shown, open suggestions are included.
        """
        view = self._view
        layers = [layer for layer in (view.labels, view.predictions) if layer is not None and layer.style.visible]
        alone = view.predictions is None or not view.predictions.style.visible
        rects = view.suggested.rects if alone else []
        return sorted([*self._in(layers), *rects], key=lambda rect: (rect.y, rect.x))

    def _in(self, layers: list[MaskLayer]) -> list[Rect]:
        if not layers:
            return []
        view = self._view
        number = _level(layers[0].pyramid)
        cells = np.bitwise_or.reduce([_painted(layer.pyramid, number, view.hidden_ids) for layer in layers])
        count, _, stats, _ = cv2.connectedComponentsWithStats(cells, connectivity=8)
        size = 1 << number
        return [Rect(*(int(value) * size for value in stats[i, :4])) for i in range(1, count)]

    def _show(self, rect: Rect) -> None:
        view = self._view.view
        if not self._view.fitted and view.scale != self._made:
            self._scale = view.scale  # the user has zoomed; the new scale is kept
        fits = 0.8 * min(view.width / rect.width, view.height / rect.height)
        view = view.at_scale(min(self._scale, fits)).centered(rect.x + rect.width / 2, rect.y + rect.height / 2)
        self._made = view.scale
        self._view.set_view(view)

    def _forget(self) -> None:
        self._at = None


def _level(pyramid: MaskPyramid) -> int:
    return next((i for i, level in enumerate(pyramid.levels) if level.size <= _SEARCHED), len(pyramid.levels) - 1)


def _painted(pyramid: MaskPyramid, number: int, hidden: frozenset[int]) -> np.ndarray:
    table = np.zeros(256, np.uint8)
    table[1 : MAX_CLASS_ID + 1] = 1
    table[list(hidden)] = 0
    if number > 0:  # levels above the mask hold ranks
        by_rank = np.zeros(256, np.uint8)
        by_rank[RANKS] = table
        table = by_rank
    return cv2.LUT(pyramid.level(number), table)
