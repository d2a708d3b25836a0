"""Canvas and session driven by mouse events whose cost is recorded, for the canvas benchmarks."""

from __future__ import annotations

import os
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen" if "DISPLAY" not in os.environ else "xcb")

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.opencv import cv2
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.label import Label
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.shell.application import GarbageControl

WIDTH, HEIGHT = 1280, 800
NONE, LEFT, MIDDLE = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


def surface(size: int) -> np.ndarray:
    """Return a rough gray surface, uint8 (size, size)."""
    tile = np.random.default_rng(1).integers(60, 180, (512, 512)).astype(np.uint8)
    tile = cv2.GaussianBlur(tile, (0, 0), 2)
    return np.ascontiguousarray(np.tile(tile, (-(-size // 512),) * 2)[:size, :size])


class Measured(Canvas):
    """Canvas that counts its frames."""

    frames = 0

    def paintEvent(self, event) -> None:
        super().paintEvent(event)
        self.frames += 1


class Bench:
    """Canvas on a session with an image that need not be decoded."""

    def __init__(self, root: Path) -> None:
        """Open the project in `root`, or create one there."""
        if not (root / "project.json").exists():
            Project.create(root, classes=["scratch", "pit"]).close()
        self.work: list[float] = []  # milliseconds of CPU time per event, which other programs do not affect
        self.release = 0.0  # of the last release, which ends a stroke
        self.garbage = GarbageControl()  # no garbage collection during an event, as in the window
        self.session = Session(save_delay=1e6)  # no save during a measurement
        self.session.open_project(root)
        self.canvas = Measured(self.session, ClickSegmentation(Preferences()))
        self.canvas.resize(WIDTH, HEIGHT)
        self.canvas.show()
        self.process_events()

    def process_events(self) -> None:
        end = time.perf_counter() + 0.05
        while time.perf_counter() < end:
            QApplication.processEvents()

    def close(self) -> None:
        self.session.close_project()
        self.canvas.end()
        self.canvas.close()
        self.garbage.close()

    def show(self, size: int) -> np.ndarray:
        """Open an image of `size` × `size` pixels and return its empty mask."""
        mask = annotation.new_mask((size, size))
        key = f"{size}.png"
        self.session.current._set(key, surface(size), Label(key, mask=mask))
        self.session.current.opened.emit(key)
        while self.canvas.scene.reading or (
            self.canvas.scene.image is not None and len(self.canvas.scene.image.levels) == 1
        ):
            QApplication.processEvents()
        self.canvas.choose_tool("brush")
        self.process_events()
        return mask

    def send(self, kind: QEvent.Type, at: QPointF, button, buttons) -> float:
        """Return the milliseconds from the event to the painted frame."""
        event = QMouseEvent(kind, at, self.canvas.mapToGlobal(at), button, buttons, Qt.KeyboardModifier.NoModifier)
        start_time, worked = time.perf_counter(), time.thread_time()
        QApplication.sendEvent(self.canvas, event)
        QApplication.processEvents()
        self.work.append((time.thread_time() - worked) * 1e3)
        return (time.perf_counter() - start_time) * 1e3

    def stroke(self, points: list[QPointF]) -> list[float]:
        self.send(QEvent.Type.MouseButtonPress, points[0], LEFT, LEFT)
        self.work = []
        times = [self.send(QEvent.Type.MouseMove, point, NONE, LEFT) for point in points[1:]]
        work, self.work = self.work, []
        self.send(QEvent.Type.MouseButtonRelease, points[-1], LEFT, NONE)
        self.release, self.work = self.work[0], work
        return times


def path(moves: int, seed: int = 0) -> list[QPointF]:
    """Return a random walk of 12-pixel steps over the canvas."""
    rng = np.random.default_rng(seed)
    x, y, angle = WIDTH / 2, HEIGHT / 2, 0.0
    points = [QPointF(x, y)]
    for _ in range(moves):
        angle += rng.normal(0, 0.4)
        x, y = x + 12 * np.cos(angle), y + 12 * np.sin(angle)
        if not (40 < x < WIDTH - 40 and 40 < y < HEIGHT - 40):
            angle += np.pi
            x, y = min(max(x, 40), WIDTH - 40), min(max(y, 40), HEIGHT - 40)
        points.append(QPointF(x, y))
    return points
