"""Graceful stop on Ctrl-C: the first one stops after the current image, the second one during it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class GracefulInterrupt:
    """Stop request. asked: stop after the current image. at_once: stop during it."""

    def __init__(self) -> None:
        self._choices = 0
        self._heard = threading.Event()

    def asked(self) -> bool:
        return self._choices > 0

    def at_once(self) -> bool:
        return self._choices > 1

    def request(self) -> None:
        self._choices += 1
        self._heard.set()

    def wait(self, seconds: float) -> None:
        """Sleep for `seconds`, or until a stop is requested."""
        self._heard.wait(seconds)


@contextmanager
def handle_interrupts(on_first: Callable[[], None]) -> Iterator[GracefulInterrupt]:
    """Turn SIGINT and SIGTERM into stop requests within the context.

    on_first: called at the first signal, to inform the user. A third signal has its default effect.
    """
    stop = GracefulInterrupt()
    before: dict[int, Any] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        stop.request()
        if not stop.at_once():
            on_first()
        else:
            restore()

    def restore() -> None:
        for kind, handler in before.items():
            signal.signal(kind, handler)

    if threading.current_thread() is threading.main_thread():
        kinds = [signal.SIGINT, signal.SIGTERM, *([signal.SIGBREAK] if hasattr(signal, "SIGBREAK") else [])]
        before = {kind: signal.signal(kind, handle) for kind in kinds}
    try:
        yield stop
    finally:
        restore()
