"""User thresholds for displaying a run's predictions: stored probabilities are thresholded again, without inference.

The thresholds of the run, its model and its exports stay unchanged.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.evaluation.prediction_maps import PredictionMaps
from workbench.session.session import Session
from workbench.session.task_queue import TaskQueue


class RunThresholds(QObject):
    """Display thresholds of each run of the open project, kept until it is closed."""

    changed = Signal()
    applied = Signal(object, object)  # Seen, and its mask with the present thresholds

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chosen: dict[str, dict[int, float]] = {}  # run to class id to threshold
        self._wanted: tuple[str, PredictionMaps] | None = None
        self._busy = False
        self._lane = TaskQueue(parent=self)
        session.project_closed.connect(self.close)

    def of(self, run: str, seen: PredictionMaps) -> tuple[float, ...]:
        """Return one threshold per class: the user's, or else the run's."""
        assert seen.settings is not None
        chosen = self._chosen.get(run, {})
        return tuple(
            chosen.get(entry.id, own)
            for entry, own in zip(seen.settings.classes, seen.settings.thresholds, strict=True)
        )

    def differ(self, run: str) -> bool:
        """Return True if the user has chosen a threshold for this run."""
        return bool(self._chosen.get(run))

    def choose(self, run: str, ids: list[int], value: float) -> None:
        """Set the threshold of these classes. value: above 0, at most 1."""
        self._chosen.setdefault(run, {}).update(dict.fromkeys(ids, min(1.0, max(1 / 255, value))))
        self.changed.emit()

    def reset(self, run: str) -> None:
        """Restore the run's own thresholds."""
        if self._chosen.pop(run, None):
            self.changed.emit()

    def apply(self, run: str, seen: PredictionMaps) -> None:
        """Compute the mask; `applied` follows. While one is being computed, only the last request is kept."""
        self._wanted = (run, seen)
        if not self._busy:
            self._begin()

    def close(self) -> None:
        self._wanted = None
        self._lane.cancel_pending()
        self._busy = False
        self._chosen.clear()

    def _begin(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._busy = wanted is not None
        if wanted is None:
            return
        run, seen = wanted
        thresholds = self.of(run, seen)

        def then(mask: np.ndarray | None, error: Exception | None) -> None:
            self._busy = False
            if mask is not None:
                self.applied.emit(seen, mask)
            self._begin()

        self._lane.submit(lambda: seen.with_thresholds(thresholds), then)
