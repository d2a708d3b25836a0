"""A quiet end of a command-line program whose output nobody reads any more, as in `predict.py ... | head`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def end_quietly(work: Callable[[], int]) -> int:
    """Return the exit status of `work`, or 1 if stdout or stderr is a pipe that was closed at its other end.

    Neither a traceback nor the interpreter's own complaint at its end is written then.
    """
    status = 1
    try:
        status = work()
    except BrokenPipeError:
        pass
    finally:
        broken = [stream for stream in (sys.stdout, sys.stderr) if not _flushed(stream)]
    return 1 if broken else status


def _flushed(stream: object) -> bool:
    """Write what is left in the buffer of `stream`; where that fails, let it go nowhere."""
    try:
        if stream is not None:
            stream.flush()  # type: ignore[attr-defined]
    except ValueError:  # closed in this process
        return True
    except OSError:
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # type: ignore[attr-defined]
            os.close(nowhere)
        except (OSError, ValueError):
            pass  # no file at all
        return False
    return True
