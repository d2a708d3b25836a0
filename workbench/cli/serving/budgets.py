"""Limits of memory and time: bodies of requests that arrive or wait, and decoded images."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from workbench.cli.serving.responses import HttpError
from workbench.inference.predictor import PredictionCancelled
from workbench.inference.process_memory import release_free_memory

_LARGE = 64 * 2**20  # freed memory of at least this size is returned to the operating system


class Body:
    """Body of a request. stall: seconds between two parts. seconds: for the whole body. on_refused: called with the
    error if the body is refused.

    size: bytes held in memory. arriving: more bytes are expected. last: time of the last part.
    """

    def __init__(self, stall: float, seconds: float, on_refused: Callable[[HttpError], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_refused = on_refused
        self._stall, self._seconds = stall, seconds
        self.size = 0
        self.arriving = True
        self.last = self._began = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def expect_more(self) -> None:
        """Begin the time limits. Most bodies arrive in one part and need none."""
        if self._timer is None:
            self._timer = self._loop.call_later(min(self._stall, self._seconds), self._check_time)

    def end(self) -> None:
        """End the time limits, after the last part or an error."""
        self.arriving = False
        if self._timer is not None:
            self._timer.cancel()

    def refuse(self, error: HttpError) -> None:
        self.end()
        self._on_refused(error)

    def _check_time(self) -> None:
        now = self._loop.time()
        left = min(self.last + self._stall, self._began + self._seconds) - now
        if left > 0:
            self._timer = self._loop.call_later(left, self._check_time)
            return
        if now >= self._began + self._seconds:
            why = f"The image did not arrive within {self._seconds:g} s."
        else:
            why = f"No further part of the image arrived within {self._stall:g} s."
        self.refuse(HttpError(408, why, {"Connection": "close"}))


class BodyBudget:
    """Memory of all request bodies. limit: bytes of all bodies together. For use in the event loop only.

    stall, seconds: time limits of each body. If the limit is exceeded, the body without progress for the longest time
    is refused.
    """

    def __init__(self, limit: int, stall: float, seconds: float) -> None:
        self._limit = limit
        self._stall, self._seconds = stall, seconds
        self._bodies: set[Body] = set()
        self._used = 0

    def start(self, on_refused: Callable[[HttpError], None]) -> Body:
        """Return a new body, which counts until `release`. on_refused: called with HttpError 408 or 503."""
        body = Body(self._stall, self._seconds, on_refused)
        self._bodies.add(body)
        return body

    def release(self, body: Body) -> None:
        """End the time limits of a body and its share of the memory. May be called more than once."""
        body.end()
        self._bodies.discard(body)
        self._used -= body.size
        body.size = 0

    @contextlib.contextmanager
    def body(self) -> Iterator[Body]:
        """Count the body of the present task until the end of the block.

        Raises HttpError 408 or 503 if the body is refused meanwhile.
        """
        task: Any = asyncio.current_task()
        refused: list[HttpError] = []

        def refuse(error: HttpError) -> None:
            refused.append(error)
            task.cancel()

        body = self.start(refuse)
        body.expect_more()
        try:
            yield body
        except asyncio.CancelledError:
            if not refused:
                raise
            if hasattr(task, "uncancel"):  # Python 3.11
                task.uncancel()
            raise refused[0] from None
        finally:
            self.release(body)

    def add(self, body: Body, size: int) -> None:
        """Count `size` more bytes of a body. Raises HttpError 503."""
        body.size += size
        body.last = asyncio.get_running_loop().time()
        self._used += size
        while self._used > self._limit:
            others = [other for other in self._bodies if other.arriving and other is not body and other.size]
            if not others:
                raise _full()
            stalled = min(others, key=lambda other: other.last)
            self._used -= stalled.size
            stalled.size = 0
            stalled.refuse(_full())


def _full() -> HttpError:
    return HttpError(
        503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
    )


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
                release_free_memory()
            with self._changed:
                self._used -= size
                self._changed.notify_all()
