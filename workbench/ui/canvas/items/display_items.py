"""Canvas items without a place of their own: window/level drag, class picker, and a guard for previews."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Qt

from workbench.core.geometry.selection import Point
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID
from workbench.session.session import Session
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.canvas_scene import CanvasScene


class WindowLevelDrag(Interactor):
    """Shift + right drag as in medical image viewers: contrast horizontally, brightness vertically."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._last = QPointF()

    def press(self, event: PointerEvent) -> bool:
        self._last = event.position
        right, shift = Qt.MouseButton.RightButton, Qt.KeyboardModifier.ShiftModifier
        return event.button == right and event.modifiers == shift

    def move(self, event: PointerEvent) -> None:
        by, self._last = event.position - self._last, event.position
        display = self._scene.display
        span = display.high - display.low
        middle = (display.low + display.high) / 2 + by.y() / 400 * span  # steps are proportional to the window width
        span = max(span * 1.006 ** -by.x(), self._scene.value_span / 2000)
        self._scene.set_display(display.windowed(middle - span / 2, middle + span / 2))


class PreviewGuard(Interactor):
    """Block of the tools while a preview is shown, because the labels are not loaded yet."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene

    def press(self, event: PointerEvent) -> bool:
        return self._scene.previewing and event.button == Qt.MouseButton.LeftButton


class ClassPicker(Interactor):
    """Alt + click: the class of a labeled pixel becomes the current one."""

    claims_pointer = False

    def __init__(self, session: Session) -> None:
        self._session = session

    def press(self, event: PointerEvent) -> bool:
        alt = bool(event.modifiers & Qt.KeyboardModifier.AltModifier)
        if event.button != Qt.MouseButton.LeftButton or not alt:
            return False
        self.pick(event.point)
        return True

    def pick(self, point: Point) -> None:
        """Choose the class at a point of the image, if a class is painted there."""
        mask = self._session.mask
        x, y = math.floor(point[0]), math.floor(point[1])
        inside = mask is not None and 0 <= x < mask.shape[1] and 0 <= y < mask.shape[0]
        if inside and BACKGROUND < mask[y, x] <= MAX_CLASS_ID:
            self._session.classes.choose(int(mask[y, x]))
