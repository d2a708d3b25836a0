"""Images predicted in the event loop: which ones, equal responses, and return to the threads."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.cli.serving.conftest import png, read_responses, request_of, until
from tests.inference.conftest import spotted
from workbench.cli.serving import direct_calls, request_handler
from workbench.cli.serving.connection import connection_class
from workbench.cli.serving.direct_calls import DirectCalls
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.http_server import Server
from workbench.cli.serving.plain_request import RepeatedHead, parse_head
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import Counters
from workbench.inference.predictor import Predictor

RNG = np.random.default_rng(1)
IMAGES = [spotted(RNG, 40, 50) for _ in range(3)]
OTHER_SIZE = spotted(RNG, 44, 60)


@pytest.mark.parametrize(
    ("sender", "size", "seconds"), [("b", 100, 0.001), ("a", 101, 0.001), ("a", 100, 0.2), ("a", 0, 0.001)]
)
def test_only_short_equal_images_of_one_connection_are_allowed(sender, size, seconds):
    calls = DirectCalls()
    for number in range(8):
        assert not calls.allows("a"), number
        calls.record("a", 100, 0.005)
    assert calls.allows("a") and not calls.allows("b") and calls.size == 100
    calls.record("a", 100, 0.02)
    assert calls.allows("a")  # one slow image, as by another program
    calls.record(sender, size, seconds)
    assert not calls.allows("a") and not calls.allows("b")
    for _ in range(20):
        calls.record("a", 100, 0.005)
    assert calls.allows("a")
    calls.record("a", 100, 60.0)  # a network that hung
    for _ in range(20):
        calls.record("a", 100, 0.005)
    assert not calls.allows("a")


def test_size_is_read_once_from_equal_headers_of_png_files():
    calls, read = DirectCalls(), []

    def size_of(content: bytearray) -> int:
        read.append(content)
        return 2640 if content == other else 2000

    first, second, other = (bytearray(png(image)) for image in (*IMAGES[:2], OTHER_SIZE))
    calls.record("a", 2000, 0.001)
    assert calls.has_size(first, size_of) and calls.has_size(second, size_of) and read == [first]
    assert not calls.has_size(other, size_of) and calls.has_size(second, size_of) and read == [first, other]
    calls.record("a", 2640, 0.001)
    assert not calls.has_size(second, size_of) and read == [first, other, second]
    jpeg = bytearray(b"\xff\xd8\xff\xe0 of the same size")
    calls.record("a", 2000, 0.001)
    assert calls.has_size(jpeg, size_of) and calls.has_size(jpeg, size_of) and read[-2:] == [jpeg, jpeg]


def test_repeated_head_differs_in_the_length_only():
    first = b"POST /predict HTTP/1.1\r\nHost: a\r\nCONTENT-length: 3\r\nAccept: image/png\r\n\r\nabc"
    head = RepeatedHead(parse_head(first))

    def body(data: bytes) -> bytes | None:
        found = head.body_of(memoryview(data))
        return None if found is None else bytes(found)

    assert body(first) == b"abc"
    assert body(first.replace(b"3", b"12").replace(b"abc", b"a\r\n\r\n1234567")) == b"a\r\n\r\n1234567"
    for old, new in [
        (b"abc", b"ab"),
        (b"abc", b"abcd"),
        (b"abc", b""),
        (b"Host: a", b"Host: b"),
        (b"image/png", b"image/gif"),
        (b": 3", b": +3"),
        (b": 3", b": " + b"0" * 20 + b"3"),
        (b": 3", b": "),
        (b"3\r\n", b"3\r\nConnection: close\r\n"),
    ]:
        assert body(first.replace(old, new, 1)) is None, new
    assert body(first.replace(b"3", b"0").replace(b"abc", b"")) is None


class Transport:
    """Transport of a connection without a socket. written: bytes to the client."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


class Local:
    """Connections to an application in this process. threads: of the calls of the network."""

    def __init__(self, folder, on_result=None, limits: Limits | None = None) -> None:
        self.predictor = Predictor.open(folder)
        self.threads: list[str] = []
        self.is_broken = False
        limits = limits or Limits()
        self.app = create_application(self.predictor.settings, self._engine, limits=limits, on_result=on_result)
        self.server = Server(self.app, limits, lambda: None)
        self.server.config.load()
        self.server.server_state.default_headers = [(b"date", b"today")]

    def _engine(self, batch: np.ndarray) -> np.ndarray:
        self.threads.append(threading.current_thread().name)
        if self.is_broken:
            raise RuntimeError("no GPU")
        return self.predictor.engine(batch)

    def connect(self):
        kind = connection_class(self.app.state.handler.limits, self.app.state.plain_route)
        connection = kind(config=self.server.config, server_state=self.server.server_state, app_state={})
        connection.connection_made(Transport())
        return connection

    async def ask(self, connection, request: bytes) -> tuple[bytes, bytes]:
        """Return (head, body) of the response."""
        transport = connection.transport
        transport._transport.written = b""
        connection.get_buffer(-1)[: len(request)] = request
        connection.buffer_updated(len(request))
        await until(lambda: connection.between_requests and transport.written)
        head, _, body = transport.written.partition(b"\r\n\r\n")
        return head, body


@pytest.fixture
def local(gray_export, monkeypatch) -> Iterator[Local]:
    monkeypatch.setattr(direct_calls, "_MAX_SECONDS", 1e9)  # independent of the speed of this machine
    with opened(gray_export) as made:
        yield made


@contextmanager
def opened(folder, **options) -> Iterator[Local]:
    made = Local(folder, **options)
    try:
        yield made
    finally:
        made.app.state.handler.close()


def test_single_client_is_answered_without_a_thread(local):
    async def run():
        connection = local.connect()
        heads = set()
        for number in range(14):
            image = IMAGES[number % 3]
            head, body = await local.ask(connection, request_of(png(image)))
            assert body == png(local.predictor.predict(image).mask), number
            heads.add(head.replace(b"content-length: %d" % len(body), b""))
        assert len(heads) == 1  # equal, whichever way the response took
        in_threads = ["image" in name for name in local.threads]
        assert in_threads == [True] * 8 + [False] * 6
        counters = local.app.state.handler.counters.text()
        assert 'workbench_requests_total{status="200"} 14\n' in counters
        assert "workbench_predict_seconds_count 14\n" in counters and "workbench_in_flight 0\n" in counters
        connection.connection_lost(None)

    asyncio.run(run())


def test_other_requests_return_to_the_threads(local):
    local.app.state.handler.direct_calls = DirectCalls()  # also on a computer with one core

    async def run():
        one, two = local.connect(), local.connect()

        async def warm_up() -> None:
            for _ in range(9):
                await local.ask(one, request_of(png(IMAGES[0])))
            assert "image" not in local.threads[-1]

        for connection, image in ((two, IMAGES[0]), (one, OTHER_SIZE)):
            await warm_up()
            assert (await local.ask(connection, request_of(png(image))))[1] == png(local.predictor.predict(image).mask)
            assert "image" in local.threads[-1]
        await warm_up()
        assert (await local.ask(one, request_of(b"no image")))[0].startswith(b"HTTP/1.1 422")
        await warm_up()
        local.is_broken = True
        assert (await local.ask(one, request_of(png(IMAGES[0]))))[0].startswith(b"HTTP/1.1 500")
        assert "image" in local.threads[-1]
        local.is_broken = False
        await warm_up()
        with local.app.state.handler.reserve():  # another request is processed
            await local.ask(one, request_of(png(IMAGES[0])))
        assert "image" in local.threads[-1]
        # Another head, and a request that is divided: no thread either, but not by the repeated head.
        await warm_up()
        assert (await local.ask(one, request_of(png(IMAGES[1]), "X-Part: 7")))[1] == png(
            local.predictor.predict(IMAGES[1]).mask
        )
        assert "image" not in local.threads[-1]
        one.connection_lost(None)
        two.connection_lost(None)

    asyncio.run(run())


def test_images_of_several_clients_need_no_thread_on_one_core(local):
    handler = local.app.state.handler
    handler.direct_calls = DirectCalls(any_sender=True)

    async def run():
        clients = [local.connect() for _ in range(3)]

        async def ask(number: int, image: np.ndarray) -> bool:
            """Return True if the image was predicted by a thread."""
            _, body = await local.ask(clients[number % 3], request_of(png(image)))
            assert body == png(local.predictor.predict(image).mask), number
            return "image" in local.threads[-1]

        assert [await ask(number, IMAGES[number % 3]) for number in range(14)] == [True] * 8 + [False] * 6
        # Images of the same size wait for a thread: those that follow need not wait behind them.
        reservation = handler.reserve()
        assert await ask(0, IMAGES[0])  # its size is not known
        reservation.size = handler.direct_calls.size
        assert not await ask(0, IMAGES[0])
        reservation.size += 1
        assert await ask(0, IMAGES[0])
        reservation.release()
        assert not await ask(1, IMAGES[0])
        assert await ask(2, OTHER_SIZE) and await ask(1, IMAGES[0])
        assert not handler.queue.reserved
        for client in clients:
            client.connection_lost(None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("cores", "task", "expected"), [(1, "masks", True), (2, "masks", False), (1, "verdicts", False)]
)
def test_several_clients_use_threads_if_those_can_work_together(request, monkeypatch, cores, task, expected):
    monkeypatch.setattr(request_handler, "cores", lambda: cores)
    folder = request.getfixturevalue("gray_export" if task == "masks" else "verdict_export")
    handler = RequestHandler(Predictor.open(folder).settings, lambda batch: batch, Limits(), Counters())
    assert handler.direct_calls.any_sender == expected
    handler.close()


def test_results_for_outputs_are_written_by_a_thread(gray_export, monkeypatch):
    monkeypatch.setattr(direct_calls, "_MAX_SECONDS", 1e9)
    written = []
    with opened(gray_export, on_result=lambda result, name: written.append(threading.current_thread().name)) as local:

        async def run():
            connection = local.connect()
            for _ in range(12):
                await local.ask(connection, request_of(png(IMAGES[0])))
            connection.connection_lost(None)

        asyncio.run(run())
    assert len(written) == 12 and all("image" in name for name in written)


def test_stopping_server_closes_the_connection_after_the_response(local):
    async def run():
        connection = local.connect()
        for _ in range(10):
            await local.ask(connection, request_of(png(IMAGES[0])))
        local.server.server_state.default_headers = [(b"connection", b"close")]
        head, body = await local.ask(connection, request_of(png(IMAGES[0])))
        assert b"connection: close" in head and body == png(local.predictor.predict(IMAGES[0]).mask)
        assert connection.transport._transport.closed

    asyncio.run(run())


def test_repeated_requests_keep_the_connection_open(gray_export, monkeypatch):
    monkeypatch.setattr(direct_calls, "_MAX_SECONDS", 1e9)
    with opened(gray_export, limits=Limits(idle=0.3)) as local:

        async def run():
            connection = local.connect()
            for _ in range(9):
                await local.ask(connection, request_of(png(IMAGES[0])))
            connection.idle_since += 0.2  # as after a repeated request 0.2 s later
            connection.timeout_keep_alive_handler()
            assert not connection.transport.is_closing()
            await until(connection.transport.is_closing)

        asyncio.run(run())


def test_many_requests_of_one_client(server, gray_export):
    one = server(gray_export)
    address = urlsplit(one.url)
    expected = [png(Predictor.open(gray_export).predict(image).mask) for image in IMAGES]
    with socket.create_connection((address.hostname, address.port), 60) as connection:
        for number in range(60):
            connection.sendall(request_of(png(IMAGES[number % 3])))
            ((head, body),) = read_responses(connection, 1)
            assert head.startswith(b"HTTP/1.1 200 OK") and body == expected[number % 3]
        good = request_of(png(IMAGES[0]))
        connection.sendall(good + good + request_of(b"no image") + good)
        found = read_responses(connection, 4)
        assert [head.split()[1] for head, _ in found] == [b"200", b"200", b"422", b"200"]
        assert [found[index][1] == expected[0] for index in (0, 1, 3)] == [True] * 3
    assert one.metric("workbench_predict_seconds_count") == 64
