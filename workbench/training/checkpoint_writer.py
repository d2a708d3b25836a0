"""Writing of checkpoints beside the training, so that a GPU does not wait for the disk."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class CheckpointWriter:
    """Writer of one checkpoint at a time. beside: in a thread; otherwise `start` writes at once."""

    def __init__(self, *, beside: bool) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint") if beside else None
        self._pending: Future[None] | None = None

    def start(self, write: Callable[[], None]) -> None:
        """Call `write`, after the previous checkpoint is complete. Raise what that one raised."""
        self.wait()
        if self._pool is None:
            write()
        else:
            self._pending = self._pool.submit(write)

    def wait(self) -> None:
        """Wait until the checkpoint is complete. Raise what its writing raised."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)
