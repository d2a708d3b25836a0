"""Count of the file operations below a folder, of which a network folder needs milliseconds for each."""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

NAMES = ("stat", "lstat", "scandir", "listdir", "open", "mkdir", "unlink", "replace", "rename", "readlink")


@contextlib.contextmanager
def counted(folder: Path, delay: float = 0.0) -> Iterator[Counter[str]]:
    """Count the calls of Python's functions, in all threads. SQLite's own and those of an open file are not counted.

    delay: seconds that each one takes longer.
    """
    found: Counter[str] = Counter()

    def counting(access: Callable, name: str) -> Callable:
        def call(path: Any = ".", *rest: Any, **options: Any) -> Any:
            if str(path).startswith(str(folder)):
                found[name] += 1
                time.sleep(delay)
            return access(path, *rest, **options)

        return call

    with contextlib.ExitStack() as stack:
        for name in NAMES:
            stack.enter_context(mock.patch.object(os, name, counting(getattr(os, name), name)))
        stack.enter_context(mock.patch.object(io, "open", counting(io.open, "open")))
        yield found
