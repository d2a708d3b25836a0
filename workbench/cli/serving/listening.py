"""One process that serves: Uvicorn around an application, stopped gently by a signal or from another thread."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from fastapi import FastAPI

from workbench.cli.serving.limits import Limits


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound and does not listen yet, so that nobody is kept waiting. port: 0 for any. OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows this would let two programs have the same port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket) -> str:
    """What to type into a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(bound: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


class Server(uvicorn.Server):
    """on_listening: called once requests are taken. interrupts: which signals end it; a second SIGINT is not gentle."""

    def __init__(
        self,
        app: FastAPI,
        limits: Limits,
        on_listening: Callable[[], None],
        interrupts: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM),
    ) -> None:
        # What is in flight has its own time limit; the rest is for writing the answers.
        config = uvicorn.Config(
            app, loop="asyncio", ws="none", lifespan="on", log_level="warning", access_log=False, proxy_headers=False,
            server_header=False, timeout_keep_alive=30, timeout_graceful_shutdown=math.ceil(limits.seconds) + 5,
        )  # fmt: skip
        super().__init__(config)
        # What is wrong with a picture is told to the one who sent it.
        logging.getLogger("tifffile").setLevel(logging.CRITICAL)
        self._on_listening = on_listening
        self._interrupts = interrupts

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Uvicorn raises a signal again when it has stopped, which would turn a wanted end into a failure."""
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
        """From any thread: refuse what is new, finish what is in flight, return from `run`."""
        self.should_exit = True


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
