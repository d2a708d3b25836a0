"""One server process: Uvicorn running an application, stopped gracefully by a signal or from another thread.

HTTP connection with limits of time and memory, and a limit to the number of connections.

Uvicorn limits the time between two requests. It limits neither the size of a header and the time in which it is sent,
nor the time in which a client receives an answer, nor connections that send nothing. Here all bytes pass to Uvicorn's
protocol; the application reports where each request begins and ends.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import ipaddress
import logging
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, cast

import psutil
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from workbench.cli.serving.responses import Limits
from workbench.inference.batch.interrupts import INTERRUPTS, on_interrupts

MAX_HEADER = 64 * 2**10  # bytes
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

    def begin(self) -> None:
        """The header of a request is complete."""
        self._busy = self._arriving = True
        self.progress(0)
        self._stop_timer("header")

    def progress(self, size: int) -> bool:
        """The application has read `size` bytes of the body and keeps them. Return False if it has to refuse it.

        If all bodies together exceed their share of the memory, the arriving one without progress for the longest time
        is closed.
        """
        self._unread, self._last = 0, self._loop.time()
        self._held += size
        while sum(each._held for each in self._everyone) > self._limits.body_memory:
            others = [each for each in self._everyone if each._arriving and each._held and each is not self]
            if not others:
                return False
            self._close(min(others, key=lambda each: each._last))
        return True

    def arrived(self) -> None:
        """The body of the request is complete."""
        self._arriving = False

    def end(self) -> None:
        """The request is answered, except for the end of its answer."""
        self._busy = self._arriving = False
        self._unread, self._held, self._last = 0, 0, self._loop.time()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        if len(self._everyone) >= self._limits.connections and not self._make_room():
            self._state.clear()
            transport.write(_refusal(b"503 Service Unavailable", b"Too many connections are open. Try again later."))
            transport.close()
            return
        self._everyone.add(self)
        self._protocol.connection_made(transport)
        self._start_timer("header", self._limits.stall, transport.close)

    def _make_room(self) -> bool:
        """Close the connection without progress for the longest time. False if all images are processed or arriving."""
        until = self._loop.time() - _PATIENCE
        found = [each for each in self._everyone if not each._busy or (each._arriving and each._last < until)]
        if not found:
            return False
        self._close(min(found, key=lambda each: each._last))
        return True

    def _close(self, other: Connection) -> None:
        self._everyone.discard(other)
        other._held = 0
        other._transport.abort()

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

    def eof_received(self) -> None:
        if self in self._everyone:
            self._protocol.eof_received()

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
        limits = dataclasses.replace(limits, connections=max_connections(limits.connections, shared=shared))
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

    def capture_signals(self) -> AbstractContextManager[object]:
        """Replace Uvicorn's handling, which raises the signal again after the stop and so makes the exit a failure."""
        return on_interrupts(self.handle_exit, self._interrupts)

    def stop(self) -> None:
        """Refuse new requests, finish those in flight, then return from `run`. May be called from any thread."""
        self.should_exit = True


def announce(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
