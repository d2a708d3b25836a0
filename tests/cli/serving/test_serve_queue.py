"""Parallel requests: full queue, time limits, disconnected clients and shared calls of the network."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest

from tests.cli.serving.conftest import png, until
from tests.inference.conftest import spotted
from workbench.cli.serving.request_handler import EngineBatcher
from workbench.inference.engines import EngineError
from workbench.inference.predictor import PredictionCancelled

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
    assert counted["workbench_rejected_total"] == counted['workbench_requests_total{status="503"}'] == 4
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


def test_waiting_classification_images_share_a_call(served, verdict_export):
    one = served(verdict_export, threads=9)
    one.engine.gate.clear()
    shades = [20, 240, 110, 128, 140, 60, 200, 90, 170]

    async def together():
        async with one.client() as client:
            first = post(client, np.full((30, 40), shades[0], np.uint8))
            await until(lambda: one.engine.entered == 1)
            rest = [post(client, np.full((20 + shade, 50), shade, np.uint8)) for shade in shades[1:]]
            await until(lambda: one.app.state.handler.network.waiting == 8)
            one.engine.gate.set()
            return await asyncio.gather(first, *rest)

    answers = asyncio.run(together())
    assert [shape[0] for shape in one.engine.calls] == [1, 8]
    for number, (shade, answer) in enumerate(zip(shades, answers)):
        size = (20 + shade, 50) if number else (30, 40)
        expected = one.predictor.predict(np.full(size, shade, np.uint8))
        found = answer.json()
        assert found["size"] == {"height": size[0], "width": size[1]}
        assert found["verdict"] == expected.verdict
        for name, probability in expected.probabilities.items():
            assert found["probabilities"][name] == pytest.approx(probability, abs=1e-6)


def test_tiles_of_different_images_do_not_share_a_call(served, gray_export):
    one = served(gray_export, threads=4)
    one.engine.gate.clear()

    async def together():
        async with one.client() as client:
            requests = [post(client, SMALL) for _ in range(4)]
            await until(lambda: one.app.state.handler.network.waiting == 3)
            one.engine.gate.set()
            return await asyncio.gather(*requests)

    assert [answer.status_code for answer in asyncio.run(together())] == [200] * 4
    assert [shape[0] for shape in one.engine.calls] == [1] * 4


def results_of_simultaneous_calls(network, batches):
    """Return the results of calls made while the network is busy with another one."""
    found = [None] * len(batches)

    def ask(index):
        try:
            found[index] = network.client(lambda: False)(batches[index])
        except Exception as error:
            found[index] = error

    return [threading.Thread(target=ask, args=(index,)) for index in range(len(batches))], found


class BlockingNetwork:
    """Network that doubles its input, blocks its first call, and fails on the number 13."""

    def __init__(self):
        self.free, self.shapes = threading.Event(), []

    def __call__(self, batch):
        self.shapes.append(batch.shape)
        assert self.free.wait(30)
        if (batch == 13).any():
            raise RuntimeError("thirteen")
        return batch * 2


def run_simultaneously(network, engine, batches):
    threads, found = results_of_simultaneous_calls(network, batches)
    threads[0].start()
    asyncio.run(until(lambda: len(engine.shapes) == 1))
    for number, thread in enumerate(threads[1:], start=1):
        thread.start()
        asyncio.run(until(lambda: network.waiting == number))  # noqa: B023
    engine.free.set()
    for thread in threads:
        thread.join(30)
    network.close()
    return found


def test_failing_batch_does_not_affect_others():
    engine = BlockingNetwork()
    network = EngineBatcher(engine, max_batch=8)
    batches = [np.full((1, 2), value) for value in (1, 2, 13, 4)]
    found = run_simultaneously(network, engine, batches)
    assert engine.shapes == [(1, 2), (3, 2), (1, 2), (1, 2), (1, 2)]
    for index in (0, 1, 3):
        np.testing.assert_array_equal(found[index], batches[index] * 2)
    assert str(found[2]) == "thirteen"


def test_only_equal_sizes_are_joined_up_to_the_limit():
    engine = BlockingNetwork()
    network = EngineBatcher(engine, max_batch=3)
    batches = [np.full((count, width), 10 * count + width) for count, width in [(1, 2), (2, 2), (1, 5), (2, 2), (1, 2)]]
    found = run_simultaneously(network, engine, batches)
    assert engine.shapes == [(1, 2), (3, 2), (1, 5), (2, 2)]
    for batch, answer in zip(batches, found):
        np.testing.assert_array_equal(answer, batch * 2)


def test_arrays_of_a_call_are_freed_without_a_garbage_collection():
    """A collection comes late, since the collector does not know how large arrays are."""
    network = EngineBatcher(lambda batch: batch * 2, max_batch=8)
    gc.collect()
    gc.disable()
    try:
        batch = np.ones((1, 2))
        result = network.client(lambda: False)(batch)
        arrays = [weakref.ref(batch), weakref.ref(result)]
        del batch, result
        assert [array() for array in arrays] == [None, None]
    finally:
        gc.enable()
        network.close()


def test_cancelled_batches_are_skipped():
    engine = BlockingNetwork()
    network = EngineBatcher(engine, max_batch=8)
    threads, _ = results_of_simultaneous_calls(network, [np.ones((1, 2))])
    threads[0].start()
    asyncio.run(until(lambda: len(engine.shapes) == 1))
    with pytest.raises(PredictionCancelled):
        network.client(lambda: True)(np.zeros((1, 2)))
    engine.free.set()
    threads[0].join(30)
    network.close()
    assert engine.shapes == [(1, 2)] and not network.alive
    with pytest.raises(EngineError):
        network.client(lambda: False)(np.zeros((1, 2)))
