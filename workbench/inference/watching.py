"""Pictures that a line drops into a folder, looked at as they come: each once, and only when it is completely written.

The folder is listed again and again, which works on network drives too, where no system tells of new files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .batch import ResultsFolder
from .ledger import file_state
from .naming import Source, collect_pictures
from .predictor import Cancelled, Result
from .stopping import Stop

INTERVAL = 0.5  # seconds between two looks at the folder, at least
SETTLE = 1.0  # a file that has not changed for so long may be complete
PATIENCE = 30.0  # a file that has not changed for so long and cannot be read is not being written, but broken


@dataclass
class _Coming:
    """A file that is not there completely yet. since: when its state was first seen. next_try: when to decode it."""

    state: tuple[int, int]
    since: float
    next_try: float


def watch(
    folder: ResultsFolder,
    names: Sequence[str | Path],
    stop: Stop,
    *,
    on_picture: Callable[[str, Result | None, str], None],
    interval: float = INTERVAL,
    settle: float = SETTLE,
    patience: float = PATIENCE,
) -> None:
    """Predict what lies in folders or matches patterns, and what comes there later, until it is told to stop.

    on_picture(path, result, why) is called after each; result is None where it was skipped. What has its results
    already is passed over, unless the file was written anew. Raises OSError where a result cannot be written.
    """
    coming: dict[str, _Coming] = {}
    while not stop.asked():
        began = time.monotonic()
        for source in _due(folder, names, coming, settle):
            if stop.asked():
                break
            at = os.path.abspath(source.path)
            known = coming[at]
            now = time.monotonic()
            try:
                result, why = folder.look_at(source, cancelled=stop.at_once, give_up=now - known.since >= patience)
            except Cancelled:
                return
            if folder.is_done(source.path):
                del coming[at]
                on_picture(str(source.path), result, why)
            else:  # it may be incomplete
                known.next_try = now + min(5.0, max(settle, (now - known.since) / 2))
        # A folder of a hundred thousand files takes a while to list: most of the time is left to others.
        stop.wait(max(interval, 3 * (time.monotonic() - began)) if not coming else interval)


def _due(folder: ResultsFolder, names: Sequence[str | Path], coming: dict[str, _Coming], settle: float) -> list[Source]:
    """What may be complete now, in the order in which it was written. `coming` is brought up to date."""
    sources, _ = collect_pictures(names, leave_out=folder.out)
    there: set[str] = set()
    due: list[tuple[int, str, Source]] = []
    for source in sources:
        at = os.path.abspath(source.path)
        if folder.is_done(source.path):
            continue
        try:
            state = file_state(source.path)
        except OSError:
            continue  # gone again: a name that the writer used for a moment
        there.add(at)
        now = time.monotonic()
        known = coming.get(at)
        if known is None or known.state != state:
            coming[at] = _Coming(state, now, now + settle)
        elif now >= known.next_try:
            due.append((state[1], at, source))
    for at in coming.keys() - there:
        del coming[at]
    return [source for _, _, source in sorted(due, key=lambda entry: entry[:2])]
