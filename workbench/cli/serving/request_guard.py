"""Checks around the application: where a request comes from, and the end of connections whose request is not read."""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Collection, Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.cli.serving.responses import HttpError, error_response


class SourceCheck:
    """Middleware that refuses the requests that `check_source` refuses. hosts: names in lower case without port."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "http":
                check_source(scope["headers"], self._hosts)
        except HttpError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def check_source(headers: Iterable[tuple[bytes, bytes]], hosts: Collection[str] | None) -> None:
    """Raise HttpError 421 for a host that is neither this machine nor in `hosts`, 403 for a request of another website.

    A page on the internet may point its own name at 127.0.0.1 and so reach a server meant for this machine only (DNS
    rebinding). The Host header then carries that name, never a numeric address. Such a page may also post to this
    address; the browser then states the page's origin. Other programs send neither header. None accepts any host.
    """
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


class CloseUnread:
    """Middleware that adds "Connection: close" to an answer sent before the request's body was read to the end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        unread = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
            for name, value in scope["headers"]
        )

        async def received() -> Message:
            nonlocal unread
            message = await receive()
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                unread = False
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and unread:
                headers = [pair for pair in message.get("headers", []) if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
            await send(message)

        await self._app(scope, received, sent)
