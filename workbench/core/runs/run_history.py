"""Runs read from their folders: one line for a list of runs, all events for the curves, or the lines that another
process adds while it trains.

Diagnosis of a run: the most important finding at present, from the run's events and the machine's load.

`RunState` holds the few values needed of a run of any length; `diagnose` is a pure function of it. The user interface
provides the texts.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import deque
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
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, read_samples, training_gpus
from workbench.core.runs.run import Run, RunName, summarize_events
from workbench.core.runs.run_series import RunSeries

WAITS = 0.25  # share of time spent waiting for images that is reported
FALLS = 4  # of the loss scale, after the search for its initial value
MARGIN = 0.02  # of a metric; smaller differences are noise
POOR = 0.1  # metric below which a model is useless
PATIENCE = 3  # evaluations without improvement
FEWEST_SCORES = 5  # evaluations without which the trend says nothing about a longer training
LOW_RATE = 0.25  # of the highest learning rate, from which on the metric predicts the end of the training
SILENT = 120.0  # seconds
LOADED = 80.0  # % of the CPU
FILLED = 0.95  # share of the main memory
GPU_FILLED = 0.97  # share of a GPU's memory
_FULL_SAMPLES = 5  # consecutive samples; a short peak moves little


@dataclass(frozen=True)
class HealthFinding:
    """Finding of a diagnosis. tone: "good", "info" or "warning". fields: values for the text."""

    kind: str
    tone: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class RunState:
    """Summary of a run for `diagnose`, updated by `add_event` (in order) and `add_sample`."""

    started: Started | None = None
    step: Step | None = None
    ending: Finished | Failed | None = None
    scores: list[tuple[float, float]] = field(default_factory=list)  # (time, metric), one per evaluated step
    first_loss: float | None = None
    loss: float | None = None  # running mean
    least_loss: float = math.inf  # of the running mean
    highest_rate: float = 0.0  # learning rate
    rollbacks: int = 0
    falls: int = 0  # of the loss scale, after the first step that was not skipped
    only_background: bool = False
    held_out_defects: int | None = None
    detected: bool = False  # most validation defects of the newest evaluation
    machine: deque[SystemSample] = field(default_factory=lambda: deque(maxlen=30))
    # The driver on Windows moves GPU memory that does not fit to the main memory instead of reporting an error.
    pages_gpu_memory: bool = os.name == "nt"
    _scored_step: int = -1
    _skipped: int = 0
    _scale_found: bool = False

    def add_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started, self.ending, self.step = event, None, None
            self._scale_found, self._skipped = False, 0
        elif isinstance(event, Step):
            self._step(event)
        elif isinstance(event, Evaluated) and event.split == "val":
            self.only_background = bool(event.metrics.get("only_background"))
            regions = event.metrics.get("regions")
            self.held_out_defects = regions.get("defects") if isinstance(regions, dict) else None
            found = regions.get("found") if isinstance(regions, dict) else None
            self.detected = bool(found and self.held_out_defects and 2 * found >= self.held_out_defects)
            # The final evaluation repeats an evaluated step with another threshold, not with another model.
            if event.score is not None and event.step > self._scored_step:
                self._scored_step = event.step
                self.scores.append((event.time, event.score))
        elif isinstance(event, (Finished, Failed)):
            self.ending = event

    def add_sample(self, sample: SystemSample) -> None:
        """Record a machine sample, except during the final evaluation, whose load differs from that of training."""
        if self.step is None or self.step.progress < 1:
            self.machine.append(sample)

    def _step(self, event: Step) -> None:
        before, self.step = self.step, event
        self.highest_rate = max(self.highest_rate, event.rate)
        if before is not None and event.step < before.step:
            self.rollbacks += 1
            self._scored_step = min(self._scored_step, event.step)
        if before is not None and before.loss_scale and event.loss_scale and event.loss_scale < before.loss_scale:
            # Early decreases belong to the scaler's search for its initial scale.
            self.falls += max(1, round(math.log2(before.loss_scale / event.loss_scale))) if self._scale_found else 0
        self._scale_found = self._scale_found or (event.step > 20 and event.skipped == self._skipped)
        self._skipped = event.skipped
        if math.isfinite(event.loss):
            if self.loss is None:
                self.loss = self.first_loss = event.loss
            else:
                self.loss = 0.95 * self.loss + 0.05 * event.loss
            self.least_loss = min(self.least_loss, self.loss)

    def mean(self, name: str) -> float | None:
        """Return the mean of recent samples of "cpu" (CPU load), "disk" (reads) or "gpu" (load of the GPUs in use)."""
        if name == "gpu":
            values = [gpu.utilisation for sample in self.machine for gpu in self.gpus(sample)]
        else:
            values = [{"cpu": sample.cpu, "disk": sample.disk_read_mb_s}[name] for sample in self.machine]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    def gpus(self, sample: SystemSample) -> tuple[GpuSample, ...]:
        """Return the GPUs of a sample on which the run trains."""
        return () if self.started is None else training_gpus(sample.gpus, self.started.gpu, self.started.device)

    def full_gpu(self) -> GpuSample | None:
        """Return a GPU whose memory has been full in all of the last samples; None if there is none."""
        recent = list(self.machine)[-_FULL_SAMPLES:]
        if len(recent) < _FULL_SAMPLES:
            return None
        full = [{gpu.index: gpu for gpu in self.gpus(sample) if _is_full(gpu)} for sample in recent]
        return next((gpu for index, gpu in full[-1].items() if all(index in gpus for gpus in full)), None)


def _is_full(gpu: GpuSample) -> bool:
    """Return True if hardly any memory is left. The driver's own part counts: on small GPUs it exceeds the rest."""
    if not gpu.memory_total or not gpu.memory_used:
        return False
    return gpu.memory_used + (gpu.memory_reserved or 0) > GPU_FILLED * gpu.memory_total


def diagnose(state: RunState, *, silent: float = 0.0, paused: bool = False) -> HealthFinding:
    """Return the most important finding, worst harm first. silent: seconds since the last event of an active run."""
    ended = state.ending is not None
    if state.started is None:
        return HealthFinding("starting", "info")
    if paused and not ended:
        return HealthFinding("paused", "info")
    if silent > SILENT and not ended:
        return HealthFinding("silent", "warning", {"seconds": silent})
    if state.started.model == "good":  # neither steps nor validation images
        return HealthFinding("well", "good")
    for check in (_numbers, _held_out, _images, _machine, _trend):
        finding = check(state, ended)
        if finding is not None:
            return finding
    if state.step is None:
        return HealthFinding("starting", "info")
    note = state.started.held_out_note
    if note:
        return HealthFinding("few_held_out", "info", {"note": note})
    if not state.scores and state.loss is not None and state.first_loss is not None and not ended:
        return HealthFinding("learning", "good", {"first": state.first_loss, "now": state.loss})
    return HealthFinding("well", "good")


def _numbers(state: RunState, ended: bool) -> HealthFinding | None:
    """Report overflows and diverging losses."""
    if state.rollbacks:
        return HealthFinding("diverged", "warning", {"times": state.rollbacks})
    if state.falls >= FALLS:
        return HealthFinding("overflows", "warning", {"times": state.falls})
    loss_rises = state.loss is not None and state.loss > 1.5 * state.least_loss and state.loss - state.least_loss > 0.1
    scores = [score for _, score in state.scores]
    worse = bool(scores) and scores[-1] < max(scores) - MARGIN  # labels added meanwhile raise the loss as well
    if loss_rises and worse and not ended:
        return HealthFinding("rises", "warning", {"least": state.least_loss, "now": state.loss})
    return None


def _held_out(state: RunState, ended: bool) -> HealthFinding | None:
    """Report missing or meaningless validation metrics."""
    assert state.started is not None
    if not state.started.pictures.get("val", 0):
        note = state.started.held_out_note  # states how many images are missing
        return (
            HealthFinding("few_held_out", "warning", {"note": note})
            if note
            else HealthFinding("no_validation", "warning")
        )
    if state.held_out_defects == 0:
        return HealthFinding("no_defects_held_out", "warning")
    far = ended or (state.step is not None and state.step.progress > 0.3)
    return HealthFinding("only_background", "warning") if state.only_background and far else None


def _images(state: RunState, ended: bool) -> HealthFinding | None:
    """Report training that is slowed down by image loading."""
    step = state.step
    if step is None or step.data_wait < WAITS or state.started is None:
        return None
    busy, cause = state.mean("cpu"), ""
    if busy is not None:
        cause = "processor" if busy >= LOADED else "disk"
    gpu = state.started.device.startswith("gpu")
    return HealthFinding("waits", "warning", {"share": step.data_wait, "cause": cause, "gpu": gpu})


def _machine(state: RunState, ended: bool) -> HealthFinding | None:
    """Report present heat, full memory or an idle GPU; nothing for a finished run."""
    if ended or not state.machine or state.started is None:
        return None
    now = state.machine[-1]
    if now.ram_total and now.ram_used > FILLED * now.ram_total:
        return HealthFinding("memory_full", "warning", {"used": now.ram_used, "total": now.ram_total})
    if not state.started.device.startswith("gpu"):
        return None
    full = state.full_gpu() if state.pages_gpu_memory else None
    if full is not None:
        fields = {"card": full.name, "used": full.memory_used, "total": full.memory_total}
        return HealthFinding("gpu_memory_full", "warning", fields)
    hot = [gpu for gpu in state.gpus(now) if gpu.slowed == "heat"]
    if hot:
        return HealthFinding("hot", "warning", {"card": hot[0].name, "temperature": hot[0].temperature})
    load = state.mean("gpu")
    training = state.step is not None and state.step.progress < 1 and len(state.machine) >= 20
    return HealthFinding("idle_gpu", "info", {"load": load}) if load is not None and load < 30 and training else None


def _trend(state: RunState, ended: bool) -> HealthFinding | None:
    """Report the trend of the validation metric.

    Advice needs evidence: several evaluations, and a learning rate that has fallen, since the metric before that hardly
    predicts the end. A training that the user has stopped says nothing about a longer one.
    """
    scores = state.scores
    if len(scores) < 2:
        return None
    step, stopped = state.step, isinstance(state.ending, Finished) and state.ending.why == "stopped"
    far = ended or (step is not None and step.progress > 0.5 and step.rate <= LOW_RATE * state.highest_rate)
    if far and not state.detected and max(score for _, score in scores) < POOR:
        return HealthFinding("poor", "warning", {"score": max(score for _, score in scores)})
    if stopped or (ended and len(scores) < FEWEST_SCORES):
        return None
    far = far and len(scores) >= FEWEST_SCORES
    at = max(range(len(scores)), key=lambda i: (scores[i][1], -i))
    time, best = scores[at]
    since = scores[at + 1 :]
    last = [score for _, score in since[-PATIENCE:]]
    if far and len(last) == PATIENCE and max(last) < best - MARGIN and last[-1] <= last[0] + MARGIN:  # not rising again
        return HealthFinding("worse", "warning", {"seconds": time, "best": best})
    newest, earlier = scores[-1], max(score for _, score in scores[:-1])
    if newest[1] > earlier + MARGIN / 2:
        return HealthFinding("improving", "good", {"score": newest[1], "seconds": newest[0], "over": ended})
    recent = [score for _, score in scores[-PATIENCE - 1 :]]
    if far and len(recent) > PATIENCE and max(recent) - min(recent) <= 2 * MARGIN:
        return HealthFinding("level", "info", {"seconds": scores[-PATIENCE - 1][0], "score": best, "over": ended})
    return None


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
    created. metrics: of its best evaluation on the validation images, empty without one. tested: of that on the test
    images. expectation: `forecast` and `lighting` of its result, see `core.evaluation.expectation`, empty without
    them.
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
    tested: dict[str, Any] = field(default_factory=dict)
    expectation: dict[str, Any] = field(default_factory=dict)


def count_good_images(metrics: dict[str, Any]) -> tuple[int, int]:
    """Return the number of good images of an evaluation of a segmentation, and of those with a false alarm.

    Both are 0 if an earlier version has measured it, which did not count the images with a false alarm.
    """
    good, share = metrics.get("good_pictures") or 0, metrics.get("false_alarm_images")
    return (0, 0) if share is None else (good, round(share * good))


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
        tested=events.tested,
        expectation=events.expectation,
    )
