"""Requests read without h11: which ones, and their behavior on a connection."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.cli.serving.conftest import png, read_responses, request_of
from tests.inference.conftest import spotted
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.plain_cycle import PlainCycle
from workbench.cli.serving.plain_request import parse_head
from workbench.inference.predictor import Predictor

SMALL = spotted(np.random.default_rng(1), 40, 50)
PLAIN = b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nAccept: image/png\r\n\r\nabc"


def test_head_of_a_plain_request():
    head = parse_head(memoryview(PLAIN.replace(b"predict", b"predict?name=a%2Fb+c").replace(b"Accept:", b"ACCEPT:\t")))
    assert head.name == "a/b c" and head.length == 3
    assert head.headers == [(b"host", b"a"), (b"content-length", b"3"), (b"accept", b"image/png")]
    assert parse_head(PLAIN.replace(b"Accept: image/png", b"Connection: Keep-Alive")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"POST", b"GET"),
        (b"POST", b"post"),
        (b"/predict", b"/predictions"),
        (b"/predict", b"/predict/"),
        (b"/predict", b"http://a/predict"),
        (b"HTTP/1.1", b"HTTP/1.0"),
        (b"Host: a\r\n", b""),
        (b"Host: a", b"Host: a\r\nHost: b"),
        (b"Host: a", b"Host : a"),
        (b"Host: a", b"Host: a\r\n b"),
        (b"Host: a\r\n", b"Host: a\n"),
        (b"Host: a", b"Host: a\0"),
        (b"Host: a", b"Host: a\rb"),
        (b"Content-Length: 3\r\n", b""),
        (b"Content-Length: 3", b"Content-Length: 3\r\nContent-Length: 4"),
        (b"Content-Length: 3", b"Content-Length: 3, 3"),
        (b"Content-Length: 3", b"Content-Length: +3"),
        (b"Content-Length: 3", b"Content-Length: 0"),
        (b"Content-Length: 3", b"Content-Length: " + b"9" * 30),
        (b"Accept: image/png", b"Transfer-Encoding: chunked"),
        (b"Accept: image/png", b"Expect: 100-continue"),
        (b"Accept: image/png", b"Upgrade: h2c"),
        (b"Accept: image/png", b"Connection: close"),
        (b"Accept: image/png", b"Accept: " + b"a" * 9000),
        (b"\r\n\r\n", b"\r\n"),
    ],
)
def test_other_requests_are_left_to_h11(old, new):
    assert old in PLAIN and parse_head(PLAIN) is not None
    assert parse_head(PLAIN.replace(old, new, 1)) is None


@pytest.fixture
def running(server, gray_export):
    one = server(gray_export, "--max-mb", "1")
    address = urlsplit(one.url)
    with socket.create_connection((address.hostname, address.port), 60) as connection:
        yield connection, png(Predictor.open(gray_export).predict(SMALL).mask), one


def test_responses_do_not_depend_on_the_division_into_packets(running):
    connection, expected, _ = running
    request = request_of(png(SMALL))
    ends = (1, 30, request.index(b"\r\n\r\n") + 2, request.index(b"\r\n\r\n") + 4, len(request) - 1, len(request))
    for end in ends:
        connection.sendall(request[:end])
        if end < len(request):
            connection.settimeout(0.05)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(60)
            connection.sendall(request[end:])
        ((head, body),) = read_responses(connection, 1)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n") and b"date: " in head and body == expected


def test_requests_sent_before_the_response_are_answered_in_order(running):
    connection, expected, _ = running
    bad = request_of(b"no image")
    health = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    good = request_of(png(SMALL))
    connection.sendall(good + bad + good + health + good + good[:20])
    found = read_responses(connection, 5)
    assert [head.split()[1] for head, _ in found] == [b"200", b"422", b"200", b"200", b"200"]
    assert [found[index][1] == expected for index in (0, 2, 4)] == [True] * 3
    connection.sendall(good[20:])
    assert read_responses(connection, 1)[0][1] == expected


def test_refused_body_is_not_read_and_ends_the_connection(running):
    connection, _, _ = running
    connection.sendall(request_of(b"x" * 2**21)[: 2**16])
    ((head, body),) = read_responses(connection, 1)
    assert head.startswith(b"HTTP/1.1 413") and b"connection: close" in head and b"limit" in body
    connection.sendall(b"x" * 2**16)  # the client is still sending; the response must not be destroyed
    assert connection.recv(10) == b""


def test_close_and_continue_are_obeyed(running):
    connection, expected, _ = running
    request = request_of(png(SMALL), "Expect: 100-continue")
    end = request.index(b"\r\n\r\n") + 4
    connection.sendall(request[:end])
    assert connection.recv(100).startswith(b"HTTP/1.1 100")
    connection.sendall(request[end:])
    assert read_responses(connection, 1)[0][1] == expected
    connection.sendall(request_of(png(SMALL), "Connection: close"))
    ((head, body),) = read_responses(connection, 1)
    assert b"connection: close" in head.lower() and body == expected and connection.recv(10) == b""


def test_unexpected_error_is_answered(gray_export):
    predictor = Predictor.open(gray_export)
    sent = []

    async def send(fault: str) -> None:
        app = create_application(predictor.settings, predictor.engine)
        route = app.state.plain_route

        def fail(*_: object) -> None:
            raise MemoryError("no memory")

        cycle = PlainCycle(parse_head(PLAIN), route, sent.append, [], lambda: None, None)
        if fault == "check":
            route.check = fail
        else:
            route.handler.bodies.add = fail
        cycle.start(parse_head(PLAIN))
        assert not cycle.add_body(memoryview(b"abc")) and cycle.response_complete
        app.state.handler.close()

    for fault in ("check", "body"):
        asyncio.run(send(fault))
    assert len(sent) == 2 and all(answer.startswith(b"HTTP/1.1 500 ") for answer in sent)
