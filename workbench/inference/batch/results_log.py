"""Log of a results folder: one line per image, from which its tables and its report are written.

A line is appended after all files of its image are written, so that an image is either done or not started, and an
interrupted run can be continued.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..io.file_access import open_file, read_regular, sync
from ..io.json_io import parse_line, read_lines
from ..model_settings import MODEL_FILE, ModelSettings, load_settings
from .export_package import network_files

RESULTS_LOG_FILE = "results.jsonl"
_FORMAT = 1
_TEXTS, _NUMBERS = ("class_name",), ("class_id", "x", "y", "width", "height", "area", "score", "peak")
_SIZES = ("area_um2", "width_um", "height_um")  # None if the image scale is unknown


class ResultsLogError(Exception):
    """Results folder that cannot be extended; the text is the reason, as a sentence."""


@dataclass(frozen=True)
class ProcessedImage:
    """Processed image. state: `file_state` at prediction. name: of its results, "" if it was skipped."""

    state: tuple[int, int]
    name: str


def file_state(path: Path | str) -> tuple[int, int]:
    """Return size and modification time of a file; a different state counts as a different image. Raises OSError."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def model_fingerprint(folder: Path | str) -> str:
    """Return the SHA-256 of everything that determines the model's results. Raises SettingsError, OSError."""
    folder = Path(folder)
    digest = hashlib.sha256(read_regular(folder / MODEL_FILE))
    for name in network_files(load_settings(folder / MODEL_FILE)):
        if (folder / name).is_file():
            digest.update(hashlib.sha256(read_regular(folder / name)).digest())
    return digest.hexdigest()


class ResultsLog:
    """Log of one folder, locked for one program at a time.

    done: absolute path of an image to its record.
    ignored: number of complete but damaged lines in a resumed log; their images count as not started.
    """

    def __init__(
        self,
        folder: Path,
        head: dict[str, Any],
        *,
        resume: bool,
        is_result: Callable[[dict[str, Any]], bool] = lambda found: True,
    ) -> None:
        """Open and lock the log.

        head: facts about the model; "model" and "fingerprint" must match those of a resumed log.
        resume: keep the existing entries.
        is_result: validates the content of a line about an image that was not skipped.

        Raises ResultsLogError, OSError.
        """
        self.path = folder / RESULTS_LOG_FILE
        self.done: dict[str, ProcessedImage] = {}
        self.ignored = 0
        self._is_result = is_result
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            raise ResultsLogError(f"{self.path} is not a regular file. Choose another folder of results.")
        self._file = open_file(self.path, "a+b", buffering=0)
        try:
            if not _lock(self._file.fileno()):
                raise ResultsLogError(f"Another program is writing its results into {folder}. Choose another folder.")
            if resume:
                self._resume(head)
            else:
                self._file.truncate(0)
            if not os.fstat(self._file.fileno()).st_size:
                self._append({"format": _FORMAT, **head})
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def add(self, path: str, state: tuple[int, int], name: str, entry: dict[str, Any]) -> None:
        """Append a processed or skipped image and sync to disk. path: absolute path of the image."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        self._append({**entry, "at": path, "file": list(state), "name": name, "time": now})
        self.done[path] = ProcessedImage(state, name)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries in order of addition; only the last one of an image added repeatedly."""
        last = {content["at"]: start for start, content in self._lines() if "at" in content}
        for start, content in self._lines():
            if last.get(content.get("at")) == start:
                yield {key: value for key, value in content.items() if key not in ("at", "file", "name", "time")}

    def _resume(self, head: dict[str, Any]) -> None:
        end = os.fstat(self._file.fileno()).st_size
        for start, line in read_lines(self.path):
            if not line.endswith(b"\n"):
                end = start  # an incomplete line means that the image is not done
            elif start and self._parse(line) is None:
                self.ignored += 1
        for start, content in self._lines():
            if start == 0:
                self._require_same_model(content, head)
            else:
                self.done[content["at"]] = ProcessedImage((content["file"][0], content["file"][1]), content["name"])
        if end and not any(start == 0 for start, _ in self._lines()):
            raise ResultsLogError(f"The first line of {self.path} is damaged. Choose another folder of results.")
        self._file.truncate(end)

    def _require_same_model(self, content: dict[str, Any], head: dict[str, Any]) -> None:
        if content.get("format") != _FORMAT:
            raise ResultsLogError(f"{self.path} was not written by this version. Choose another folder of results.")
        if any(content.get(key) != head.get(key) for key in ("model", "fingerprint")):
            raise ResultsLogError(
                f"The results in {self.path.parent} are those of another model, {content.get('model')}: they cannot be "
                "continued with this one. Choose another folder of results."
            )

    def _append(self, content: dict[str, Any]) -> None:
        line = (json.dumps(content, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
        start = os.fstat(self._file.fileno()).st_size
        try:
            view = memoryview(line)
            while view:
                view = view[self._file.write(view) :]
            sync(self._file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(start)  # a full disk must not leave an incomplete line in the middle
            raise

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (offset, content) of each line; incomplete and damaged lines are skipped."""
        for start, line in read_lines(self.path):
            content = self._parse(line) if start else parse_line(line, finite=True)
            if content is not None:
                yield start, content

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        """Return the content of a line about an image, None if it is damaged."""
        content = parse_line(line, finite=True)
        if content is None or not isinstance(content.get("at"), str) or not isinstance(content.get("path"), str):
            return None
        state, name = content.get("file"), content.get("name")
        if not isinstance(state, list) or len(state) != 2 or not all(type(value) is int for value in state):
            return None
        if name == "":
            return content if isinstance(content.get("why"), str) else None
        valid = isinstance(name, str) and is_result_name(name) and "why" not in content and self._is_result(content)
        return content if valid else None


def ignored_lines(count: int) -> str:
    """Return the warning about damaged lines of a ledger."""
    lines = "1 damaged line" if count == 1 else f"{count} damaged lines"
    return f"Ignored {lines} in {RESULTS_LOG_FILE}. The images concerned are processed again."


def is_result_name(name: str) -> bool:
    """Return True if `name` is valid for a result: a relative path with "/" that stays in its folder.

    Backslashes and drive letters are refused on all systems, since a results folder may be moved to another one.
    """
    parts = PurePosixPath(name).parts
    valid = "/".join(parts) == name and not name.startswith("/") and not set(name) & set("\\\0")
    if not valid or name[1:2] == ":" or ".." in parts:
        return False
    try:
        lengths = [len(os.fsencode(part)) for part in parts]
    except UnicodeEncodeError:
        return False
    return bool(lengths) and max(lengths) + len(".png") < 256 and sum(lengths) < 2000


def is_result(content: dict[str, Any], settings: ModelSettings) -> bool:
    """Return True if a ledger line holds a complete result of this model, with the right types."""
    files = {name: content.get(name) for name in ("mask", "overlay")}
    has_time = type(content.get("milliseconds")) in (int, float)
    regions = content.get("regions")
    if not has_time or not isinstance(regions, list) or not all(map(_is_region, regions)):
        return False
    if settings.task == "segmentation":
        overlay = files["overlay"] in (None, f"overlays/{content['name']}.png")
        verdict = isinstance(content.get("verdict"), str if settings.verdict_rule is not None else str | None)
        valid_reason = isinstance(content.get("verdict_reason"), dict | None)
        valid = overlay and verdict and valid_reason and "verdict" in content
        return valid and files["mask"] == f"masks/{content['name']}.png"
    probabilities = content.get("probabilities")
    names = set(settings.verdicts)
    return (
        files == {"mask": None, "overlay": None}
        and isinstance(content.get("verdict"), str)
        and isinstance(probabilities, dict)
        and set(probabilities) == names
        and all(type(value) in (int, float) for value in probabilities.values())
    )


def _is_region(content: Any) -> bool:
    """Return True if `content` is a region in JSON form, with all values of the right types."""
    if not isinstance(content, dict):
        return False
    centroid = content.get("centroid")
    return (
        all(isinstance(content.get(name), str) for name in _TEXTS)
        and all(type(content.get(name)) in (int, float) for name in _NUMBERS)
        and all(name in content and type(content[name]) in (int, float, type(None)) for name in _SIZES)
        and isinstance(centroid, list)
        and [type(value) in (int, float) for value in centroid] == [True, True]
    )


_LOCK_OFFSET = 1 << 40  # beyond the end of any log: Windows locks prevent reading of the locked bytes


def _lock(descriptor: int) -> bool:
    """Lock the file until it is closed or the process ends. Return False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        import errno

        # File systems without locks (some network drives) are accepted.
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True
