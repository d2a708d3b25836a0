"""Bounded logging, so that misbehaving clients cannot fill the disk."""

from __future__ import annotations

import logging
import time


class RateLimit(logging.Filter):
    """Filter that passes `limit` records per `seconds`. The next record passed states how many were dropped."""

    def __init__(self, limit: int = 10, seconds: float = 10.0) -> None:
        super().__init__()
        self._limit, self._seconds = limit, seconds
        self._began, self._count = -seconds, 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._began >= self._seconds:
            if self._count > self._limit:
                dropped = self._count - self._limit
                record.msg = f"{record.getMessage()} ({dropped} further messages before this one were dropped)"
                record.args = None
            self._began, self._count = now, 0
        self._count += 1
        return self._count <= self._limit


def limit_logs() -> None:
    """Limit the logs of the server, Uvicorn and asyncio. May be called more than once."""
    for name in ("asyncio", "uvicorn.error", "workbench.serve"):
        logger = logging.getLogger(name)
        if not any(isinstance(item, RateLimit) for item in logger.filters):
            logger.addFilter(RateLimit())
