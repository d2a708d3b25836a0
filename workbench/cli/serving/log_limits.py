"""Bounded logging, so that misbehaving clients cannot fill the disk."""

from __future__ import annotations

import logging
import time


class RateLimit(logging.Filter):
    """Filter that passes `most` records per `seconds`. The next record passed states how many were left out."""

    def __init__(self, most: int = 10, seconds: float = 10.0) -> None:
        super().__init__()
        self._most, self._seconds = most, seconds
        self._began, self._count = -seconds, 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._began >= self._seconds:
            if self._count > self._most:
                left_out = self._count - self._most
                record.msg = f"{record.getMessage()} ({left_out} further messages before this one were left out)"
                record.args = None
            self._began, self._count = now, 0
        self._count += 1
        return self._count <= self._most


def limit_logs() -> None:
    """Limit the logs of the server, Uvicorn and asyncio. May be called more than once."""
    for name in ("asyncio", "uvicorn.error", "workbench.serve"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, RateLimit) for each in logger.filters):
            logger.addFilter(RateLimit())
