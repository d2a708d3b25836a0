"""Exports to serve, applications in this process with a network that can be blocked, and server processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import numpy as np
import pytest

from tests.inference.conftest import gray_export, limited_export, verdict_export
from workbench.cli.serving import http_server
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import Limits
from workbench.inference.io.image_io import encode_png
from workbench.inference.predictor import Predictor

__all__ = ["gray_export", "limited_export", "verdict_export"]

ROOT = Path(__file__).resolve().parents[3]
GENTLE = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)  # Ctrl+Break on Windows


def png(picture: np.ndarray) -> bytes:
    return bytes(encode_png(picture))


def read_responses(connection: socket.socket, count: int) -> list[tuple[bytes, bytes]]:
    """Return (head, body) of each response."""
    found: list[tuple[bytes, bytes]] = []
    data = b""
    while len(found) < count:
        head, end, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) if end else 1
        if len(rest) >= length:
            found.append((head, rest[:length]))
            data = rest[length:]
            continue
        part = connection.recv(2**16)
        assert part, f"the connection was closed after {found} and {data!r}"
        data += part
    assert not data
    return found


def request_of(image: bytes, *headers: str) -> bytes:
    lines = ["POST /predict HTTP/1.1", "Host: 127.0.0.1", "Accept: image/png", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(image)}", "", ""]).encode() + image


class Gated:
    """Network whose calls wait while the gate is closed. calls: shapes of the processed batches."""

    name = "gated"

    def __init__(self, engine) -> None:
        self.engine = engine
        self.calls: list[tuple[int, ...]] = []
        self.entered = 0
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        self.entered += 1
        assert self.gate.wait(30)
        self.calls.append(batch.shape)
        return self.engine(batch)


@dataclass
class Served:
    """Application in this process, without sockets."""

    app: Any
    engine: Gated
    predictor: Predictor
    port: int = 0

    @property
    def counters(self) -> dict[str, float]:
        lines = self.app.state.handler.counters.text().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://server")

    def ask(self, method: str, path: str, **request) -> httpx.Response:
        async def once() -> httpx.Response:
            async with self.client() as client:
                return await client.request(method, path, **request)

        return asyncio.run(once())

    def predict(self, content: bytes, **request) -> httpx.Response:
        return self.ask("POST", "/predict", content=content, **request)


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """Return a function that creates an application for an export; its threads end with the test."""
    made: list[Served] = []

    def make(folder: Path, *, token: str | None = None, **limits) -> Served:
        predictor = Predictor.open(folder)
        engine = Gated(predictor.engine)
        handler = RequestHandler(Predictor(predictor.settings, engine), Limits(**limits))
        app = create_application(handler, token=token)
        made.append(Served(app, engine, predictor))
        return made[-1]

    yield make
    for each in made:
        each.engine.gate.set()
        each.app.state.handler.close()


async def until(true: Callable[[], Any]) -> None:
    """Wait in the event loop until a condition holds."""
    for _ in range(3000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to hold")


class Server:
    """`workbench serve` in its own process, on a free port of this machine."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "workbench", "serve", str(folder), "--port", "0", "--json", *options]
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"}
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # else the tests would end, too
        )
        line = self.process.stdout.readline()
        if not line.startswith('{"url"'):
            self.process.kill()
            raise AssertionError(f"it does not serve: {line} {self.process.communicate()}")
        self.facts = json.loads(line)
        self.url = self.facts["url"]
        self.token = unquote(self.facts["page"].partition("#token=")[2])
        self.headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def metric(self, name: str) -> float:
        lines = httpx.get(f"{self.url}/metrics", headers=self.headers).text.splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))

    def wait_for(self, true: Callable[[], Any]) -> None:
        for _ in range(3000):
            if true():
                return
            time.sleep(0.01)
        raise AssertionError("it never came to hold")

    def stop(self) -> tuple[int, str, str]:
        """Stop as service managers do. Return the status and the output after the first line."""
        self.process.send_signal(GENTLE)
        out, error = self.process.communicate(timeout=60)
        return self.process.returncode, out, error


@pytest.fixture
def server() -> Iterator[Callable[..., Server]]:
    with contextlib.ExitStack() as stack:

        def start(folder: Path, *options: str) -> Server:
            made = Server(folder, *options)

            def end() -> None:
                if made.process.poll() is None:
                    made.process.kill()
                    made.process.communicate()

            stack.callback(end)
            return made

        yield start


@pytest.fixture
def listening(served) -> Iterator[Callable[..., Served]]:
    """Return a function that serves an application of this process on a free port, `port`."""
    with contextlib.ExitStack() as stack:

        def start(folder: Path, **limits) -> Served:
            one = served(folder, **limits)
            one.port = start_server(one.app, Limits(**limits), stack)
            return one

        yield start


def start_server(app: Any, limits: Limits, stack: contextlib.ExitStack) -> int:
    """Serve an application in a thread until the end of the stack. Return the port."""
    bound, ready = stack.enter_context(http_server.bind("127.0.0.1", 0)), threading.Event()
    running = http_server.Server(app, limits, ready.set)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
    port = bound.getsockname()[1]

    def stop() -> None:
        running.force_exit = True
        running.stop()
        thread.join(60)

    stack.callback(stop)
    thread.start()
    assert ready.wait(60)
    return port
