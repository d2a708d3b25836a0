"""Folders that cannot be written."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Make a folder read-only for the operating system."""
    for folder in folders:
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    try:
        yield
    finally:
        for folder in folders:
            subprocess.run(["umount", str(folder)], check=True)
