"""Takes one request from its arrival to its answer, within its limits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from starlette.requests import ClientDisconnect, Request

from workbench.cli.serving.answers import Extra, Form, write_answer
from workbench.cli.serving.limits import Limits
from workbench.cli.serving.memory_budget import MemoryBudget
from workbench.cli.serving.metrics import Counters
from workbench.cli.serving.network import SharedNetwork
from workbench.cli.serving.receiving import Body, Receiving
from workbench.cli.serving.refusal import Refused
from workbench.cli.serving.upload import read_upload
from workbench.cli.serving.work_queue import Full, Seat, WorkQueue
from workbench.inference.engines import EngineError
from workbench.inference.header import claimed_size
from workbench.inference.predictor import Cancelled, Engine, Predictor
from workbench.inference.reading import ReadError, decode_picture
from workbench.inference.settings import ModelSettings

_log = logging.getLogger("workbench.serve")
# Pictures that go through a classification together at most; a model may ask for more.
_TOGETHER = 16


class Desk:
    """settings, engine: the model. The threads start here and end with `close`.

    Pictures of a classification that are waiting go through the network in one call. Tiles of different pictures do
    not: a network may round differently in another company, and a mask must not depend on who else asks.
    """

    def __init__(self, settings: ModelSettings, engine: Engine, limits: Limits, counters: Counters) -> None:
        self.settings = settings
        self.engine = engine
        self.limits = limits
        self.counters = counters
        together = max(settings.batch, _TOGETHER) if settings.task == "classification" else 1
        self.network = SharedNetwork(engine, together=together, on_call=counters.called)
        self.memory = MemoryBudget(limits.memory)
        self.receiving = Receiving(max(limits.received, limits.bytes))
        self.queue = WorkQueue(threads=limits.threads, waiting=limits.queue, on_change=counters.load)

    def close(self) -> None:
        self.queue.close()
        self.network.close()

    async def answer(self, request: Request, form: Form, include: Collection[Extra]) -> bytes:
        """The body of the answer. Raises Refused."""
        if form != "json" and self.settings.task == "classification":
            raise Refused(406, "This model gives a verdict and no mask: ask for application/json.")
        until = asyncio.get_running_loop().time() + self.limits.seconds
        async with self.receiving.body() as body:
            data = await self._upload(request, body)
            body.arriving = False
            # Only now: a body that never arrives must not keep others out.
            with self._seat() as seat:
                work = self._work(data, seat, form, include)
                del data  # the work alone holds it, and drops it as soon as it is decoded
                return await self._outcome(request, seat, work, until)

    def _seat(self) -> Seat:
        try:
            return self.queue.reserve()
        except Full as full:
            raise Refused(
                503, "Too many requests are waiting. Try again later.", {"Retry-After": str(full.retry_after)}
            ) from None

    async def _upload(self, request: Request, body: Body) -> bytearray:
        def count(size: int) -> None:
            self.receiving.add(body, size)

        try:
            reading = read_upload(request, self.limits.bytes, self.limits.stall, count)
            return await asyncio.wait_for(reading, self.limits.seconds)
        except asyncio.TimeoutError:
            raise Refused(
                408, f"The picture did not arrive within {self.limits.seconds:g} s.", {"Connection": "close"}
            ) from None
        except ClientDisconnect:
            raise Refused(499, "The client has gone.") from None

    async def _outcome(
        self, request: Request, seat: Seat, work: Callable[[Callable[[], bool]], bytes], until: float
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
            raise Refused(499, "The client has gone.")
        if job.cancelled():
            raise Refused(504, f"There was no result within {self.limits.seconds:g} s.")
        return _result(job)

    def _work(
        self, data: bytearray, seat: Seat, form: Form, include: Collection[Extra]
    ) -> Callable[[Callable[[], bool]], bytes]:
        held = [data]

        def work(may_stop: Callable[[], bool]) -> bytes:
            size = self._check(held[0])
            with self.memory.take(size, may_stop):
                return self._predict(held, may_stop, form, include, seat)

        return work

    def _predict(
        self, held: list[bytearray], may_stop: Callable[[], bool], form: Form, include: Collection[Extra], seat: Seat
    ) -> bytes:
        """A function of its own, so that the picture is gone when it has returned."""
        picture = decode_picture(held.pop())
        predictor = Predictor(self.settings, self.network.seat(may_stop))
        result = predictor.predict(picture, cancelled=may_stop)
        return write_answer(picture, result, self.settings, form, include=include, waited=seat.waited)

    def _check(self, data: bytearray) -> int:
        """Return the bytes that the decoded picture takes, by its header."""
        claim = claimed_size(data)
        if claim is None:
            raise Refused(422, "The picture cannot be read: this is not a picture file that can be read.")
        if max(claim.pixels, claim.padded) > self.limits.pixels:
            raise Refused(
                413,
                f"The picture has {claim.width} x {claim.height} pixels; "
                f"at most {self.limits.pixels / 1e6:.4g} megapixels are taken here.",
            )
        if claim.channels > 4:
            raise Refused(
                422, f"The picture cannot be read: it has {claim.channels} channels; grey and colour can be read."
            )
        if claim.memory > self.memory.most:
            raise Refused(
                413,
                f"The picture takes {claim.memory / 2**20:.4g} MB of memory when it is decoded ({claim.width} x "
                f"{claim.height} pixels, {claim.channels} channels, {8 * claim.depth} bits); "
                f"at most {self.memory.most / 2**20:.4g} MB are taken here.",
            )
        return claim.memory


async def _gone(request: Request) -> None:
    """Returns when the client hangs up. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _result(job: asyncio.Future[bytes]) -> bytes:
    """What the work returned, or what it raised as a refusal."""
    try:
        return job.result()
    except Refused:
        raise
    except ReadError as error:
        raise Refused(422, f"The picture cannot be read: {error.why}.") from None
    except EngineError as error:
        _log.error("%s", error)
        raise Refused(500, str(error)) from None
    except MemoryError:
        raise Refused(500, "There is not enough memory for this picture.") from None
    except Cancelled:
        raise Refused(503, "The server is stopping.", {"Retry-After": "5"}) from None
    except Exception:
        _log.exception("a request failed")
        raise Refused(500, "The server failed on this picture; its log says why.") from None
