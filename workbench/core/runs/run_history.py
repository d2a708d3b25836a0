"""Runs read from their folders: one line for a list of runs, all events for the curves, or the lines that another
process adds while it trains.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.core.problems import Problem
from workbench.core.runs.events import (
    Event,
    Failed,
    Finished,
    Preview,
    Progress,
    Started,
    Step,
    Unknown,
    decode,
)
from workbench.core.runs.run import Run, RunName, summarize_events
from workbench.core.runs.run_health import RunState
from workbench.core.runs.run_series import RunSeries
from workbench.core.runs.system_stats import read_samples

_WORK, _PAUSE = 0.001, 0.0005  # seconds of reading, and of the pause after it, in which the GUI thread can run


class LineTail:
    """Reader of a growing text file; an incomplete line is kept until its end is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._part = b""

    def read_lines(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
        """Yield the lines added since the last call; none if there is no file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                for line in file:
                    if stopped():
                        return
                    self._position += len(line)
                    self._part += line
                    if not line.endswith(b"\n"):
                        return
                    whole, self._part = self._part, b""
                    yield whole.decode("utf-8", "replace")
        except OSError:
            return


class EventTail(LineTail):
    """Reader of a growing events.jsonl."""

    def read(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Yield the events added since the last call."""
        for line in self.read_lines(stopped):
            event = decode(line)
            if event is not None:
                yield event


@dataclass(frozen=True)
class RunLine:
    """Row in a list of runs. when: None if the name has no date. score: best metric, None if there is none.

    usable: the run can be used for prediction, as of the time of reading. interrupted: it was stopped or has failed
    early, or has just begun, so that its model has learned little. labeled: number of labeled images when the run was
    created. metrics: of its best evaluation on the validation images, empty without one. expectation: `forecast` and
    `lighting` of its result, see `core.evaluation.expectation`, empty without them.
    """

    run: Run
    model: str
    when: datetime | None
    score: float | None = None
    images: int = 0  # number of training images
    held_out: str = ""  # equal for runs with comparable metrics
    ended: str = ""  # "done" | "stopped" | "failed"; "" while the run is active or after a crash
    usable: bool = False
    interrupted: bool = False
    labeled: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    expectation: dict[str, Any] = field(default_factory=dict)


@dataclass
class PastRun:
    """All reports of a run. notable: events except steps and progress; of previews, those to be shown.

    skipped: number of lines of unknown kind or with values of wrong type.
    """

    series: RunSeries = field(default_factory=RunSeries)
    state: RunState = field(default_factory=RunState)
    notable: list[Event] = field(default_factory=list)
    ending: Finished | Failed | None = None
    skipped: int = 0

    def add_event(self, event: Event) -> None:
        if isinstance(event, Unknown):
            self.skipped += 1
            return
        self.series.add_event(event)
        self.state.add_event(event)
        if isinstance(event, Started):
            self.ending = None
        elif isinstance(event, (Finished, Failed)):
            self.ending = event
        if not isinstance(event, (Step, Progress)):
            self.notable.append(event)

    def finish_series(self, files: Container[str] = ()) -> None:
        """Drop previews except the newest of each image and those whose file in `previews/` is in `files`."""
        previews = [event for event in self.notable if isinstance(event, Preview)]
        newest = {event.picture: event for event in previews}
        of_file = {event.mask: event for event in previews if Path(event.mask).name in files}
        shown = {id(event) for event in (*newest.values(), *of_file.values())}
        self.notable = [e for e in self.notable if not isinstance(e, Preview) or id(e) in shown]


def machine_path(run: Run) -> Path:
    """Return the file in which the GUI records machine usage during the run."""
    return run.root / "machine.jsonl"


def read_past(run: Run, events: Iterable[Event] | None = None, stopped: Callable[[], bool] = lambda: False) -> PastRun:
    """Read a run in a worker thread, with pauses for other threads. events: used instead of those on disk."""
    past = PastRun()
    pause_at = 0.0
    for event in run.events() if events is None else events:
        if stopped():
            break
        past.add_event(event)
        if time.perf_counter() >= pause_at:
            time.sleep(_PAUSE)
            pause_at = time.perf_counter() + _WORK
    with contextlib.suppress(OSError):
        past.finish_series({path.name for path in run.previews.iterdir()} if run.previews.is_dir() else ())
    for at, sample in read_samples(machine_path(run)):
        past.series.add_sample(at, sample)
        if past.series.steps.count and at <= past.series.steps.times[-1]:
            past.state.machine.append(sample)
    return past


def run_line(run: Run) -> RunLine:
    """Return the list row of a run. Fast: steps are not decoded."""
    name = RunName.parse(run.name)
    events = summarize_events(run.events_path)
    try:
        settings, dataset = run.settings(), run.dataset()
    except Problem:
        return RunLine(run, name.model, name.when, events.score, ended=events.ended, usable=run.usable)
    images = len(dataset.of("train"))
    return RunLine(
        run,
        settings.model,
        name.when,
        events.score,
        images,
        dataset.held_out_hash,
        events.ended,
        run.usable,
        interrupted=events.interrupted(settings),
        labeled=len(dataset.current),
        metrics=events.metrics,
        expectation=events.expectation,
    )
