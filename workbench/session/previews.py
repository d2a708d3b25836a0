"""The newest preview pictures of a run, read in a worker thread as they arrive."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.annotation import read_mask
from workbench.core.events import Preview
from workbench.core.problems import Problem
from workbench.core.run import Run
from workbench.core.storage import inside
from workbench.session.lane import Lane

Shown = tuple[np.ndarray, np.ndarray, int]  # mask and scores, uint8 (H, W), and the step
LIMIT = 256 << 20  # bytes kept


class Previews(QObject):
    """One preview a picture: the newest whose files could be read."""

    arrived = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run: Run | None = None
        self._newest: dict[str, Preview] = {}
        self._shown: OrderedDict[str, Shown] = OrderedDict()
        self._reading: set[str] = set()
        self._lane = Lane(parent=self)

    def open(self, run: Run) -> None:
        self.close()
        self._run = run

    def close(self) -> None:
        self._lane.abandon()
        self._run = None
        self._newest.clear()
        self._shown.clear()
        self._reading.clear()

    def add(self, event: Preview) -> None:
        """A preview was written; `arrived` follows when it has been read. A replay reads the last of a picture only."""
        self._newest[event.picture] = event
        if event.mask:
            self._read(event.picture)
        else:  # of a verdict there is nothing to read
            self.arrived.emit(event.picture)

    def get(self, key: str) -> Shown | None:
        """The preview of a picture; one that was put aside for memory is read again."""
        event, run = self._newest.get(key), self._run
        if key not in self._shown and event is not None and event.mask and run is not None:
            try:
                self._keep(key, read_preview(run, event))
            except (Problem, OSError):
                return None
        return self._shown.get(key)

    def _read(self, key: str) -> None:
        run, event = self._run, self._newest[key]
        if run is None or key in self._reading:
            return
        self._reading.add(key)

        def then(shown: Shown | None, _: Exception | None) -> None:
            self._reading.discard(key)
            if shown is not None:  # a file that is already gone was followed by a newer one
                self._keep(key, shown)
                self.arrived.emit(key)
            if self._newest.get(key) is not event:
                self._read(key)

        self._lane.submit(lambda: read_preview(run, event), then)

    def _keep(self, key: str, shown: Shown) -> None:
        self._shown[key] = shown
        self._shown.move_to_end(key)
        while len(self._shown) > 1 and sum(a.nbytes + b.nbytes for a, b, _ in self._shown.values()) > LIMIT:
            self._shown.popitem(last=False)


def read_preview(run: Run, event: Preview) -> Shown:
    """Raises a Problem or OSError if a file is missing, broken, or outside of the run."""
    mask = read_mask(inside(run.root, event.mask))
    scores = read_mask(inside(run.root, event.scores)) if event.scores else np.zeros_like(mask)
    return mask, scores, event.step
