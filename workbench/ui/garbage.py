"""Python's collector of reference cycles, held to the GUI thread.

Left to itself it runs in whatever thread happens to allocate. A widget in a cycle would then be destroyed outside the
GUI thread: Qt holds one of its locks while that thread waits for the interpreter, and the window waits for the lock.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

_EVERY = 1000  # ms


class Garbage(QObject):
    """Collects in the thread of its owner while it lives; `close` gives the work back to Python."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY, timeout=self._collect)
        self._timer.start()

    def settle(self) -> None:
        """What is there now stays: modules, classes, the window. Going over it again and again would hold the window
        for a tenth of a second each time.
        """
        gc.collect()
        gc.freeze()

    def stir(self) -> None:
        """What was to stay may go: another window is made."""
        gc.unfreeze()

    def close(self) -> None:
        self._timer.stop()
        gc.unfreeze()
        gc.collect()
        gc.enable()

    def _collect(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # going over the oldest generation takes longer than a stroke may stand still
        # The oldest generation that is due; Python's own rule, applied here.
        for generation, (count, limit) in reversed(list(enumerate(zip(gc.get_count(), gc.get_threshold())))):
            if limit and count > limit:
                gc.collect(generation)
                return
