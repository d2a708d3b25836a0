"""Clean exit of a command-line program whose output pipe was closed, as in `predict.py ... | head`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def exit_on_broken_pipe(function: Callable[[], int]) -> int:
    """Return the exit status of `function`, or 1 if stdout or stderr is a pipe closed by its reader.

    In that case neither a traceback nor the interpreter's message at exit is written.
    """
    status = 1
    try:
        status = function()
    except BrokenPipeError:
        pass
    finally:
        broken = [stream for stream in (sys.stdout, sys.stderr) if not _flush(stream)]
    return 1 if broken else status


def _flush(stream: object) -> bool:
    """Flush `stream`. If that fails, redirect it to the null device and return False."""
    try:
        if stream is not None:
            stream.flush()  # type: ignore[attr-defined]
    except ValueError:  # closed in this process
        return True
    except OSError:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())  # type: ignore[attr-defined]
            os.close(null)
        except (OSError, ValueError):
            pass  # not a file
        return False
    return True
