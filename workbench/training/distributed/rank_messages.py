"""Messages between the processes of a distributed training: the commands of rank 0, and a time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum

from workbench.training.reporter import awake_time


class RankCommand(IntEnum):
    """Next command of rank 0 to the other processes."""

    STEP = 0  # step, rate
    RELABEL = 1  # item: index in the list of labels that joined the data set
    LOAD = 2  # restore the state of last/
    WAIT = 3  # until the next command, without time limit
    END = 4
    FP32 = 5  # continue in 32 bits


@dataclass(frozen=True)
class CommandMessage:
    """One command. rate is transmitted exactly, in 64 bits."""

    command: RankCommand
    step: int = 0
    rate: float = 0.0
    item: int = 0


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
        self._deadline = awake_time() + self.seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self.seconds / 4))
            deadline, on_timeout = self._deadline, self.on_timeout
            if deadline is not None and on_timeout is not None and awake_time() > deadline:
                on_timeout()
                return
