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


class Receiving:
    """Memory of all request bodies. most: bytes of all bodies together. For use in the event loop only.

    If the limit is exceeded, the body without progress for the longest time is evicted.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._bodies: list[Body] = []

    @contextlib.asynccontextmanager
    async def body(self) -> AsyncIterator[Body]:
        """Count a body until the block is left. Raises Refused 503 if the body is evicted."""
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
        """Count `size` more bytes of a body. Raises Refused 503."""
        body.size += size
        body.last = time.monotonic()
        while sum(each.size for each in self._bodies) > self._most:
            others = [each for each in self._bodies if each.arriving and each is not body and each.size]
            if not others:
                raise _full()
            victim = min(others, key=lambda each: each.last)
            victim.evicted, victim.arriving, victim.size = True, False, 0
            if victim.task is not None:
                victim.task.cancel()


def _full() -> HttpError:
    return HttpError(
        503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
    )
