"""Values of a run read from its files: those of a finished run, and of one that is being trained."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator

from workbench.cli.training_log.run_values import RunValues, Scalar, Text
from workbench.core.runs.events import Event, Failed, Finished, Started, decode
from workbench.core.runs.run import Run, RunName
from workbench.core.runs.run_history import LineTail, machine_path
from workbench.core.runs.run_lock import is_training
from workbench.core.runs.system_stats import decode_sample

POLL = 1.0
"""Time between two readings of a run that is being trained, in seconds."""
START_SECONDS = 60.0
"""Time to wait for a training that has not begun, in seconds."""
_STARTED = f'{{"kind": "{Started.kind}"'
_BACK = 5  # seconds by which the time of the machine samples goes back at a resume


class RunReader:
    """Reader of the values of a run. `ending` is its final event, None while it is trained and after a crash."""

    def __init__(self, run: Run) -> None:
        self.ending: Finished | Failed | None = None
        self.started = False
        self._values = RunValues(_begin(run))
        self._events, self._samples = LineTail(run.events_path), LineTail(machine_path(run))
        self._event_limits = _limits(_resume_time(line) for line in LineTail(run.events_path).read_lines())
        self._sample_limits = _limits(_returns(LineTail(machine_path(run)).read_lines()))

    def read(self) -> Iterator[Scalar | Text]:
        """Yield the values added since the last call.

        Values that a resumed training has computed again are yielded once, as computed last, unless they were read
        before the training was resumed.
        """
        for line in self._events.read_lines():
            limit, event = next(self._event_limits), decode(line)
            if event is not None:
                self._note(event)
                if event.time <= limit:
                    yield from self._values.of_event(event)
        for line in self._samples.read_lines():
            limit, found = next(self._sample_limits), decode_sample(line)
            if found is not None and found[0] <= limit:
                yield from self._values.of_sample(*found)

    def _note(self, event: Event) -> None:
        if isinstance(event, Started):
            self.ending, self.started = None, True
        elif isinstance(event, (Finished, Failed)):
            self.ending = event


def follow(run: Run, reader: RunReader, update: Callable[[], None]) -> None:
    """Call `update`, which reads, until the training of a run ends. One that has not begun is awaited for a minute."""
    begin = time.monotonic()
    while True:
        training = is_training(run.root)  # checked before reading, so that the last events are read
        update()
        waiting = not reader.started and time.monotonic() - begin < START_SECONDS
        if reader.ending is not None or not (training or waiting):
            return
        time.sleep(POLL)


def _begin(run: Run) -> float:
    """Return the time at which a run began, in seconds of time.time()."""
    when = RunName.parse(run.name).when
    return run.settings_path.stat().st_mtime if when is None else when.timestamp()


def _resume_time(line: str) -> float | None:
    """Return the time at which a training was resumed, None for another event."""
    event = decode(line) if line.startswith(_STARTED) else None
    return event.time if isinstance(event, Started) and event.resumed else None


def _returns(lines: Iterable[str]) -> Iterator[float | None]:
    """Yield for each machine sample its time if that goes back, as at a resume, else None."""
    last = -math.inf
    for line in lines:
        found = decode_sample(line)
        at = last if found is None else found[0]
        yield at if at < last - _BACK else None
        last = at


def _limits(resumes: Iterable[float | None]) -> Iterator[float]:
    """Yield for each line the greatest time that a later resume has not computed again; infinity after the last."""
    cuts = [(number, at) for number, at in enumerate(resumes) if at is not None]
    return _limits_of(cuts)


def _limits_of(cuts: list[tuple[int, float]]) -> Iterator[float]:
    done = 0
    for index, (number, _) in enumerate(cuts):
        limit = min(at for _, at in cuts[index:])
        while done < number:
            yield limit
            done += 1
    while True:
        yield math.inf
