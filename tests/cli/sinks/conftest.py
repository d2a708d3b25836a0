"""Receivers of results in threads of the test: an HTTP server and a TCP server on free ports of this machine."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def record(number: int = 0, result: str = "OK", **changes: Any) -> dict[str, Any]:
    """Return a record as of a segmentation."""
    return {
        "format": 1,
        "id": f"{number:032x}",
        "time": "2026-01-02T03:04:05.678Z",
        "name": f"part {number}",
        "model": "spots",
        "run": "2024-unet",
        "result": result,
        "path": f"in/part {number}.png",
        "regions": [] if result == "OK" else [{"class_name": "亮点", "area": 7}, {"class_name": "亮点", "area": 9}],
        "verdict": None,
        "anomaly_score": 0.0,
        "milliseconds": 12.5,
        **changes,
    }


def wait_until(true: Callable[[], Any], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.005)


class Receiver:
    """Server in a thread of its own. url and port: its address."""

    def __init__(self, server: socketserver.TCPServer) -> None:
        self.server = server
        self.port = server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/results"
        self._thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


class HttpReceiver(Receiver):
    """HTTP server that stores requests. answers: statuses of the next requests; 200 after these. gate: blocks answers.

    received: (headers with names in lower case, body) of all requests; accepted: records answered with 200.
    """

    def __init__(self, port: int = 0) -> None:
        self.answers: list[int] = []
        self.headers: dict[str, str] = {}
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.accepted: list[dict[str, Any]] = []
        self.gate = threading.Event()
        self.gate.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.gate.wait(30)
                status = receiver.answers.pop(0) if receiver.answers else 200
                if status == 200:
                    receiver.accepted.append(json.loads(body))
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in receiver.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        super().__init__(ThreadingHTTPServer(("127.0.0.1", port), Handler))

    @property
    def names(self) -> list[str]:
        return [entry["name"] for entry in self.accepted]

    def close(self) -> None:
        self.gate.set()
        super().close()


class TcpReceiver(Receiver):
    """TCP server that stores lines. ack: answer each one. close_after: lines after which a connection is closed."""

    def __init__(self, port: int = 0, *, ack: bool = False, close_after: int = 10**9) -> None:
        self.lines: list[dict[str, Any]] = []
        self.connections = 0
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                receiver.connections += 1
                for _ in range(close_after):
                    line = self.rfile.readline()
                    if not line.endswith(b"\n"):
                        return
                    receiver.lines.append(json.loads(line))
                    if ack:
                        self.wfile.write(b"ok\n")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        super().__init__(Server(("127.0.0.1", port), Handler))


class EndlessReceiver(Receiver):
    """TCP server that answers the first line with `head` and then one byte every 20 ms, until the client leaves."""

    def __init__(self, head: bytes = b"") -> None:
        self.left = threading.Event()
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.rfile.readline()
                with contextlib.suppress(OSError):
                    self.wfile.write(head)
                    for _ in range(1000):
                        self.wfile.write(b"x")
                        time.sleep(0.02)
                    return
                receiver.left.set()

        super().__init__(socketserver.TCPServer(("127.0.0.1", 0), Handler))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Relay:
    """TCP connections through this process to a port, which a test can cut."""

    def __init__(self, target: int) -> None:
        relay = self
        self.open: list[socket.socket] = []

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with socket.create_connection(("127.0.0.1", target)) as other:
                    relay.open += [self.request, other]
                    back = threading.Thread(target=relay.copy, args=(other, self.request), daemon=True)
                    back.start()
                    relay.copy(self.request, other)
                    back.join()

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self._listener = Listener(("127.0.0.1", 0), Handler)
        self.port = self._listener.server_address[1]
        threading.Thread(target=lambda: self._listener.serve_forever(poll_interval=0.01), daemon=True).start()

    @staticmethod
    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for each in self.open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.open.clear()

    def close(self) -> None:
        self.cut()
        self._listener.shutdown()
        self._listener.server_close()


@pytest.fixture
def http_receiver() -> Iterator[Callable[..., HttpReceiver]]:
    """Return a function that starts an HTTP receiver."""
    with contextlib.ExitStack() as stack:

        def start(port: int = 0) -> HttpReceiver:
            made = HttpReceiver(port)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture
def tcp_receiver() -> Iterator[Callable[..., TcpReceiver]]:
    """Return a function that starts a TCP receiver."""
    with contextlib.ExitStack() as stack:

        def start(port: int = 0, **options: Any) -> TcpReceiver:
            made = TcpReceiver(port, **options)
            stack.callback(made.close)
            return made

        yield start
