"""Event loop of the server: polling before it sleeps."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from workbench.cli.serving.event_loop import PollingEventLoop, _PollingSelector
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.http_server import Server
from workbench.cli.serving.server_limits import Limits
from workbench.inference.predictor import Predictor


@pytest.fixture
def selector() -> Iterator[_PollingSelector]:
    with contextlib.closing(_PollingSelector()) as made:
        yield made


def test_selector_polls_for_a_time_and_then_sleeps(selector):
    assert selector.select(0) == [] == selector.select(0.001)
    selector.poll_until = -1.0  # has passed
    assert selector.select(0.001) == [] and selector.poll_until == 0
    selector.poll_until = math.inf
    assert selector.select(0) == [], "callbacks of the event loop must not wait"
    one, two = socket.socketpair()
    with one, two:
        selector.register(one, 1)
        threading.Timer(0.02, two.send, [b"a"]).start()
        assert [key.fileobj for key, _ in selector.select(None)] == [one]  # without sleeping
        one.recv(1)
        selector.poll_until = -1.0
        threading.Timer(0.02, two.send, [b"a"]).start()
        assert [key.fileobj for key, _ in selector.select(None)] == [one]


def test_event_loop_runs_while_it_polls():
    loop = PollingEventLoop()

    async def run() -> int:
        loop.expect_request()
        await asyncio.sleep(0.001)
        loop.expect_request()
        return await loop.run_in_executor(None, lambda: 7)

    with contextlib.closing(loop):
        assert loop.run_until_complete(run()) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has an event loop of its own")
def test_server_runs_in_this_event_loop(gray_export):
    predictor = Predictor.open(gray_export)
    app = create_application(predictor.settings, predictor.engine, limits=Limits())
    server = Server(app, Limits(), lambda: None)
    app.state.handler.close()
    loop = server.config.get_loop_factory()()
    loop.close()
    assert isinstance(loop, PollingEventLoop)
