"""Processing of a request from arrival to answer: upload, queue, prediction, limits of time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future

from starlette.datastructures import Headers
from starlette.types import Receive

from workbench.cli.serving.budgets import BodyBudget, MemoryBudget
from workbench.cli.serving.direct_calls import DirectCalls
from workbench.cli.serving.engine_batcher import EngineBatcher
from workbench.cli.serving.responses import Extra, Form, HttpError, write_response
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import Counters
from workbench.cli.serving.upload import read_upload
from workbench.cli.serving.work_queue import QueueFull, Reservation, WorkQueue
from workbench.inference.cpu_environment import cores
from workbench.inference.engines import EngineError
from workbench.inference.io.image_header import describe
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Prediction, PredictionCancelled, Predictor

# Called as (result, name of the image or None) in a worker thread; result: a reason if there is no prediction.
ResultCallback = Callable[[Prediction | str, str | None], None]

_log = logging.getLogger("workbench.serve")
# Largest number of images classified in one call, unless the model's settings allow more.
_MAX_BATCH = 16
# Time after which a waiting request is watched for a disconnected client; most results come earlier.
_WATCH_SECONDS = 0.02


class RequestHandler:
    """Request handler of one model (settings, engine). Its threads start here and end with `close`.

    Images waiting for a classification share one call of the network. Tiles of different images do not: rounding may
    depend on the composition of the batch, and a mask must not depend on other requests.

    on_result: called after every prediction, and for every image that cannot be predicted; not for canceled requests.
    """

    def __init__(
        self,
        settings: ModelSettings,
        engine: Engine,
        limits: Limits,
        counters: Counters,
        on_result: ResultCallback | None = None,
    ) -> None:
        self.settings = settings
        self.engine = engine
        self.limits = limits
        self.counters = counters
        self._has_outputs = on_result is not None
        self._on_result = on_result or (lambda result, name: None)
        max_batch = max(settings.batch, _MAX_BATCH) if settings.task == "classification" else 1
        self.direct_calls = DirectCalls(any_sender=max_batch == cores() == 1)
        self.network = EngineBatcher(engine, max_batch=max_batch, on_call=counters.count_call)
        self._direct_predictor = Predictor(settings, self.network.client(_never))  # of the event loop
        self.memory = MemoryBudget(limits.memory)
        self.bodies = BodyBudget(max(limits.received, limits.bytes), limits.stall, limits.seconds)
        self.queue = WorkQueue(threads=limits.threads, waiting=limits.queue, on_change=counters.set_load)

    def close(self) -> None:
        self.queue.close()
        self.network.close()

    async def answer(
        self, headers: Headers, receive: Receive, form: Form, include: Collection[Extra], name: str | None = None
    ) -> bytes:
        """Return the body of the answer. name: of the image, for `on_result`. Raises HttpError."""
        self.check_form(form)
        deadline = asyncio.get_running_loop().time() + self.limits.seconds
        with self.bodies.body() as body:
            data = await read_upload(headers, receive, self.limits.bytes, lambda size: self.bodies.add(body, size))
            body.end()
            # A place in the queue is reserved only now: a body that never arrives must not block other requests.
            with self.reserve() as reservation:
                work = self.work(data, reservation, form, include, name)
                del data  # `work` then holds the only reference, and drops it after decoding
                return await self._await_result(receive, reservation, work, deadline)

    def check_form(self, form: Form) -> None:
        """Raise HttpError 406 if the model cannot answer in this form."""
        if form != "json" and self.settings.task == "classification":
            raise HttpError(406, "This model predicts verdicts and no masks. Request application/json.")

    def reserve(self) -> Reservation:
        """Return a place in the queue. Raises HttpError 503."""
        try:
            return self.queue.reserve()
        except QueueFull as full:
            raise HttpError(
                503, "Too many requests are waiting. Try again later.", {"Retry-After": str(full.retry_after)}
            ) from None

    def answer_now(self, content: bytearray, form: Form, sender: object) -> bytes | None:
        """Return the body of the answer, predicted in this thread: that of the event loop, see `DirectCalls`.

        None if the image must be queued: also after an error, which then is reported. Not while other requests are
        processed, which use the network and the memory, unless they are as small, and not with result outputs, which
        write files.
        """
        calls = self.direct_calls
        if self._has_outputs or not calls.allows(sender):
            return None
        if self.queue.reserved and not (calls.any_sender and self.queue.has_only(calls.size)):
            return None
        started = time.perf_counter()
        try:
            if not calls.has_size(content, self._check):
                return None
            image = decode_image(content)
            body = write_response(image, self._direct_predictor.predict(image), self.settings, form)
        except Exception:  # the thread that repeats the prediction reports it
            calls.record(sender, 0, 0.0)
            return None
        calls.record(sender, calls.size, time.perf_counter() - started)
        return body

    async def _await_result(
        self, receive: Receive, reservation: Reservation, work: Callable[[Callable[[], bool]], bytes], deadline: float
    ) -> bytes:
        """Wait for the result with one future and one timer: the general functions of asyncio need several of each."""
        loop = asyncio.get_running_loop()
        ended = loop.create_future()  # by the result, the disconnection of the client, or the time limit
        disconnected: asyncio.Task[None] | None = None

        def end(*_: object) -> None:
            if not ended.done():
                ended.set_result(None)

        def end_from_thread(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop has been closed
                loop.call_soon_threadsafe(end)

        def watch() -> None:
            nonlocal disconnected, timer
            timer = loop.call_at(deadline, end)
            disconnected = loop.create_task(_disconnected(receive))
            disconnected.add_done_callback(end)

        timer = loop.call_at(min(deadline, loop.time() + _WATCH_SECONDS), watch)
        job = reservation.submit(work)
        job.add_done_callback(end_from_thread)
        try:
            await ended
        finally:
            timer.cancel()
            if disconnected is not None:
                disconnected.cancel()
            job.cancel()
        if not job.cancelled():
            return result_of(job)
        if disconnected is not None and disconnected.done() and not disconnected.cancelled():
            raise HttpError(499, "The client has disconnected.")
        raise self.late()

    def late(self) -> HttpError:
        """Return the error of a request whose time has passed."""
        return HttpError(504, f"No result within {self.limits.seconds:g} s.")

    def work(
        self, data: bytearray, reservation: Reservation, form: Form, include: Collection[Extra], name: str | None
    ) -> Callable[[Callable[[], bool]], bytes]:
        """Return the work of a thread: decode the image, predict and write the body of the answer.

        It sets `reservation.size` to the size of the decoded image in bytes. The caller has done so if it is known.
        """
        held = [data]

        def work(may_stop: Callable[[], bool]) -> bytes:
            try:
                size = reservation.size = reservation.size or self._check(held[0])
                with self.memory.reserve(size, may_stop):
                    return self._predict(held, may_stop, form, include, reservation.waited, name)
            except (HttpError, ReadError, EngineError, MemoryError) as error:
                why = getattr(error, "detail", None) or getattr(error, "why", None) or str(error)
                self._on_result(why or "not enough memory", name)
                raise

        return work

    def _predict(
        self,
        held: list[bytearray],
        may_stop: Callable[[], bool],
        form: Form,
        include: Collection[Extra],
        waited: float,
        name: str | None,
    ) -> bytes:
        """Decode the image, predict and write the answer. A separate function, so that returning frees the image."""
        image = decode_image(held.pop())
        predictor = Predictor(self.settings, self.network.client(may_stop))
        result = predictor.predict(image, cancelled=may_stop)
        body = write_response(image, result, self.settings, form, include=include, waited=waited)
        self._on_result(result, name)
        return body

    def size_of(self, data: bytearray) -> int:
        """Return the size of the decoded image in bytes, 0 if the image will be refused."""
        try:
            return self._check(data)
        except HttpError:
            return 0

    def _check(self, data: bytearray) -> int:
        """Return the size of the decoded image in bytes, computed from its header. Raises HttpError 413 or 422."""
        declared = describe(data)
        if not declared.width:
            raise HttpError(422, "The image cannot be read because its file format is unknown.")
        if declared.pixels > self.limits.pixels:
            raise HttpError(
                413,
                f"The image has {declared.width} x {declared.height} pixels; "
                f"the limit is {self.limits.pixels / 1e6:.4g} megapixels.",
            )
        if declared.channels > 4:
            raise HttpError(
                422,
                f"The image cannot be read because it has {declared.channels} channels. "
                "Only gray and color images are supported.",
            )
        if declared.memory > self.memory.limit:
            raise HttpError(
                413,
                f"The decoded image needs {declared.memory / 2**20:.4g} MB of memory ({declared.width} x "
                f"{declared.height} pixels, {declared.channels} channels, {8 * declared.depth} bits); "
                f"the limit is {self.memory.limit / 2**20:.4g} MB.",
            )
        return declared.memory


def _never() -> bool:
    return False


async def _disconnected(receive: Receive) -> None:
    """Return when the client disconnects. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


def result_of(job: Future[bytes]) -> bytes:
    """Return the result of the work, or raise its exception as HttpError."""
    try:
        return job.result()
    except HttpError:
        raise
    except ReadError as error:
        raise HttpError(422, f"The image cannot be read: {error.why}.") from None
    except EngineError as error:
        _log.error("%s", error)
        raise HttpError(500, str(error)) from None
    except MemoryError:
        raise HttpError(500, "Not enough memory for this image.") from None
    except PredictionCancelled:
        raise HttpError(503, "The server is stopping.", {"Retry-After": "5"}) from None
    except Exception:
        _log.exception("a request failed")
        raise HttpError(500, "Internal error for this image. See the log of the server.") from None
