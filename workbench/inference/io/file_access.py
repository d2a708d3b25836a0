"""Access to files that another program may hold for a moment.

On Windows a file that a virus scanner, a backup or a synchronized folder reads cannot be opened, replaced or removed
until that program has closed it. Such an access is repeated for two seconds; on other systems it fails at once, because
a refusal means that the permission is missing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

PAUSES = (0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.6, 0.6) if sys.platform == "win32" else ()  # seconds

_NOT_EMPTY = 145  # error of Windows: a file of the folder is removed, but still held open

Result = TypeVar("Result")


def patiently(access: Callable[..., Result], *arguments: Any) -> Result:
    """Return access(*arguments), repeated while another program holds the file. Raises OSError."""
    for pause in PAUSES:
        try:
            return access(*arguments)
        except OSError as error:
            if not isinstance(error, PermissionError) and getattr(error, "winerror", None) != _NOT_EMPTY:
                raise
        time.sleep(pause)
    return access(*arguments)


def reason(error: BaseException) -> str:
    """Return why an access failed, as a part of a sentence, in the words of the system where they are helpful."""
    if isinstance(error, PermissionError) and sys.platform == "win32":
        return "another program has it open, or its permissions do not allow it"
    return getattr(error, "strerror", None) or str(error)


def remove_file(path: Path, *, missing_ok: bool = False) -> None:
    """Remove a file. Raises OSError."""
    patiently(path.unlink, missing_ok)


def remove_tree(folder: Path) -> None:
    """Remove a folder with its files. What was removed before an error remains so. Raises OSError."""
    patiently(shutil.rmtree, os.fspath(folder))


def discard_tree(folder: Path) -> None:
    """Remove a folder with its files, as far as possible."""
    with contextlib.suppress(OSError):
        remove_tree(folder)
    shutil.rmtree(folder, ignore_errors=True)
