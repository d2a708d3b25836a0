"""Several server processes on one socket. The first process starts them, replaces dead ones and stops them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.http_server import Server, announce
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import WIDTH, Counters
from workbench.cli.sinks.delivery_queue import SpoolUnusable
from workbench.cli.sinks.result_outputs import ServeOutputs, SinkPlan
from workbench.core.runs.launch import SAFE_PATH, is_frozen
from workbench.inference.cpu_environment import cores
from workbench.inference.predictor import Predictor
from workbench.inference.process_memory import keep_freed_memory

_SPAWN = multiprocessing.get_context("spawn")  # a network's threads do not survive a fork
_READY, _STOP = "ready", "stop"
# Number of consecutive processes replaced although they ended within this many seconds; one more raises WorkersFailed.
_MAX_EARLY_EXITS, _EARLY_EXIT_SECONDS = 3, 10.0


@dataclass(frozen=True, kw_only=True)
class ServerPlan:
    """Configuration of each process. folder: the export. threads: of the network; None for the model's default.

    sinks: result outputs, None without any.
    """

    folder: str
    engine: str
    threads: int | None
    token: str | None
    limits: Limits
    workers: int
    hosts: frozenset[str] | None = None
    sinks: SinkPlan | None = None

    def run(
        self,
        predictor: Predictor,
        counters: Counters,
        row: int,
        serve: Callable[[FastAPI], None],
    ) -> None:
        """Create the application of the process with number `row`, call `serve` with it, and close its outputs."""
        with contextlib.ExitStack() as stack:
            outputs = None
            if self.sinks:
                outputs = stack.enter_context(
                    ServeOutputs(self.sinks, predictor.settings, row=row, log=announce, on_change=counters.set_sink)
                )
            serve(
                create_application(
                    predictor.settings,
                    predictor.engine,
                    limits=self.limits,
                    token=self.token,
                    counters=counters,
                    hosts=self.hosts,
                    on_result=outputs.offer if outputs else None,
                )
            )


class WorkersFailed(Exception):
    """The server processes do not start, or end right after their start."""


def serve_alone(plan: ServerPlan, predictor: Predictor, bound: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve in this process until it is stopped."""
    plan.run(predictor, Counters(), 0, lambda app: Server(app, plan.limits, on_listening).run(sockets=[bound]))


def serve_with_workers(plan: ServerPlan, bound: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve in plan.workers processes until SIGINT or SIGTERM. on_listening: called once all processes accept requests.

    Raises WorkersFailed.
    """
    _WorkerPool(plan, bound, on_listening).run()


class _WorkerPool:
    def __init__(self, plan: ServerPlan, bound: socket.socket, on_listening: Callable[[], None]) -> None:
        self._plan = plan
        self._bound = bound
        self._on_listening = on_listening
        self._cells = _SPAWN.RawArray("d", WIDTH * plan.workers)
        self._workers: list[_Worker] = []
        self._stopping = False

    def run(self) -> None:
        # The processes import nothing from the current folder; for Python 3.10 see `start_safely`.
        os.environ.setdefault("PYTHONSAFEPATH", "1")
        previous = {kind: signal.signal(kind, self._interrupt) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._workers = [self._start(row) for row in range(self._plan.workers)]
            self._watch()
        finally:
            self._stop()
            for kind, handler in previous.items():
                signal.signal(kind, handler)

    def _interrupt(self, number: int, frame: Any) -> None:
        self._stopping = True

    def _start(self, row: int) -> _Worker:
        pipe, child_pipe = _SPAWN.Pipe()
        process = _SPAWN.Process(
            target=_work, args=(self._plan, self._bound, self._cells, row, child_pipe), name=f"server {row}"
        )
        start_safely(process)
        child_pipe.close()  # otherwise neither process would notice the end of the other
        return _Worker(process, pipe, time.monotonic())

    def _watch(self) -> None:
        announced, early_exits = False, 0
        while not self._stopping:
            wait([worker.pipe for worker in self._workers], timeout=0.2)
            for row, worker in enumerate(self._workers):
                if worker.is_dead() and not self._stopping:
                    early_exits = early_exits + 1 if time.monotonic() - worker.started < _EARLY_EXIT_SECONDS else 0
                    if not worker.ready or early_exits > _MAX_EARLY_EXITS:
                        raise WorkersFailed
                    announce(f"A server process ended with {worker.process.exitcode}. It is replaced.")
                    worker.pipe.close()
                    self._workers[row] = self._start(row)
            if not announced and all(worker.ready for worker in self._workers):
                announced = True
                self._on_listening()

    def _stop(self) -> None:
        self._bound.close()  # otherwise the port stays open while the other processes finish
        for worker in self._workers:
            worker.request_stop()
        until = time.monotonic() + self._plan.limits.seconds + 15
        for worker in self._workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    started: float
    ready: bool = False

    def is_dead(self) -> bool:
        """Return True if the process has ended. Also reads its messages and updates `ready`."""
        try:
            while self.pipe.poll():
                self.ready = self.pipe.recv() == _READY or self.ready
        except (EOFError, OSError):
            self.process.join(5)
            return True
        return not self.process.is_alive()

    def request_stop(self) -> None:
        with contextlib.suppress(OSError):  # the process has ended already
            self.pipe.send(_STOP)


def _work(plan: ServerPlan, bound: socket.socket, cells: Any, row: int, pipe: Connection) -> None:
    """Run one server process until it is ordered to stop or the first process has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one sends the order to stop
    keep_freed_memory()
    try:
        predictor = Predictor.open(plan.folder, engine=plan.engine, threads=plan.threads)
    except Exception as error:
        announce(f"A server process cannot start: {error}")
        sys.exit(1)

    def serve(app: FastAPI) -> None:
        server = Server(app, plan.limits, lambda: pipe.send(_READY), interrupts=(signal.SIGTERM,))

        def wait_for_stop() -> None:
            with contextlib.suppress(EOFError, OSError):
                pipe.recv()
            server.stop()

        threading.Thread(target=wait_for_stop, daemon=True, name="orders").start()
        server.run(sockets=[bound])

    try:
        plan.run(predictor, Counters(cells, row), row, serve)
    except SpoolUnusable as problem:
        announce(str(problem))
        sys.exit(1)


def start_safely(process: multiprocessing.process.BaseProcess) -> None:
    """Start a process that imports no standard module from the current folder.

    Before Python 3.11 no option prevents that for processes of multiprocessing. The process is therefore started in the
    folder of the standard library; multiprocessing returns to the current folder after its own imports.
    """
    if SAFE_PATH or is_frozen():
        process.start()
        return
    before = os.getcwd()
    os.chdir(Path(os.__file__).parent)
    try:
        process.start()
    finally:
        os.chdir(before)


def threads_each(workers: int, requested: int) -> int | None:
    """Return the network's threads per process, or None for the model's setting. requested: that setting, 0 for all
    cores, which the processes then share.
    """
    if workers == 1 or requested:
        return None
    return max(1, cores() // workers)
