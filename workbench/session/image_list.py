"""List of images with their index rows, read by a worker thread and reported in batches.

Work of the image list's thread: scan folders, update the index, copy new images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import BadGrouping, FolderMissing, ImplausibleImages, Problem
from workbench.core.project.grouping import check_pattern
from workbench.core.project.image_row import ImageIndex, ImageRow, with_index
from workbench.core.project.plausibility import image_concerns
from workbench.core.project.project import Project
from workbench.core.project.project_json import is_project
from workbench.core.project.sources import walk
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.text_safety import natural_key
from workbench.session.tasks import TaskRunner, ignore_failure

REPORT_INTERVAL = 0.2  # seconds
# A worker that never sleeps holds the interpreter lock for 5 ms at a time, and the window needs it often.
_WORK, _PAUSE = 0.004, 0.001  # seconds
_FIRST_PAUSE = 0.15  # seconds until the first rows are painted


class IndexReporter:
    """Progress reporter of the worker thread. Rows and progress are reported at most five times a second.

    report: called with a kind and its content: "listed" list[str], "rows" and "read" list[ImageRow], "progress"
    (done, total), "added" Added, "problem" Problem.
    """

    def __init__(self, report: Callable[[str, object], None], cancelled: Callable[[], bool]) -> None:
        self.report = report
        self.cancelled = cancelled
        self._rows: list[ImageRow] = []
        self._progress: tuple[int, int] | None = None
        self._reported = self._paused = time.monotonic()

    def pause(self, seconds: float = _PAUSE) -> None:
        """Sleep to release the interpreter lock for the window."""
        time.sleep(seconds)
        self._paused = time.monotonic()

    def row(self, row: ImageRow) -> None:
        self._rows.append(row)

    def progress(self, done: int, total: int) -> None:
        self._progress = (done, total)
        now = time.monotonic()
        if done == total or now - self._reported >= REPORT_INTERVAL:
            self.flush()
        if now - self._paused >= _WORK:
            self.pause()

    def flush(self) -> None:
        if self._rows:
            self.report("rows", self._rows)
            self._rows = []
        if self._progress is not None:
            self.report("progress", self._progress)
            self._progress = None
        self._reported = time.monotonic()


def refresh(project: Project, reporter: IndexReporter, *, first: bool) -> None:
    """Report the keys and each changed row. first: the project was just opened; report the known rows at once."""

    def work(index: ImageIndex) -> None:
        known = index.keys() if first else []
        reported: set[str] | None = set() if first else None
        if known:
            reporter.report("listed", known)
            reporter.pause(_FIRST_PAUSE)
            for batch in index.batches(1000):
                if reporter.cancelled():
                    return
                if reported is not None:
                    reported.update(row.key for row in batch)
                reporter.report("rows", batch)
                reporter.pause()
        keys, faults = project.list_images()
        project.check_folder()  # its list would be empty
        if keys != known or not first:
            reporter.report("listed", keys)
            reporter.pause(_FIRST_PAUSE)
        for fault in faults if first else ():
            reporter.report("problem", fault)
        for row in index.refresh(keys, progress=reporter.progress, cancelled=reporter.cancelled, known_keys=reported):
            reporter.row(row)
        project.check_folder()  # all images would be reported as unreadable
        if first and not reporter.cancelled():
            _check_pattern(project, keys, reporter)
            if next(iter(walk(project.root / "masks")), None) is None:  # nothing is labeled yet
                for concern in image_concerns([project.image_path(key) for key in keys]):
                    reporter.report("problem", ImplausibleImages(why=concern.text))

    try:
        with_index(project, work, lambda problem: reporter.report("problem", problem))
    finally:
        reporter.flush()


def _check_pattern(project: Project, keys: list[str], reporter: IndexReporter) -> None:
    try:
        check_pattern(project, keys)
    except BadGrouping as problem:
        reporter.report("problem", problem)


def read_rows(project: Project, keys: list[str], reporter: IndexReporter) -> None:
    """Read the files of some images again, for data that a save does not provide, such as the number of regions."""

    def work(index: ImageIndex) -> None:
        reporter.report("read", [index.read_changed(key) for key in keys if not reporter.cancelled()])

    with_index(project, work)


def write_scores(project: Project, scores: dict[str, float], *, lock_timeout: float = 10.0) -> None:
    """Write defect probabilities into the index. lock_timeout: seconds to wait for another process."""
    with_index(project, lambda index: index.set_scores(scores), lock_timeout=lock_timeout)


@dataclass(frozen=True)
class Added:
    """Result of copying images into a project.

    left_out: (name, reason) of dropped or chosen entries without anything to copy; the reason is "kind" (not an image
    file), "empty" (a folder without images), "project" or "remote".
    """

    copied: int
    there: int = 0  # already in the project
    left_out: tuple[tuple[str, str], ...] = ()


def left_out_reason(path: Path) -> str:
    """Return the reason why nothing of a path can be copied, without scanning folders; "" if it can be.

    A project folder is excluded: copying it would import its masks as images.
    """
    if path.is_dir():
        return "project" if is_project(path) else ""
    return "" if path.suffix.lower() in IMAGE_SUFFIXES else "kind"


def add(project: Project, paths: list[Path], reporter: IndexReporter, left_out: Sequence[tuple[str, str]] = ()) -> None:
    """Copy the image files of `paths` and their subfolders; report failures and the number of copies."""
    files: list[tuple[Path, str]] = []
    refused, copied, there = list(left_out), 0, 0
    for path in paths:
        reason = left_out_reason(path) if path.exists() else ""
        images = list(images_in(path)) if path.exists() and not reason else []
        files += images
        if not path.exists():
            reporter.report("problem", FolderMissing(path=str(path)))
        elif not images:
            refused.append((path.name, reason or "empty"))
    own = (project.root / "pictures").resolve()
    for i, (path, key) in enumerate(files):
        if reporter.cancelled():
            return
        if path.resolve().is_relative_to(own):
            there += 1
        else:
            try:
                exists = own.joinpath(key).exists()
                same = project.copy_image(path, key) == key and exists
                copied, there = copied + (not same), there + same
            except Problem as problem:
                reporter.report("problem", problem)
        reporter.progress(i + 1, len(files))
    reporter.report("added", Added(copied, there, tuple(refused)))


def images_in(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, key) of an image file, or of all below a folder; the keys begin with the folder's name."""
    if path.is_file():
        if path.suffix.lower() in IMAGE_SUFFIXES:
            yield path, path.name
        return
    images = [(relative, entry) for relative, entry in walk(path) if Path(relative).suffix.lower() in IMAGE_SUFFIXES]
    for relative, entry in sorted(images, key=lambda image: natural_key(image[0])):
        yield Path(entry.path), PurePath(path.name or "pictures", relative).as_posix()


REREAD_DELAY = 1.5  # seconds between a save and reading the image's files again
_SAMPLED = 500  # number of masks measured to estimate their disk space
_LOCK_TIMEOUT, _LOCK_TIMEOUT_AT_CLOSE = 10.0, 0.05  # seconds to wait for another process that writes the index


@dataclass(frozen=True)
class ClassExtent:
    """Share of a project that some classes take. nbytes: estimated disk space of their masks."""

    images: int
    regions: int
    pixels: int
    nbytes: int


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
        self._timer = QTimer(self, singleShot=True, interval=round(REPORT_INTERVAL * 1000))
        self._timer.timeout.connect(self._emit_changed_rows)
        self.tasks = TaskRunner(parent=self)
        self._pending = 0  # number of requests that are not done

    # --- commands -------------------------------------------------------------------------------

    def refresh(self, project: Project) -> None:
        """List the images, report the rows known so far, then those that changed."""
        first, self._project = self._project is not project, project
        if not self._pending:
            self._own.clear()  # rows are read from now on, hence newer than earlier changes
        self._submit(lambda reporter: refresh(project, reporter, first=first))

    def add(self, project: Project, paths: Sequence[Path], left_out: Sequence[tuple[str, str]] = ()) -> None:
        """Copy files and folders into the project's `pictures/`, then refresh. left_out: see `Added`."""
        self._submit(lambda reporter: add(project, list(paths), reporter, left_out))
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

    def read_again(self) -> None:
        """Remove the marks of all images that could not be opened, and read the changed files."""
        for key in tuple(self._not_opened):
            self.mark_opened(key)
        if self._project is not None:
            self.refresh(self._project)

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

    def extent(self, ids: set[int]) -> ClassExtent:
        """Return the extent of some classes."""
        project, images, regions, pixels, size = self._project, 0, 0, 0, 0
        for key, row in self.rows.items():
            counts = [number for id, number in row.counts if id in ids]
            if counts:
                images += 1
                pixels += sum(counts)
                regions += sum(number for id, number in row.regions if id in ids)
                if project is not None and images <= _SAMPLED:
                    path = project.mask_path(key)
                    size += path.stat().st_size if path.exists() else 0
        return ClassExtent(images, regions, pixels, round(size * images / max(1, min(images, _SAMPLED))))

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

    def _submit(self, work: Callable[[IndexReporter], None]) -> None:
        self._pending += 1
        self.tasks.submit(
            lambda task: work(IndexReporter(task.report, task.cancelled)),
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
            self._submit(lambda reporter: read_rows(project, keys, reporter))
        self._write_scores()

    def _write_scores(self, *, closing: bool = False) -> None:
        """Write new scores in the worker thread. closing: wait for it, but only briefly for another process."""
        scores, self._scores = self._scores, {}
        project = self._project
        if project is None or not scores:
            return
        lock_timeout = _LOCK_TIMEOUT_AT_CLOSE if closing else _LOCK_TIMEOUT
        # Errors are ignored: the index is a cache, and the model can compute the probabilities again.
        self.tasks.submit(lambda _: write_scores(project, scores, lock_timeout=lock_timeout), on_failed=ignore_failure)
        if closing:
            self.tasks.wait()
