"""Images for canvases, and the pixels that a canvas shows."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage

from workbench.ui.canvas.canvas_widget import Canvas

RED = {1: "#ff0000", 2: "#00ff00"}


def on_screen(view: Canvas) -> np.ndarray:
    """Pixels on the screen, uint8 (H, W, 3)."""
    image = view.screen().grabWindow(view.winId()).toImage().convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return pixels[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def textured(height: int, width: int, dtype=np.uint8) -> np.ndarray:
    top = 255 if dtype == np.uint8 else 4095
    return np.random.default_rng(5).integers(0, top, (height, width)).astype(dtype)
