"""Standard streams and early end of a command-line program: Ctrl-C, and an output pipe that was closed, as in
`predict.py ... | head`.

The first Ctrl-C stops after the current image, the second one during it.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any


class GracefulInterrupt:
    """Stop request. requested: stop after the current image. at_once: stop during it."""

    def __init__(self) -> None:
        self._count = 0
        self._requested = threading.Event()

    def requested(self) -> bool:
        return self._count > 0

    def at_once(self) -> bool:
        return self._count > 1

    def request(self) -> None:
        self._count += 1
        self._requested.set()

    def wait(self, seconds: float) -> None:
        """Sleep for `seconds`, or until a stop is requested."""
        self._requested.wait(seconds)


# Ctrl+C, and on Windows Ctrl+Break, with which service managers stop a program.
INTERRUPTS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))

_CLOSED = (2, 5, 6)  # Windows: the console was closed, the user logs off, the system shuts down


@functools.cache
def interrupt_when_closed() -> object:
    """Let closing the console, logging off and shutting down act as Ctrl+C, from now on. Of Windows only.

    Windows ends the process when its handler returns, and otherwise after five seconds: the handler never does, so that
    the program can end by itself. Where SIGINT is ignored, it only waits.
    """
    if sys.platform != "win32":
        return None

    def handle(event: int) -> bool:
        if event in _CLOSED:
            _thread.interrupt_main()
            threading.Event().wait()
        return False

    handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint)(handle)
    ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(handler, True)
    return handler  # kept by the cache as long as Windows may call it


@contextmanager
def on_interrupts(
    handle: Callable[..., object], signals: Sequence[signal.Signals] = INTERRUPTS
) -> Iterator[Callable[[], None]]:
    """Call `handle` with the number and the frame at each of the signals within the context, in the main thread only.

    Yields a function that restores their former effect earlier.
    """
    previous: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for kind, handler in previous.items():
            signal.signal(kind, handler)

    if threading.current_thread() is threading.main_thread():
        previous = {kind: signal.signal(kind, handle) for kind in signals}
        interrupt_when_closed()
    try:
        yield restore
    finally:
        restore()


@contextmanager
def handle_interrupts(on_first: Callable[[], None]) -> Iterator[GracefulInterrupt]:
    """Turn interrupts into stop requests within the context.

    on_first: called at the first signal, to inform the user. A third signal has its default effect.
    """
    stop = GracefulInterrupt()

    def handle(number: int, frame: FrameType | None) -> None:
        stop.request()
        if not stop.at_once():
            with suppress(RuntimeError):  # the signal has interrupted a print to the same stream
                on_first()
        else:
            restore()

    with on_interrupts(handle) as restore:
        yield stop


@contextmanager
def reserved_stdout() -> Iterator[None]:
    """Reserve stdout for `print`; what libraries write to its descriptor appears on stderr.

    Paddle's kernels print while they compute, which would break JSON.
    """
    stream = sys.stdout
    try:
        stream.flush()
        os.fstat(2)
        kept = os.dup(1) if stream.fileno() == 1 else -1
    except (AttributeError, OSError, ValueError):  # no stdout or stderr, or a stdout that is not a file
        kept = -1
    if kept < 0:
        yield
        return
    os.dup2(2, 1)
    with os.fdopen(kept, "w", 1 if stream.line_buffering else -1, stream.encoding, stream.errors) as sys.stdout:
        try:
            yield
        finally:
            flushed = _flush(sys.stdout)
            os.dup2(kept, 1)
            sys.stdout = stream
    if not flushed:
        raise BrokenPipeError


def exit_on_broken_pipe(function: Callable[[], int], *, as_json: bool = False) -> int:
    """Return the exit status of `function`, or 1 if stdout or stderr is a pipe closed by its reader.

    In that case neither a traceback nor the interpreter's message at exit is written. as_json: stdout is for one
    program that reads it, see `reserved_stdout`.
    """
    status = 1
    try:
        with reserved_stdout() if as_json else nullcontext():
            status = function()
    except BrokenPipeError:
        pass
    finally:
        broken = [stream for stream in (sys.stdout, sys.stderr) if not _flush(stream)]
    return 1 if broken else status


def _flush(stream: Any) -> bool:
    """Flush `stream`. If that fails, redirect it to the null device and return False."""
    try:
        if stream is not None:
            stream.flush()
    except ValueError:  # closed in this process
        return True
    except OSError:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
        except (OSError, ValueError):
            pass  # not a file
        return False
    return True
