"""Plain requests: POST /predict with a Content-Length, as nearly all clients send it, parsed without h11.

Only requests without parameters, or only with a name, which h11 and FastAPI would understand in the same way, are
plain; all others are left to them.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

MAX_NAME = 200  # characters
_MAX_HEAD = 8192
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEAD = re.compile(
    rb"POST /predict(?:\?name=([!-%'-~]*))? HTTP/1\.1\r\n((?:" + _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*\r\n)+)\r\n"
)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)", re.IGNORECASE)
# Headers that change how the connection or the body is read, besides "Connection: keep-alive".
_SPECIAL = {b"transfer-encoding", b"expect", b"upgrade"}


class Head:
    """Head of a request. name: of the image. headers: names in lower case. raw: its bytes."""

    def __init__(self, name: str | None, headers: list[tuple[bytes, bytes]], length: int, raw: bytes) -> None:
        self.name = name
        self.headers = headers
        self.length = length
        self.raw = raw


class RepeatedHead:
    """Head of a plain request, to recognize requests with the same head except for Content-Length."""

    def __init__(self, head: Head) -> None:
        found = _LENGTH.search(head.raw)
        assert found is not None
        self._before, self._after = head.raw[: found.start(1)], head.raw[found.end(1) :]

    def body_of(self, data: memoryview) -> memoryview | None:
        """Return the body if `data` is one whole request with this head, which is plain then."""
        before, after = self._before, self._after
        start = bytes(data[: len(before) + 15 + len(after)])
        end = start.find(b"\r\n", len(before))
        length = start[len(before) : end]
        if not (start.startswith(before) and start.startswith(after, end) and length.isdigit()):
            return None
        body = data[end + len(after) :]
        return body if len(body) == int(length) > 0 else None


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
    name = None if found[1] is None else unquote_plus(found[1].decode("ascii"))
    if not is_plain or (name is not None and len(name) > MAX_NAME):
        return None
    return Head(name, headers, int(length), found[0])
