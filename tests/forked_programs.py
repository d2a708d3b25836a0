"""Programs of the workbench that are forked from a process which has imported their libraries.

The tests start several hundred programs, and importing Paddle takes two seconds of a processor. While `ForkedPrograms`
is installed, `subprocess.Popen` forks the commands of `PROGRAMS` instead. What a test sees of them is what `Popen`
promises: process ID, parent, process group, standard streams, environment, working directory, signals, exit status.
Only the command line in the list of processes is that of the server. Tests marked `new_processes` start all programs as
the application does, as do platforms other than Linux, which alone can choose the parent of an orphan.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import fork_server
from tests.fork_server import receive

ROOT = Path(__file__).resolve().parent.parent
# Prefixes of variables that are read where they are needed. Others may be read while a library is imported: a program
# with another value of one of them is started as a new process.
READ_LATE = ("CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LC_", "PYTEST_", "QT_", "TMPDIR", "WIN_PD_", "WORKBENCH_", "XDG_")
# Variables that libraries set in this process when they are imported.
SET_BY_LIBRARIES = (
    "CUSTOM_DEVICE_ROOT",
    "GLOG_minloglevel",
    "KMP_",
    "LD_LIBRARY_PATH",
    "MKL_DEBUG_CPU_TYPE",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "OPENCV_IO_MAX_IMAGE_PIXELS",
)
_PR_SET_CHILD_SUBREAPER = 36
_execute_child = subprocess.Popen._execute_child  # type: ignore[attr-defined]
_ARGUMENTS = inspect.signature(_execute_child)


@dataclass(frozen=True)
class Program:
    """Module to fork for `python [-P] -m module`, and the modules that its server imports: none starts a thread."""

    module: str
    imports: tuple[str, ...]


_LIBRARIES = ("filelock", "jinja2", "PIL.PngImagePlugin")  # that both programs import when they need them
PROGRAMS = {
    program.module: program
    for program in (
        Program(
            "workbench.training",
            ("paddle", "onnx", "workbench.training.training_loop", *_LIBRARIES),
        ),
        Program(
            "workbench",
            (
                "workbench.cli.verb_runner",
                "workbench.cli.predict",
                "workbench.cli.serving.http_app",
                "workbench.cli.train",
                "workbench.cli.evaluate",
                "workbench.core.runs.network_process",
                "onnxruntime",
                *_LIBRARIES,
            ),
        ),
    )
}


class ForkServer:
    """Server process for one program with one environment. Its children become children of this process.

    Raises ConnectionError if the server cannot fork.
    """

    def __init__(self, program: Program, environment: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", fork_server.__file__, str(theirs.fileno()), *program.imports],
                # Threads for linear algebra must not run before a fork.
                env={**environment, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
            )
        try:
            ready = receive(self._socket, 1)
        except ConnectionError:
            ready = b""
        if ready != b"1":
            self.close()
            raise ConnectionError

    def fork(self, request: dict[str, Any], streams: tuple[int, int, int]) -> int:
        """Run `request` in a new process with these file descriptors as standard streams. Return its ID."""
        data = json.dumps(request).encode()
        files = array.array("i", streams).tobytes()
        with self._lock, _adopting_orphans():
            self._socket.sendmsg([len(data).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
            self._socket.sendall(data)
            return int.from_bytes(receive(self._socket, 4), "big")

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may be read during an import."""
    return {name: value for name, value in environment.items() if not name.startswith((*READ_LATE, *SET_BY_LIBRARIES))}


@contextlib.contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Make this process, instead of process 1, the parent of orphans among its descendants."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class ForkedPrograms:
    """Replacement of the part of `Popen` that starts a process.

    enabled: False while a test needs new processes. forked: number of forked processes. environments: environments with
    which each program is forked, by module; a program with other variables is started as a new process.
    """

    def __init__(self, environments: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
        self.enabled = True
        self.forked = 0
        self._environments = environments
        self._servers: dict[tuple, ForkServer | None] = {}  # by program and its variables
        self._lock = threading.Lock()

    def method(self) -> Callable[..., None]:
        """Return the replacement of `Popen._execute_child`."""

        def execute_child(process: subprocess.Popen, *arguments: Any) -> None:
            call = _ARGUMENTS.bind(process, *arguments).arguments
            if not self._fork(process, call):
                _execute_child(process, *arguments)

        return execute_child

    def _fork(self, process: subprocess.Popen, call: dict[str, Any]) -> bool:
        command = _parse(call["args"])
        special = any(call[name] for name in ("pass_fds", "preexec_fn", "shell", "executable"))
        if not self.enabled or command is None or special or not call["close_fds"]:
            return False
        environment = dict(os.environ if call["env"] is None else call["env"])
        server = self._server(command["module"], environment)
        if server is None:
            return False
        group = call.get("process_group")
        request = {
            **command,
            "environment": environment,
            "folder": os.fspath(call["cwd"] or Path.cwd()),
            "session": bool(call["start_new_session"]),
            "group": None if group == -1 else group,
        }
        pipes = (call["p2cread"], call["c2pwrite"], call["errwrite"])
        streams = tuple(own if pipe == -1 else pipe for own, pipe in enumerate(pipes))
        try:
            process.pid = server.fork(request, streams)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # fails unless it is our child
        except (ConnectionError, ChildProcessError) as error:
            if isinstance(error, ChildProcessError):
                os.kill(process.pid, signal.SIGKILL)
            self._servers = {key: None if one is server else one for key, one in self._servers.items()}
            server.close()
            return False
        process._child_created = True  # type: ignore[attr-defined]
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        process._close_pipe_fds(*(call[name] for name in names))  # type: ignore[attr-defined]
        self.forked += 1
        return True

    def _server(self, module: str, environment: Mapping[str, str]) -> ForkServer | None:
        """Return the running server of a program, or None if it does not suit this environment."""
        wanted = relevant(environment)
        suitable = (one for one in self._environments.get(module, ()) if relevant(one) == wanted)
        expected = next(suitable, None)
        if expected is None:
            return None
        with self._lock:
            key = module, *sorted(wanted.items())
            if key not in self._servers:
                self._servers[key] = None
                with contextlib.suppress(ConnectionError):
                    self._servers[key] = ForkServer(PROGRAMS[module], expected)
            return self._servers[key]

    def close(self) -> None:
        for server in self._servers.values():
            if server is not None:
                server.close()


def _parse(command: Any) -> dict[str, Any] | None:
    """Return module, arguments and the option `-P` of a command that runs one of `PROGRAMS`, else None."""
    if isinstance(command, (str, bytes, os.PathLike)):
        return None
    words = [os.fsdecode(word) for word in command]
    safe_path = words[1:2] == ["-P"]
    if safe_path:
        del words[1]
    if words[:2] == [sys.executable, "-m"] and words[2] in PROGRAMS:
        return {"module": words[2], "arguments": words[3:], "safe_path": safe_path}
    return None
