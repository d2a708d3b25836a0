"""Choice of the run that is used by default, and the summary of a run's events that it is based on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Started, Step, decode, line_start
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.json_io import read_lines

_EARLY = 0.2  # share of the planned training below which a run that was not completed counts as interrupted


@dataclass
class EventSummary:
    """Summary of a run's events.

    score: best metric, None if there is none. ended: "done" | "stopped" | "failed"; "" while the run is active or after
    a crash. metrics: of the best evaluation on the validation images. seconds, progress: of the training, None if
    unknown. expectation: `forecast` and `lighting` of the result, empty without them.
    """

    score: float | None = None
    ended: str = ""
    metrics: dict[str, Any] = field(default_factory=dict)
    expectation: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    progress: float | None = None

    def interrupted(self, settings: TrainingSettings) -> bool:
        """Return True if the run was stopped or has failed early, or has just begun: its model has learned little."""
        planned = 60 * (settings.minutes or 0) if settings.epochs is None else 0
        progress = self.seconds / planned if planned and self.seconds is not None else self.progress
        return self.ended != "done" and progress is not None and progress < _EARLY


class ChoosableRun(Protocol):
    """Run that can be chosen. held_out: equal for runs with comparable metrics, "" if the dataset is unreadable."""

    @property
    def model(self) -> str: ...
    @property
    def score(self) -> float | None: ...
    @property
    def held_out(self) -> str: ...
    @property
    def usable(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...


C = TypeVar("C", bound=ChoosableRun)


def choose_default(runs: Iterable[C]) -> C | None:
    """Return the run to predict, evaluate and export with, of runs listed newest first; None if none is usable.

    It is the best of those with the validation/test images of the newest run: metrics on other images are not
    comparable. Runs that were stopped early are not considered, nor those with an unreadable dataset, if there are
    others: a run stopped after seconds never replaces one that has learned.
    """
    usable = [run for run in runs if run.usable]
    candidates = [run for run in usable if run.held_out and not run.interrupted]
    candidates = candidates or [run for run in usable if not run.interrupted] or usable
    if not candidates or candidates[0].score is None:
        return candidates[0] if candidates else None
    newest = candidates[0]
    comparable = [run for run in candidates if (run.model, run.held_out) == (newest.model, newest.held_out)]
    return max(comparable, key=lambda run: -1.0 if run.score is None else run.score)  # the first, newest of equal ones


def summarize_events(path: Path) -> EventSummary:
    """Return the summary of a run's events.jsonl. Fast: of the steps, only the last one is decoded."""
    summary = EventSummary()
    for event in _read_summary_events(path):
        if isinstance(event, Evaluated):
            if event.best and event.score is not None:
                summary.score = event.score
            if event.best and event.split == "val":
                summary.metrics = event.metrics
        elif isinstance(event, Started):
            summary.ended, summary.expectation = "", {}
        elif isinstance(event, Finished):
            summary.ended, summary.seconds = event.why, event.time
            summary.metrics = event.result.get("metrics") or summary.metrics
            summary.expectation = {name: event.result.get(name) for name in ("forecast", "lighting")}
        elif isinstance(event, Failed):
            summary.ended = "failed"
        elif isinstance(event, Step):
            summary.progress, summary.seconds = event.progress, max(summary.seconds or 0.0, event.time)
    return summary


def _read_summary_events(path: Path) -> Iterator[Event]:
    """Yield the events of a summary; of the steps, only the last one, at the end."""
    kinds = tuple(line_start(kind) for kind in (Started, Evaluated, Finished, Failed))
    step_start, last_step = line_start(Step), b""
    try:
        for _, line in read_lines(path):
            if line.startswith(step_start):
                last_step = line
            elif line.startswith(kinds):
                event = decode(line.decode("utf-8", "replace"))
                if event is not None:
                    yield event
    except OSError:
        return
    step = decode(last_step.decode("utf-8", "replace"))
    if step is not None:
        yield step
