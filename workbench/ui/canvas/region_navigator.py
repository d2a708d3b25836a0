"""Navigation from one labeled or predicted region to the next at a constant scale."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.canvas_layers import MaskLayer
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.image_pyramid import RANKS, MaskPyramid
from workbench.ui.canvas.layers.view_state import ViewState

_SEARCHED = 4_000_000  # cells: largest level in which regions are searched
_FIRST_SCALE = 2.0


class RegionNavigator(QObject):
    """Region navigation. `stepped` carries the number of the visible region, from 1, and the count; or 0 of 0."""

    stepped = Signal(int, int)
    arrived = Signal(object)  # Rect: bounding rectangle of the region

    def __init__(self, view: ViewState, scene: CanvasScene, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._scene = view, scene
        self._position: tuple[int, int] | None = None  # row and column of the present region
        self._scale = _FIRST_SCALE  # chosen by the user
        self._own_scale = 0.0  # set by the last step, smaller than `_scale` if the region is large
        self._scene.image_changed.connect(self._reset)

    def possible(self) -> bool:
        scene = self._scene
        return bool(scene.labels is not None or scene.predictions is not None or scene.suggested.rects)

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) region in reading order, wrapping around."""
        regions = self.regions()
        if not regions:
            self.stepped.emit(0, 0)
            return
        positions = [(rect.y, rect.x) for rect in regions]
        last = len(regions) - 1
        if self._position is None:
            number = 0 if step > 0 else last
        elif step > 0:
            number = next((i for i, position in enumerate(positions) if position > self._position), 0)
        else:
            number = next((i for i in range(last, -1, -1) if positions[i] < self._position), last)
        self._position = positions[number]
        self.show(regions[number])
        self.arrived.emit(regions[number])
        self.stepped.emit(number + 1, len(regions))

    def regions(self) -> list[Rect]:
        """Return the bounding rectangles of visible labels and predictions; regions closer than a cell count as one.

        If no prediction is shown, open suggestions are included.
        """
        scene = self._scene
        layers = [layer for layer in (scene.labels, scene.predictions) if layer is not None and layer.style.visible]
        predicted = scene.predictions is not None and scene.predictions.style.visible
        rects = [] if predicted else scene.suggested.rects
        return sorted([*self._regions_in(layers), *rects], key=lambda rect: (rect.y, rect.x))

    def _regions_in(self, layers: list[MaskLayer]) -> list[Rect]:
        if not layers:
            return []
        number = _level(layers[0].pyramid)
        hidden = self._scene.hidden_ids
        cells = np.bitwise_or.reduce([_painted(layer.pyramid, number, hidden) for layer in layers])
        count, _, stats, _ = cv2.connectedComponentsWithStats(cells, connectivity=8)
        size = 1 << number
        return [Rect(*(int(value) * size for value in stats[i, :4])) for i in range(1, count)]

    def show(self, rect: Rect) -> None:
        """Center a rectangle at the scale of the last step, or at a smaller one if it is large."""
        view = self._view.viewport
        if not self._view.fitted and view.scale != self._own_scale:
            self._scale = view.scale  # the user has zoomed
        scale = min(self._scale, 0.8 * min(view.width / rect.width, view.height / rect.height))
        view = view.at_scale(scale).centered(rect.x + rect.width / 2, rect.y + rect.height / 2)
        self._own_scale = view.scale
        self._view.set(view)

    def _reset(self) -> None:
        self._position = None


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
