"""Limits of time, connections and memory against misbehaving clients, through real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib
from urllib.parse import urlsplit

import httpx
import numpy as np
import psutil
import pytest

from tests.cli.serving.conftest import png, read_responses, request_of, until
from tests.inference.conftest import spotted
from workbench.cli.serving.request_handler import IMAGE_TYPES
from workbench.inference.predictor import Predictor

POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows knows neither such signals nor such limits")
IMAGE = spotted(np.random.default_rng(5), 60, 70)
HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def connect():
    """Return a function that opens sockets to a server; they are closed with the test."""
    with contextlib.ExitStack() as stack:

        def make(running, sent=b""):
            made = socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2])), timeout=120)
            stack.callback(made.close)
            made.sendall(sent)
            return made

        yield make


def read_all(connection):
    """Return all bytes until the server closes the connection."""
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionError:
        pass
    return found


def post(running, **request):
    return httpx.post(f"{running.url}/predict", content=png(IMAGE), timeout=120, **request)


def test_stalled_bodies_do_not_block_other_requests(listening, gray_export, connect):
    running = listening(gray_export, connections=20)
    slow = [connect(running, HEAD + b"Content-Length: 5000\r\n\r\nabcd") for _ in range(40)]
    time.sleep(1.1)  # connections without progress for a second give way
    for _ in range(5):
        assert post(running).status_code == 200
    assert len(slow) == 40


def test_trickling_body_times_out_with_its_own_reason(listening, gray_export, connect):
    running = listening(gray_export, seconds=1.0)
    connection = connect(running, HEAD + b"Content-Length: 5000\r\n\r\n")
    with contextlib.suppress(OSError):
        for _ in range(40):
            connection.sendall(b"a")
            time.sleep(0.05)
    answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 408") and b"did not arrive within 1 s" in answer


def test_damaged_forms_are_not_logged(server, gray_export, connect):
    running = server(gray_export)
    for _ in range(30):
        body = b'--b\r\nContent-Disposition form-data; name="picture"\r\n\r\nabc\r\n--b--\r\n'
        answer = httpx.post(
            f"{running.url}/predict", content=body, headers={"Content-Type": "multipart/form-data; boundary=b"}
        )
        assert answer.status_code == 400 and "cannot be read" in answer.json()["detail"]
    assert "character" not in running.stop()[2]


def test_stalled_body_times_out(listening, gray_export, connect):
    running = listening(gray_export, stall=0.5)
    answer = read_all(connect(running, HEAD + b"Content-Length: 5000\r\n\r\nabcd"))
    assert answer.startswith(b"HTTP/1.1 408") and b"0.5 s" in answer and b"connection: close" in answer.lower()


@pytest.mark.parametrize("start", [b"", HEAD + b"X: y\r\n"])
def test_endless_header_closes_the_connection(listening, gray_export, connect, start):
    running = listening(gray_export, stall=0.5)
    assert read_all(connect(running, start)) == b""
    # also after a response
    one = connect(running, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    one.recv(65536)
    one.sendall(b"GET /hea")
    assert b"200 OK" not in read_all(one)


def test_idle_connection_is_closed(listening, gray_export, connect):
    running = listening(gray_export, idle=1)
    assert b"200 OK" in read_all(connect(running, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"))


@pytest.mark.parametrize("path", [b"/predict", b"/health"])
def test_refused_upload_is_not_read_to_its_end(listening, gray_export, connect, path):
    running = listening(gray_export, bytes=2**20)
    one = connect(running, b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path)
    chunk = b"%x\r\n%s\r\n" % (2**20, bytes(2**20))
    sent = 0
    with contextlib.suppress(OSError):
        for _ in range(300):
            one.sendall(chunk)
            sent += 1
    assert sent < 300
    whole = connect(running, b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99000000\r\n\r\n")
    answer = read_all(whole)
    assert answer.startswith(b"HTTP/1.1 413") and b"connection: close" in answer.lower()


def test_stalled_request_gives_way_at_the_memory_limit(listening, gray_export, connect):
    running = listening(gray_export, bytes=2 * 2**20, memory=9 * 2**20, stall=600.0)
    head = HEAD + b"Content-Length: 2000000\r\n\r\n"
    first = connect(running, head + bytes(1_900_000))
    time.sleep(0.2)
    second = connect(running, head + bytes(1_900_000))
    assert read_all(first) == b""
    assert post(running).status_code == 200
    second.sendall(bytes(100_000))
    assert second.recv(65536).startswith(b"HTTP/1.1 422")


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nX: ", b"GET /", HEAD + b"Content-Length: 0\r\n\r\nGET / HTTP/1.1\r\nX: "]
)
def test_giant_header_is_not_kept(listening, gray_export, connect, start):
    running = listening(gray_export)
    one, sent = connect(running, start), 0
    with contextlib.suppress(OSError):
        for _ in range(400):
            one.sendall(b"a" * 2**16)
            sent += 1
    assert sent < 400
    assert post(running).status_code == 200


def test_many_headers_are_refused(listening, gray_export, connect):
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 700) for number in range(100))
    answer = read_all(connect(listening(gray_export), b"GET / HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n"))
    assert answer.startswith(b"HTTP/1.1 431") and b"connection: close" in answer


def test_client_that_does_not_read_is_closed(listening, gray_export, connect):
    running = listening(gray_export, seconds=1.0)
    one = connect(running)
    one.setblocking(False)
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    end = time.monotonic() + 60
    with pytest.raises(ConnectionError):
        while time.monotonic() < end:  # pages that nobody reads
            with contextlib.suppress(BlockingIOError):
                one.sendall(request * 100)
            time.sleep(0.01)
    assert post(running).status_code == 200


@pytest.fixture
def few_handles(gray_export):
    """Start a server that may open 120 files; its stderr goes to a file."""

    def start(path, *options):
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120));"
            "from workbench import cli; sys.exit(cli.main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", code, "serve", str(gray_export), "--port", "0", "--json", *options]
        with path.open("wb") as error:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=error, env=os.environ)
        made.append(process)
        return process, json.loads(process.stdout.readline())["url"]

    made = []
    yield start
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


@POSIX
def test_more_connections_than_file_handles(few_handles, tmp_path):
    process, url = few_handles(tmp_path / "stderr.txt")
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            one = stack.enter_context(contextlib.closing(socket.create_connection(address, timeout=60)))
            with contextlib.suppress(OSError):
                one.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(5):
            answer = httpx.post(f"{url}/predict", content=png(IMAGE), timeout=120)
            assert answer.status_code == 200
    process.terminate()
    assert process.wait(120) == 0
    message = (tmp_path / "stderr.txt").read_text()
    assert "Too many open files" not in message and len(message.splitlines()) < 20


def test_connections_beyond_the_limit_are_refused_if_all_are_busy(listening, gray_export, connect):
    running = listening(gray_export, connections=3, threads=1)
    running.engine.gate.clear()
    content = png(IMAGE)
    busy = [connect(running, HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content) for _ in range(3)]
    asyncio.run(until(lambda: running.counters["workbench_in_flight"] == 3))
    answer = read_all(connect(running))
    assert answer.startswith(b"HTTP/1.1 503") and b"Too many connections" in answer
    running.engine.gate.set()
    assert all(one.recv(65536).startswith(b"HTTP/1.1 200") for one in busy)
    assert post(running).status_code == 200  # in place of an idle connection


def test_log_lines_of_bad_requests_are_limited(server, gray_export, connect):
    running = server(gray_export)
    for _ in range(200):
        assert b"400" in read_all(connect(running, b"\x00\x01\r\n\r\n"))
    if os.name == "posix":
        status, _, error = running.stop()
        assert status == 0 and len(error.splitlines()) < 100


HOSTS = [
    ("localhost", 200),
    ("LOCALHOST:80", 200),
    ("127.0.0.1:8123", 200),
    ("[::1]:8123", 200),
    ("127.0.0.9", 200),
    ("evil.example", 421),
    ("evil.example:8123", 421),
    ("127.0.0.1.evil.example", 421),
    ("10.0.0.1", 421),
    ("localhost.evil", 421),
    ("", 421),
    ("inside.example:99", 200),
]


def test_other_host_names_are_refused(server, gray_export):
    running = server(gray_export, "--allow-host", "Inside.example")
    for host, status in HOSTS:
        for path in ("/health", "/", "/openapi.json"):
            assert httpx.get(f"{running.url}{path}", headers={"Host": host}).status_code == status, host
        answer = post(running, headers={"Host": host})
        assert answer.status_code == status, host
        if status == 421:
            assert "--allow-host" in answer.json()["detail"]


def test_openapi_lists_accepted_media_types(served, gray_export):
    one = served(gray_export)
    kinds = one.ask("GET", "/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]["content"]
    assert set(kinds) == {"multipart/form-data", "application/octet-stream", *IMAGE_TYPES}
    for kind in kinds:
        if kind != "multipart/form-data":
            assert one.predict(png(IMAGE), headers={"Content-Type": kind}).status_code == 200
    for kind in ("image/gif", "image/svg+xml", "image/avif"):
        answer = one.predict(png(IMAGE), headers={"Content-Type": kind})
        assert answer.status_code == 415 and "image/png" in answer.json()["detail"]


def large_png(side, channels, bits):
    """Return a black PNG of a few kilobytes with side x side pixels."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    deflate = zlib.compressobj(9)
    row = bytes(side * channels * bits // 8 + 1)
    rows = b"".join(deflate.compress(row) for _ in range(side)) + deflate.flush()
    head = struct.pack(">IIBBBBB", side, side, bits, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_memory_counts_channels_and_depth(served, gray_export):
    one = served(gray_export, memory=3_000_000)
    for channels, bits, status in ((1, 8, 200), (4, 8, 200), (1, 16, 200), (4, 16, 413)):
        answer = one.predict(large_png(600, channels, bits))
        assert answer.status_code == status
    assert "2.747 MB" in answer.json()["detail"] and "1.907 MB" in answer.json()["detail"]
    assert "16 bits" in answer.json()["detail"] and "4 channels" in answer.json()["detail"]


def test_large_images_wait_for_memory_and_small_ones_pass(served, gray_export):
    one = served(gray_export, memory=600_000, threads=3)
    one.engine.gate.clear()

    async def go():
        async with one.client() as client:
            large = [asyncio.ensure_future(client.post("/predict", content=large_png(600, 1, 8))) for _ in range(2)]
            await until(lambda: one.engine.entered == 1 and one.counters["workbench_in_flight"] == 2)
            small = asyncio.ensure_future(client.post("/predict", content=large_png(40, 1, 8)))
            await until(lambda: one.counters["workbench_queue_depth"] == 0)
            one.engine.gate.set()
            return await asyncio.gather(*large, small)

    assert [answer.status_code for answer in asyncio.run(go())] == [200] * 3
    shapes = one.engine.calls
    assert len(shapes) >= 3


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library gives memory back on Linux")
def test_memory_is_released_after_a_large_image(server, gray_export):
    running = server(gray_export)
    assert post(running).status_code == 200
    process = psutil.Process(running.process.pid)
    before = process.memory_info().rss
    content = large_png(4000, 4, 16)
    assert httpx.post(f"{running.url}/predict", content=content, timeout=300).status_code == 200
    assert httpx.post(f"{running.url}/predict", content=content[:-200], timeout=300).status_code == 422
    # less than the 122 MB of one decoded image, including the buffers of the network
    running.wait_for(lambda: process.memory_info().rss - before < 120 * 2**20)


@POSIX
def test_stop_answers_connections_waiting_to_be_accepted(server, gray_export, connect):
    running = server(gray_export)
    os.kill(running.process.pid, signal.SIGSTOP)  # so that nothing is accepted
    content = png(IMAGE)
    request = HEAD + b"Accept: image/png\r\nContent-Length: %d\r\n\r\n" % len(content) + content
    waiting = [connect(running, request) for _ in range(60)]
    os.kill(running.process.pid, signal.SIGTERM)
    os.kill(running.process.pid, signal.SIGCONT)
    expected = png(Predictor.open(gray_export).predict(IMAGE).mask)
    answers = [read_all(one) for one in waiting]
    refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503")]  # the queue is shorter than that
    assert all(b"Too many requests are waiting" in answer for answer in refused) and len(refused) < 60
    assert all(answer.endswith(expected) for answer in answers if answer not in refused)
    running.process.communicate(timeout=120)
    assert running.process.returncode == 0


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
