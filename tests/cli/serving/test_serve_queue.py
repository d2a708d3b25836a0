"""Parallel requests: full queue, time limits, disconnected clients, one call of the network at a time."""

from __future__ import annotations

import asyncio

import numpy as np

from tests.cli.serving.conftest import png, until
from tests.inference.conftest import spotted

SMALL = spotted(np.random.default_rng(1), 40, 50)


def post(client, picture, **request):
    return asyncio.ensure_future(client.post("/predict", content=png(picture), **request))


def test_full_queue_refuses_at_once_and_loses_no_request(served, gray_export):
    one = served(gray_export, threads=1, connections=3)
    one.engine.gate.clear()

    async def fill_queue():
        async with one.client() as client:
            taken = [post(client, SMALL + shade, headers={"Accept": "image/png"}) for shade in range(3)]
            await until(lambda: one.counters["workbench_in_flight"] == 3 and one.engine.entered == 1)
            await until(lambda: one.counters["workbench_queue_depth"] == 2)
            refused = [await client.post("/predict", content=png(SMALL)) for _ in range(4)]
            ready = await client.get("/health")
            one.engine.gate.set()
            return await asyncio.gather(*taken), refused, ready

    taken, refused, ready = asyncio.run(fill_queue())
    for answer in refused:
        assert answer.status_code == 503 and 1 <= int(answer.headers["retry-after"]) <= 60
    assert ready.status_code == 200
    for shade, answer in enumerate(taken):
        assert answer.status_code == 200 and answer.content == png(one.predictor.predict(SMALL + shade).mask)
    counted = one.counters
    assert counted['workbench_requests_total{status="503"}'] == 4
    assert counted["workbench_queue_depth"] == counted["workbench_in_flight"] == 0
    assert one.predict(png(SMALL)).status_code == 200


def test_request_that_timed_out_frees_its_place(served, gray_export):
    one = served(gray_export, threads=1, connections=2, seconds=1.2)
    one.engine.gate.clear()

    async def wait():
        async with one.client() as client:
            return await asyncio.gather(post(client, SMALL), post(client, SMALL))

    for answer in asyncio.run(wait()):
        assert answer.status_code == 504 and "1.2 s" in answer.json()["detail"]
    assert one.counters["workbench_queue_depth"] == 0  # the waiting request is not started
    assert one.engine.entered == 1
    assert one.counters["workbench_in_flight"] == 1  # the call of the network is still blocked
    one.engine.gate.set()
    asyncio.run(until(lambda: one.counters["workbench_in_flight"] == 0))
    assert one.predict(png(SMALL)).status_code == 200


def test_large_image_is_cancelled_between_two_calls(served, gray_export):
    one = served(gray_export, threads=1, connections=1, seconds=1.2)
    one.engine.gate.clear()
    large = np.zeros((700, 700), np.uint8)
    assert one.predict(png(large)).status_code == 504
    one.engine.gate.set()
    asyncio.run(until(lambda: one.counters["workbench_in_flight"] == 0))
    assert len(one.engine.calls) == 1


def test_request_of_a_disconnected_client_is_not_started(served, gray_export):
    one = served(gray_export, threads=1, connections=6)
    one.engine.gate.clear()

    async def disconnect():
        async with one.client() as client:
            first = post(client, SMALL)
            await until(lambda: one.engine.entered == 1)
            gone, sent = asyncio.Event(), []

            async def receive():
                if not sent:
                    sent.append(1)
                    return {"type": "http.request", "body": png(SMALL), "more_body": False}
                await gone.wait()
                return {"type": "http.disconnect"}

            async def send(message):
                pass

            scope = {
                "type": "http",
                "method": "POST",
                "path": "/predict",
                "raw_path": b"/predict",
                "query_string": b"",
                "headers": [],
                "http_version": "1.1",
                "scheme": "http",
                "server": ("server", 80),
                "root_path": "",
            }
            second = asyncio.ensure_future(one.app(scope, receive, send))
            await until(lambda: one.counters["workbench_queue_depth"] == 1)
            gone.set()
            await second
            assert one.counters["workbench_queue_depth"] == 0 and one.counters["workbench_in_flight"] == 1
            one.engine.gate.set()
            assert (await first).status_code == 200

    asyncio.run(disconnect())
    assert one.engine.entered == 1
    assert one.counters['workbench_requests_total{status="499"}'] == 1


def test_the_network_is_called_for_one_image_at_a_time_and_no_canceled_one(served, gray_export):
    one = served(gray_export, threads=4, seconds=1.2)
    one.engine.gate.clear()

    async def together():
        async with one.client() as client:
            return await asyncio.gather(*(post(client, SMALL) for _ in range(4)))

    assert [answer.status_code for answer in asyncio.run(together())] == [504] * 4
    assert one.engine.entered == 1
    one.engine.gate.set()
    asyncio.run(until(lambda: one.counters["workbench_in_flight"] == 0))
    assert len(one.engine.calls) == 1
    assert one.predict(png(SMALL)).status_code == 200


def test_images_of_a_closed_server_are_refused(served, gray_export):
    one = served(gray_export)
    one.app.state.handler.close()
    assert one.predict(png(SMALL)).status_code == 503
    assert one.ask("GET", "/health").status_code == 503
