"""Cyclic garbage collection, restricted to the GUI thread.

By default Python collects in whichever thread allocates. A widget in a reference cycle would then be destroyed outside
the GUI thread: that thread would hold a Qt lock while it waits for the GIL, and the GUI thread would wait for that
lock.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

_EVERY = 1000  # ms


class Garbage(QObject):
    """Periodic collection in the owner's thread. Automatic collection is disabled until `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY, timeout=self._collect)
        self._timer.start()

    def settle(self) -> None:
        """Exclude the present objects (modules, classes, the window) from collection.

        Traversing them would block the window for 0.1 s at each full collection.
        """
        gc.collect()
        gc.freeze()

    def stir(self) -> None:
        """Make the excluded objects collectable again, before the window is rebuilt."""
        gc.unfreeze()

    def close(self) -> None:
        self._timer.stop()
        gc.unfreeze()
        gc.collect()
        gc.enable()

    def _collect(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # no collection during a stroke: a full collection would stall it noticeably
        # Collect the oldest generation whose count exceeds its threshold, as Python itself does.
        for generation, (count, limit) in reversed(list(enumerate(zip(gc.get_count(), gc.get_threshold())))):
            if limit and count > limit:
                gc.collect(generation)
                return
