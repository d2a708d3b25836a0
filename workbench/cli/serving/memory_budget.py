"""Memory of decoded images: a limit on the total of all images being processed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from workbench.inference.io.buffers import give_back_memory
from workbench.inference.predictor import PredictionCancelled

_LARGE = 64 * 2**20  # freed memory of at least this size is returned to the operating system


class MemoryBudget:
    """Budget of memory. most: bytes of all decoded images together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def take(self, size: int, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait until `size` bytes (at most `most`) are free and hold them for the block. Raises Cancelled."""
        with self._changed:
            while self._taken + size > self.most:
                self._changed.wait(0.05)
                if cancelled():
                    raise PredictionCancelled
            self._taken += size
        try:
            yield
        finally:
            if size >= _LARGE:
                give_back_memory()
            with self._changed:
                self._taken -= size
                self._changed.notify_all()
