"""One server process: Uvicorn running an application, stopped gracefully by a signal or from another thread.

HTTP connection with limits of time and memory, and a limit to the number of connections.

Uvicorn limits the time between two requests. It limits neither the size of a header and the time in which it is sent,
nor the time in which a client receives an answer, nor connections that send nothing. Here all bytes pass to Uvicorn's
protocol; the application reports where each request begins and ends.

Several server processes on one socket: the first process starts them, replaces dead ones and stops them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import logging
import math
import multiprocessing
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any, cast

import psutil
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from workbench.cli.kept_images import KeepPlan, KeptImages
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import MAX_HEADER, WIDTH, Counters, Limits
from workbench.cli.sinks.result_outputs import ServeOutputs, SinkPlan, known_maker, pass_on
from workbench.core import problems
from workbench.core.runs.launch import SAFE_PATH, is_frozen
from workbench.inference.batch.interrupts import INTERRUPTS, interrupt_when_closed, on_interrupts
from workbench.inference.cpu_environment import keep_freed_memory
from workbench.inference.predictor import Predictor

_MAX_UNREAD = 2**20  # bytes received during a request and not read by the application, such as of the next request
_PATIENCE = 1.0  # seconds without progress after which an arriving request may give way to a new connection


def _refusal(status: bytes, detail: bytes) -> bytes:
    """Return the answer to a request that the application does not receive."""
    body = b'{"detail":"%s"}' % detail
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n" % status
    return head + b"content-length: %d\r\n\r\n%s" % (len(body), body)


class Connection(asyncio.Protocol):
    """One connection. everyone: all open connections of the process. options: arguments of Uvicorn's protocol.

    The application finds this object as `connection` in the state of each request.
    """

    def __init__(self, limits: Limits, everyone: set[Connection], *, app_state: dict[str, Any], **options: Any) -> None:
        self._limits, self._everyone = limits, everyone
        self._state: dict[str, Any] = {**app_state, "connection": self}
        self._protocol = HttpToolsProtocol(app_state=self._state, **options)
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._busy = self._arriving = False
        self._unread = self._held = 0
        self._last = self._loop.time()

    @property
    def is_closed(self) -> bool:
        return not self._state or self._transport.is_closing()

    def begin(self, *, arriving: bool) -> None:
        """The header of a request is complete. arriving: it has a body."""
        self._busy = True
        self.progress(0, arriving=arriving)
        self._stop_timer("header")

    def progress(self, size: int, *, arriving: bool) -> bool:
        """The application has read `size` bytes of the body and keeps them. Return False if it has to refuse it.

        If all bodies together exceed their share of the memory, the arriving one without progress for the longest time
        is closed.
        """
        self._unread, self._last, self._arriving = 0, self._loop.time(), arriving
        self._held += size
        while sum(each._held for each in self._everyone) > self._limits.body_memory:
            if not self._close_one(lambda each: each._arriving and each._held and each is not self):
                return False
        return True

    def end(self) -> None:
        """The request is answered, except for the end of its answer."""
        self._busy = self._arriving = False
        self._unread, self._held, self._last = 0, 0, self._loop.time()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        if len(self._everyone) >= self._limits.connections and not self._close_one(Connection._gives_way):
            self._state.clear()
            transport.write(_refusal(b"503 Service Unavailable", b"Too many connections are open. Try again later."))
            transport.close()
            return
        self._everyone.add(self)
        self._protocol.connection_made(transport)
        self._start_timer("header", self._limits.stall, transport.close)

    def _gives_way(self) -> bool:
        """Return True if a new connection may have the place of this one: not if its image is processed or arriving."""
        return not self._busy or (self._arriving and self._last < self._loop.time() - _PATIENCE)

    def _close_one(self, condition: Callable[[Connection], object]) -> bool:
        """Close the connection without progress for the longest time. Return False if none meets the condition."""
        found = min(filter(condition, self._everyone), key=lambda each: each._last, default=None)
        if found is not None:
            self._everyone.discard(found)
            found._held = 0
            found._transport.abort()
        return found is not None

    def data_received(self, data: bytes) -> None:
        if self not in self._everyone:
            return
        if not self._busy and "header" not in self._timers:
            self._start_timer("header", self._limits.stall, self._transport.close)
        self._unread += len(data)
        self._protocol.data_received(data)
        if self._unread > MAX_HEADER:
            self._loop.call_soon(self._check_size)  # after the request, if its header is complete, has begun

    def _check_size(self) -> None:
        if self._transport.is_closing() or self._unread <= (_MAX_UNREAD if self._busy else MAX_HEADER):
            return
        if not self._busy:
            self._transport.write(_refusal(b"431 Request Header Fields Too Large", b"The header is too large."))
        self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if self._state:
            self._everyone.discard(self)
            self._protocol.connection_lost(error)
            self._state.clear()  # it refers to this object, which otherwise would be freed much later

    def pause_writing(self) -> None:
        self._protocol.pause_writing()
        self._start_timer("write", self._limits.seconds, self._transport.abort)

    def resume_writing(self) -> None:
        self._protocol.resume_writing()
        self._stop_timer("write")

    def _start_timer(self, name: str, seconds: float, end: Callable[[], None]) -> None:
        self._stop_timer(name)
        self._timers[name] = self._loop.call_later(seconds, end)

    def _stop_timer(self, name: str) -> None:
        if name in self._timers:
            self._timers.pop(name).cancel()


def connection_factory(limits: Limits) -> Callable[..., Connection]:
    """Return the factory of protocols for Uvicorn, with an own set of connections."""
    everyone: set[Connection] = set()
    return functools.partial(Connection, limits, everyone)


_BACKLOG = 2048  # connections that may wait to be accepted
# asyncio accepts up to this many connections in a row before it serves any of them, and logs as many errors.
_ACCEPTED_AT_ONCE = 16
_SPARE_HANDLES = 4 * _ACCEPTED_AT_ONCE + 16  # for connections being set up or closed, and for the model
_DRAIN_SECONDS, _GRACE_SECONDS = 5.0, 0.2


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket that does not listen yet, so that no client waits. port: 0 for any. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows this option would let two programs bind the same port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket) -> str:
    """Return the URL of the server."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(bound: socket.socket) -> bool:
    """Return True if only this machine can reach the socket's address."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def max_connections(requested: int, *, shared: bool = False) -> int:
    """Return the number of connections this process can have open, at most `requested`: each needs a file handle.

    shared: see `Server`.
    """
    try:
        import resource
    except ImportError:  # Windows, where sockets are not counted among the files, but `select` takes 512 of them
        return min(requested, 512 - _SPARE_HANDLES) if shared else requested
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return requested
    return max(1, min(requested, soft - psutil.Process().num_fds() - _SPARE_HANDLES))


class Server(uvicorn.Server):
    """Uvicorn server. on_listening: called once requests are accepted. interrupts: signals that stop the server.

    shared: other processes accept connections of the same socket. A second SIGINT stops without grace.
    """

    def __init__(
        self,
        app: Starlette,
        limits: Limits,
        on_listening: Callable[[], None],
        interrupts: tuple[signal.Signals, ...] = INTERRUPTS,
        *,
        shared: bool = False,
    ) -> None:
        limits = replace(limits, connections=max_connections(limits.connections, shared=shared))
        config = uvicorn.Config(
            app,
            loop="auto",  # uvloop where it is installed
            # From two on, Uvicorn takes a loop on Windows that does not register the socket with a completion port.
            workers=2 if shared else 1,
            http=cast("type[asyncio.Protocol]", connection_factory(limits)),
            ws="none",
            lifespan="on",
            log_level="critical",  # each damaged request would be logged; errors are logged by `RequestGuard`
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=limits.idle,
            backlog=_ACCEPTED_AT_ONCE,
            # Requests in flight have their own time limit; the added seconds are for writing the answers.
            timeout_graceful_shutdown=math.ceil(limits.seconds) + 5,
        )
        super().__init__(config)
        # Problems with an image or a form are reported to the client that sent it.
        for name in ("tifffile", "python_multipart"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._on_listening = on_listening
        self._interrupts = interrupts

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for bound in sockets or []:
            bound.listen(_BACKLOG)
        if self.started:
            self._on_listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections already waiting and read their requests, then close."""
        # Answers from here on end their connections.
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        until = time.monotonic() + _DRAIN_SECONDS
        while time.monotonic() < until and select.select(sockets or [], [], [], 0)[0]:
            await asyncio.sleep(0.01)
        await asyncio.sleep(_GRACE_SECONDS)
        await super().shutdown(sockets=sockets)

    def capture_signals(self) -> contextlib.AbstractContextManager[object]:
        """Replace Uvicorn's handling, which raises the signal again after the stop and so makes the exit a failure."""
        return on_interrupts(self.handle_exit, self._interrupts)

    def stop(self) -> None:
        """Refuse new requests, finish those in flight, then return from `run`. May be called from any thread."""
        self.should_exit = True


def announce(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


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

    def serve(self, predictor: Predictor, bound: socket.socket, on_listening: Callable[[], None]) -> None:
        """Serve in this process until it is stopped."""
        self.run(predictor, Counters(), 0, lambda app: Server(app, self.limits, on_listening).run(sockets=[bound]))

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
            plan = self.sinks or self.inbox
            maker = known_maker(predictor.settings, plan.ok_verdict if plan else None)
            handler = RequestHandler(
                predictor,
                self.limits,
                counters=counters,
                on_result=partial(pass_on, maker, counters.count_result, outputs),
                on_image=kept.offer if kept else None,
            )
            serve(create_application(handler, token=self.token, hosts=self.hosts))
        if handler.is_hung():  # Python would wait for its threads at the end
            announce("The network does not return. The process is ended.")
            os._exit(1)


class ServerFailed(problems.Problem):
    message = "The server processes end right after their start."
    advice = "See the messages above, or try --workers 1."


def serve_with_workers(plan: ServerPlan, bound: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve in plan.workers processes until one of INTERRUPTS. on_listening: called once all processes accept requests.

    Raises ServerFailed.
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
                with contextlib.suppress(InterruptedError):  # by Ctrl+C, on Windows
                    connection.wait([worker.process.sentinel for worker in workers], timeout=0.2)
                for row, worker in enumerate(workers):
                    if worker.process.is_alive() or stopping.is_set():
                        continue
                    early_exits = early_exits + 1 if time.monotonic() - worker.started < _EARLY_EXIT_SECONDS else 0
                    if not worker.is_ready[0] or early_exits > 3:
                        raise ServerFailed
                    announce(f"A server process ended with {worker.process.exitcode}. It is replaced.")
                    worker.orders.close()
                    workers[row] = _Worker(plan, bound, cells, row)
                if not announced and all(worker.is_ready[0] for worker in workers):
                    announced = True
                    on_listening()
        finally:
            bound.close()  # otherwise the port stays open while the other processes finish
            for worker in workers:
                worker.orders.close()
            until = time.monotonic() + plan.limits.seconds + 15
            for worker in workers:
                worker.join(until)


class _Worker:
    """One server process. is_ready: one item, set by the process. It stops when the pipe `orders` is closed."""

    def __init__(self, plan: ServerPlan, bound: socket.socket, cells: Any, row: int) -> None:
        received, self.orders = _SPAWN.Pipe(duplex=False)
        self.is_ready = _SPAWN.RawArray("b", 1)
        arguments = (plan, bound, cells, row, received, self.is_ready)
        self.process: Any = _SPAWN.Process(target=_work, args=arguments, name=f"server {row}")
        self.started = time.monotonic()
        start_safely(self.process)
        received.close()

    def join(self, until: float) -> None:
        self.process.join(max(0.0, until - time.monotonic()))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _work(
    plan: ServerPlan, bound: socket.socket, cells: Any, row: int, orders: connection.Connection, is_ready: Any
) -> None:
    """Run one server process until `orders` is closed, also by the end of the first process."""
    for kind in INTERRUPTS:
        if kind != signal.SIGTERM:
            signal.signal(kind, signal.SIG_IGN)  # the keys reach all processes; the first one closes the pipe
    interrupt_when_closed()
    keep_freed_memory()

    def serve(app: Any) -> None:
        def set_ready() -> None:
            is_ready[0] = 1

        server = Server(app, plan.limits, set_ready, interrupts=(signal.SIGTERM,), shared=True)

        def wait_for_stop() -> None:
            with contextlib.suppress(EOFError, OSError):
                orders.recv()
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
