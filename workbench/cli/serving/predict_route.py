"""Route POST /predict, and a shortcut to it for requests that need no validation."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import FastAPI, Query, Request, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.cli.serving.access import check_token, need_token
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import (
    MEDIA_TYPES,
    Extra,
    HttpError,
    choose_form,
    error_documentation,
    error_response,
)
from workbench.cli.serving.upload import FIELD, IMAGE_TYPES
from workbench.inference.batch.results_log import is_result_name

PATH = "/predict"
_MAX_NAME = 200
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


def add_prediction(app: FastAPI, handler: RequestHandler, token: str | None) -> None:
    """Add the route with its description. `PredictShortcut` answers most requests before they reach it."""

    @app.post(
        PATH,
        dependencies=need_token(token),
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
            **error_documentation(400, *([401] if token else []), 406, 408, 413, 415, 422, 500, 503, 504),
        },
        openapi_extra={"requestBody": _BODY},
        summary="Detect defects in one image",
    )
    async def predict(
        request: Request,
        overlay: Annotated[bool, Query(description="respond with the image and the mask drawn on it")] = False,
        include: Annotated[list[Extra] | None, Query(description="PNGs to include in the JSON, in base64")] = None,
        name: Annotated[str | None, Query(description=_NAME, max_length=_MAX_NAME)] = None,
    ) -> Response:
        return await _answer(handler, request.headers, request.receive, overlay, include or (), name)


class PredictShortcut:
    """Middleware that answers a prediction request without parameters, or only with a name, in place of FastAPI.

    The routing and the validation by FastAPI take as long as a tenth of a small network.
    """

    def __init__(self, app: ASGIApp, handler: RequestHandler, token: str | None) -> None:
        self._app = app
        self._handler = handler
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_prediction = scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST"
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True) if is_prediction else []
        is_named = [key for key, _ in parameters] == ["name"] and len(parameters[0][1]) <= _MAX_NAME
        if not is_prediction or (parameters and not is_named):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            check_token(headers, self._token)
            name = parameters[0][1] if is_named else None
            response = await _answer(self._handler, headers, receive, False, (), name)
        except HttpError as error:
            response = error_response(error)
        await response(scope, receive, send)


async def _answer(
    handler: RequestHandler,
    headers: Headers,
    receive: Receive,
    overlay: bool,
    include: Collection[Extra],
    name: str | None,
) -> Response:
    form = choose_form(headers.get("accept"), overlay)
    if name is not None and not is_result_name(name):
        raise HttpError(422, "The name must be a relative path with / and without a drive.")
    body = await handler.answer(headers, receive, form, include, name)
    return Response(body, media_type=MEDIA_TYPES[form], headers={"Cache-Control": "no-store", "Vary": "Accept"})
