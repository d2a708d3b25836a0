"""Child process for a network of somebody else: it is ended at once on request, and at limits of time and memory.

A network may compute without end, need any memory, or crash the library; none of this reaches the window. Requests and
answers are JSON with arrays behind it. Nothing is unpickled.

ONNX network of somebody else in ONNX Runtime, in a child process: its inputs and outputs, runs that can be ended.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.core.messages import Message, first_line
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp, open_session

if TYPE_CHECKING:
    import onnxruntime

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


NUMPY_TYPES: dict[str, type[np.generic]] = {
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "bool": np.bool_,
}


@dataclass(frozen=True)
class Tensor:
    """Input or output of a network. shape: None for a free size. type: a key of `NUMPY_TYPES`, or another of ONNX."""

    name: str
    shape: tuple[int | None, ...]
    type: str

    def __str__(self) -> str:
        sizes = "×".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name} ({self.type} {sizes})"

    @property
    def dtype(self) -> type[np.generic]:
        return NUMPY_TYPES[self.type]


class ChildNetwork:
    """Network of a file, in a child process. Not for several threads at once, except `terminate`.

    Raises NetworkRefused if the file cannot be a network. inputs, outputs: after `load`. threads: of ONNX Runtime, 0
    for all. gpu: use a GPU if ONNX Runtime can. why: id of the message of a run that fails.
    """

    def __init__(self, path: Path, *, threads: int = 0, gpu: bool = False, why: str = "network.not_run") -> None:
        self.path = path
        self.stamp = network_stamp(path)
        self.inputs: dict[str, Tensor] = {}
        self.outputs: dict[str, Tensor] = {}
        self._how: Header = {"load": str(path), "threads": threads, "gpu": gpu, "why": why}
        self._process: NetworkProcess | None = None

    def load(self, cancelled: Cancelled) -> None:
        """Load the network in a new process. Raises NetworkRefused, NetworkCancelled."""
        self.terminate()
        if cancelled():
            raise NetworkCancelled
        process = self._process = NetworkProcess("infer")
        header, _ = process.ask(self._how, cancelled=cancelled)
        self.inputs, self.outputs = (
            {entry[0]: Tensor(entry[0], tuple(entry[1]), entry[2]) for entry in header[name]}
            for name in ("inputs", "outputs")
        )

    def run(self, feeds: Mapping[str, np.ndarray], outputs: Sequence[str], cancelled: Cancelled) -> list[np.ndarray]:
        """Return the named outputs. Raises NetworkRefused, and NetworkCancelled once `cancelled` returns True."""
        if self._process is None or not self._process.alive:  # killed to end an earlier run
            self.load(cancelled)
        if cancelled():
            raise NetworkCancelled
        assert self._process is not None
        request = {"inputs": list(feeds), "outputs": list(outputs)}
        return self._process.ask(request, list(feeds.values()), cancelled=cancelled, stoppable=True)[1]

    def terminate(self) -> None:
        """End the process now, and with it a run of another thread."""
        if self._process is not None:
            self._process.kill()


class InferenceWork:
    """Work of the child process: it loads a network and runs it."""

    def __init__(self) -> None:
        self._session: onnxruntime.InferenceSession | None = None
        self._options: onnxruntime.RunOptions | None = None
        self._why = ""

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        import onnxruntime

        if "load" in header:
            self._why = header["why"]
            session = self._session = open_session(Path(header["load"]), header["threads"], gpu=header["gpu"])
            entries = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
            return {name: [_signature(entry) for entry in found] for name, found in entries.items()}, []
        assert self._session is not None
        options = self._options = onnxruntime.RunOptions()
        options.log_severity_level = 4  # the error is reported by its exception
        try:
            found = self._session.run(header["outputs"], dict(zip(header["inputs"], arrays)), options)
        except Exception as error:  # the library raises many kinds
            raise NetworkRefused(self._why, why=first_line(error)) from error
        return {}, [np.asarray(array) for array in found]

    def stop(self) -> None:
        if self._options is not None:
            self._options.terminate = True


def _signature(entry: object) -> tuple[str, list[int | None], str]:
    """Return name, sizes and type of an input or output."""
    name, shape, kind = (getattr(entry, field) for field in ("name", "shape", "type"))
    sizes = [size if isinstance(size, int) and size > 0 else None for size in shape or ()]
    return name, sizes, kind.removeprefix("tensor(").removesuffix(")")
