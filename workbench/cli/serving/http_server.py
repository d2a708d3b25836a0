"""One server process: Uvicorn running an application, stopped gracefully by a signal or from another thread."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import ipaddress
import logging
import math
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import psutil
import uvicorn
from starlette.applications import Starlette

from workbench.cli.serving.connection import connection_factory
from workbench.cli.serving.responses import Limits

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


def max_connections(requested: int) -> int:
    """Return the number of connections this process can have open, at most `requested`: each needs a file handle."""
    try:
        import resource
    except ImportError:  # Windows, where sockets are not counted among the files
        return requested
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return requested
    return max(1, min(requested, soft - psutil.Process().num_fds() - _SPARE_HANDLES))


class Server(uvicorn.Server):
    """Uvicorn server. on_listening: called once requests are accepted. interrupts: signals that stop the server.

    A second SIGINT stops without grace.
    """

    def __init__(
        self,
        app: Starlette,
        limits: Limits,
        on_listening: Callable[[], None],
        interrupts: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM),
    ) -> None:
        limits = dataclasses.replace(limits, connections=max_connections(limits.connections))
        config = uvicorn.Config(
            app,
            loop="auto",  # uvloop where it is installed
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

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Replace Uvicorn's handling, which raises the signal again after the stop and so makes the exit a failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[signal.Signals, Any] = {kind: signal.signal(kind, self.handle_exit) for kind in self._interrupts}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def stop(self) -> None:
        """Refuse new requests, finish those in flight, then return from `run`. May be called from any thread."""
        self.should_exit = True


def announce(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
