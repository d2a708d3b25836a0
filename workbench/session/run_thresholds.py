"""User thresholds for displaying a run's predictions: stored probabilities are thresholded again, without inference.

The thresholds of the run, its model and its exports stay unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.session.session import Session
from workbench.session.tasks import TaskRunner

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import PredictionMaps


class RunThresholds(QObject):
    """Display thresholds of each run of the open project, kept until it is closed."""

    changed = Signal()
    applied = Signal(object, object)  # PredictionMaps, and their mask with the present thresholds

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chosen: dict[str, dict[int, float]] = {}  # run to class id to threshold
        self.tasks = TaskRunner(parent=self)
        session.project_closed.connect(self.close)

    def of(self, run: str, maps: PredictionMaps) -> tuple[float, ...]:
        """Return one threshold per class: the user's, or else the run's."""
        assert maps.settings is not None
        chosen = self._chosen.get(run, {})
        return tuple(
            chosen.get(entry.id, own)
            for entry, own in zip(maps.settings.classes, maps.settings.thresholds, strict=True)
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

    def apply(self, run: str, maps: PredictionMaps) -> None:
        """Compute the mask; `applied` follows. While one is being computed, only the last request is kept."""
        thresholds = self.of(run, maps)
        self.tasks.submit(
            lambda _: maps.with_thresholds(thresholds),
            lambda mask: self.applied.emit(maps, mask),
            key="apply",
            finish_running=True,
        )

    def close(self) -> None:
        self.tasks.stop()
        self._chosen.clear()
