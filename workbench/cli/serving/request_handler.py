"""Processing of a request from arrival to answer: upload, queue, prediction, limits of time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator

from starlette.requests import ClientDisconnect, Request

from workbench.cli.serving.responses import Extra, Form, HttpError, write_response
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import Counters
from workbench.cli.serving.upload import read_upload
from workbench.cli.serving.work_queue import EngineBatcher, QueueFull, Reservation, WorkQueue
from workbench.inference.engines import EngineError
from workbench.inference.io.declared_size import declared_size
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Prediction, PredictionCancelled, Predictor
from workbench.inference.process_memory import release_free_memory

ResultCallback = Callable[[Prediction | str, str | None], None]
"""Called as (result, name of the image or None) in a worker thread; result: a reason if there is no prediction."""

_log = logging.getLogger("workbench.serve")
# Largest number of images classified in one call, unless the model's settings allow more.
_MAX_BATCH = 16


_LARGE = 64 * 2**20  # freed memory of at least this size is returned to the operating system


class Body:
    """Bytes of one request held in memory. arriving: more bytes are expected."""

    def __init__(self) -> None:
        self.size = 0
        self.arriving = True
        self.last = time.monotonic()
        self.evicted = False
        self.task = asyncio.current_task()


class BodyBudget:
    """Memory of all request bodies. limit: bytes of all bodies together. For use in the event loop only.

    If the limit is exceeded, the body without progress for the longest time is evicted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bodies: list[Body] = []

    @contextlib.asynccontextmanager
    async def body(self) -> AsyncIterator[Body]:
        """Count a body until the end of the block. Raises HttpError 503 if the body is evicted."""
        body = Body()
        self._bodies.append(body)
        try:
            yield body
        except asyncio.CancelledError:
            if body.evicted:
                if hasattr(body.task, "uncancel"):  # Python 3.11
                    body.task.uncancel()
                raise _full() from None
            raise
        finally:
            self._bodies.remove(body)

    def add(self, body: Body, size: int) -> None:
        """Count `size` more bytes of a body. Raises HttpError 503."""
        body.size += size
        body.last = time.monotonic()
        while sum(other.size for other in self._bodies) > self._limit:
            others = [other for other in self._bodies if other.arriving and other is not body and other.size]
            if not others:
                raise _full()
            stalled = min(others, key=lambda other: other.last)
            stalled.evicted, stalled.arriving, stalled.size = True, False, 0
            if stalled.task is not None:
                stalled.task.cancel()


def _full() -> HttpError:
    return HttpError(
        503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
    )


class MemoryBudget:
    """Budget of memory. limit: bytes of all decoded images together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._used = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def reserve(self, size: int, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait until `size` bytes (at most `limit`) are free and hold them for the block.

        Raises PredictionCancelled.
        """
        with self._changed:
            while self._used + size > self.limit:
                self._changed.wait(0.05)
                if cancelled():
                    raise PredictionCancelled
            self._used += size
        try:
            yield
        finally:
            if size >= _LARGE:
                release_free_memory()
            with self._changed:
                self._used -= size
                self._changed.notify_all()


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
        self._on_result = on_result or (lambda result, name: None)
        max_batch = max(settings.batch, _MAX_BATCH) if settings.task == "classification" else 1
        self.network = EngineBatcher(engine, max_batch=max_batch, on_call=counters.count_call)
        self.memory = MemoryBudget(limits.memory)
        self.bodies = BodyBudget(max(limits.received, limits.bytes))
        self.queue = WorkQueue(threads=limits.threads, waiting=limits.queue, on_change=counters.set_load)

    def close(self) -> None:
        self.queue.close()
        self.network.close()

    async def answer(self, request: Request, form: Form, include: Collection[Extra], name: str | None = None) -> bytes:
        """Return the body of the answer. name: of the image, for `on_result`. Raises HttpError."""
        if form != "json" and self.settings.task == "classification":
            raise HttpError(406, "This model predicts verdicts and no masks. Request application/json.")
        deadline = asyncio.get_running_loop().time() + self.limits.seconds
        async with self.bodies.body() as body:
            data = await self._upload(request, body)
            body.arriving = False
            # A place in the queue is reserved only now: a body that never arrives must not block other requests.
            with self._reserve() as reservation:
                work = self._work(data, reservation, form, include, name)
                del data  # `work` then holds the only reference, and drops it after decoding
                return await self._await_result(request, reservation, work, deadline)

    def _reserve(self) -> Reservation:
        try:
            return self.queue.reserve()
        except QueueFull as full:
            raise HttpError(
                503, "Too many requests are waiting. Try again later.", {"Retry-After": str(full.retry_after)}
            ) from None

    async def _upload(self, request: Request, body: Body) -> bytearray:
        def count(size: int) -> None:
            self.bodies.add(body, size)

        try:
            reading = read_upload(request, self.limits.bytes, self.limits.stall, count)
            return await asyncio.wait_for(reading, self.limits.seconds)
        except asyncio.TimeoutError:
            raise HttpError(
                408, f"The image did not arrive within {self.limits.seconds:g} s.", {"Connection": "close"}
            ) from None
        except ClientDisconnect:
            raise HttpError(499, "The client has disconnected.") from None

    async def _await_result(
        self, request: Request, reservation: Reservation, work: Callable[[Callable[[], bool]], bytes], deadline: float
    ) -> bytes:
        job = asyncio.wrap_future(reservation.submit(work))
        disconnected = asyncio.ensure_future(_disconnected(request))
        left = max(0.0, deadline - asyncio.get_running_loop().time())
        try:
            await asyncio.wait({job, disconnected}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnected.cancel()
            if not job.done():
                job.cancel()
        if job.cancelled() and disconnected.done() and not disconnected.cancelled():
            raise HttpError(499, "The client has disconnected.")
        if job.cancelled():
            raise HttpError(504, f"No result within {self.limits.seconds:g} s.")
        return _result(job)

    def _work(
        self, data: bytearray, reservation: Reservation, form: Form, include: Collection[Extra], name: str | None
    ) -> Callable[[Callable[[], bool]], bytes]:
        held = [data]

        def work(may_stop: Callable[[], bool]) -> bytes:
            try:
                size = self._check(held[0])
                with self.memory.reserve(size, may_stop):
                    return self._predict(held, may_stop, form, include, reservation, name)
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
        reservation: Reservation,
        name: str | None,
    ) -> bytes:
        """Decode the image, predict and write the answer. A separate function, so that returning frees the image."""
        image = decode_image(held.pop())
        predictor = Predictor(self.settings, self.network.client(may_stop))
        result = predictor.predict(image, cancelled=may_stop)
        body = write_response(image, result, self.settings, form, include=include, waited=reservation.waited)
        self._on_result(result, name)
        return body

    def _check(self, data: bytearray) -> int:
        """Return the size of the decoded image in bytes, computed from its header. Raises HttpError 413 or 422."""
        declared = declared_size(data)
        if declared is None:
            raise HttpError(422, "The image cannot be read because its file format is unknown.")
        if max(declared.pixels, declared.padded) > self.limits.pixels:
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


async def _disconnected(request: Request) -> None:
    """Return when the client disconnects. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _result(job: asyncio.Future[bytes]) -> bytes:
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
