"""Server that forks programs from a process with their libraries imported, see `tests.forked_programs`."""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import runpy
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

# Variable with which a forked training ends without the evaluation under changed lighting, half of a tiny run.
SHORT_END = "WORKBENCH_TEST_SHORT_END"


class IdleThreads(importlib.abc.MetaPathFinder):
    """Finder that changes ONNX Runtime when it is imported: its threads do not wait for further work in a busy loop.

    They would use a third of the processors in tests of inference, of which several run at once. lazy: ONNX Runtime is
    imported when it is used first, because it starts a thread then, after which no process can be forked.
    """

    def __init__(self, *, lazy: bool) -> None:
        self._lazy = lazy

    @classmethod
    def install(cls, *, lazy: bool = False) -> None:
        if "onnxruntime" not in sys.modules and not any(isinstance(finder, cls) for finder in sys.meta_path):
            sys.meta_path.insert(0, cls(lazy=lazy))

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != "onnxruntime":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)  # for a later import: this call may only ask whether the module is installed
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_change(module: Any) -> None:
                execute(module)
                _disable_busy_loops(module)

            spec.loader.exec_module = execute_and_change
            if self._lazy:
                spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def _disable_busy_loops(onnxruntime: Any) -> None:
    session, create = onnxruntime.InferenceSession, onnxruntime.InferenceSession.__init__

    def create_idle(self: Any, model: Any, sess_options: Any = None, *arguments: Any, **options: Any) -> None:
        sess_options = sess_options or onnxruntime.SessionOptions()
        sess_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        create(self, model, sess_options, *arguments, **options)

    session.__init__ = create_idle


def receive(connection: socket.socket, count: int) -> bytes:
    """Return `count` bytes. Raises ConnectionError at the end of the connection."""
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def serve(connection: socket.socket, imports: Sequence[str]) -> Callable[[], None] | None:
    """Fork a process for each request until the connection ends. Return the work of a forked process, else None."""
    IdleThreads.install(lazy=True)
    for name in imports:
        with contextlib.suppress(ImportError):  # of an optional library; a program that needs it reports that
            __import__(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all memory
    connection.sendall(b"1" if _can_fork() else b"0")
    while True:
        size, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(3 * array.array("i").itemsize))
        if not size:
            return None
        streams = array.array("i", ancillary[0][2])
        request = json.loads(receive(connection, int.from_bytes(size, "big")))
        pid = _fork_orphan(request, streams)
        if not pid:
            connection.close()
            return lambda: _run(request)
        for file in streams:
            os.close(file)
        connection.sendall(pid.to_bytes(4, "big"))


def _can_fork() -> bool:
    """Return True if a forked process can compute: no other thread is running, and no GPU is initialized."""
    paddle = sys.modules.get("paddle")
    return len(os.listdir("/proc/self/task")) == 1 and not (paddle and paddle.is_compiled_with_cuda())


def _fork_orphan(request: dict[str, Any], streams: array.array) -> int:
    """Fork a process whose parent ends as soon as it is prepared. Return its ID, or 0 in the process itself."""
    reader, writer = os.pipe()
    between = os.fork()
    if between:
        os.close(writer)
        with os.fdopen(reader, "rb") as file:
            pid = int.from_bytes(file.read(), "big")
        os.waitpid(between, 0)
        return pid
    prepared, preparing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(preparing)
        os.read(prepared, 1)  # up to its end, as nothing is written
        os.write(writer, pid.to_bytes(4, "big"))
        os._exit(0)
    if request["session"]:
        os.setsid()
    elif request["group"] is not None:
        os.setpgid(0, request["group"])
    for number, file in enumerate(streams):
        os.dup2(file, number)
    for file in (reader, writer, prepared, *streams):
        os.close(file)
    _open_streams()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if not request["safe_path"]:
        sys.path.insert(0, request["folder"])
    os.close(preparing)
    return 0


def _open_streams() -> None:
    """Open the standard streams anew, as their methods depend on the kind of file."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        unbuffered = number and old.write_through  # input is always buffered
        file = os.fdopen(number, "wb" if number else "rb", 0 if unbuffered else -1, closefd=False)
        new = io.TextIOWrapper(
            file, old.encoding, old.errors, line_buffering=name == "stderr", write_through=old.write_through
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _run(request: dict[str, Any]) -> None:
    """Run a program and end the process without freeing the imported modules, which takes half a second."""
    sys.argv[:] = ["-m", *request["arguments"]]
    if request["module"] == "workbench.training" and SHORT_END in os.environ:
        from workbench.training import finalize

        finalize.lighting_table = lambda measure, images, *, seconds: None
    status = 0
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        status = end.code or 0
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    work = serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
    if work is not None:
        work()
