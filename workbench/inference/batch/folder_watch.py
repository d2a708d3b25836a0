"""Watch mode: prediction of images as they appear in a folder, each once and only when completely written.

The folder is polled, which also works on network drives without change notifications.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..predictor import Prediction, PredictionCancelled  # noqa: TID252
from .input_paths import InputSource, collect_images
from .interrupts import GracefulInterrupt
from .results_folder import ResultsFolder
from .results_log import file_state

INTERVAL = 0.5  # minimum polling interval in seconds
SETTLE = 1.0  # seconds without change after which a file may be complete
PATIENCE = 30.0  # seconds without change after which an unreadable file counts as damaged


@dataclass
class _PendingFile:
    """File that may be incomplete. since: when its state was first observed. next_try: when to decode it next."""

    state: tuple[int, int]
    since: float
    next_try: float


def watch(
    folder: ResultsFolder,
    names: Sequence[str | Path],
    stop: GracefulInterrupt,
    *,
    on_image: Callable[[str, Prediction | None, str], None],
    interval: float = INTERVAL,
    settle: float = SETTLE,
    patience: float = PATIENCE,
) -> None:
    """Predict the images in folders or matching patterns, present and future ones, until stopped.

    on_picture: called as on_picture(path, result, why) after each image; result is None if it was skipped.
    interval, settle, patience: in seconds, see the constants.

    Images with results are skipped unless the file was rewritten. Raises OSError if a result cannot be written.
    """
    coming: dict[str, _PendingFile] = {}
    while not stop.asked():
        began = time.monotonic()
        for source in _due(folder, names, coming, settle):
            if stop.asked():
                break
            at = os.path.abspath(source.path)
            known = coming[at]
            now = time.monotonic()
            try:
                result, why = folder.predict_file(source, cancelled=stop.at_once, give_up=now - known.since >= patience)
            except PredictionCancelled:
                return
            if folder.is_done(source.path):
                del coming[at]
                on_image(str(source.path), result, why)
            else:  # the file may be incomplete
                known.next_try = now + min(5.0, max(settle, (now - known.since) / 2))
        # Listing a hundred thousand files takes a while: most of the time is left to other processes.
        stop.wait(max(interval, 3 * (time.monotonic() - began)) if not coming else interval)


def _due(
    folder: ResultsFolder, names: Sequence[str | Path], coming: dict[str, _PendingFile], settle: float
) -> list[InputSource]:
    """Return files that may be complete, in order of modification time. Updates `coming`."""
    sources, _ = collect_images(names, leave_out=folder.out)
    there: set[str] = set()
    due: list[tuple[int, str, InputSource]] = []
    for source in sources:
        at = os.path.abspath(source.path)
        if folder.is_done(source.path):
            continue
        try:
            state = file_state(source.path)
        except OSError:
            continue  # deleted again: a temporary name of the writer
        there.add(at)
        now = time.monotonic()
        known = coming.get(at)
        if known is None or known.state != state:
            coming[at] = _PendingFile(state, now, now + settle)
        elif now >= known.next_try:
            due.append((state[1], at, source))
    for at in coming.keys() - there:
        del coming[at]
    return [source for _, _, source in sorted(due, key=lambda entry: entry[:2])]
