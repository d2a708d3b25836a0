"""List of images with their index rows, read by a worker thread and reported in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import Problem
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.session import index_worker
from workbench.session.tasks import TaskRunner, ignore_failure

REREAD_DELAY = 1.5  # seconds between a save and reading the image's files again
_LOCK_TIMEOUT, _LOCK_TIMEOUT_AT_CLOSE = 10.0, 0.05  # seconds to wait for another process that writes the index


class ImageList(QObject):
    """Image list: `keys` in order and `rows` by key. Changes made in this session override the index."""

    listed = Signal(object)  # list[str]
    rows_changed = Signal(object)  # list[ImageRow], at most five times a second
    progressed = Signal(int, int)
    added = Signal(object)  # Added
    problem_met = Signal(object)
    finished = Signal()  # all requests are done and reported

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.keys: list[str] = []
        self.rows: dict[str, ImageRow] = {}
        self._places: dict[str, int] = {}
        self._not_opened: set[str] = set()  # marked broken because opening failed
        self._own: set[str] = set()  # changed by this session since the index started reading
        self._changed: dict[str, ImageRow] = {}  # since the last `rows_changed`
        self._stale: dict[str, None] = {}  # saved, to be read again after REREAD_DELAY
        self._scores: dict[str, float] = {}  # not in the index yet
        self._project: Project | None = None
        self.done = 0  # number of images marked done
        self._reread = QTimer(self, singleShot=True, interval=round(REREAD_DELAY * 1000))
        self._reread.timeout.connect(self._read_rows)
        self._timer = QTimer(self, singleShot=True, interval=round(index_worker.REPORT_INTERVAL * 1000))
        self._timer.timeout.connect(self._emit_changed_rows)
        self.tasks = TaskRunner(parent=self)
        self._pending = 0  # number of requests that are not done

    # --- commands -------------------------------------------------------------------------------

    def refresh(self, project: Project) -> None:
        """List the images, report the rows known so far, then those that changed."""
        first, self._project = self._project is not project, project
        if not self._pending:
            self._own.clear()  # rows are read from now on, hence newer than earlier changes
        self._submit(lambda reporter: index_worker.refresh(project, reporter, first=first))

    def add(self, project: Project, paths: Sequence[Path], left_out: Sequence[tuple[str, str]] = ()) -> None:
        """Copy files and folders into the project's `pictures/`, then refresh. left_out: see `Added`."""
        self._submit(lambda reporter: index_worker.add(project, list(paths), reporter, left_out))
        self.refresh(project)

    def put(self, row: ImageRow) -> None:
        """Set a row changed by this session."""
        self._own.add(row.key)
        self._update(row)

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

    def unmark_broken(self) -> None:
        """Remove the marks of all images that could not be opened."""
        for key in tuple(self._not_opened):
            self.mark_opened(key)

    def invalidate(self, key: str) -> None:
        """Schedule reading an image's files again after a save."""
        self._stale[key] = None
        self._reread.start()

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1."""
        self._update(replace(self.row(key), score=score))
        self._scores[key] = score
        self._reread.start()

    def close(self) -> None:
        self.tasks.stop()
        self._write_scores(closing=True)
        self._pending = 0
        self._timer.stop()
        self._reread.stop()
        self._project = None
        self.keys, self.rows, self._places, self._changed, self._stale = [], {}, {}, {}, {}
        self.done = 0
        self._own.clear()
        self._not_opened.clear()

    # --- lookup -----------------------------------------------------------------------------------

    def row(self, key: str) -> ImageRow:
        return self.rows.get(key) or ImageRow(key)

    def neighbor(self, key: str | None, step: int) -> str | None:
        """Return the key `step` places from `key`, clamped to the list; None if that is `key` itself."""
        if not self.keys:
            return None
        place = self._places.get(key or "", -1)
        target = min(max(place + step, 0), len(self.keys) - 1)
        return self.keys[target] if target != place else None

    def neighbors(self, key: str, direction: int) -> list[str]:
        """Return the readable neighbors of `key`, the one in `direction` first."""
        neighbors = [self.neighbor(key, direction), self.neighbor(key, -direction)] if key in self._places else []
        return [k for k in neighbors if k is not None and not self.row(k).broken]

    # --- results ----------------------------------------------------------------------------------

    def _submit(self, work: Callable[[index_worker.IndexReporter], None]) -> None:
        self._pending += 1
        self.tasks.submit(
            lambda task: work(index_worker.IndexReporter(task.report, task.cancelled)),
            lambda _: self._end_request(),
            self._fail_request,
            on_progress=self._on_report,
        )

    def _end_request(self) -> None:
        self._pending -= 1
        if not self._pending:
            self._emit_changed_rows()
            self.finished.emit()

    def _fail_request(self, problem: Problem) -> None:
        self._end_request()
        self.problem_met.emit(problem)

    def _on_report(self, kind: str, content: Any) -> None:
        if kind == "listed":
            self._relist(content)
        elif kind == "rows":
            for row in content:
                if row.key not in self._own:
                    self._update(row)
        elif kind == "read":
            for row in content:
                if row.key in self._places:
                    self._update(replace(self.row(row.key), counts=row.counts, regions=row.regions, masked=row.masked))
        elif kind == "progress":
            self.progressed.emit(*content)
        elif kind == "added":
            self.added.emit(content)
        elif kind == "problem":
            self.problem_met.emit(content)

    def _relist(self, keys: list[str]) -> None:
        self.keys = keys
        self._places = {key: i for i, key in enumerate(keys)}
        self.rows = {key: row for key, row in self.rows.items() if key in self._places}
        self.done = sum(row.status == "done" for row in self.rows.values())
        self.listed.emit(keys)

    def _update(self, row: ImageRow) -> None:
        before = self.rows.get(row.key)
        self.done += (row.status == "done") - (before is not None and before.status == "done")
        self.rows[row.key] = self._changed[row.key] = row
        if not self._timer.isActive():
            self._timer.start()

    def _emit_changed_rows(self) -> None:
        rows, self._changed = list(self._changed.values()), {}
        if rows:
            self.rows_changed.emit(rows)

    def _read_rows(self) -> None:
        keys, self._stale = list(self._stale), {}
        project = self._project
        if project is not None and keys:
            self._submit(lambda reporter: index_worker.read_rows(project, keys, reporter))
        self._write_scores()

    def _write_scores(self, *, closing: bool = False) -> None:
        """Write new scores in the worker thread. closing: wait for it, but only briefly for another process."""
        scores, self._scores = self._scores, {}
        project = self._project
        if project is None or not scores:
            return
        lock_timeout = _LOCK_TIMEOUT_AT_CLOSE if closing else _LOCK_TIMEOUT
        # Errors are ignored: the index is a cache, and the model can compute the probabilities again.
        self.tasks.submit(
            lambda _: index_worker.write_scores(project, scores, lock_timeout=lock_timeout), on_failed=ignore_failure
        )
        if closing:
            self.tasks.wait()
