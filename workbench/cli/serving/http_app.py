"""Routes of the server: POST /predict, /health, /metrics, /openapi.json, and two HTML pages.

The pages load nothing from other servers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import yaml
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from workbench import __version__
from workbench.cli.serving.request_guard import RequestGuard, check_name, check_token, is_authorized
from workbench.cli.serving.request_handler import ImageCallback, RequestHandler, ResultCallback
from workbench.cli.serving.responses import (
    HEADERS,
    MEDIA_TYPE,
    MEDIA_TYPES,
    Counters,
    Extra,
    HttpError,
    Limits,
    choose_form,
    error_response,
)
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_EXTRAS: tuple[Extra, ...] = ("mask", "overlay")


def create_application(
    settings: ModelSettings,
    engine: Engine,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    counters: Counters | None = None,
    hosts: Collection[str] | None = None,
    on_result: ResultCallback | None = None,
    on_image: ImageCallback | None = None,
) -> Starlette:
    """Create the application for one model.

    Its threads end at shutdown or by `app.state.handler.close`.

    token: required in requests as "Authorization: Bearer ...", except for the pages and the readiness in /health.
    hosts: host names accepted besides addresses of this machine, in lower case; None accepts any.
    on_result: called with every result. on_image: with every image and its result.
    """
    handler = RequestHandler(settings, engine, limits or Limits(), counters or Counters(), on_result, on_image)
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
        exception_handlers={HttpError: _refused, HTTPException: _refused_by_route},
        lifespan=lifespan,
    )
    app.state.handler = handler
    return app


class _Routes:
    """Answers of the server. Each refusal is an object that holds one sentence, `detail`."""

    def __init__(self, handler: RequestHandler, token: str | None) -> None:
        self._handler = handler
        self._token = token

    async def predict(self, request: Request) -> Response:
        check_token(request.headers, self._token)
        query = request.query_params
        extras = query.getlist("include")
        if not set(extras).issubset(_EXTRAS):
            raise HttpError(422, "include must be mask or overlay.")
        form = choose_form(request.headers.get("accept"), _flag(query, "overlay"))
        include: list[Extra] = [extra for extra in _EXTRAS if extra in extras]
        check_name(query.get("name"))
        body = await self._handler.answer(request.headers, request.receive, form, include, query.get("name"))
        return Response(body, media_type=MEDIA_TYPES[form], headers=HEADERS)

    async def health(self, request: Request) -> Response:
        ready = self._handler.network.alive
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
        check_token(request.headers, self._token)
        return Response(self._handler.counters.text(), headers={"Content-Type": MEDIA_TYPE})

    async def openapi(self, request: Request) -> Response:
        return JSONResponse(description(with_token=self._token is not None))

    async def docs(self, request: Request) -> Response:
        return HTMLResponse(docs_page(description(with_token=self._token is not None)), headers=PAGE_HEADERS)

    async def start(self, request: Request) -> Response:
        return HTMLResponse(test_page(), headers=PAGE_HEADERS)


def _flag(query: QueryParams, name: str) -> bool:
    """Return the value of a parameter that is true or false. Raises HttpError 422."""
    value = query.get(name, "false").lower()
    if value not in (*_TRUE, *_FALSE):
        raise HttpError(422, f"{name} must be true or false.")
    return value in _TRUE


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HttpError)
    return error_response(error)


async def _refused_by_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": f"{error.detail}."}, error.status_code, headers=error.headers)


@cache
def test_page() -> str:
    """Return the page for trying the model on a dropped image. Its language (English, Chinese) is the browser's."""
    return _read("page.html")


def description(*, with_token: bool) -> dict[str, Any]:
    """Return the OpenAPI description. with_token: the server requires a token."""
    schema = yaml.safe_load(_read("openapi.yaml"))
    schema["info"]["version"] = __version__
    if not with_token:
        del schema["components"]["securitySchemes"]
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation.pop("security", None)
                operation["responses"].pop("401", None)
    return schema


def docs_page(schema: dict[str, Any]) -> str:
    """Return the OpenAPI description as an HTML page without scripts."""
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_read("docs.html"))
    return template.render(schema, forms=schema["components"]["schemas"])


@cache
def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hashes(tag: str) -> str:
    """Return the CSP hashes of the pages' inline blocks of `tag`, so that a browser accepts exactly those blocks."""
    text = _read("page.html") + _read("docs.html")
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
