"""Finished runs read from their folders: one line for a list of runs, or all events for the curves."""

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
    Evaluated,
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
from workbench.core.runs.run import Run, RunName, list_runs
from workbench.core.runs.run_health import RunState
from workbench.core.runs.run_series import RunSeries
from workbench.core.runs.system_stats import read_samples
from workbench.inference.io.json_io import read_lines

_EARLY = 0.2  # share of the planned training below which a run that was not completed counts as interrupted
_PAUSE_EVERY = 200  # lines read between pauses for other threads


@dataclass(frozen=True)
class RunLine:
    """Row in a list of runs. when: None if the name has no date. score: best metric, None if there is none.

    usable: the run can be used for prediction, as of the time of reading. interrupted: it was stopped or has failed
    early, or has just begun, so that its model has learned little. labeled: number of labeled images when the run was
    created. metrics: of its best evaluation on the validation images, empty without one.
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


@dataclass
class PastRun:
    """All reports of a run. notable: events except steps and progress; of previews, those to be shown.

    skipped: number of lines of unknown kind or with values of wrong type.
    """

    track: RunSeries = field(default_factory=RunSeries)
    state: RunState = field(default_factory=RunState)
    notable: list[Event] = field(default_factory=list)
    ending: Finished | Failed | None = None
    skipped: int = 0

    def add_event(self, event: Event) -> None:
        if isinstance(event, Unknown):
            self.skipped += 1
            return
        self.track.add_event(event)
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
    for number, event in enumerate(run.events() if events is None else events):
        if stopped():
            break
        past.add_event(event)
        if number % _PAUSE_EVERY == 0:
            time.sleep(0.0002)
    with contextlib.suppress(OSError):
        past.finish_series({path.name for path in run.previews.iterdir()} if run.previews.is_dir() else ())
    for at, sample in read_samples(machine_path(run)):
        past.track.add_sample(at, sample)
        if past.track.steps.count and at <= past.track.steps.times[-1]:
            past.state.machine.append(sample)
    return past


def run_line(run: Run) -> RunLine:
    """Return the list row of a run. Fast: steps are not decoded."""
    name = RunName.parse(run.name)
    score, ended, metrics = None, "", {}
    seconds: float | None = None  # of training
    progress: float | None = None  # 0..1
    for event in _read_summary_events(run):
        if isinstance(event, Evaluated):
            if event.best and event.score is not None:
                score = event.score
            if event.best and event.split == "val":
                metrics = event.metrics
        elif isinstance(event, Started):
            ended = ""
        elif isinstance(event, Finished):
            ended, seconds, metrics = event.why, event.time, event.result.get("metrics") or metrics
        elif isinstance(event, Failed):
            ended = "failed"
        elif isinstance(event, Step):
            progress, seconds = event.progress, max(seconds or 0.0, event.time)
    try:
        settings, dataset = run.settings(), run.dataset()
    except Problem:
        return RunLine(run, name.model, name.when, score, ended=ended, usable=run.usable)
    images = len(dataset.of("train"))
    planned = 60 * (settings.minutes or 0) if settings.epochs is None else 0
    if planned and seconds is not None:
        progress = seconds / planned
    return RunLine(
        run,
        settings.model,
        name.when,
        score,
        images,
        dataset.held_out_hash,
        ended,
        run.usable,
        interrupted=ended != "done" and progress is not None and progress < _EARLY,
        labeled=len(dataset.current),
        metrics=metrics,
    )


def default_line(lines: Iterable[RunLine]) -> RunLine | None:
    """Return the run to predict, evaluate and export with, of runs listed newest first; None if none is usable.

    It is the best of those with the validation/test images of the newest run: metrics on other images are not
    comparable. Runs that were stopped early are not considered, nor those with an unreadable dataset, if there are
    others: a run stopped after seconds never replaces one that has learned.
    """
    usable = [line for line in lines if line.usable]
    candidates = [line for line in usable if line.held_out and not line.interrupted]
    candidates = candidates or [line for line in usable if not line.interrupted] or usable
    if not candidates or candidates[0].score is None:
        return candidates[0] if candidates else None
    newest = candidates[0]
    comparable = [line for line in candidates if (line.model, line.held_out) == (newest.model, newest.held_out)]
    return max(comparable, key=lambda line: (-1.0 if line.score is None else line.score, line.run.name))


def default_run(project_root: Path, model: str | None = None) -> Run | None:
    """Return the run of `default_line`; None if no run is usable. model: only runs of this kind of model."""
    lines = (run_line(run) for run in reversed(list_runs(project_root)))
    line = default_line(line for line in lines if model in (None, line.model))
    return None if line is None else line.run


def _read_summary_events(run: Run) -> Iterator[Event]:
    """Yield the events of a summary; of the steps, only the last one, at the end."""
    kinds = tuple(_line_start(kind) for kind in (Started, Evaluated, Finished, Failed))
    step_start, last_step = _line_start(Step), b""
    try:
        for _, line in read_lines(run.events_path):
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


def _line_start(kind: type[Event]) -> bytes:
    return f'{{"kind": "{kind.kind}"'.encode()
