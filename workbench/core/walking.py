"""One walk over a folder for everything that lists files: pictures, masks, notes and labels to be imported."""

from __future__ import annotations

import contextlib
import heapq
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path


def walk(folder: Path | str, enter: Callable[[os.DirEntry[str]], bool] = lambda entry: True) -> Iterator[
    tuple[str, os.DirEntry[str]]
]:  # fmt: skip
    """Yield (posix path below `folder`, entry) of each file; hidden files and folders are passed over.

    Pipes, devices and sockets are passed over too; a link whose file is gone is not. Links to folders are followed,
    but no folder is entered twice, whatever name leads to it: all real folders come first, then the folders behind
    links, in the order of their paths. `enter` decides about a folder. What cannot be read is passed over.
    """
    seen: set[tuple[int, int]] = set()
    real: deque[tuple[str, str]] = deque([("", str(folder))])
    linked: list[tuple[str, str]] = []  # a heap
    while real or linked:
        prefix, path = real.popleft() if real else heapq.heappop(linked)
        try:
            state = os.stat(path)
            if (state.st_dev, state.st_ino) in seen:
                continue
            seen.add((state.st_dev, state.st_ino))
            with os.scandir(path) as entries:
                found = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            continue  # a folder that is gone or forbidden hides its files, nothing else
        for entry in found:
            with contextlib.suppress(OSError):
                if not entry.is_dir():
                    if _may_be_read(entry):
                        yield prefix + entry.name, entry
                elif enter(entry):
                    below = (f"{prefix}{entry.name}/", entry.path)
                    if entry.is_symlink():
                        heapq.heappush(linked, below)
                    else:
                        real.append(below)


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    if entry.is_file():
        return True
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except FileNotFoundError:
        return True  # a link whose file is away: it is listed, and shown as one that cannot be read
