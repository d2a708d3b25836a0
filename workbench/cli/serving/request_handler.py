"""Processing of a request from arrival to answer: upload, queue, prediction, limits of time and memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from starlette.requests import ClientDisconnect, Request

from workbench.cli.serving.engine_batcher import EngineBatcher
from workbench.cli.serving.memory_budget import MemoryBudget
from workbench.cli.serving.receiving import Body, Receiving
from workbench.cli.serving.responses import Extra, Form, HttpError, write_response
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import Counters
from workbench.cli.serving.upload import read_upload
from workbench.cli.serving.work_queue import QueueFull, Reservation, WorkQueue
from workbench.inference.engines import EngineError
from workbench.inference.io.declared_size import declared_size
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, PredictionCancelled, Predictor

_log = logging.getLogger("workbench.serve")
# Largest number of images classified in one call, unless the model's settings allow more.
_TOGETHER = 16


class RequestHandler:
    """Request handler of one model (settings, engine). Its threads start here and end with `close`.

    Images waiting for a classification share one call of the network. Tiles of different images do not: rounding may
    depend on the composition of the batch, and a mask must not depend on other requests.
    """

    def __init__(self, settings: ModelSettings, engine: Engine, limits: Limits, counters: Counters) -> None:
        self.settings = settings
        self.engine = engine
        self.limits = limits
        self.counters = counters
        together = max(settings.batch, _TOGETHER) if settings.task == "classification" else 1
        self.network = EngineBatcher(engine, together=together, on_call=counters.called)
        self.memory = MemoryBudget(limits.memory)
        self.receiving = Receiving(max(limits.received, limits.bytes))
        self.queue = WorkQueue(threads=limits.threads, waiting=limits.queue, on_change=counters.load)

    def close(self) -> None:
        self.queue.close()
        self.network.close()

    async def answer(self, request: Request, form: Form, include: Collection[Extra]) -> bytes:
        """Return the body of the answer. Raises Refused."""
        if form != "json" and self.settings.task == "classification":
            raise HttpError(406, "This model gives a verdict and no mask: ask for application/json.")
        until = asyncio.get_running_loop().time() + self.limits.seconds
        async with self.receiving.body() as body:
            data = await self._upload(request, body)
            body.arriving = False
            # The seat is taken only now, so that a body that never arrives does not block other requests.
            with self._seat() as seat:
                work = self._work(data, seat, form, include)
                del data  # `work` then holds the only reference, and drops it after decoding
                return await self._outcome(request, seat, work, until)

    def _seat(self) -> Reservation:
        try:
            return self.queue.reserve()
        except QueueFull as full:
            raise HttpError(
                503, "Too many requests are waiting. Try again later.", {"Retry-After": str(full.retry_after)}
            ) from None

    async def _upload(self, request: Request, body: Body) -> bytearray:
        def count(size: int) -> None:
            self.receiving.add(body, size)

        try:
            reading = read_upload(request, self.limits.bytes, self.limits.stall, count)
            return await asyncio.wait_for(reading, self.limits.seconds)
        except asyncio.TimeoutError:
            raise HttpError(
                408, f"The picture did not arrive within {self.limits.seconds:g} s.", {"Connection": "close"}
            ) from None
        except ClientDisconnect:
            raise HttpError(499, "The client has gone.") from None

    async def _outcome(
        self, request: Request, seat: Reservation, work: Callable[[Callable[[], bool]], bytes], until: float
    ) -> bytes:
        job = asyncio.wrap_future(seat.submit(work))
        gone = asyncio.ensure_future(_gone(request))
        left = max(0.0, until - asyncio.get_running_loop().time())
        try:
            await asyncio.wait({job, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not job.done():
                job.cancel()
        if job.cancelled() and gone.done() and not gone.cancelled():
            raise HttpError(499, "The client has gone.")
        if job.cancelled():
            raise HttpError(504, f"There was no result within {self.limits.seconds:g} s.")
        return _result(job)

    def _work(
        self, data: bytearray, seat: Reservation, form: Form, include: Collection[Extra]
    ) -> Callable[[Callable[[], bool]], bytes]:
        held = [data]

        def work(may_stop: Callable[[], bool]) -> bytes:
            size = self._check(held[0])
            with self.memory.take(size, may_stop):
                return self._predict(held, may_stop, form, include, seat)

        return work

    def _predict(
        self,
        held: list[bytearray],
        may_stop: Callable[[], bool],
        form: Form,
        include: Collection[Extra],
        seat: Reservation,
    ) -> bytes:
        """Decode the image, predict and write the answer. A separate function, so that returning frees the image."""
        image = decode_image(held.pop())
        predictor = Predictor(self.settings, self.network.client(may_stop))
        result = predictor.predict(image, cancelled=may_stop)
        return write_response(image, result, self.settings, form, include=include, waited=seat.waited)

    def _check(self, data: bytearray) -> int:
        """Return the size of the decoded image in bytes, computed from its header. Raises Refused 413 or 422."""
        claim = declared_size(data)
        if claim is None:
            raise HttpError(422, "The picture cannot be read: this is not a picture file that can be read.")
        if max(claim.pixels, claim.padded) > self.limits.pixels:
            raise HttpError(
                413,
                f"The picture has {claim.width} x {claim.height} pixels; "
                f"at most {self.limits.pixels / 1e6:.4g} megapixels are taken here.",
            )
        if claim.channels > 4:
            raise HttpError(
                422, f"The picture cannot be read: it has {claim.channels} channels; grey and colour can be read."
            )
        if claim.memory > self.memory.most:
            raise HttpError(
                413,
                f"The picture takes {claim.memory / 2**20:.4g} MB of memory when it is decoded ({claim.width} x "
                f"{claim.height} pixels, {claim.channels} channels, {8 * claim.depth} bits); "
                f"at most {self.memory.most / 2**20:.4g} MB are taken here.",
            )
        return claim.memory


async def _gone(request: Request) -> None:
    """Return when the client disconnects. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _result(job: asyncio.Future[bytes]) -> bytes:
    """Return the result of the work, or raise its exception as Refused."""
    try:
        return job.result()
    except HttpError:
        raise
    except ReadError as error:
        raise HttpError(422, f"The picture cannot be read: {error.why}.") from None
    except EngineError as error:
        _log.error("%s", error)
        raise HttpError(500, str(error)) from None
    except MemoryError:
        raise HttpError(500, "There is not enough memory for this picture.") from None
    except PredictionCancelled:
        raise HttpError(503, "The server is stopping.", {"Retry-After": "5"}) from None
    except Exception:
        _log.exception("a request failed")
        raise HttpError(500, "The server failed on this picture; its log says why.") from None
