"""Reports of an export: its stages with their estimated durations, and formats that are left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from workbench.core.messages import Message
from workbench.core.runs.events import Progress
from workbench.core.runs.export_options import LAYOUTS, LINE_FORMAT, ExportOptions
from workbench.inference.engines.registry import KINDS
from workbench.training.export.export_images import MOST_PIXELS, ParitySample
from workbench.training.export.parity import Parity
from workbench.training.model_card.card_writer import CARD_SECONDS
from workbench.training.reporter import Reporter

_INTERVAL = 0.5  # seconds between two reports of one stage


def planned_stages(
    options: ExportOptions, formats: Sequence[str], chosen: list[ParitySample], held_out: int
) -> list[tuple[str, float]]:
    """Return the planned stages with their estimated seconds.

    formats: engines to write. chosen: images to compare. held_out: number of validation and test images.
    """
    pixels = sum(min(sample.pixels, MOST_PIXELS) for sample in chosen) / 1e6
    reduced = any(KINDS[name].reduced for name in formats)
    largest = 2 * max((min(sample.pixels, MOST_PIXELS) for sample in chosen), default=0) / 1e6
    stages = [(Message("progress.preparing"), 2.0), (Message("progress.checking_model"), 0.5 + largest)]
    stages.append((Message("progress.converting"), 3.0))
    if "int8" in formats:
        stages.append((Message("progress.measuring_ranges"), 8.0))
    if options.point in ("more", "fewer"):
        stages.append((Message("progress.choosing_thresholds"), 10.0))
    stages.append((Message("progress.comparing"), 1.0 + pixels * (1 + len(formats)) / 2))
    if reduced:
        stages.append((Message("progress.reduced_precision"), 20.0))
    if LINE_FORMAT in options.formats:
        stages.append((Message("progress.line_model"), 2.0 + pixels))
    if options.seconds:
        stages.append((Message("progress.measuring_speed"), options.seconds * len(formats)))
    seconds = min(CARD_SECONDS, 1.0 + pixels / max(1, len(chosen)) * held_out / 4)
    return [*stages, (Message("progress.checking"), 3.0), (Message("progress.model_card"), seconds)]


def left_out_text(name: str, found: Parity) -> Message:
    """Return why a format is left out of an export. found: its comparison with the run."""
    why = found.why
    if name == LINE_FORMAT and not found.images:
        return Message("export.line_impossible", why=why)
    if name in LAYOUTS and not found.images:
        return Message("export.layout_impossible", name=name, why=why)
    return Message("export.not_reproduced" if found.images else "export.cannot_make", name=name, why=why)


class ExportCancelled(Exception):
    """Task that was canceled."""


class ProgressStages:
    """Reporter of stages. plan: (text, seconds) in the order of the calls of `begin`. Reports in tenths of a second."""

    def __init__(
        self, plan: list[tuple[str, float]], report: Reporter, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._plan, self._report, self._cancelled = plan, report, cancelled
        self._stage = -1
        self._last_report = 0.0

    def begin(self, what: str) -> None:
        """Begin a stage; those between the last one and this one are skipped. Raises ExportCancelled."""
        names = [name for name, _ in self._plan]
        self._stage = names.index(what, self._stage + 1)
        self._send(0.0)

    def share(self, done: float) -> None:
        """Report the done share of the stage, 0..1. Raises ExportCancelled."""
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
