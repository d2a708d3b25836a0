"""List of images with their index rows, read by a worker thread and reported in batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from workbench.core.problems import Problem
from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import Project
from workbench.session import index_worker
from workbench.session.task_queue import TaskQueue

REST = 1.5  # seconds between a save and reading the image's files again
_PATIENCE, _PATIENCE_AT_CLOSE = 10.0, 0.05  # seconds to wait for another process that writes the index


class ImageList(QObject):
    """Image list: `keys` in order and `rows` by key. Changes made in this session override the index."""

    listed = Signal(object)  # list[str]
    rows_changed = Signal(object)  # list[Row], at most five times a second
    progressed = Signal(int, int)
    added = Signal(object)  # Added
    problem_met = Signal(object)
    finished = Signal()  # all requests are done and reported

    _heard = Signal(int, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.keys: list[str] = []
        self.rows: dict[str, ImageRow] = {}
        self._places: dict[str, int] = {}
        self._not_opened: set[str] = set()  # marked broken because opening failed
        self._own: set[str] = set()  # changed by this session since the index started reading
        self._news: dict[str, ImageRow] = {}
        self._stale: dict[str, None] = {}  # saved, to be read again once `REST` has passed
        self._scores: dict[str, float] = {}  # not in the index yet
        self._project: Project | None = None
        self.done = 0  # number of images marked done
        self._rest = QTimer(self, singleShot=True, interval=round(REST * 1000), timeout=self._read_rows)
        self._timer = QTimer(
            self, singleShot=True, interval=round(index_worker.TELL_EVERY * 1000), timeout=self._emit_changed_rows
        )
        self._lane = TaskQueue(parent=self)
        self._under_way = 0
        self._round = 0  # counts openings; results for an earlier project are dropped
        self._stop = threading.Event()
        self._heard.connect(self._on_worker_event, Qt.ConnectionType.QueuedConnection)

    # --- orders -----------------------------------------------------------------------------------

    def refresh(self, project: Project) -> None:
        """List the images, report the rows known so far, then those that changed."""
        first, self._project = self._project is not project, project
        if not self._under_way:
            self._own.clear()  # rows are read from now on, hence newer than earlier changes
        self._submit(lambda teller: index_worker.refresh(project, teller, first=first))

    def add(self, project: Project, paths: Sequence[Path], left_out: Sequence[tuple[str, str]] = ()) -> None:
        """Copy files and folders into the project's `pictures/`, then refresh. left_out: see `Added`."""
        self._submit(lambda teller: index_worker.add(project, list(paths), teller, left_out))
        self.refresh(project)

    def put(self, row: ImageRow) -> None:
        """Set a row changed by this session."""
        self._own.add(row.key)
        self._take(row)

    def mark_broken(self, key: str, problem: Problem) -> None:
        """Mark an image that could not be opened, until it can be or its files change."""
        if key in self._places and not self.row(key).broken:
            self._not_opened.add(key)
            self.put(replace(self.row(key), broken=str(problem)))

    def mark_opened(self, key: str, _loaded: object = None) -> None:
        """Remove the mark of an image that can be opened again, and read its files again."""
        if key in self._not_opened:
            self._not_opened.discard(key)
            self.put(replace(self.row(key), broken=""))
            self.invalidate(key)

    def invalidate(self, key: str) -> None:
        """Schedule reading an image's files again after a save."""
        self._stale[key] = None
        self._rest.start()

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1."""
        self._take(replace(self.row(key), score=score))
        self._scores[key] = score
        self._rest.start()

    def close(self) -> None:
        self._round += 1
        self._stop.set()
        self._lane.cancel_pending()
        self._keep_scores(closing=True)
        self._stop = threading.Event()
        self._under_way = 0
        self._timer.stop()
        self._rest.stop()
        self._project = None
        self.keys, self.rows, self._places, self._news, self._stale = [], {}, {}, {}, {}
        self.done = 0
        self._own.clear()
        self._not_opened.clear()

    # --- lookup -----------------------------------------------------------------------------------

    def row(self, key: str) -> ImageRow:
        return self.rows.get(key) or ImageRow(key)

    def at(self, key: str | None, step: int) -> str | None:
        """Return the key `step` places from `key`, clamped to the list; None if that is `key` itself."""
        if not self.keys:
            return None
        here = self._places.get(key or "", -1)
        there = min(max(here + step, 0), len(self.keys) - 1)
        return self.keys[there] if there != here else None

    def near(self, key: str, direction: int) -> list[str]:
        """Return the readable neighbors of `key`, the one in `direction` first."""
        found = [self.at(key, direction), self.at(key, -direction)] if key in self._places else []
        return [k for k in found if k is not None and not self.row(k).broken]

    # --- results ----------------------------------------------------------------------------------

    def _submit(self, work: Callable[[index_worker.IndexReporter], None]) -> None:
        round = self._round
        self._under_way += 1
        teller = index_worker.IndexReporter(lambda kind, news: self._heard.emit(round, kind, news), self._stop)
        self._lane.submit(lambda: work(teller), lambda _, error: self._ended(error))

    def _ended(self, error: Exception | None) -> None:
        # Queued after the last results, which arrive as queued signals; also after an unexpected error.
        self._heard.emit(self._round, "settled", None)
        if isinstance(error, Problem):
            self.problem_met.emit(error)
        elif error is not None:
            raise error

    @Slot(int, str, object)
    def _on_worker_event(self, round: int, kind: str, news: object) -> None:
        if round != self._round:
            return
        if kind == "listed":
            self._relist(news)
        elif kind == "rows":
            for row in news:
                if row.key not in self._own:
                    self._take(row)
        elif kind == "looked":
            for row in news:
                if row.key in self._places:
                    self._take(replace(self.row(row.key), counts=row.counts, regions=row.regions, masked=row.masked))
        elif kind == "progress":
            self.progressed.emit(*news)
        elif kind == "added":
            self.added.emit(news)
        elif kind == "problem":
            self.problem_met.emit(news)
        else:
            self._under_way -= 1
            if not self._under_way:
                self._emit_changed_rows()
                self.finished.emit()

    def _relist(self, keys: list[str]) -> None:
        self.keys = keys
        self._places = {key: i for i, key in enumerate(keys)}
        self.rows = {key: row for key, row in self.rows.items() if key in self._places}
        self.done = sum(row.status == "done" for row in self.rows.values())
        self.listed.emit(keys)

    def _take(self, row: ImageRow) -> None:
        before = self.rows.get(row.key)
        self.done += (row.status == "done") - (before is not None and before.status == "done")
        self.rows[row.key] = self._news[row.key] = row
        if not self._timer.isActive():
            self._timer.start()

    def _emit_changed_rows(self) -> None:
        news, self._news = list(self._news.values()), {}
        if news:
            self.rows_changed.emit(news)

    def _read_rows(self) -> None:
        keys, self._stale = list(self._stale), {}
        project = self._project
        if project is not None and keys:
            self._submit(lambda teller: index_worker.read_rows(project, keys, teller))
        self._keep_scores()

    def _keep_scores(self, *, closing: bool = False) -> None:
        """Write new scores in the worker thread. closing: wait for it, but only briefly for another process."""
        scores, self._scores = self._scores, {}
        project = self._project
        if project is None or not scores:
            return
        patience = _PATIENCE_AT_CLOSE if closing else _PATIENCE
        # Errors are ignored: the index is a cache, and the model can compute the probabilities again.
        self._lane.submit(lambda: index_worker.keep_scores(project, scores, patience=patience), lambda _, error: None)
        if closing:
            self._lane.finish()
