"""HTTP connection with time limits, and a limit to the number of connections.

Uvicorn limits the time between two requests. Uvicorn does not limit the time in which a client sends a header or
receives an answer, nor the connections that send nothing, and continues to read a refused body.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from workbench.cli.serving.plain_cycle import PlainCycle
from workbench.cli.serving.plain_request import Head, parse_head
from workbench.cli.serving.predict_route import PlainRoute
from workbench.cli.serving.server_limits import Limits

# Received bytes of all connections, one after another: each part is used before the next one is read.
_RECEIVED = memoryview(bytearray(256 * 2**10))
_LINGER_SECONDS = 2.0
_LINGER_BYTES = 4 * 2**20
_GRACE = 1.0  # seconds after the order to stop in which an idle connection may still send a request
_FULL_BODY = b'{"detail":"Too many connections are open. Try again later."}'
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s"
) % (len(_FULL_BODY), _FULL_BODY)


class _LingeringTransport:
    """Transport with a delayed `close`, so that a client that is still sending can read its answer.

    Closing a socket with unread data resets the connection, which may destroy the answer in transit.
    """

    def __init__(self, transport: Any, protocol: Connection) -> None:
        self._transport, self._protocol = transport, protocol
        self.lingering = False
        self._left = _LINGER_BYTES

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.lingering or self._transport.is_closing()

    def close(self) -> None:
        if self.lingering or self._transport.is_closing():
            return
        if not self._protocol.body_is_arriving:
            self._transport.close()
            return
        self.lingering = True
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._transport.resume_reading()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._transport.abort)

    def discard(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self._transport.abort()


class Connection(H11Protocol, asyncio.BufferedProtocol):
    """Uvicorn protocol of one connection, with a faster way for plain requests.

    limits, route: set by the subclass that `connection_class` creates.
    """

    limits: Limits
    route: PlainRoute

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._header_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._refused = False
        self._sender = object()  # not this object, which would stay in memory after its end
        self.idle_since = time.monotonic()

    @property
    def body_is_arriving(self) -> bool:
        """True if the body of the present request has not been read to its end, such as after an early refusal."""
        if isinstance(self.cycle, PlainCycle):
            return self.cycle.body_left > 0
        return self.cycle is not None and self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    @property
    def between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        if len(self.connections) >= self.limits.connections and not self._drop_idle():
            self._refused = True
            transport.write(_FULL)
            transport.close()
            return
        super().connection_made(_LingeringTransport(transport, self))  # type: ignore[arg-type]
        self._expect_header()

    def _drop_idle(self) -> bool:
        """Close the connection that has been idle for the longest time. Return False if all have a request."""
        idle = [
            connection
            for connection in self.connections
            if connection.between_requests and not connection.transport.is_closing()
        ]
        if not idle:
            return False
        min(idle, key=lambda connection: connection.idle_since).drop()
        return True

    def drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _RECEIVED

    def buffer_updated(self, nbytes: int) -> None:
        data = _RECEIVED[:nbytes]
        if self._refused:
            return
        if self.transport.lingering:  # type: ignore[attr-defined]
            self.transport.discard(nbytes)  # type: ignore[attr-defined]
            return
        if not (isinstance(self.cycle, PlainCycle) and self.cycle.in_progress):
            is_idle = self._is_idle()
            if is_idle and self._repeat(data):
                return
            head = parse_head(data) if is_idle else None
            if head is None:
                self.data_received(bytes(data))
                return
            self._begin(head)
            data = data[len(head.raw) :]
        rest = self.cycle.add_body(data)
        if rest:  # the next request, before the response to this one
            self.conn.receive_data(bytes(rest))
            self.flow.pause_reading()

    def _is_idle(self) -> bool:
        """Return True between two requests, if no part of the next one has been received and the last response sent."""
        is_between = self.conn.our_state is h11.IDLE and self.conn.their_state is h11.IDLE
        is_empty = not self.conn.trailing_data[0] and not self.flow.write_paused
        return is_between and self.between_requests and is_empty

    def _repeat(self, data: memoryview) -> bool:
        """Answer a request that repeats the head of the last one. Return False if that is not possible."""
        if not (isinstance(self.cycle, PlainCycle) and self.cycle.repeat(data, self.server_state.default_headers)):
            return False
        self.idle_since = time.monotonic()
        self.server_state.total_requests += 1
        return True

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, unless a repeated request has been answered since the timer was started."""
        left = self.idle_since + self.limits.idle - time.monotonic()
        if left > 0.01:
            self.timeout_keep_alive_task = self.loop.call_later(left, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def _begin(self, head: Head) -> None:
        self._stop_timer("_header_timer")
        self._unset_keepalive_if_required()
        cycle = PlainCycle(
            head,
            self.route,
            self.transport.write,
            self.server_state.default_headers,
            self._on_plain_response,
            self._sender,
        )
        self.cycle = cycle  # type: ignore[assignment]
        cycle.start(head)

    def _on_plain_response(self) -> None:
        if not self.cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and self._header_timer is None:
            self._expect_header()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer("_header_timer")

    def connection_lost(self, error: Exception | None) -> None:
        if self._refused:
            return
        self._stop_timer("_header_timer")
        self._stop_timer("_write_timer")
        self._unset_keepalive_if_required()
        if isinstance(self.cycle, PlainCycle):
            self.cycle.abandon()
        super().connection_lost(error)

    def on_response_complete(self) -> None:
        self.idle_since = time.monotonic()
        if self.body_is_arriving:
            self.transport.close()
        super().on_response_complete()
        if isinstance(self.cycle, PlainCycle) and self.conn.trailing_data[0] and not self.transport.is_closing():
            self.handle_events()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_timer("_write_timer")
        self._write_timer = self.loop.call_later(self.limits.seconds, self.drop)

    def resume_writing(self) -> None:
        self._stop_timer("_write_timer")
        super().resume_writing()

    def shutdown(self) -> None:
        """Close after answering a pending request; a client may have sent one before it learns of the shutdown."""
        if not self.between_requests:
            super().shutdown()
            return
        seconds = min(self.limits.stall, 5.0) if self.cycle is None else _GRACE
        self.loop.call_later(seconds, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.between_requests:
            self.transport.close()

    def _expect_header(self) -> None:
        self._header_timer = self.loop.call_later(self.limits.stall, self._close_if_idle)

    def _stop_timer(self, name: str) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, name)
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)


def connection_class(limits: Limits, route: PlainRoute) -> type[Connection]:
    """Return the protocol class for Uvicorn."""
    return type("Connection", (Connection,), {"limits": limits, "route": route})
