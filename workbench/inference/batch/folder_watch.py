"""Watch mode: prediction of images as they appear in a folder, each once and only when completely written.

The folder is polled, which also works on network drives without change notifications.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..predictor import Prediction, PredictionCancelled
from .input_paths import InputSource, collect_images
from .interrupts import GracefulInterrupt
from .results_folder import ResultsFolder
from .results_log import file_state

INTERVAL = 0.5  # minimum polling interval in seconds
UNCHANGED_SECONDS = 1.0  # seconds without change after which a file may be complete
MAX_WAIT_SECONDS = 30.0  # seconds without change after which an unreadable file counts as damaged


@dataclass
class _PendingFile:
    """File that may be incomplete. since: when its state was first observed. next_attempt: when to decode it next."""

    state: tuple[int, int]
    since: float
    next_attempt: float


def watch(
    folder: ResultsFolder,
    names: Sequence[str | Path],
    stop: GracefulInterrupt,
    *,
    on_image: Callable[[str, Prediction | None, str], None],
    interval: float = INTERVAL,
    unchanged_seconds: float = UNCHANGED_SECONDS,
    max_wait: float = MAX_WAIT_SECONDS,
) -> None:
    """Predict the images in folders or matching patterns, present and future ones, until stopped.

    on_image: called as on_image(path, result, why) after each image; result is None if it was skipped.
    interval, unchanged_seconds, max_wait: in seconds, see the constants.

    Images with results are skipped unless the file was rewritten. Raises OSError if a result cannot be written.
    """
    pending: dict[str, _PendingFile] = {}
    while not stop.requested():
        started = time.monotonic()
        for source in _ready_files(folder, names, pending, unchanged_seconds):
            if stop.requested():
                break
            path = os.path.abspath(source.path)
            file = pending[path]
            now = time.monotonic()
            try:
                result, why = folder.predict_file(source, cancelled=stop.at_once, give_up=now - file.since >= max_wait)
            except PredictionCancelled:
                return
            if folder.is_done(source.path):
                del pending[path]
                on_image(str(source.path), result, why)
            else:  # the file may be incomplete
                file.next_attempt = now + min(5.0, max(unchanged_seconds, (now - file.since) / 2))
        # Listing a hundred thousand files takes a while: most of the time is left to other processes.
        stop.wait(max(interval, 3 * (time.monotonic() - started)) if not pending else interval)


def _ready_files(
    folder: ResultsFolder, names: Sequence[str | Path], pending: dict[str, _PendingFile], unchanged_seconds: float
) -> list[InputSource]:
    """Return files that may be complete, in order of modification time. Updates `pending`."""
    sources, _ = collect_images(names, leave_out=folder.out)
    present: set[str] = set()
    due: list[tuple[int, str, InputSource]] = []
    for source in sources:
        path = os.path.abspath(source.path)
        if folder.is_done(source.path):
            continue
        try:
            state = file_state(source.path)
        except OSError:
            continue  # deleted again: a temporary name of the writer
        present.add(path)
        now = time.monotonic()
        file = pending.get(path)
        if file is None or file.state != state:
            pending[path] = _PendingFile(state, now, now + unchanged_seconds)
        elif now >= file.next_attempt:
            due.append((state[1], path, source))
    for path in pending.keys() - present:
        del pending[path]
    return [source for _, _, source in sorted(due, key=lambda entry: entry[:2])]
