"""Plain requests: POST /predict with a Content-Length, as nearly all clients send it, parsed without h11.

h11 and Uvicorn need about half a millisecond for a request of 256 kB, as much as a small network. The parser accepts
only requests that h11 would understand in the same way; all others are left to h11.
"""

from __future__ import annotations

import re
from typing import Any

from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, RequestResponseCycle

_MAX_HEAD = 8192
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEAD = re.compile(
    rb"POST (/predict(?:\?[!-~]*)?) HTTP/1\.1\r\n((?:" + _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*\r\n)+)\r\n"
)
# Headers that change how the connection or the body is read, besides "Connection: keep-alive".
_SPECIAL = {b"transfer-encoding", b"expect", b"upgrade"}
_UNREAD_LIMIT = 2**20  # bytes of a body that wait for the application before reading pauses
_CLOSE = (b"connection", b"close")


class Head:
    """Head of a request. headers: names in lower case. body_start: offset of the body in the received bytes."""

    def __init__(self, target: bytes, headers: list[tuple[bytes, bytes]], length: int, body_start: int) -> None:
        self.target = target
        self.headers = headers
        self.length = length
        self.body_start = body_start


def parse_head(data: bytes | memoryview) -> Head | None:
    """Return the head of a plain request at the start of `data`. None if h11 must read the request."""
    found = _HEAD.match(data, 0, _MAX_HEAD)
    if found is None:
        return None
    headers = []
    for line in found[2][:-2].split(b"\r\n"):
        name, _, value = line.partition(b":")
        headers.append((name.lower(), value.strip(b" \t")))
    names = [name for name, _ in headers]
    values = dict(headers)
    length = values.get(b"content-length", b"")
    is_plain = (
        names.count(b"content-length") == names.count(b"host") == 1
        and names.count(b"connection") <= 1
        and values.get(b"connection", b"keep-alive").lower() == b"keep-alive"
        and _SPECIAL.isdisjoint(names)
        and 0 < len(length) <= 15
        and length.isdigit()
        and int(length) > 0
    )
    return Head(found[1], headers, int(length), found.end()) if is_plain else None


class PlainCycle(RequestResponseCycle):
    """Request and response of a plain request, as `receive` and `send` of ASGI.

    template: ASGI scope without the headers and the query.
    """

    def __init__(self, head: Head, template: dict[str, Any], **options: Any) -> None:
        _, _, query = head.target.partition(b"?")
        super().__init__(scope={**template, "query_string": query, "headers": head.headers}, **options)  # type: ignore[typeddict-item]
        self.body = bytearray()  # bytes in earlier versions of Uvicorn, which may not be extended in place
        self.body_left = head.length
        self._start: dict[str, Any] = {}

    @property
    def in_progress(self) -> bool:
        return self.body_left > 0 or not self.response_complete

    def add_body(self, data: memoryview) -> memoryview:
        """Add received bytes to the body. Return those after its end."""
        part = data[: self.body_left]
        self.body_left -= len(part)
        self.more_body = self.body_left > 0
        if part and not self.response_complete:
            self.body += part
            if len(self.body) > _UNREAD_LIMIT:
                self.flow.pause_reading()
            self.message_event.set()
        return data[len(part) :]

    async def receive(self) -> Any:
        if not self.disconnected and not self.response_complete:
            self.flow.resume_reading()
            await self.message_event.wait()
            self.message_event.clear()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        body, self.body = self.body, bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: Any) -> None:
        """Send the response in one piece. A response in several parts is closed by the end of the connection."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if not self.response_started:
            self.response_started = True
            self._start = message
            return
        body, complete = message.get("body", b""), not message.get("more_body", False)
        if self._start:
            body, self._start = self._head(len(body) if complete else None) + body, {}
        self.transport.write(body)
        if complete:
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()

    def _head(self, length: int | None) -> bytes:
        status = self._start["status"]
        headers = [*self.default_headers, *self._start.get("headers", ())]
        if not any(name.lower() == b"content-length" for name, _ in headers):
            headers.append((b"content-length", str(length).encode()) if length is not None else _CLOSE)
        if any(name.lower() == b"connection" and value.lower() == b"close" for name, value in headers):
            self.keep_alive = False
        lines = [b"HTTP/1.1 %d %b" % (status, STATUS_PHRASES[status])]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n"
