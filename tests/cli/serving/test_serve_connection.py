"""Requests on one connection: divided into packets, sent together, refused, repeated."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.cli.serving.conftest import png, read_responses, request_of
from tests.inference.conftest import spotted
from workbench.inference.predictor import Predictor

SMALL = spotted(np.random.default_rng(1), 40, 50)


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


def test_client_that_sends_a_refused_body_to_its_end_can_read_the_answer(running):
    connection, _, _ = running
    connection.sendall(request_of(b"x" * 2**21))
    ((head, body),) = read_responses(connection, 1)
    assert head.startswith(b"HTTP/1.1 413") and b"limit" in body
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
