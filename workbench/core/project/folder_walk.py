"""Recursive listing of the files below a folder."""

from __future__ import annotations

import contextlib
import heapq
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path


def walk(
    folder: Path | str, enter: Callable[[os.DirEntry[str]], bool] = lambda entry: True
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (posix path below `folder`, entry) of each file. Hidden files and folders are skipped.

    Pipes, devices, sockets and unreadable entries are skipped too; links to missing files are not. Links to folders are
    followed, but each folder is entered only once: first all real folders, then those behind links, ordered by path.
    `enter` returns False for folders to skip.
    """
    visited: set[tuple[int, int]] = set()
    folders: deque[tuple[str, str]] = deque([("", str(folder))])
    linked_folders: list[tuple[str, str]] = []  # heap
    while folders or linked_folders:
        prefix, path = folders.popleft() if folders else heapq.heappop(linked_folders)
        try:
            state = os.stat(path)
            if (state.st_dev, state.st_ino) in visited:
                continue
            visited.add((state.st_dev, state.st_ino))
            with os.scandir(path) as entries:
                visible = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            continue  # only the files of a missing or unreadable folder are skipped
        for entry in visible:
            with contextlib.suppress(OSError):
                if not entry.is_dir():
                    if _is_readable(entry):
                        yield prefix + entry.name, entry
                elif enter(entry):
                    subfolder = (f"{prefix}{entry.name}/", entry.path)
                    if entry.is_symlink():
                        heapq.heappush(linked_folders, subfolder)
                    else:
                        folders.append(subfolder)


def _is_readable(entry: os.DirEntry[str]) -> bool:
    if entry.is_file():
        return True
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except FileNotFoundError:
        return True  # broken links are listed and shown as unreadable
