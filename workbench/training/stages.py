"""How far a long work is: stages with the seconds that each is thought to take, so that the time left can be told."""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.core.events import Progress
from workbench.training.reporter import Reporter

_EVERY = 0.5  # seconds between two reports of one stage


class Cancelled(Exception):
    """Somebody wants it no more."""


class Stages:
    """plan: (what is said, seconds) in the order in which `begin` will be called. Reports in tenths of a second."""

    def __init__(
        self, plan: list[tuple[str, float]], report: Reporter, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._plan, self._report, self._cancelled = plan, report, cancelled
        self._stage = -1
        self._told = 0.0

    def begin(self, what: str) -> None:
        """Stages between the last one and this one are passed over. Raises Cancelled."""
        names = [name for name, _ in self._plan]
        self._stage = names.index(what, self._stage + 1)
        self._tell(0.0)

    def share(self, done: float) -> None:
        """0..1 of the stage. Raises Cancelled."""
        if time.monotonic() - self._told > _EVERY:
            self._tell(min(1.0, done))
        else:
            self.check()

    @staticmethod
    def clock() -> float:
        return time.monotonic()

    def check(self) -> None:
        if self._cancelled():
            raise Cancelled

    def _tell(self, done: float) -> None:
        self.check()
        self._told = time.monotonic()
        what, seconds = self._plan[self._stage]
        before = sum(seconds for _, seconds in self._plan[: self._stage])
        whole = sum(seconds for _, seconds in self._plan)
        self._report(Progress(what=what, done=round(10 * (before + done * seconds)), total=max(1, round(10 * whole))))
