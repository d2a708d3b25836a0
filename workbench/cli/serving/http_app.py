"""Routes of the server: POST /predict, /health, /metrics, /openapi.json, and two HTML pages."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench import __version__
from workbench.cli.serving.access import is_authorized, need_token
from workbench.cli.serving.predict_route import PlainRoute, add_prediction
from workbench.cli.serving.request_guard import CloseUnread, SourceCheck
from workbench.cli.serving.request_handler import RequestHandler, ResultCallback
from workbench.cli.serving.responses import HttpError, PredictionResponse, error_documentation, error_response
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import MEDIA_TYPE, Counters
from workbench.cli.serving.web_pages import PAGE_HEADERS, docs_page, test_page
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine

_ABOUT = "Detects defects in images with one exported model. The server reads no files by name and stores no images."


class DefectClass(BaseModel):
    """Class of the model. id: its value in a mask. color: "#rrggbb"."""

    id: int
    name: str
    color: str


class Health(BaseModel):
    """State of the server. Without a required token only `ready` and `token_needed` are filled in."""

    ready: bool
    token_needed: bool
    model: str | None = None
    run: str | None = None
    task: str | None = None
    engine: str | None = None
    device: str | None = None
    classes: list[DefectClass] | None = None
    verdicts: list[str] | None = None


def create_application(
    settings: ModelSettings,
    engine: Engine,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    counters: Counters | None = None,
    hosts: Collection[str] | None = None,
    on_result: ResultCallback | None = None,
) -> FastAPI:
    """Create the application for one model.

    Its threads start at once and end at shutdown or by `app.state.handler.close`.

    token: required in requests as "Authorization: Bearer ...", except for the pages and the readiness in /health.
    hosts: host names accepted besides addresses of this machine, in lower case; None accepts any.
    on_result: called with every result.
    """
    handler = RequestHandler(settings, engine, limits or Limits(), counters or Counters(), on_result)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        handler.close()

    app = FastAPI(
        title="Defect Workbench",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    app.state.handler = handler
    app.state.plain_route = PlainRoute(handler, token, hosts)
    add_prediction(app, handler, token)
    _add_state(app, handler, token)
    _add_pages(app)
    _add_error_handlers(app)
    app.add_middleware(CloseUnread)
    app.add_middleware(SourceCheck, hosts=hosts)
    app.add_middleware(_Counting, counters=handler.counters)
    return app


def _add_state(app: FastAPI, handler: RequestHandler, token: str | None) -> None:
    @app.get(
        "/health",
        response_description="Ready",
        responses={503: {"model": Health, "description": "Not ready"}},
        summary="State of the server",
    )
    async def health(request: Request, response: Response) -> Health:
        ready = handler.network.alive
        response.status_code = 200 if ready else 503
        health = Health(ready=ready, token_needed=token is not None)
        if is_authorized(request.headers, token):
            settings = handler.settings
            health.model, health.run, health.task = settings.name, settings.run, settings.task
            health.engine = getattr(handler.engine, "name", type(handler.engine).__name__)
            health.device = getattr(handler.engine, "device", None)
            health.classes = [DefectClass(id=info.id, name=info.name, color=info.color) for info in settings.classes]
            health.verdicts = list(settings.verdicts)
        return health

    @app.get(
        "/metrics",
        dependencies=need_token(token),
        response_class=Response,
        responses={
            200: {
                "description": "In the text format of Prometheus",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **error_documentation(*([401] if token else []), 403),
        },
        summary="Metrics for Prometheus",
    )
    async def metrics() -> Response:
        return Response(handler.counters.text(), headers={"Content-Type": MEDIA_TYPE})


def _add_pages(app: FastAPI) -> None:
    original = app.openapi

    def openapi() -> dict[str, Any]:
        schema = original()
        # No route returns this model through FastAPI, which would serialize each answer twice; so it is added here.
        schemas = schema["components"]["schemas"]
        if "Prediction" not in schemas:
            made = PredictionResponse.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(made.pop("$defs"), Prediction=made)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]

    @app.get("/", include_in_schema=False)
    async def start() -> HTMLResponse:
        return HTMLResponse(test_page(), headers=PAGE_HEADERS)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi()), headers=PAGE_HEADERS)


def _add_error_handlers(app: FastAPI) -> None:
    """Answer every refusal with an object that holds one sentence, `detail`."""

    @app.exception_handler(HttpError)
    async def refused(request: Request, error: HttpError) -> JSONResponse:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return JSONResponse({"detail": f"{'.'.join(map(str, first['loc']))}: {first['msg']}."}, 422)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"detail": f"{error.detail}."}, error.status_code, headers=error.headers)


class _Counting:
    """Middleware that counts answers by status and measures the duration of predictions."""

    def __init__(self, app: ASGIApp, counters: Counters) -> None:
        self._app = app
        self._counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 500, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._counters.count_response(status)
            if scope["path"] == "/predict" and scope["method"] == "POST":
                self._counters.observe_duration(time.perf_counter() - started)
