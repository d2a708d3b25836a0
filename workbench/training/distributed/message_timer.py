"""Time limit of messages between processes: with NCCL, a message to a dead process blocks without an exception."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class MessageTimer:
    """Timer of one message at a time. on_timeout: called once, in another thread; without it nothing is timed.

    seconds: longest duration of a message, including the time until the other processes send theirs.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.on_timeout: Callable[[], None] | None = None
        self._deadline: float | None = None
        self._thread: threading.Thread | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        if self.on_timeout is not None and self._thread is None:
            self._thread = threading.Thread(target=self._watch, daemon=True, name="messages")
            self._thread.start()
        self._deadline = time.monotonic() + self.seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self.seconds / 4))
            deadline, on_timeout = self._deadline, self.on_timeout
            if deadline is not None and on_timeout is not None and time.monotonic() > deadline:
                on_timeout()
                return
