"""Memory of decoded pictures: a bound to what all pictures in work take together."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from workbench.inference.memory import give_back_memory
from workbench.inference.predictor import Cancelled

_LARGE = 64 * 2**20  # from this size on freed memory is given back to the system


class MemoryBudget:
    """most: bytes of all decoded pictures together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def take(self, size: int, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Hold `size` bytes, at most `most`, for the block; wait until they are free. Raises Cancelled."""
        with self._changed:
            while self._taken + size > self.most:
                self._changed.wait(0.05)
                if cancelled():
                    raise Cancelled
            self._taken += size
        try:
            yield
        finally:
            if size >= _LARGE:
                give_back_memory()
            with self._changed:
                self._taken -= size
                self._changed.notify_all()
