"""Work of the image list's thread: scan folders, update the index, copy new images."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from workbench.core.images.image_files import IMAGE_SUFFIXES
from workbench.core.problems import BadGrouping, FolderMissing, ImplausibleImages, Problem
from workbench.core.project.grouping import check_pattern
from workbench.core.project.image_index import ImageIndex, with_index
from workbench.core.project.image_row import ImageRow
from workbench.core.project.plausibility import image_concerns
from workbench.core.project.project import Project
from workbench.core.project.project_file import is_project
from workbench.core.project.sources import walk
from workbench.inference.io.natural_order import natural_key

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
