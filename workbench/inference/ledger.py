"""What has been done in a folder of results: a file with a line a picture, from which the tables are made.

A line is appended when all files of its picture are written, so that whatever happens a picture is either done or not
begun: a run that was killed goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import network_files
from .settings import MODEL_FILE, load_settings

LEDGER_FILE = "results.jsonl"
_FORMAT = 1


class LedgerError(Exception):
    """Why nothing can be added to a folder of results, as a sentence."""


@dataclass(frozen=True)
class Done:
    """state: of the file when it was looked at. name: of its results, "" where it was skipped."""

    state: tuple[int, int]
    name: str


def file_state(path: Path | str) -> tuple[int, int]:
    """Size and time of a file; another state is another picture. Raises OSError."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def model_fingerprint(folder: Path | str) -> str:
    """SHA-256 of everything that decides what the model in `folder` gives. Raises SettingsError, OSError."""
    folder = Path(folder)
    digest = hashlib.sha256((folder / MODEL_FILE).read_bytes())
    for name in network_files(load_settings(folder / MODEL_FILE)):
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


class Ledger:
    """The ledger of one folder; one program at a time. done: absolute path of a picture to what is known of it."""

    def __init__(self, folder: Path, head: dict[str, Any], *, resume: bool) -> None:
        """head: facts about the model; "model" and "fingerprint" must agree with those of a ledger that is resumed.

        Raises LedgerError, OSError.
        """
        self.path = folder / LEDGER_FILE
        self.done: dict[str, Done] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b", buffering=0)
        try:
            if not _lock(self._file.fileno()):
                raise LedgerError(f"Another program is writing its results into {folder}. Choose another folder.")
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

    def add(self, at: str, state: tuple[int, int], name: str, entry: dict[str, Any]) -> None:
        """A picture is done, or skipped. at: its absolute path. It is on the disk when this returns."""
        self._append({**entry, "at": at, "file": list(state), "name": name})
        self.done[at] = Done(state, name)

    def entries(self) -> Iterator[dict[str, Any]]:
        """What was added, in this order; of a picture that was added again only the last."""
        last = {found["at"]: start for start, found in self._lines() if "at" in found}
        for start, found in self._lines():
            if last.get(found.get("at")) == start:
                yield {key: value for key, value in found.items() if key not in ("at", "file", "name")}

    def _resume(self, head: dict[str, Any]) -> None:
        whole = 0
        for start, found in self._lines():
            if start == 0:
                self._need_same(found, head)
            elif {"at", "file", "name"} <= set(found):
                self.done[found["at"]] = Done(tuple(found["file"]), found["name"])
        with self.path.open("rb") as file:
            for line in file:
                whole += len(line) if line.endswith(b"\n") else 0
        self._file.truncate(whole)  # a line that was cut off is a picture that is not done

    def _need_same(self, found: dict[str, Any], head: dict[str, Any]) -> None:
        if found.get("format") != _FORMAT:
            raise LedgerError(f"{self.path} was not written by this version. Choose another folder of results.")
        if any(found.get(key) != head.get(key) for key in ("model", "fingerprint")):
            raise LedgerError(
                f"The results in {self.path.parent} are those of another model, {found.get('model')}: they cannot be "
                "continued with this one. Choose another folder of results."
            )

    def _append(self, content: dict[str, Any]) -> None:
        line = (json.dumps(content, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
        start = os.fstat(self._file.fileno()).st_size
        try:
            view = memoryview(line)
            while view:
                view = view[self._file.write(view) :]
            os.fsync(self._file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(start)  # a full disk must not leave half a line in the middle
            raise

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Where each line starts, and what it says; lines that are torn or damaged are passed over."""
        start = 0
        with self.path.open("rb") as file:
            for line in file:
                found = _object(line)
                if found is not None:
                    yield start, found
                start += len(line)


def _object(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


_FAR = 1 << 40  # a byte that no ledger reaches: locks of Windows keep others from reading what they cover


def _lock(descriptor: int) -> bool:
    """Hold the file until it is closed, or the process ends in whatever way; False if another holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        import errno

        # A file system that knows no locks (some network drives) must not forbid the work.
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True
