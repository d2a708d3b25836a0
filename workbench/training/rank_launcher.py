"""Launcher front end of a run with several processes: starts Paddle's launcher, forwards commands and events.

The launcher gives every process the same stdin and mixes its own output with theirs. So this front process sends
commands to rank 0 through a pipe, reads events from events.jsonl, and prints go to RUN/ranks. If this process dies, the
pipe closes, and rank 0 saves and ends with all the others.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType

import psutil

from workbench.core.messages import Message
from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs import child_process
from workbench.core.runs.events import Failed, Finished, Started, decode, decode_command, encode_command
from workbench.core.runs.launch import RunLock, launcher_command, launcher_environment, processes, worker_command
from workbench.core.runs.run import Run
from workbench.inference.io.file_access import discard_tree
from workbench.training.device import check
from workbench.training.process_group import check_batch
from workbench.training.reporter import LAUNCHER_FOLDER, write_all

_POLL = 0.05
_GRACE = 10.0  # seconds for processes left behind by the launcher


def run_ranks(run: Run, pipe: int | None, *, resume: bool, keep_running: bool, lock: RunLock | None = None) -> int:
    """Train a run with several processes. Return the exit status.

    lock: lock of the run; released before the processes start, as rank 0 acquires it. Raises DeviceMissing,
    BadSettings, RunInUse, and WorkerFailed if the processes ended without a final event.
    """
    settings = run.settings()
    device = check(settings.device)
    check_batch(settings.batch, processes(device))
    run.ranks.mkdir(exist_ok=True)
    for old in run.ranks.iterdir():
        old.unlink()
    # The launcher writes its whole environment, secrets included, beside its logs.
    own = Path(tempfile.mkdtemp(prefix=LAUNCHER_FOLDER))
    try:
        worker = worker_command("train", run.root, "--apart", *(["--resume"] if resume else []))
        front = RankLauncher(run, pipe, keep_running=keep_running)
        with (run.ranks / "launcher.log").open("ab") as log:
            environment = launcher_environment(device)
            if lock is not None:
                lock.release()
            environment.pop("WORKBENCH_KEEP_RUNNING", None)  # this process decides
            code = front.run_command(launcher_command(device, own, *worker), environment, log.fileno())
            for path in sorted(own.glob("workerlog.*")):  # printed before a process redirected its output
                log.write(path.read_bytes())
    finally:
        discard_tree(own)
    if front.ending is None:
        raise failure_of(run, code)
    return 0 if isinstance(front.ending, Finished) else 1


class RankLauncher:
    """Front process of a run. ending: last event if it was a final one."""

    def __init__(self, run: Run, pipe: int | None, *, keep_running: bool) -> None:
        self.run, self._pipe, self._keep_running = run, pipe, keep_running
        self.ending: Finished | Failed | None = None
        path = run.events_path
        self._read_to = path.stat().st_size if path.exists() else 0
        self._signals = 0

    def run_command(self, command: list[str], environment: dict[str, str], log: int) -> int:
        """Run the launcher to its end and make sure that none of its processes is left. Return its exit status."""
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log) as process:
            for kind in (signal.SIGTERM, signal.SIGINT):
                signal.signal(kind, lambda number, frame: self._on_signal(process, number, frame))
            threading.Thread(target=self._forward_commands, args=(process,), daemon=True, name="commands").start()
            known: dict[int, psutil.Process] = {}
            try:
                while process.poll() is None:
                    with contextlib.suppress(psutil.Error):
                        children = psutil.Process(process.pid).children(recursive=True)
                        known.update({child.pid: child for child in children})
                    self._report()
                    time.sleep(_POLL)
            finally:
                _close_input(process)
                _end(process, list(known.values()))
                self._report()
            return process.returncode

    def _report(self) -> None:
        """Forward new events. An incomplete line is left for the next call."""
        try:
            with self.run.events_path.open("rb") as file:
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines(keepends=True):
            event = decode(line.decode("utf-8", "replace"))
            if isinstance(event, (Started, Finished, Failed)):
                self.ending = None if isinstance(event, Started) else event
            if event is not None and self._pipe is not None and not write_all(self._pipe, line):
                self._pipe = None

    def _forward_commands(self, process: subprocess.Popen[bytes]) -> None:
        """Forward commands from stdin to rank 0, and its end too, unless the run continues without the window."""
        rest = b""
        with contextlib.suppress(OSError):
            while data := os.read(0, 65536):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    if decode_command(line.decode("utf-8", "replace")) == ("keep_running", None):
                        self._keep_running = True  # continues without the window, but not without this process
                    else:
                        _send(process, line + b"\n")
            if not self._keep_running:
                _close_input(process)

    def _on_signal(self, process: subprocess.Popen[bytes], number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            signal.default_int_handler(number, frame)
        _send(process, (encode_command("stop") + "\n").encode())


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.flush()


def _close_input(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        assert process.stdin is not None
        process.stdin.close()


def _end(process: subprocess.Popen[bytes], children: list[psutil.Process]) -> None:
    """Wait until all processes are gone. Kill those left, the launcher last because it would reap them."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    _, alive = psutil.wait_procs(children, timeout=_GRACE if process.poll() is not None else 0)
    for child in alive:
        with contextlib.suppress(psutil.Error):
            child.kill()
    if process.poll() is None:
        process.kill()
        process.wait()


def failure_of(run: Run, code: int) -> Problem:
    """Return the failure reported by rank 0, else by the process that ended first, else that of the launcher's log."""
    own = _reported(run, 0)
    if own is not None:
        return own
    log = run.ranks / "launcher.log"
    match = re.search(r"Container rank (\d+) status \w+ .*? code (-?\d+)", child_process.log_tail(log, lines=400))
    if match is None:
        why = child_process.cause(code, child_process.log_tail(log))
        return WorkerFailed(what=Message("process.training"), why=why, log=str(log))
    number = int(match[1])
    reported = _reported(run, number)
    if reported is not None:
        return reported
    path = run.ranks / f"rank-{number}.log"
    cause = child_process.cause(int(match[2]), child_process.log_tail(path))
    why = Message("ranks.of_process", n=number + 1, why=cause)
    return WorkerFailed(what=Message("process.training"), why=why, log=str(path))


def _reported(run: Run, number: int) -> Problem | None:
    """Return the failure in the events of a process, e.g. RunInUse of rank 0 without the lock."""
    with contextlib.suppress(OSError):
        for line in (run.ranks / f"rank-{number}.jsonl").read_text("utf-8", "replace").splitlines():
            event = decode(line)
            if isinstance(event, Failed):
                return child_process.to_problem(event, "training", run.log_path)
    return None


def launch(arguments: list[str]) -> None:
    """Run Paddle's launcher in this process, for a packed program that has no Python to run it with."""
    from paddle.distributed.launch.main import launch as launch_ranks

    sys.argv[1:] = arguments
    launch_ranks()
