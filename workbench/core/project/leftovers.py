"""Removal of temporary files and folders that killed writes, exports and imports have left in a project."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock

from workbench.core.project.project import Project
from workbench.core.project.storage import leads_outside
from workbench.inference.io.atomic_write import make_folder, sweep

# Folders written under the project lock only. Runs belong to their training process, which may outlive the window.
_FOLDERS = ("masks", "notes", "proposals", "pictures", "journal")
_LOCK = ".lock"
_UNFINISHED = re.compile(r"\..{1,80}\.[0-9a-f]{8}\.part")
_UNPACKED = re.compile(r"import-\w+")


def remove_leftovers(project: Project, stopped: Callable[[], bool] = lambda: False) -> None:
    """Remove temporary files of killed processes from a project that is open for writing, as far as possible.

    Only the workbench's own names of temporary files are affected, and no file that is being written.
    """
    if not project.writable:
        return
    sweep(project.root)
    for name in _FOLDERS:
        if not leads_outside(project.root, project.root / name):
            sweep(project.root / name, below=True, stopped=stopped)
    for name, pattern in (("exports", _UNFINISHED), (".cache", _UNPACKED)):
        if leads_outside(project.root, project.root / name):
            continue
        with contextlib.suppress(OSError):
            folders = {path.with_name(path.name.removesuffix(_LOCK)) for path in (project.root / name).iterdir()}
            for folder in folders:
                if not stopped() and pattern.fullmatch(folder.name) and not folder.is_symlink():
                    _remove_unfinished(folder)


@contextlib.contextmanager
def holding_part(folder: Path) -> Iterator[None]:
    """Mark the folder of an unfinished export or import as in use while the block runs, and remove what remains then.

    The mark is a lock on a file beside the folder, which ends with the process. Without file locking there is no mark.
    """
    make_folder(folder.parent)
    lock = filelock.FileLock(_lock_of(folder), thread_local=False)
    with contextlib.suppress(OSError, NotImplementedError, filelock.Timeout):
        lock.acquire(timeout=0)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()
        with contextlib.suppress(OSError):
            _lock_of(folder).unlink(missing_ok=True)


def _remove_unfinished(folder: Path) -> None:
    with contextlib.suppress(OSError, NotImplementedError, filelock.Timeout):
        with filelock.FileLock(_lock_of(folder), timeout=0, thread_local=False):
            shutil.rmtree(folder, ignore_errors=True)
        _lock_of(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + _LOCK)
