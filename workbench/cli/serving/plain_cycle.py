"""Plain request on a connection and its response, without a task of the event loop and without the application.

h11, FastAPI and the tasks of asyncio need half a millisecond for a request of 256 kB, as much as a small network.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future

from uvicorn.protocols.http.h11_impl import STATUS_PHRASES

from workbench.cli.serving.event_loop import PollingEventLoop
from workbench.cli.serving.plain_request import Head, RepeatedHead
from workbench.cli.serving.predict_route import PlainRoute
from workbench.cli.serving.request_handler import result_of
from workbench.cli.serving.responses import HEADERS, MEDIA_TYPES, Form, HttpError, error_response
from workbench.cli.serving.upload import Upload
from workbench.cli.serving.work_queue import Reservation

_log = logging.getLogger("workbench.serve")
_Headers = list[tuple[bytes, bytes]]
_CLOSE = (b"connection", b"close")
_PREDICTED: dict[Form, _Headers] = {
    form: [(name.lower().encode(), value.encode()) for name, value in (("Content-Type", kind), *HEADERS.items())]
    for form, kind in MEDIA_TYPES.items()
}


class PlainCycle:
    """Plain request and its response, with the attributes that Uvicorn's protocol expects. For the event loop only.

    write: sends bytes to the client. default_headers: of each response. on_response: called after the response has
    been written. sender: the same object for all requests of a connection. keep_alive: False if the connection must be
    closed after the response.
    """

    message_event = asyncio.Event()  # set by Uvicorn at the end of a connection; nothing waits for it

    def __init__(
        self,
        head: Head,
        route: PlainRoute,
        write: Callable[[bytes], None],
        default_headers: Iterable[tuple[bytes, bytes]],
        on_response: Callable[[], None],
        sender: object,
    ) -> None:
        self.body_left = head.length
        self.response_complete = False
        self.disconnected = False
        self.keep_alive = True
        self._loop = asyncio.get_running_loop()
        self._started = time.perf_counter()
        self._name = head.name
        self._route = route
        self._handler = route.handler
        self._write = write
        self._default_headers = default_headers
        self._on_response = on_response
        self._sender = sender
        self._repeated: RepeatedHead | None = None
        self._reservation: Reservation | None = None
        self._job: Future[bytes] | None = None
        self._upload: Upload | None = None
        self._form: Form = "json"
        self._deadline = self._loop.time() + self._handler.limits.seconds
        self._timer: asyncio.TimerHandle | None = None
        self._body = self._handler.bodies.start(self._refuse)

    def start(self, head: Head) -> None:
        """Check the head and begin to receive the body, or refuse the request."""
        with self._errors_refuse():
            self._form, self._upload = self._route.check(head)
            if head.name is None and not self._upload.is_form:
                self._repeated = RepeatedHead(head)

    @property
    def in_progress(self) -> bool:
        return self.body_left > 0 or not self.response_complete

    def add_body(self, data: memoryview) -> memoryview:
        """Add received bytes to the body. Return those after its end."""
        part = data[: self.body_left]
        self.body_left -= len(part)
        if self._upload is not None:
            with self._errors_refuse():
                self._handler.bodies.add(self._body, len(part))
                self._upload.add(part)
                if self.body_left:
                    self._body.expect_more()
                else:
                    self._predict(self._upload.finish(), is_last=len(part) == len(data))
        return data[len(part) :]

    def abandon(self) -> None:
        """Cancel the prediction, after the client has disconnected."""
        if not self.response_complete:
            self.disconnected = True
            self._end(499)

    def repeat(self, data: memoryview, default_headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Answer a further request with the head of this one, without the steps that depend on the head only.

        data: all received bytes. Return False, and do nothing, if the request must be read in the ordinary way. To be
        called after the response to this request.
        """
        if self._repeated is None or not self._handler.direct_calls.allows(self._sender):
            return False
        started = time.perf_counter()
        body = self._repeated.body_of(data)
        if body is None or len(body) > self._handler.limits.bytes or _CLOSE in default_headers:
            return False
        answer = self._handler.answer_now(bytearray(body), self._form, self._sender)
        if answer is None:
            return False
        self._write(_response(200, [*default_headers, *_PREDICTED[self._form]], answer))
        if isinstance(self._loop, PollingEventLoop):
            self._loop.expect_request()
        self._handler.counters.count_response(200)
        self._handler.counters.observe_duration(time.perf_counter() - started)
        return True

    def _predict(self, content: bytearray, *, is_last: bool) -> None:
        """Predict the image, or queue it. is_last: no further request has been received. Raises HttpError."""
        self._upload = None
        self._body.end()
        answer = self._handler.answer_now(content, self._form, self._sender) if is_last else None
        if answer is not None:
            self._send(200, _PREDICTED[self._form], answer)
            return
        self._reservation = self._handler.reserve()
        self._reservation.size = self._handler.size_of(content)
        work = self._handler.work(content, self._reservation, self._form, (), self._name)
        del content  # `work` then holds the only reference, and drops it after decoding
        self._job = self._reservation.submit(work)
        self._job.add_done_callback(self._respond_from_thread)
        self._timer = self._loop.call_at(self._deadline, self._expire)

    def _respond_from_thread(self, job: Future[bytes]) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has been closed
            self._loop.call_soon_threadsafe(self._respond, job)

    def _respond(self, job: Future[bytes]) -> None:
        if self.response_complete:
            return
        assert self._reservation is not None
        self._handler.direct_calls.record(self._sender, self._reservation.size, self._reservation.seconds)
        with self._errors_refuse():
            if job.cancelled():
                raise HttpError(503, "The server is stopping.", {"Retry-After": "5"})
            self._send(200, _PREDICTED[self._form], result_of(job))

    @contextlib.contextmanager
    def _errors_refuse(self) -> Iterator[None]:
        """Refuse the request if the block raises: here no framework answers unexpected errors."""
        try:
            yield
        except HttpError as error:
            self._refuse(error)
        except Exception:
            _log.exception("a request failed")
            self._refuse(HttpError(500, "Internal error for this image. See the log of the server."))

    def _expire(self) -> None:
        self._refuse(self._handler.late())

    def _refuse(self, error: HttpError) -> None:
        if not self.response_complete:
            response = error_response(error)
            headers = [(name, value) for name, value in response.raw_headers if name != b"content-length"]
            self._send(error.status, headers, bytes(response.body))

    def _send(self, status: int, headers: _Headers, body: bytes) -> None:
        headers = [*self._default_headers, *headers]
        if self.body_left or not self.keep_alive:
            headers = [header for header in headers if header[0] != b"connection"]
            headers.append(_CLOSE)
        self.keep_alive = _CLOSE not in headers
        self._write(_response(status, headers, body))
        self._end(status)
        self._on_response()

    def _end(self, status: int) -> None:
        """Release everything that the request holds."""
        self.response_complete = True
        self._upload = None
        if self._timer is not None:
            self._timer.cancel()
        if self._job is not None:
            self._job.cancel()
            self._job = None  # with the body of the response
        if self._reservation is not None:
            self._reservation.release()
        self._handler.bodies.release(self._body)
        self._handler.counters.count_response(status)
        self._handler.counters.observe_duration(time.perf_counter() - self._started)


def _response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bytes:
    lines = [b"HTTP/1.1 %d %b" % (status, STATUS_PHRASES[status]), *(b"%b: %b" % header for header in headers)]
    return b"%b\r\ncontent-length: %d\r\n\r\n%b" % (b"\r\n".join(lines), len(body), body)
