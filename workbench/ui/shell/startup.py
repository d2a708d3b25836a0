"""Start of the window's process, without work of Python and PySide6 that only delays it."""

from __future__ import annotations

import builtins
import gc
import os
from pathlib import Path


def open_window(project: Path | None) -> int:
    """Open the window, on `project` if given, and return the exit code after it is closed."""
    gc.disable()  # what the imports create remains; `GarbageControl` collects from the first window on
    restore_import()
    # The models of stored objects use no plugins of pydantic, which would search all installed packages for them.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # NumPy's own threads spin while they wait for each other, on cores that the window and a training need.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from workbench.ui.shell.application import run

    return run(project)


def restore_import() -> None:
    """Let Python import modules without the function that PySide6 puts before it.

    That function reads the source of every imported module, a tenth of the time of the start, to prepare for
    `from __feature__ import ...`, which is not used here.
    """
    import PySide6.QtCore  # noqa: F401 - it replaces the function

    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
