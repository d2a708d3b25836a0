"""Processing of a request from arrival to answer: upload, bounded executor, prediction, limits of time and memory.

Image in a request: raw bytes, or the field `image` of a form. Kept in memory; only `serve --inbox` writes it to a file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.types import Receive

from workbench.cli.serving.responses import Counters, Extra, Form, Limits, write_response
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.engines import EngineError
from workbench.inference.engines.feature_engine import FunctionEngine, Outputs, outputs_of
from workbench.inference.io.image_header import describe
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.predictor import Prediction, PredictionCancelled, Predictor

FIELDS = ("image", "file", "picture")
# Media types of readable images. A request may also have a media type that is no image type.
IMAGE_TYPES = (
    *("image/bmp", "image/jp2", "image/jpeg", "image/png", "image/tiff", "image/webp"),
    *("image/x-portable-anymap", "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap"),
)
_ALIASES = ("image/jpg", "image/j2k", "image/jpx", "image/x-ms-bmp", "image/x-bmp", "image/tif", "image/*")


async def read_upload(headers: Headers, receive: Receive, limits: Limits, deadline: float) -> bytearray:
    """Return the bytes of the image. receive: of the ASGI interface. deadline: time of the event loop.

    Raises HTTPException 400, 408, 413, 415, 422, or 499 if the client disconnects.
    """
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.bytes:
        raise _too_large(limits)
    kind, _ = parse_options_header(headers.get("content-type", ""))
    if kind.startswith(b"image/") and kind.decode("latin-1") not in (*IMAGE_TYPES, *_ALIASES):
        raise HTTPException(415, f"Images of this type cannot be read. Supported types: {', '.join(IMAGE_TYPES)}.")
    content, parts = bytearray(), _parts(receive, limits, deadline)
    if kind == b"multipart/form-data":
        content += await _image_of_form(headers, parts, limits)
    else:
        async for part in parts:
            content += part
    if not content:
        raise HTTPException(
            422, f"The request contains no image. Send the bytes of the image or a form with the field {FIELDS[0]!r}."
        )
    return content


async def _parts(receive: Receive, limits: Limits, deadline: float) -> AsyncGenerator[bytes, None]:
    """Receive the body. Raises HTTPException 408, 413 or 499."""
    loop, size, more = asyncio.get_running_loop(), 0, True
    while more:
        left = deadline - loop.time()
        try:
            message = await asyncio.wait_for(receive(), min(limits.stall, left))
        except asyncio.TimeoutError:
            if left <= limits.stall:
                why = f"The image did not arrive within {limits.seconds:g} s."
            else:
                why = f"No further part of the image arrived within {limits.stall:g} s."
            raise HTTPException(408, why, {"Connection": "close"}) from None
        if message["type"] == "http.disconnect":
            raise HTTPException(499, "The client has disconnected.")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > limits.bytes:
            raise _too_large(limits)
        yield part


class _Form(MultiPartParser):
    """Parser of a form. complete: the end of the form has been read."""

    complete = False

    def on_end(self) -> None:
        self.complete = True


async def _image_of_form(headers: Headers, parts: AsyncGenerator[bytes, None], limits: Limits) -> bytes:
    """Return the file in the field of the image. Raises HTTPException 400 or 422."""

    async def checked_parts() -> AsyncGenerator[bytes, None]:
        async for part in parts:
            yield part
        if not form.complete:
            raise MultiPartException("Its end is missing.")

    form = _Form(headers, checked_parts(), max_files=8, max_fields=64)
    form.spool_max_size = limits.bytes + 1  # above it, the parser would write a file
    try:
        fields = await form.parse()
    except MultiPartException as error:
        raise HTTPException(400, f"The form cannot be read: {error.message}") from None
    found = [value for name, value in fields.multi_items() if name in FIELDS]
    if len(found) > 1:
        raise HTTPException(422, f"The form has {len(found)} fields with an image. Send one image per request.")
    try:
        return await found[0].read() if found and isinstance(found[0], UploadFile) else b""
    finally:
        await fields.close()


def _too_large(limits: Limits) -> HTTPException:
    return HTTPException(413, f"The request is larger than the limit of {limits.bytes / 2**20:.4g} MB.")


# Called as (result, name of the image or None) in a worker thread; result: a reason if there is no prediction.
ResultCallback = Callable[[Prediction | str, str | None], None]
# Called as (bytes of the image, result, name of the image or None) in a worker thread, after each prediction.
ImageCallback = Callable[[bytearray, Prediction, str | None], None]

_log = logging.getLogger("workbench.serve")
_LARGE = 64 * 2**20  # freed memory of at least this size is returned to the operating system


class _ImageMemory:
    """Memory of all decoded images. limit: bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._used = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def reserve(self, size: int, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Hold `size` bytes (at most `limit`) for the block, as soon as they are free. Raises PredictionCancelled."""
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


@dataclass
class _Job:
    """Image of one request. name: of the image, for the outputs. abandoned: nobody waits for its result."""

    content: bytearray
    form: Form
    include: Collection[Extra]
    name: str | None
    submitted: float = field(default_factory=time.perf_counter)
    started: float = 0.0
    abandoned: bool = False


class RequestHandler:
    """Request handler of one model. Its threads start here and end with `close`.

    At most limits.connections requests wait or are processed; others are refused at once, also if those before them
    take longer than the time limit. Images are decoded and encoded by several threads, which call the network in turn:
    each call needs memory of its own, and a result must not depend on other requests.

    on_result: called after every prediction, and for every image that cannot be predicted; not for canceled requests.
    on_image: called after every prediction; an image is then held in memory as it arrived until its end.
    """

    def __init__(
        self,
        predictor: Predictor,
        limits: Limits,
        *,
        counters: Counters | None = None,
        on_result: ResultCallback | None = None,
        on_image: ImageCallback | None = None,
    ) -> None:
        self.settings, self.engine = predictor.settings, predictor.engine
        self.limits = limits
        self.counters = counters or Counters()
        self._on_result = on_result or (lambda result, name: None)
        self._on_image = on_image
        self._network = threading.Lock()
        self._images = _ImageMemory(limits.image_memory)
        self._executor = ThreadPoolExecutor(limits.threads, thread_name_prefix="image")
        self._accepted = self._running = 0
        self._mean_seconds = 0.0
        self.closed = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """Drop images that wait."""
        self.closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    def is_hung(self, seconds: float = 5.0) -> bool:
        """Return True if an image is still processed after up to `seconds`, as by a network that never returns."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            time.sleep(0.01)
        return self._running > 0

    async def answer(
        self, headers: Headers, receive: Receive, form: Form, include: Collection[Extra], name: str | None = None
    ) -> bytes:
        """Return the body of the answer. Raises HTTPException."""
        if form != "json" and self.settings.task == "classification":
            raise HTTPException(406, "This model predicts verdicts and no masks. Request application/json.")
        deadline = asyncio.get_running_loop().time() + self.limits.seconds
        content = await read_upload(headers, receive, self.limits, deadline)
        job = _Job(content, form, include, name)
        del content  # the job then holds the only reference, and drops it after decoding
        # A place is taken only now: a body that never arrives must not block other requests.
        return await self._result(job, self._submit(job), receive, deadline)

    def _submit(self, job: _Job) -> Future[bytes | HTTPException]:
        with self._lock:
            ahead = (self._accepted - self._running) * self._mean_seconds / self.limits.threads
            if self.closed or self._accepted >= self.limits.connections or ahead > self.limits.seconds:
                retry = str(min(60, max(1, math.ceil(ahead))))
                raise HTTPException(503, "Too many requests are waiting. Try again later.", {"Retry-After": retry})
            self._accepted += 1
            self._count()
        future = self._executor.submit(self._work, job)
        future.add_done_callback(lambda _: self._leave(job))
        return future

    def _leave(self, job: _Job) -> None:
        """Free the place of an image: when its thread has finished, or when it is dropped before."""
        job.content = bytearray()
        with self._lock:
            self._accepted -= 1
            if job.started:
                self._running -= 1
                seconds = time.perf_counter() - job.started
                self._mean_seconds += (seconds - self._mean_seconds) / 8 if self._mean_seconds else seconds
            self._count()

    def _count(self) -> None:
        self.counters.set_load(self._accepted - self._running, self._accepted)

    async def _result(
        self, job: _Job, future: Future[bytes | HTTPException], receive: Receive, deadline: float
    ) -> bytes:
        """Wait for the result, the end of the time or the disconnection of the client."""
        loop = asyncio.get_running_loop()
        result = asyncio.wrap_future(future)
        disconnected = loop.create_task(_disconnected(receive))
        try:
            await asyncio.wait(
                (result, disconnected), timeout=deadline - loop.time(), return_when=asyncio.FIRST_COMPLETED
            )
            if result.done() and not result.cancelled():
                found = result.result()
                if isinstance(found, HTTPException):
                    raise found
                return found
            if result.cancelled():
                raise _stopping()
            if disconnected.done():
                raise HTTPException(499, "The client has disconnected.")
            raise HTTPException(504, f"No result within {self.limits.seconds:g} s.")
        finally:
            job.abandoned = True
            result.cancel()
            disconnected.cancel()

    def _work(self, job: _Job) -> bytes | HTTPException:
        """Decode the image, predict and write the body of the answer. An error is returned.

        If it were raised, its traceback would keep the image in memory.
        """
        with self._lock:
            job.started = time.perf_counter()
            self._running += 1
            self._count()
        try:
            with self._images.reserve(self._check(job.content), lambda: self._may_stop(job)):
                return self._predict(job)
        except PredictionCancelled:
            return _stopping()
        except (HTTPException, ReadError, EngineError, MemoryError) as error:
            why = getattr(error, "detail", None) or getattr(error, "why", None) or str(error) or "not enough memory"
            self._on_result(why, job.name)
            return _answer_to(error)
        except Exception:
            _log.exception("a request failed")
            return HTTPException(500, "Internal error for this image. See the log of the server.")

    def _may_stop(self, job: _Job) -> bool:
        return job.abandoned or self.closed

    def _predict(self, job: _Job) -> bytes:
        """Return the body of the answer. A separate function, so that returning frees the image."""
        waited = job.started - job.submitted
        image = decode_image(job.content)
        content, job.content = (job.content if self._on_image else bytearray()), bytearray()

        def call_network(batch: np.ndarray) -> Outputs:
            with self._network:
                if self._may_stop(job):
                    raise PredictionCancelled
                outputs = outputs_of(self.engine, batch)
            self.counters.count_call(len(batch))
            return outputs

        predictor = Predictor(self.settings, FunctionEngine(call_network))
        result = predictor.predict(image, name=job.name or "", cancelled=lambda: self._may_stop(job))
        body = write_response(image, result, self.settings, job.form, include=job.include, waited=waited)
        self._on_result(result, job.name)
        if self._on_image is not None:
            self._on_image(content, result, job.name)
        return body

    def _check(self, data: bytearray) -> int:
        """Return the size of the decoded image in bytes, computed from its header. Raises HTTPException 413 or 422."""
        declared = describe(data)
        if not declared.width:
            raise HTTPException(422, "The image cannot be read because its file format is unknown.")
        if declared.pixels > self.limits.pixels:
            raise HTTPException(
                413,
                f"The image has {declared.width} x {declared.height} pixels; "
                f"the limit is {self.limits.pixels / 1e6:.4g} megapixels.",
            )
        if declared.channels > 4:
            raise HTTPException(
                422,
                f"The image cannot be read because it has {declared.channels} channels. "
                "Only gray and color images are supported.",
            )
        if declared.memory > self._images.limit:
            raise HTTPException(
                413,
                f"The decoded image needs {declared.memory / 2**20:.4g} MB of memory ({declared.width} x "
                f"{declared.height} pixels, {declared.channels} channels, {8 * declared.depth} bits); "
                f"the limit is {self._images.limit / 2**20:.4g} MB.",
            )
        return declared.memory


async def _disconnected(receive: Receive) -> None:
    """Return when the client disconnects. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _stopping() -> HTTPException:
    return HTTPException(503, "The server is stopping.", {"Retry-After": "5"})


def _answer_to(error: Exception) -> HTTPException:
    """Return the refusal for an image that cannot be predicted, without the traceback of the error."""
    if isinstance(error, HTTPException):
        return HTTPException(error.status_code, error.detail, error.headers)
    if isinstance(error, ReadError):
        return HTTPException(422, f"The image cannot be read: {error.why}.")
    if isinstance(error, EngineError):
        _log.error("%s", error)
        return HTTPException(500, str(error))
    return HTTPException(500, "Not enough memory for this image.")
