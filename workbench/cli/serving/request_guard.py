"""Checks of every request before it is processed: where it comes from, its token and the name of its part."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import ipaddress
import logging
import time
from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.cli.serving.responses import MAX_HEADER, Counters, HttpError, error_response
from workbench.cli.sinks.sink_base import ERROR, NG, OK
from workbench.inference.batch.results_log import is_result_name

_log = logging.getLogger("workbench.serve")
MAX_NAME = 200  # characters
_MAX_LEVELS, _MAX_PART = 8, 200  # of a name: parts, and bytes of one part, so that a suffix can be added
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(10))}
_DRAIN_BYTES, _DRAIN_SECONDS = 4 * 2**20, 2.0  # of a refused body


class RequestGuard:
    """Middleware around the application: refuses requests of other websites and counts answers by status.

    A request that is answered before its body has been read ends its connection. hosts: see `check_source`.
    """

    def __init__(self, app: ASGIApp, counters: Counters, hosts: Collection[str] | None) -> None:
        self._app = app
        self._counters = counters
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        started = time.perf_counter()
        try:
            check_source(scope["headers"], self._hosts)
            await self._app(scope, exchange.receive, exchange.send)
        except HttpError as error:
            await error_response(error)(scope, exchange.receive, exchange.send)
        except Exception:
            if exchange.is_open:  # otherwise there is nobody to answer
                _log.exception("a request failed")
                await error_response(HttpError(500, "Internal error."))(scope, exchange.receive, exchange.send)
        finally:
            exchange.end()
            self._counters.count_response(exchange.status)
            if scope["path"] == "/predict" and scope["method"] == "POST":
                self._counters.observe_duration(time.perf_counter() - started)


class _Exchange:
    """One request and its answer. status: of the answer. The connection, if there is one, is told of the progress."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._connection: Any = scope.get("state", {}).get("connection")
        self._unread = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
            for name, value in scope["headers"]
        )
        self._ends_connection = False
        self.status = 500
        self._is_answered = False
        if self._connection is not None:
            self._connection.begin()
            if not self._unread:
                self._connection.arrived()

    @property
    def is_open(self) -> bool:
        """False if the client has been sent the begin of an answer, or has disconnected."""
        return not self._is_answered and (self._connection is None or not self._connection.is_closed)

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._unread = False
            if self._connection is not None:
                self._connection.arrived()
        elif self._connection is not None and not self._connection.progress(len(message["body"])):
            raise HttpError(
                503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
            )
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._is_answered = True
            if self._unread:
                self._ends_connection = True
                headers = [pair for pair in message.get("headers", []) if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
        elif not message.get("more_body", False):
            if self._ends_connection:
                # Closing a socket with unread data resets the connection, which may destroy the answer in transit.
                await self._send({**message, "more_body": True})
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._drain(), _DRAIN_SECONDS)
                message = {"type": "http.response.body", "body": b""}
            self.end()
        await self._send(message)

    def end(self) -> None:
        if self._connection is not None:
            self._connection.end()
            self._connection = None

    async def _drain(self) -> None:
        left, more = _DRAIN_BYTES, True
        while left > 0 and more:
            message = await self._receive()
            left, more = left - len(message.get("body", b"")), message.get("more_body", False)
            if self._connection is not None:
                self._connection.progress(0)


def check_source(headers: Collection[tuple[bytes, bytes]], hosts: Collection[str] | None) -> None:
    """Raise HttpError 421 for a host that is neither this machine nor in `hosts`, 403 for a request of another website.

    A page on the internet may point its own name at 127.0.0.1 and so reach a server meant for this machine only (DNS
    rebinding). The Host header then carries that name, never a numeric address. Such a page may also post to this
    address; the browser then states the page's origin. Other programs send neither header. None accepts any host.
    """
    if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER:
        raise HttpError(431, "The header of the request is too large.", {"Connection": "close"})
    found: dict[bytes, list[str]] = {b"host": [], b"origin": [], b"sec-fetch-site": []}
    for name, value in headers:
        if name in found:
            found[name].append(value.decode("latin-1").strip().lower())
    if hosts is not None and not all(_is_loopback(host) or host in hosts for host in map(host_name, found[b"host"])):
        raise HttpError(
            421, "This server does not answer under this host name. Start it with --allow-host NAME to permit it."
        )
    own = {_without_default_port(host) for host in found[b"host"]}
    is_own = all(_is_own(origin.partition("://")[2], own, hosts) for origin in found[b"origin"])
    if not is_own or not {"same-origin", "none"}.issuperset(found[b"sec-fetch-site"]):
        raise HttpError(403, "This server does not answer requests of other websites.")


def _is_own(authority: str, own: Collection[str], hosts: Collection[str] | None) -> bool:
    """Return True for an origin with the requested host, or with the name of a proxy that replaces the Host header."""
    name = host_name(authority)
    return _without_default_port(authority) in own or (hosts is not None and name in hosts and not _is_loopback(name))


def _without_default_port(authority: str) -> str:
    return authority.removesuffix(":80").removesuffix(":443")


def host_name(value: str) -> str:
    """Return the host of "host:port" in lower case, without the port, brackets and a final dot."""
    value = value.strip().lower()
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.partition(":")[0].rstrip(".")


@functools.lru_cache(maxsize=256)
def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_authorized(headers: Headers, token: str | None) -> bool:
    """Return True if the headers contain the token, or if the server needs none."""
    if token is None:
        return True
    scheme, _, sent = headers.get("authorization", "").partition(" ")
    # Header values are decoded as Latin-1; encoding restores the bytes that were sent.
    is_right = hmac.compare_digest(sent.encode("latin-1", "replace"), token.encode())
    return scheme.lower() == "bearer" and is_right


def check_token(headers: Headers, token: str | None) -> None:
    """Raise HttpError 401 without the token."""
    if not is_authorized(headers, token):
        raise HttpError(401, "This server requires a token.", {"WWW-Authenticate": "Bearer"})


def check_name(name: str | None) -> None:
    """Raise HttpError 422 for a name that a file cannot have on all systems, or that a terminal cannot list."""
    if name is not None and not _is_part_name(name):
        raise HttpError(
            422,
            f"The name must be a relative path with / and without a drive, of at most {_MAX_LEVELS} parts of at most "
            f"{_MAX_PART} bytes, with visible characters that any system permits in the name of a file.",
        )


def _is_part_name(name: str) -> bool:
    *folders, _ = parts = name.split("/")
    return (
        len(name) <= MAX_NAME
        and is_result_name(name)
        and name.isprintable()
        and not set(name) & set('<>:"|?*\ufffd')  # the last is in place of bytes that are no UTF-8
        and len(parts) <= _MAX_LEVELS
        and all(len(part.encode()) <= _MAX_PART and part == part.strip().rstrip(".") for part in parts)
        and not any(part.startswith(".") or part.partition(".")[0].strip().upper() in _RESERVED for part in parts)
        # such a folder would be in the place of a marker
        and not any(part.upper().endswith((f".{OK}", f".{NG}", f".{ERROR}")) for part in folders)
    )
