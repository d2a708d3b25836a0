"""Memory of request bodies: a limit on the total of all bodies."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from workbench.cli.serving.responses import HttpError


class Body:
    """Bytes of one request held in memory. arriving: more bytes are expected."""

    def __init__(self) -> None:
        self.size = 0
        self.arriving = True
        self.last = time.monotonic()
        self.evicted = False
        self.task = asyncio.current_task()


class BodyBudget:
    """Memory of all request bodies. limit: bytes of all bodies together. For use in the event loop only.

    If the limit is exceeded, the body without progress for the longest time is evicted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bodies: list[Body] = []

    @contextlib.asynccontextmanager
    async def body(self) -> AsyncIterator[Body]:
        """Count a body until the end of the block. Raises HttpError 503 if the body is evicted."""
        body = Body()
        self._bodies.append(body)
        try:
            yield body
        except asyncio.CancelledError:
            if body.evicted:
                if hasattr(body.task, "uncancel"):  # Python 3.11
                    body.task.uncancel()
                raise _full() from None
            raise
        finally:
            self._bodies.remove(body)

    def add(self, body: Body, size: int) -> None:
        """Count `size` more bytes of a body. Raises HttpError 503."""
        body.size += size
        body.last = time.monotonic()
        while sum(other.size for other in self._bodies) > self._limit:
            others = [other for other in self._bodies if other.arriving and other is not body and other.size]
            if not others:
                raise _full()
            stalled = min(others, key=lambda other: other.last)
            stalled.evicted, stalled.arriving, stalled.size = True, False, 0
            if stalled.task is not None:
                stalled.task.cancel()


def _full() -> HttpError:
    return HttpError(
        503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
    )
