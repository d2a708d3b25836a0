"""Routes of the server: POST /predict, /health, /metrics, /openapi.json, and two HTML pages."""

from __future__ import annotations

import hmac
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench import __version__
from workbench.cli.serving.request_guard import CloseUnread, HostCheck
from workbench.cli.serving.request_handler import RequestHandler, ResultCallback
from workbench.cli.serving.responses import (
    MEDIA_TYPES,
    ErrorResponse,
    Extra,
    HttpError,
    PredictionResponse,
    choose_form,
)
from workbench.cli.serving.server_limits import Limits
from workbench.cli.serving.server_metrics import MEDIA_TYPE, Counters
from workbench.cli.serving.upload import FIELD, IMAGE_TYPES
from workbench.cli.serving.web_pages import PAGE_HEADERS, docs_page, test_page
from workbench.inference.batch.results_log import is_result_name
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine

_ABOUT = "Detects defects in images with one exported model. The server reads no files by name and stores no images."
_bearer = HTTPBearer(auto_error=False, description="Token with which the server was started.")


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
    _add_prediction(app, handler, token)
    _add_state(app, handler, token)
    _add_pages(app)
    _add_error_handlers(app)
    app.add_middleware(CloseUnread)
    app.add_middleware(HostCheck, hosts=hosts)
    app.add_middleware(_Counting, counters=handler.counters)
    return app


Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def _is_authorized(credentials: HTTPAuthorizationCredentials | None, token: str | None) -> bool:
    if token is None:
        return True
    # Header values are decoded as Latin-1; encoding restores the bytes that were sent.
    sent = credentials.credentials.encode("latin-1", "replace") if credentials else b""
    return hmac.compare_digest(sent, token.encode())


def _guards(token: str | None) -> list[Any]:
    """Return the dependencies that check the token; none without a token, so that the OpenAPI description is right."""
    if token is None:
        return []

    async def need_token(credentials: Credentials) -> None:
        if not _is_authorized(credentials, token):
            raise HttpError(401, "This server requires a token.", {"WWW-Authenticate": "Bearer"})

    return [Depends(need_token)]


def _error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    texts = {
        400: "The form is damaged",
        401: "The token is missing or wrong",
        406: "Form of response not available",
        408: "The image arrived too slowly",
        413: "Too many bytes or pixels",
        415: "Unsupported image type",
        422: "The image cannot be read; see detail",
        500: "The network failed",
        503: "Busy: see the header Retry-After",
        504: "No result in time",
    }
    return {status: {"model": ErrorResponse, "description": texts[status]} for status in statuses}


_NAME = "name of the image without suffix in the result outputs of the server; without it the id of the result"
_IMAGE = {"type": "string", "format": "binary"}
_BODY = {
    "required": True,
    "description": f"Bytes of one image file, or a form with the field `{FIELD}`.",
    "content": {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {FIELD: _IMAGE}, "required": [FIELD]},
        },
        "application/octet-stream": {"schema": _IMAGE},
        **{kind: {"schema": _IMAGE} for kind in IMAGE_TYPES},
    },
}


def _add_prediction(app: FastAPI, handler: RequestHandler, token: str | None) -> None:
    @app.post(
        "/predict",
        dependencies=_guards(token),
        response_class=Response,
        responses={
            200: {
                "description": "Detected defects. The header Accept selects the form: application/json (default), "
                "image/png for the mask of class ids, image/png;overlay for the image with the mask drawn on it.",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Prediction"}},
                    "image/png": {"schema": _IMAGE},
                },
            },
            **_error_responses(400, *([401] if token else []), 406, 408, 413, 415, 422, 500, 503, 504),
        },
        openapi_extra={"requestBody": _BODY},
        summary="Detect defects in one image",
    )
    async def predict(
        request: Request,
        overlay: Annotated[bool, Query(description="respond with the image and the mask drawn on it")] = False,
        include: Annotated[list[Extra] | None, Query(description="PNGs to include in the JSON, in base64")] = None,
        name: Annotated[str | None, Query(description=_NAME, max_length=200)] = None,
    ) -> Response:
        form = choose_form(request.headers.get("accept"), overlay)
        if name is not None and not is_result_name(name):
            raise HttpError(422, "The name must be a relative path with / and without a drive.")
        body = await handler.answer(request, form, include or (), name)
        return Response(body, media_type=MEDIA_TYPES[form], headers={"Cache-Control": "no-store", "Vary": "Accept"})


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
        if _is_authorized(await _bearer(request), token):
            settings = handler.settings
            health.model, health.run, health.task = settings.name, settings.run, settings.task
            health.engine = getattr(handler.engine, "name", type(handler.engine).__name__)
            health.device = getattr(handler.engine, "device", None)
            health.classes = [DefectClass(id=info.id, name=info.name, color=info.color) for info in settings.classes]
            health.verdicts = list(settings.verdicts)
        return health

    @app.get(
        "/metrics",
        dependencies=_guards(token),
        response_class=Response,
        responses={
            200: {
                "description": "In the text format of Prometheus",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **_error_responses(*([401] if token else [])),
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
        return JSONResponse({"detail": error.detail}, error.status, headers=error.headers)

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
