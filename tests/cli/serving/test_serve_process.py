"""Verb serve as a process on a free port of this machine."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import numpy as np
import psutil
import pytest

from tests.cli.serving.conftest import GENTLE, ROOT, png
from tests.inference.conftest import spotted
from workbench.cli import serve
from workbench.cli.serving import http_server
from workbench.inference.predictor import Predictor

NOT_COMPARED = "This model compares no image with the training images: one that is unlike them is not recognized."


def mixed(count):
    """Return different images of many sizes and types."""
    rng = np.random.default_rng(2)
    made = []
    for number in range(count):
        image = spotted(rng, 30 + 7 * (number % 9), 40 + 11 * (number % 5))
        if number % 3 == 1:
            image = image.astype(np.uint16) * 257
        elif number % 3 == 2:
            image = np.dstack([image] * 3)
        made.append(image)
    return made


def post_all(server, pictures, clients, **request):
    """Return the responses in the order of the images, requested by `clients` clients at once."""
    limits = httpx.Limits(max_connections=clients)
    with httpx.Client(timeout=60, limits=limits) as client, ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda each: client.post(f"{server.url}/predict", content=png(each), **request), pictures))


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_forty_parallel_requests_get_their_own_mask(server, gray_export, workers):
    running = server(gray_export, "--workers", str(workers))
    assert running.facts["model"] == "spots" and running.facts["workers"] == workers
    assert running.url.startswith("http://127.0.0.1:")
    predictor, pictures = Predictor.open(gray_export), mixed(40)
    answers = post_all(running, pictures, 40, headers={"Accept": "image/png"})
    expected = [png(predictor.predict(image).mask) for image in pictures]
    assert len(set(expected)) == 40
    for answer, mask in zip(answers, expected):
        assert answer.status_code == 200 and answer.content == mask
    # Each process reports the counts of all processes.
    for _ in range(4):
        assert running.metric('workbench_requests_total{status="200"}') >= 40
        assert running.metric("workbench_predict_seconds_count") == 40
        assert running.metric("workbench_in_flight") == 0
    if os.name == "posix":
        assert running.stop() == (0, "", f"{NOT_COMPARED}\nStopped.\n")


@pytest.mark.new_processes
def test_stop_finishes_requests_in_flight_and_refuses_new_ones(server, gray_export):
    running = server(gray_export, "--timeout", "500")  # for a busy machine
    large, small = (spotted(np.random.default_rng(3), side, side) for side in (1600, 50))
    expected = [png(Predictor.open(gray_export).predict(image).mask) for image in (large, small)]
    address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
    answers = []

    def post():
        headers = {"Accept": "image/png"}
        answers.append(httpx.post(f"{running.url}/predict", content=png(large), timeout=500, headers=headers))

    slow = socket.create_connection(address, timeout=500)
    head = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: image/png\r\nContent-Length: %d\r\n\r\n"
    slow.sendall(head % len(png(small)) + png(small)[:-1])
    asking = threading.Thread(target=post)
    asking.start()
    running.wait_for(lambda: running.metric("workbench_network_calls_total") > 0)
    running.process.send_signal(GENTLE)

    def refused():
        try:
            socket.create_connection(address, timeout=5).close()
        except (ConnectionRefusedError, TimeoutError):  # Windows asks several times
            return True
        return False

    running.wait_for(refused)
    assert running.process.poll() is None  # the last byte of the small image is still missing
    slow.sendall(png(small)[-1:])
    with slow, slow.makefile("rb") as response:
        answer = response.read()
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(expected[1])
    asking.join(500)
    assert answers[0].status_code == 200 and answers[0].content == expected[0]
    out, error = running.process.communicate(timeout=60)
    assert (running.process.returncode, out, error) == (0, "", f"{NOT_COMPARED}\nStopped.\n")


def test_server_process_imports_no_file_of_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(http_server, "SAFE_PATH", ())  # there is no option before Python 3.11
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("multiprocessing", "pickle", "selectors", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the file of the user was run')", "utf-8")
    process = multiprocessing.get_context("spawn").Process(target=os.getcwd)
    http_server.start_safely(process)
    process.join(60)
    assert process.exitcode == 0 and os.getcwd() == str(tmp_path)


@pytest.mark.new_processes
def test_dead_process_is_replaced_and_all_end_with_the_first(server, gray_export):
    running = server(gray_export, "--workers", "2")
    first = psutil.Process(running.process.pid)

    def members():
        found = []
        for each in first.children():
            with contextlib.suppress(psutil.Error, OSError):  # it has just ended
                if any("spawn_main" in word for word in each.cmdline()):
                    found.append(each)
        return found

    before = members()
    assert len(before) == 2
    assert all(each.environ()["PYTHONSAFEPATH"] == "1" for each in before)
    before[0].kill()
    running.wait_for(lambda: len(set(members()) - set(before)) == 1 and before[0] not in members())
    for answer in post_all(running, mixed(8), 8):
        assert answer.status_code == 200
    left = members()
    running.process.kill()
    assert len(left) == 2
    _, alive = psutil.wait_procs(left, timeout=60)
    assert alive == []
    assert "It is replaced" in running.process.communicate()[1]


def refuse(folder, *options, before="pass"):
    code = f"import sys; {before}; from workbench import cli; sys.exit(cli.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", str(folder), "--port", "0", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        timeout=120,
    )
    assert done.stdout == "" and "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_an_interrupted_wait_stops_all_processes(monkeypatch):
    """On Windows Ctrl+C interrupts the wait for the processes with InterruptedError."""
    stopped = []

    class Worker:
        def __init__(self, plan, bound, cells, row):
            self.is_ready, self.started = [1], 0.0
            self.orders = SimpleNamespace(close=lambda: stopped.append(row))
            self.process = SimpleNamespace(sentinel=row, is_alive=lambda: True)

        def join(self, until):
            pass

    def wait(sentinels, timeout):
        signal.raise_signal(signal.SIGINT)
        raise InterruptedError

    monkeypatch.setattr(http_server, "_Worker", Worker)
    monkeypatch.setattr(http_server.connection, "wait", wait)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # the server sets it
    limits = http_server.Limits()
    with contextlib.closing(socket.socket()) as bound:
        plan = http_server.ServerPlan(folder="", engine="", threads=None, token=None, limits=limits, workers=2)
        http_server.serve_with_workers(plan, bound, lambda: None)
    assert stopped == [0, 1]


def test_changed_export_is_not_served(gray_export):
    with (gray_export / "network.onnx").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    status, message = refuse(gray_export)
    assert status == 1 and "network.onnx has been changed" in message


def test_export_with_failing_self_test_is_not_served(gray_export):
    from workbench.inference.batch.export_package import write_checks

    expected = gray_export / "golden" / "2.json"
    expected.write_text(expected.read_text(encoding="utf-8").replace('"area": ', '"area": 1'), encoding="utf-8")
    write_checks(gray_export)
    status, message = refuse(gray_export)
    assert status == 1 and "the regions differ" in message


def test_missing_libraries_are_named_with_the_command(gray_export):
    status, message = refuse(gray_export, before="sys.modules.update(starlette=None, httptools=None)")
    assert status == 1 and "-m pip install" in message
    assert "starlette>=" in message and "httptools>=" in message and "multipart>=" not in message


def test_reasons_not_to_start(gray_export, tmp_path):
    status, message = refuse(tmp_path)
    assert status == 1 and "is not an export" in message
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, message = refuse(gray_export, "--port", str(taken.getsockname()[1]))
    assert status == 1 and "Choose another --port" in message
    assert refuse(gray_export, "--host", "no.such.host.invalid")[0] == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--workers", "0"),
        ("--queue", "-1"),
        ("--connections", "0"),
        ("--memory", "0"),
        ("--port", "70000"),
        ("--timeout", "0"),
        ("--max-mb", "nan"),
        ("--max-megapixels", "x"),
        ("--token", ""),
        ("--token", "two words"),
        ("--engine", "none"),
    ],
)
def test_wrong_use_returns_two(gray_export, options, capsys):
    from workbench import cli

    assert cli.main(["serve", str(gray_export), *options]) == 2
    assert options[0].strip("-") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "memory", "connections"),
    [
        ("", 1536, 1000),
        ("--memory 300 --connections 7", 300, 7),
        ("--max-memory-mb 2048", 3072, 1000),
        ("--max-received-mb 1024 --max-memory-mb 100 --queue 8 --max-connections 60", 3072, 60),
        ("--queue 2000 --stall-timeout 1 --idle-timeout 2", 1536, 2000),
        ("--memory 300 --max-memory-mb 2048 --connections 7 --max-connections 60", 300, 7),
    ],
)
def test_options_of_single_limits_set_memory_and_connections(options, memory, connections):
    parser, notes = argparse.ArgumentParser(), []
    serve.add_arguments(parser)
    given = parser.parse_args(["EXPORT", *options.split()])
    assert serve.limits_of(given, notes.append).memory == memory * 2**20
    assert serve.limits_of(given, notes.append).connections == connections
    assert len(notes) == 2 * ("timeout" in options)
    text = parser.format_help()
    assert "--memory" in text and "--connections" in text
    assert not any(
        word in text for word in ("--queue", "--max-memory", "--max-received", "--max-conn", "--stall", "--idle")
    )


def test_token_from_the_environment(server, gray_export, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TOKEN", "from-outside")
    running = server(gray_export)
    assert running.facts["token_needed"] is True
    assert httpx.post(f"{running.url}/predict", content=b"x").status_code == 401
    answer = httpx.post(f"{running.url}/predict", content=b"x", headers={"Authorization": "Bearer from-outside"})
    assert answer.status_code == 422
    assert httpx.get(f"{running.url}/").status_code == 200


def test_loopback_addresses_are_local():
    class Bound:
        def __init__(self, host):
            self.host = host

        def getsockname(self):
            return (self.host, 80)

    for host, local in [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.9", False),
        ("fe80::1%eth0", False),
    ]:
        assert http_server.is_local(Bound(host)) is local
    with http_server.bind("localhost", 0) as bound:
        assert http_server.is_local(bound) and http_server.address_of(bound).startswith("http://")
