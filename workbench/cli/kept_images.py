"""Images of the line that `serve` and `predict --watch` keep for labeling, in a folder of limited size and age.

Each has three files: STEM.SUFFIX, the image as it arrived, STEM.mask.png, the class map that was predicted, and
STEM.json, its record as a result output gets it, with `sha256` of the image and `kept`, the reason. STEM is the time
and the beginning of the checksum. The record is written last. No image is kept twice, also by several processes: each
creates an empty file in `.marks`, named by the checksum, before it keeps an image. The verb `inbox` lists such images
and takes them into a project (`core/suggestions/line_images.py`).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli.sinks.sink_base import ERROR, NG, Record, RecordMaker
from workbench.cli.verb_runner import Console, WrongUse, number_in
from workbench.core.project.project import Project
from workbench.core.project.storage import json_bytes
from workbench.core.suggestions.line_images import KEPT, MASK_SUFFIX, RECORD_SUFFIX, known_marks, read_kept, take
from workbench.core.text_patterns import counted
from workbench.inference.io.file_access import make_folder, reason, remove_file, write_atomic
from workbench.inference.io.image_io import encode_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Prediction
from workbench.inference.verdict_rule import UNSURE, result_text, unlike_text

_MB, _DAYS, _EVERY = 2000.0, 30.0, 100
_STEM = re.compile(r"\d{8}T\d{9}-[0-9a-f]{16}")
_MARKS = ".marks"
_STALE = 60.0  # seconds after which a mark without an image is one of a process that was killed
_WAITING = 16  # images that wait for the disk; further ones are not kept


@dataclass(frozen=True)
class KeepPlan:
    """Request to keep images. limit: bytes. age: seconds. every: one in so many of the other images; 0 for none."""

    folder: Path
    limit: float
    age: float
    every: int
    ok_verdict: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "images kept for labeling", "NG, unsure and unlike images, and a sample of the others; off without --inbox"
    )
    group.add_argument("--inbox", type=Path, metavar="DIR", help="keep such images with their results in this folder")
    positive = number_in(0, kind=float, above=True)
    every = f"keep one in N of the other images; 0 for none ({_EVERY})"
    group.add_argument("--inbox-mb", type=positive, metavar="N", help=f"size of the folder; the oldest go ({_MB:g})")
    group.add_argument("--inbox-days", type=positive, metavar="N", help=f"age at which images are removed ({_DAYS:g})")
    group.add_argument("--inbox-every", type=number_in(0), metavar="N", help=every)


def plan_inbox(options: argparse.Namespace) -> KeepPlan | None:
    """Return the request, None without --inbox. Raises WrongUse."""
    given = {"mb": options.inbox_mb, "days": options.inbox_days, "every": options.inbox_every}
    if options.inbox is None:
        for name in (name for name, value in given.items() if value is not None):
            raise WrongUse(f"--inbox-{name} needs --inbox")
        return None
    mb, days, every = (usual if value is None else value for value, usual in zip(given.values(), (_MB, _DAYS, _EVERY)))
    return KeepPlan(options.inbox.absolute(), mb * 2**20, days * 86400, int(every), options.ok_verdict)


class KeptImages:
    """Folder of kept images of one process, a context manager whose end waits for the disk.

    row, rows: number of this process, and of all. Of the images of former processes, each limits those whose checksum
    has its number. log: called with one sentence when the first image cannot be kept. Raises NoGoodVerdict, OSError.
    """

    def __init__(
        self, plan: KeepPlan, settings: ModelSettings, log: Callable[[str], None], row: int = 0, rows: int = 1
    ) -> None:
        self._maker = RecordMaker(settings, plan.ok_verdict)
        self._folder, self._marks = plan.folder, plan.folder / _MARKS
        self._limit, self._age, self._every = plan.limit / rows, plan.age, plan.every
        self._log: Callable[[str], None] | None = log
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._places = threading.BoundedSemaphore(_WAITING)
        make_folder(self._marks)
        sizes: dict[Path, int] = {}
        for path in (*self._folder.glob("*-*.*"), *self._folder.glob("[0-9]*/*-*.*")):  # folders of earlier versions
            stem = path.name.partition(".")[0]
            if _STEM.fullmatch(stem):  # files of others are never removed
                sizes[path.with_name(stem)] = sizes.get(path.with_name(stem), 0) + path.stat().st_size
        known = {_mark(path) for path in sizes}
        for mark in known:
            (self._marks / mark).touch()
        for path in self._marks.iterdir():
            if path.name not in known and path.stat().st_mtime < time.time() - _STALE:
                remove_file(path, missing_ok=True)
        own = [path for path in sizes if int(_mark(path), 16) % rows == row]
        self._kept = deque((path, sizes[path]) for path in sorted(own, key=lambda path: path.name))  # oldest first
        self._size = sum(size for _, size in self._kept)

    def __enter__(self) -> KeptImages:
        return self

    def __exit__(self, *error: Any) -> None:
        self._threads.shutdown()

    def offer(self, content: bytes | bytearray, result: Prediction, name: str | None) -> None:
        """Keep an image if there is a reason to, in another thread. content: of its file. Never waits."""
        digest = hashlib.sha256(content).hexdigest()
        record = self._maker.make(result.to_json(), key=digest, name=name or digest[:16])
        why = self._reason(record, digest)
        if not why or not self._places.acquire(blocking=False):
            return
        data = bytes(content)
        try:
            self._threads.submit(self._keep, data, {**record, "sha256": digest, "kept": why}, result.mask)
        except RuntimeError:  # the program ends
            self._places.release()

    def _reason(self, record: Record, digest: str) -> str:
        if unlike_text(record):
            return "unlike"
        if record["verdict"] == UNSURE:
            return UNSURE
        if record["result"] in (NG, ERROR):
            return NG
        return "sample" if self._every and int(digest[16:24], 16) % self._every == 0 else ""

    def _keep(self, data: bytes, record: Record, mask: np.ndarray | None) -> None:
        try:
            mark = record["sha256"][:16]
            if self._claim(mark):
                stem = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}{time.time_ns() // 10**6 % 1000:03}-{mark}"
                files = {_suffix(data): data, RECORD_SUFFIX: json_bytes(record)}
                if mask is not None:
                    files = {MASK_SUFFIX: bytes(encode_png(mask)), **files}
                size = sum(map(len, files.values()))
                self._kept.append((self._folder / stem, size))
                self._size += size
                for suffix, content in files.items():
                    write_atomic(self._folder / f"{stem}{suffix}", content)
            self._prune()
        except OSError as error:
            if self._log is not None:
                self._log(f"Images cannot be kept in {self._folder}: {reason(error)}.")
                self._log = None
        finally:
            self._places.release()

    def _claim(self, mark: str) -> bool:
        """Return True if no process has kept the image of this mark. It is then that of this one."""
        try:
            os.close(os.open(self._marks / mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        return True

    def _prune(self) -> None:
        oldest = time.strftime("%Y%m%dT%H%M%S", time.gmtime(time.time() - self._age))
        while self._kept and (self._size > self._limit or self._kept[0][0].name < oldest):
            kept, size = self._kept.popleft()
            self._size -= size
            for path in (*kept.parent.glob(f"{kept.name}.*"), self._marks / _mark(kept)):
                with contextlib.suppress(OSError):  # in use: it goes when the program starts again
                    remove_file(path, missing_ok=True)


def _mark(path: Path) -> str:
    """Return the beginning of the checksum of an image. path: of its files, without suffix."""
    return path.name.rpartition("-")[2]


_SIGNATURES = ((b"\x89PNG", ".png"), (b"\xff\xd8", ".jpg"), (b"BM", ".bmp"), (b"II", ".tif"), (b"MM", ".tif"))


def _suffix(data: bytes) -> str:
    """Return the suffix of an image file by its first bytes."""
    if data[8:12] == b"WEBP":
        return ".webp"
    if data[:1] == b"P" and data[1:2] in b"123456":
        return ".pnm"
    return next((suffix for start, suffix in _SIGNATURES if data.startswith(start)), ".jp2")


def add_inbox_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="project folder")
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of --inbox, of serve or predict --watch")
    parser.add_argument("--kept", choices=KEPT, help="only images that were kept for this reason")
    parser.add_argument("--take", action="store_true", help="copy the images into the project, none of them twice")
    parser.add_argument(
        "--accept", action="store_true", help="with --take: store predictions as labels instead of suggestions"
    )


def run_inbox(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    images, broken = read_kept(options.folder)
    images = [image for image in images if options.kept in (None, image.record.get("kept"))]
    with Project.open(options.project, write=options.take) as project:
        known = known_marks(project)
        entries = [
            {"path": image.path, "kept": image.record.get("kept"), "verdict": image.record.get("verdict")}
            | {"time": image.record.get("time"), "taken": image.mark in known}
            for image in images
        ]
        result: dict[str, Any] = {"pictures": entries, "skipped": [{"path": name, "why": why} for name, why in broken]}
        if options.take:
            taken = take(project, images, accept=options.accept)
            result["taken"] = taken.keys
            result["skipped"] += [{"path": name, "why": why} for name, why in taken.skipped]
            console.line(f"{counted(len(taken.keys), 'image')} taken, {taken.known} already in the project.")
        else:
            for image, entry in zip(images, entries):
                state = "in the project" if entry["taken"] else entry["kept"]
                console.line(f"{image.path.name}: {state}, {result_text(image.record)}")
    for skipped in result["skipped"]:
        console.note(f"{skipped['path']}: skipped, {skipped['why']}")
    return result
