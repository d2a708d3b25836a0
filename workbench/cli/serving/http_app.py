"""Routes of the server: POST /predict, /health, /metrics, /openapi.json, and two HTML pages.

The pages load nothing from other servers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import ipaddress
import logging
import re
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import yaml
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench import __version__
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import (
    HEADERS,
    MAX_HEADER,
    MEDIA_TYPE,
    MEDIA_TYPES,
    Counters,
    Extra,
    choose_form,
    error_response,
)
from workbench.cli.sinks.sink_base import ERROR, NG, OK
from workbench.inference.batch.results_log import is_result_name
from workbench.inference.io.file_access import name_problem

_log = logging.getLogger("workbench.serve")
_MAX_NAME = 200  # characters
_MAX_LEVELS, _MAX_PART = 8, 200  # of a name: parts, and bytes of one part, so that a suffix can be added
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
        except HTTPException as error:
            await error_response(error)(scope, exchange.receive, exchange.send)
        except Exception:
            if exchange.is_open:  # otherwise there is nobody to answer
                _log.exception("a request failed")
                await error_response(HTTPException(500, "Internal error."))(scope, exchange.receive, exchange.send)
        finally:
            exchange.end()
            self._counters.count_response(exchange.status or 500)
            if scope["path"] == "/predict" and scope["method"] == "POST":
                self._counters.observe_duration(time.perf_counter() - started)


class _Exchange:
    """One request and its answer. status: of the answer; 0 before. The connection, if any, is told of the progress."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._connection: Any = scope.get("state", {}).get("connection")
        self._unread = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
            for name, value in scope["headers"]
        )
        self.status = 0
        if self._connection is not None:
            self._connection.begin(arriving=self._unread)

    @property
    def is_open(self) -> bool:
        """False if the client has been sent the begin of an answer, or has disconnected."""
        return not self.status and (self._connection is None or not self._connection.is_closed)

    async def receive(self) -> Message:
        message = await self._receive()
        self._unread = message.get("more_body", False)
        if self._connection is not None and not self._connection.progress(
            len(message.get("body", b"")), arriving=self._unread
        ):
            raise HTTPException(
                503, "Too many requests are arriving. Try again later.", {"Retry-After": "1", "Connection": "close"}
            )
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._unread:
                headers = [pair for pair in message.get("headers", []) if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
        elif not message.get("more_body", False):
            if self._unread:
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
                self._connection.progress(0, arriving=True)


def check_source(headers: Collection[tuple[bytes, bytes]], hosts: Collection[str] | None) -> None:
    """Raise HTTPException: 421 for a host that is neither this machine nor in `hosts`, 403 for another website.

    A page on the internet may point its own name at 127.0.0.1 and so reach a server meant for this machine only (DNS
    rebinding). The Host header then carries that name, never a numeric address. Such a page may also post to this
    address; the browser then states the page's origin. Other programs send neither header. None accepts any host.
    """
    if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER:
        raise HTTPException(431, "The header of the request is too large.", {"Connection": "close"})
    found: dict[bytes, list[str]] = {b"host": [], b"origin": [], b"sec-fetch-site": []}
    for name, value in headers:
        if name in found:
            found[name].append(value.decode("latin-1").strip().lower())
    if hosts is not None and not all(_is_loopback(host) or host in hosts for host in map(host_name, found[b"host"])):
        raise HTTPException(
            421, "This server does not answer under this host name. Start it with --allow-host NAME to permit it."
        )
    own = {_without_default_port(host) for host in found[b"host"]}
    is_own = all(_is_own(origin.partition("://")[2], own, hosts) for origin in found[b"origin"])
    if not is_own or not {"same-origin", "none"}.issuperset(found[b"sec-fetch-site"]):
        raise HTTPException(403, "This server does not answer requests of other websites.")


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


def _is_part_name(name: str) -> bool:
    """Return True for a name that a file can have on all systems, and that a terminal can list."""
    *folders, _ = parts = name.split("/")
    return (
        len(name) <= _MAX_NAME
        and is_result_name(name)
        and name.isprintable()
        and "\ufffd" not in name  # it is in place of bytes that are no UTF-8
        and len(parts) <= _MAX_LEVELS
        and all(len(part.encode()) <= _MAX_PART and part == part.strip() for part in parts)
        and not any(part.startswith(".") or name_problem(part) for part in parts)
        # such a folder would be in the place of a marker
        and not any(part.upper().endswith((f".{OK}", f".{NG}", f".{ERROR}")) for part in folders)
    )


_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_EXTRAS: tuple[Extra, ...] = ("mask", "overlay")


def create_application(
    handler: RequestHandler, *, token: str | None = None, hosts: Collection[str] | None = None
) -> Starlette:
    """Create the application for the model of a handler, which is closed at shutdown.

    token: required in requests as "Authorization: Bearer ...", except for the pages and the readiness in /health.
    hosts: host names accepted besides addresses of this machine, in lower case; None accepts any.
    """
    routes = _Routes(handler, token)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        handler.close()

    app = Starlette(
        routes=[
            Route("/predict", routes.predict, methods=["POST"]),
            Route("/health", routes.health),
            Route("/metrics", routes.metrics),
            Route("/openapi.json", routes.openapi),
            Route("/docs", routes.docs),
            Route("/", routes.start),
        ],
        middleware=[Middleware(RequestGuard, counters=handler.counters, hosts=hosts)],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )
    app.state.handler = handler
    return app


class _Routes:
    """Answers of the server."""

    def __init__(self, handler: RequestHandler, token: str | None) -> None:
        self._handler = handler
        self._token = token

    def _check_token(self, request: Request) -> None:
        if not is_authorized(request.headers, self._token):
            raise HTTPException(401, "This server requires a token.", {"WWW-Authenticate": "Bearer"})

    async def predict(self, request: Request) -> Response:
        self._check_token(request)
        query = request.query_params
        extras, name = query.getlist("include"), query.get("name")
        if not set(extras).issubset(_EXTRAS):
            raise HTTPException(422, "include must be mask or overlay.")
        form = choose_form(request.headers.get("accept"), _flag(query, "overlay"))
        if name is not None and not _is_part_name(name):
            raise HTTPException(
                422,
                f"The name must be a relative path with / and without a drive, of at most {_MAX_LEVELS} parts of at "
                f"most {_MAX_PART} bytes, with visible characters that any system permits in the name of a file.",
            )
        include: list[Extra] = [extra for extra in _EXTRAS if extra in extras]
        body = await self._handler.answer(request.headers, request.receive, form, include, name)
        return Response(body, media_type=MEDIA_TYPES[form], headers=HEADERS)

    async def health(self, request: Request) -> Response:
        ready = not self._handler.closed
        content: dict[str, object] = {"ready": ready, "token_needed": self._token is not None}
        if is_authorized(request.headers, self._token):
            settings, engine = self._handler.settings, self._handler.engine
            content |= {"model": settings.name, "run": settings.run, "task": settings.task}
            content |= {
                "engine": getattr(engine, "name", type(engine).__name__),
                "device": getattr(engine, "device", None),
                "classes": [{"id": info.id, "name": info.name, "color": info.color} for info in settings.classes],
                "verdicts": list(settings.verdicts),
            }
        return JSONResponse(content, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        self._check_token(request)
        return Response(self._handler.counters.text(), headers={"Content-Type": MEDIA_TYPE})

    async def openapi(self, request: Request) -> Response:
        return JSONResponse(description(with_token=self._token is not None))

    async def docs(self, request: Request) -> Response:
        """Return the OpenAPI description as an HTML page without scripts."""
        schema = description(with_token=self._token is not None)
        environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        page = environment.from_string(read_resource("docs.html")).render(schema, forms=schema["components"]["schemas"])
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def start(self, request: Request) -> Response:
        """Return the page for trying the model on a dropped image. Its language is the browser's."""
        return HTMLResponse(read_resource("page.html"), headers=PAGE_HEADERS)


def _flag(query: QueryParams, name: str) -> bool:
    """Return the value of a parameter that is true or false. Raises HTTPException 422."""
    value = query.get(name, "false").lower()
    if value not in (*_TRUE, *_FALSE):
        raise HTTPException(422, f"{name} must be true or false.")
    return value in _TRUE


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error)


def description(*, with_token: bool) -> dict[str, Any]:
    """Return the OpenAPI description. with_token: the server requires a token."""
    schema = yaml.safe_load(read_resource("openapi.yaml"))
    schema["info"]["version"] = __version__
    if not with_token:
        del schema["components"]["securitySchemes"]
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation.pop("security", None)
                operation["responses"].pop("401", None)
    return schema


@cache
def read_resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hashes(tag: str) -> str:
    """Return the CSP hashes of the pages' inline blocks of `tag`, so that a browser accepts exactly those blocks."""
    text = read_resource("page.html") + read_resource("docs.html")
    digests = [hashlib.sha256(block.encode()).digest() for block in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


PAGE_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_hashes('script')}; style-src {_hashes('style')}; "
        "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
