"""Progress of a long task: stages with estimated seconds, from which the remaining time follows."""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.core.runs.events import Progress
from workbench.training.reporter import Reporter

_INTERVAL = 0.5  # seconds between two reports of one stage


class ExportCancelled(Exception):
    """Raised when the task was cancelled."""


class ProgressStages:
    """Reporter of stages. plan: (text, seconds) in the order of the calls of `begin`. Reports in tenths of a second."""

    def __init__(
        self, plan: list[tuple[str, float]], report: Reporter, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._plan, self._report, self._cancelled = plan, report, cancelled
        self._stage = -1
        self._last_report = 0.0

    def begin(self, what: str) -> None:
        """Begin a stage; those between the last one and this one are skipped. Raise Cancelled."""
        names = [name for name, _ in self._plan]
        self._stage = names.index(what, self._stage + 1)
        self._send(0.0)

    def share(self, done: float) -> None:
        """Report the done share of the stage, 0..1. Raise Cancelled."""
        if time.monotonic() - self._last_report > _INTERVAL:
            self._send(min(1.0, done))
        else:
            self.check()

    @staticmethod
    def clock() -> float:
        return time.monotonic()

    def check(self) -> None:
        if self._cancelled():
            raise ExportCancelled

    def _send(self, done: float) -> None:
        self.check()
        self._last_report = time.monotonic()
        what, seconds = self._plan[self._stage]
        elapsed = sum(seconds for _, seconds in self._plan[: self._stage])
        total = sum(seconds for _, seconds in self._plan)
        self._report(Progress(what=what, done=round(10 * (elapsed + done * seconds)), total=max(1, round(10 * total))))
