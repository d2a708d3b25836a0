"""Sizes of windows that fit on the screen."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

_SMALLEST = QSize(1024, 600)  # px, the smallest supported screen
_FRAME = QSize(16, 40)  # px, of title bar and border


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size in pixels, or to what its screen has room for."""
    available = window.screen().availableSize().expandedTo(_SMALLEST)
    window.resize(QSize(width, height).boundedTo(available - _FRAME))
