"""Memory of decoded images: a limit on the total of all images being processed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from workbench.inference.io.buffers import give_back_memory
from workbench.inference.predictor import PredictionCancelled

_LARGE = 64 * 2**20  # freed memory of at least this size is returned to the operating system


class MemoryBudget:
    """Budget of memory. limit: bytes of all decoded images together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._used = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def reserve(self, size: int, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait until `size` bytes (at most `limit`) are free and hold them for the block.

        Raises PredictionCancelled.
        """
        with self._changed:
            while self._used + size > self.limit:
                self._changed.wait(0.05)
                if cancelled():
                    raise PredictionCancelled
            self._used += size
        try:
            yield
        finally:
            if size >= _LARGE:
                give_back_memory()
            with self._changed:
                self._used -= size
                self._changed.notify_all()
