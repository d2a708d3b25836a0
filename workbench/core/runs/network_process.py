"""Child process for a network of somebody else: it is ended at once on request, and at limits of time and memory.

A network may compute without end, need any memory, or crash the library; none of this reaches the window. Requests and
answers are JSON with arrays behind it. Nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

import numpy as np

from workbench.core.messages import Message
from workbench.core.runs.onnx_files import NetworkRefused

FLAG = "--network"  # of the program, before the name of the work
SECONDS = 120.0  # for one request
GRACE = 1.0  # seconds after the request to stop, for a process that is used again
_POLL = 0.02  # seconds
_LEAST_MEMORY = 2 << 30  # bytes
_MAX_HEADER = 1 << 20
_STACK = 64 << 20  # bytes: networks within networks are read by recursion

Header = dict[str, Any]
Frame = tuple[Header, list[np.ndarray]]
Cancelled = Callable[[], bool]


class NetworkCancelled(Exception):
    """Request that was canceled by the caller."""


class NetworkWork(Protocol):
    """Work of the child process. Each request is handled in a thread, one at a time."""

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        """Return the answer. Raises NetworkRefused."""
        ...

    def stop(self) -> None:
        """End the request that is being handled, in another thread."""
        ...


class NetworkProcess:
    """Child process. For one thread, except `kill`. work: name of a work in `workbench.__main__`."""

    def __init__(self, work: str) -> None:
        from workbench.core.runs.launch import program_command, worker_environment

        self._answers: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            program_command(FLAG, work),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=worker_environment(),
            creationflags=subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0,
        )
        self._ended = threading.Event()  # `poll` returns None while another thread waits for the process
        self._end = weakref.finalize(self, self._process.kill)  # also at the end of this program
        arguments = self._process, self._answers, self._ended
        threading.Thread(target=_read_answers, args=arguments, daemon=True).start()

    @property
    def alive(self) -> bool:
        return not self._ended.is_set() and self._process.poll() is None

    def ask(
        self, header: Header, arrays: Sequence[np.ndarray] = (), *, cancelled: Cancelled, stoppable: bool = False
    ) -> Frame:
        """Send a request and return its answer.

        cancelled: polled; the process is then killed, if `stoppable` only if it does not stop by itself. Raises
        NetworkRefused and NetworkCancelled.
        """
        self._send(header, arrays)
        until, end = time.monotonic() + SECONDS, math.inf
        while True:
            with contextlib.suppress(queue.Empty):
                return self._checked(self._answers.get(timeout=_POLL), cancelled)
            if cancelled() and end == math.inf:
                end = time.monotonic() + (GRACE if stoppable else 0.0)
                self._send({"stop": True})
            if time.monotonic() >= end:
                self.kill()
            elif time.monotonic() >= until:
                self.kill()
                raise NetworkRefused("network.too_slow", n=int(SECONDS))
            elif self._used_memory() > memory_limit():
                self.kill()
                raise NetworkRefused("network.memory", n=round(memory_limit() / 2**30))

    def kill(self) -> None:
        """End the process now; a request of another thread is refused, or canceled if its `cancelled` returns True."""
        self._end()

    def _checked(self, answer: Frame | None, cancelled: Cancelled) -> Frame:
        if cancelled():
            raise NetworkCancelled
        if answer is None:
            raise NetworkRefused("network.ended")
        header, arrays = answer
        if "unexpected" in header:
            raise RuntimeError(header["unexpected"])
        if "refused" in header:
            why = Message.from_json(header["text"], header["refused"])
            raise NetworkRefused(why.id, **why.fields) if isinstance(why, Message) else RuntimeError(why)
        return header, arrays

    def _send(self, header: Header, arrays: Sequence[np.ndarray] = ()) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # the process has ended, which `ask` notices
            write_frame(self._process.stdin, header, arrays)

    def _used_memory(self) -> int:
        import psutil

        with contextlib.suppress(psutil.Error):
            return psutil.Process(self._process.pid).memory_info().rss
        return 0


def _read_answers(
    process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Frame | None], ended: threading.Event
) -> None:
    """Read the answers of a child process, and None after its end."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(EOFError, OSError, ValueError), process.stdout:
        while True:
            answers.put(read_frame(process.stdout))
    ended.set()
    process.kill()
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.wait()
    answers.put(None)


def memory_limit() -> int:
    """Return the number of bytes that a child process may use: half of this computer's memory."""
    import psutil

    return max(_LEAST_MEMORY, psutil.virtual_memory().total // 2)


# --- messages -------------------------------------------------------------------------------------


def write_frame(stream: IO[bytes], header: Header, arrays: Sequence[np.ndarray] = ()) -> None:
    """Write a JSON object and arrays. Raises OSError."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    head = json.dumps({**header, "arrays": [[array.dtype.str, array.shape] for array in arrays]}).encode()
    stream.write(struct.pack("<Q", len(head)) + head)
    for array in arrays:
        stream.write(array.reshape(-1).view(np.uint8).data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame:
    """Read what `write_frame` has written. Raises EOFError at the end, ValueError for anything else."""
    (size,) = struct.unpack("<Q", _read_exactly(stream, 8))
    if size > _MAX_HEADER:
        raise ValueError("no frame")
    header = json.loads(_read_exactly(stream, size))
    arrays = []
    for kind, shape in header.pop("arrays"):
        dtype = np.dtype(kind)
        data = _read_exactly(stream, math.prod(shape) * dtype.itemsize)
        arrays.append(np.frombuffer(data, dtype).reshape(shape))
    return header, arrays


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


# --- child process --------------------------------------------------------------------------------


def main(work: NetworkWork) -> int:
    """Handle requests on the standard input until it ends, as it does when the parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent decides
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print there
    threading.stack_size(_STACK)

    def handle(header: Header, arrays: list[np.ndarray]) -> None:
        try:
            header, arrays = work.handle(header, arrays)
        except NetworkRefused as refusal:
            message = Message.of(refusal)
            header, arrays = {"refused": message.to_json() if isinstance(message, Message) else {}, "text": message}, []
        except MemoryError:
            message = Message("network.memory", n=round(memory_limit() / 2**30))
            header, arrays = {"refused": message.to_json(), "text": message}, []
        except Exception:
            header, arrays = {"unexpected": traceback.format_exc()}, []
        with contextlib.suppress(OSError):
            write_frame(target, header, arrays)

    while True:
        try:
            header, arrays = read_frame(source)
        except (EOFError, OSError):
            os._exit(0)  # without waiting for the network
        if "stop" in header:
            work.stop()
        else:
            threading.Thread(target=handle, args=(header, arrays), daemon=True).start()
