"""Load on the server: many clients with good, damaged and aborted requests, and clients that block it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from tests.cli.serving.conftest import png, server
from tests.inference.conftest import gray_export, spotted
from workbench.inference.predictor import Predictor

__all__ = ["gray_export", "server"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows knows no gentle signal between processes")
MASK = {"Accept": "image/png"}


@pytest.fixture
def pictures(gray_export):
    """Images and their masks, all different."""
    rng = np.random.default_rng(8)
    predictor = Predictor.open(gray_export)
    made = [spotted(rng, 30 + 5 * number, 90 - 3 * number) for number in range(12)]
    return [(png(each), png(predictor.predict(each).mask)) for each in made]


def address(running):
    return "127.0.0.1", int(running.url.rpartition(":")[2])


def ask(client, running, rng, pictures):
    """Send one request of a random kind. Return True if its answer was right."""
    kind = rng.choice(["good", "good", "form", "damaged", "hang up", "header"])
    content, mask = rng.choice(pictures)
    url = f"{running.url}/predict"
    if kind == "hang up":
        with socket.create_connection(address(running), timeout=60) as one:
            head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(content)
            one.sendall((head + content)[: rng.randrange(1, len(head) + len(content))])
        return True
    if kind == "header":
        with socket.create_connection(address(running), timeout=60) as one, contextlib.suppress(ConnectionError):
            one.sendall(rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n")
            one.shutdown(socket.SHUT_WR)
            return one.recv(65536)[:12] in (b"", b"HTTP/1.1 400")
        return True
    if kind == "damaged":
        damaged = bytearray(content)
        for _ in range(rng.randrange(1, 9)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        return client.post(url, content=bytes(damaged), headers=MASK).status_code in (200, 413, 422, 503)
    if kind == "form":
        answer = client.post(url, files={"picture": ("x.png", content)}, headers=MASK)
    else:
        answer = client.post(url, content=content, headers=MASK)
    return answer.status_code == 503 or (answer.status_code == 200 and answer.content == mask)


@pytest.mark.slow  # in the default suite: tests/cli/serving/test_serve_process.py, as the last one of this file
def test_every_answer_belongs_to_its_own_image(server, gray_export, pictures, cases, report):
    running = server(gray_export)
    clients, each = cases(8, 64), cases(6, 40)

    def work(seed):
        rng = random.Random(seed)
        with httpx.Client(timeout=120) as client:
            return sum(not ask(client, running, rng, pictures) for _ in range(each))

    with ThreadPoolExecutor(clients) as pool:
        failed = sum(pool.map(work, range(clients)))
    failed += running.metric('workbench_requests_total{status="500"}') > 0
    running.wait_for(lambda: running.metric("workbench_in_flight") == 0)
    report("server: mixed good, damaged and broken-off requests", clients * each, int(failed))
    assert not failed and httpx.get(f"{running.url}/health").json()["ready"]


@pytest.mark.slow  # in the default suite: tests/cli/serving/test_serve_limits.py
def test_other_clients_are_served_while_connections_are_held(server, gray_export, pictures, cases, report):
    running = server(gray_export, "--connections", "60", "--max-mb", "1")
    stop, count = threading.Event(), cases(10, 300)
    starts = [
        b"",
        b"POST /pre",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\nabcd",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" + bytes(200_000),
    ]

    def attack(seed):
        rng, held = random.Random(seed), []
        while not stop.is_set():
            with contextlib.suppress(OSError):
                one = socket.create_connection(address(running), timeout=5)
                held.append(one)
                one.settimeout(0.2)
                one.sendall(rng.choice(starts))
            stop.wait(0.02)
            while len(held) > 20:
                held.pop(0).close()
        for one in held:
            one.close()

    attackers = [threading.Thread(target=attack, args=(seed,)) for seed in range(4)]
    for thread in attackers:
        thread.start()
    failed = 0
    try:
        for number in range(count):
            content, mask = pictures[number % len(pictures)]
            right = False
            for _ in range(20):  # retries as requested by Retry-After
                with contextlib.suppress(httpx.TransportError):
                    answer = httpx.post(f"{running.url}/predict", content=content, headers=MASK, timeout=120)
                    if answer.status_code == 200:
                        right = answer.content == mask
                        break
                stop.wait(0.25)
            failed += not right
    finally:
        stop.set()
        for thread in attackers:
            thread.join()
    report("server: honest requests beside connections that are held open", count, failed)
    assert not failed
    if os.name == "posix":
        status, _, error = running.stop()
        assert status == 0 and "Too many open files" not in error and len(error.splitlines()) < 200


@POSIX
@pytest.mark.slow
def test_a_stop_under_load_completes_or_refuses_requests(server, gray_export, pictures, cases, report):
    tried, failed = 0, 0
    for _ in range(cases(1, 12)):
        running = server(gray_export)
        clients = cases(6, 48)
        started = threading.Barrier(clients + 1)

        def work(seed, running=running, started=started):
            rng, wrong, count, reset = random.Random(seed), 0, 0, 0
            started.wait()
            while True:
                content, mask = rng.choice(pictures)
                count += 1
                try:
                    # A separate connection per request: every accepted request must be answered completely.
                    answer = httpx.post(f"{running.url}/predict", content=content, headers=MASK, timeout=120)
                except httpx.ConnectError:
                    return count, wrong + max(0, reset - 1)  # the server has closed its socket
                except httpx.TransportError:
                    reset += 1  # the last one of a client: not accepted when the socket was closed
                    continue
                wrong += reset
                wrong += not (answer.status_code == 503 or (answer.status_code == 200 and answer.content == mask))

        with ThreadPoolExecutor(clients) as pool:
            going = [pool.submit(work, seed) for seed in range(clients)]
            started.wait()
            answered = "workbench_predict_seconds_count"
            running.wait_for(lambda running=running, least=clients: running.metric(answered) > least)  # noqa: B023
            running.process.send_signal(signal.SIGTERM)
            for each in going:
                count, wrong = each.result(300)
                tried, failed = tried + count, failed + wrong
        running.process.communicate(timeout=120)
        failed += running.process.returncode != 0
    report("server: TERM under load", tried, failed)
    assert not failed
