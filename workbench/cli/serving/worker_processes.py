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
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from workbench.cli.kept_images import KeepPlan, KeptImages
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.http_server import Server, announce
from workbench.cli.serving.responses import WIDTH, Counters, Limits
from workbench.cli.sinks.result_outputs import ServeOutputs, SinkPlan, entry_of
from workbench.cli.sinks.sink_base import NoGoodVerdict, RecordMaker
from workbench.core.runs.launch import SAFE_PATH, is_frozen
from workbench.inference.batch.interrupts import INTERRUPTS, on_interrupts
from workbench.inference.cpu_environment import keep_freed_memory
from workbench.inference.predictor import Prediction, Predictor

_SPAWN = multiprocessing.get_context("spawn")  # a network's threads do not survive a fork
_EARLY_EXIT_SECONDS = 10.0  # a process that ends within them, and three before it, is not replaced


@dataclass(frozen=True, kw_only=True)
class ServerPlan:
    """Configuration of each process. folder: the export. threads: of the network; None for the model's default.

    sinks: result outputs, None without any. inbox: images to keep, None for none. keep_verdicts: see
    `Predictor.keep_verdicts`.
    """

    folder: str
    engine: str
    threads: int | None
    token: str | None
    limits: Limits
    workers: int
    hosts: frozenset[str] | None = None
    sinks: SinkPlan | None = None
    inbox: KeepPlan | None = None
    keep_verdicts: bool = False

    def run(self, predictor: Predictor, counters: Counters, row: int, serve: Callable[[Any], None]) -> None:
        """Create the application of the process with number `row`, call `serve` with it, and close its outputs."""
        if self.keep_verdicts:
            predictor.keep_verdicts()
        with contextlib.ExitStack() as stack:
            outputs = None
            if self.sinks:
                outputs = stack.enter_context(
                    ServeOutputs(self.sinks, predictor.settings, row=row, log=announce, on_change=counters.set_sink)
                )
            kept = None
            if self.inbox:
                kept = stack.enter_context(KeptImages(self.inbox, predictor.settings, announce, row, self.workers))
            outputs_of = self.sinks or self.inbox
            good = outputs_of.ok_verdict if outputs_of else None
            maker = None
            with contextlib.suppress(NoGoodVerdict):
                maker = RecordMaker(predictor.settings, good)
            app = create_application(
                predictor.settings,
                predictor.engine,
                limits=self.limits,
                token=self.token,
                counters=counters,
                hosts=self.hosts,
                on_result=partial(_pass_on, maker, counters, outputs),
                on_image=kept.offer if kept else None,
            )
            serve(app)
        if app.state.handler.is_hung():  # Python would wait for its threads at the end
            announce("The network does not return. The process is ended.")
            os._exit(1)


def _pass_on(
    maker: RecordMaker | None,
    counters: Counters,
    outputs: ServeOutputs | None,
    result: Prediction | str,
    name: str | None,
) -> None:
    """Count a result, or the reason why there is none, and pass it to the outputs."""
    entry = entry_of(result)
    counters.count_result(entry if maker is None else maker.make(entry, key="", name=""))
    if outputs is not None:
        outputs.offer(result, name)


class WorkersFailed(Exception):
    """The server processes do not start, or end right after their start."""


def serve_alone(plan: ServerPlan, predictor: Predictor, bound: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve in this process until it is stopped."""
    plan.run(predictor, Counters(), 0, lambda app: Server(app, plan.limits, on_listening).run(sockets=[bound]))


def serve_with_workers(plan: ServerPlan, bound: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve in plan.workers processes until one of INTERRUPTS. on_listening: called once all processes accept requests.

    Raises WorkersFailed.
    """
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # the processes import nothing from the current folder
    cells = _SPAWN.RawArray("d", WIDTH * plan.workers)
    stopping = threading.Event()
    workers: list[_Worker] = []
    with on_interrupts(lambda *_: stopping.set()):
        try:
            workers += [_Worker(plan, bound, cells, row) for row in range(plan.workers)]
            announced, early_exits = False, 0
            while not stopping.is_set():
                wait([worker.pipe for worker in workers], timeout=0.2)
                for row, worker in enumerate(workers):
                    if not worker.is_dead() or stopping.is_set():
                        continue
                    early_exits = early_exits + 1 if time.monotonic() - worker.started < _EARLY_EXIT_SECONDS else 0
                    if not worker.ready or early_exits > 3:
                        raise WorkersFailed
                    announce(f"A server process ended with {worker.process.exitcode}. It is replaced.")
                    worker.pipe.close()
                    workers[row] = _Worker(plan, bound, cells, row)
                if not announced and all(worker.ready for worker in workers):
                    announced = True
                    on_listening()
        finally:
            bound.close()  # otherwise the port stays open while the other processes finish
            for worker in workers:
                worker.request_stop()
            until = time.monotonic() + plan.limits.seconds + 15
            for worker in workers:
                worker.join(until)


class _Worker:
    """One server process. It sends one message when it accepts requests, and receives one as the order to stop."""

    def __init__(self, plan: ServerPlan, bound: socket.socket, cells: Any, row: int) -> None:
        self.pipe, child_pipe = _SPAWN.Pipe()
        self.process: Any = _SPAWN.Process(
            target=_work, args=(plan, bound, cells, row, child_pipe), name=f"server {row}"
        )
        self.started = time.monotonic()
        self.ready = False
        start_safely(self.process)
        child_pipe.close()  # otherwise neither process would notice the end of the other

    def is_dead(self) -> bool:
        """Return True if the process has ended. Also reads its message."""
        try:
            while self.pipe.poll():
                self.ready = bool(self.pipe.recv())
        except (EOFError, OSError):
            self.process.join(5)
            return True
        return not self.process.is_alive()

    def request_stop(self) -> None:
        with contextlib.suppress(OSError):  # the process has ended already
            self.pipe.send("stop")

    def join(self, until: float) -> None:
        self.process.join(max(0.0, until - time.monotonic()))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def _work(plan: ServerPlan, bound: socket.socket, cells: Any, row: int, pipe: Connection) -> None:
    """Run one server process until it is ordered to stop or the first process has ended."""
    for kind in INTERRUPTS:
        if kind != signal.SIGTERM:
            signal.signal(kind, signal.SIG_IGN)  # the keys reach all processes; the first one sends the order to stop
    keep_freed_memory()

    def serve(app: Any) -> None:
        server = Server(app, plan.limits, lambda: pipe.send("ready"), interrupts=(signal.SIGTERM,), shared=True)

        def wait_for_stop() -> None:
            with contextlib.suppress(EOFError, OSError):
                pipe.recv()
            server.stop()

        threading.Thread(target=wait_for_stop, daemon=True, name="orders").start()
        server.run(sockets=[bound])

    try:
        predictor = Predictor.open(plan.folder, engine=plan.engine, threads=plan.threads)
        plan.run(predictor, Counters(cells, row), row, serve)
    except Exception as error:
        announce(f"A server process has failed: {error}")
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
