"""Route POST /predict of the application, and the checks of a request that is answered without the application."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from starlette.datastructures import Headers
from starlette.types import Receive

from workbench.cli.serving.access import check_token, need_token
from workbench.cli.serving.plain_request import MAX_NAME, Head
from workbench.cli.serving.request_guard import check_source
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import (
    HEADERS,
    MEDIA_TYPES,
    Extra,
    Form,
    HttpError,
    choose_form,
    error_documentation,
)
from workbench.cli.serving.upload import FIELD, IMAGE_TYPES, Upload
from workbench.cli.sinks.sink_base import ERROR, NG, OK
from workbench.inference.batch.results_log import is_result_name

PATH = "/predict"
_MAX_LEVELS, _MAX_PART = 8, 200  # of a name: parts, and bytes of one part, so that a suffix can be added
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(10))}
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
    """Add the route with its description. Plain requests are answered without it, see `plain_request`."""

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
            **error_documentation(400, *([401] if token else []), 403, 406, 408, 413, 415, 422, 500, 503, 504),
        },
        openapi_extra={"requestBody": _BODY},
        summary="Detect defects in one image",
    )
    async def predict(
        request: Request,
        overlay: Annotated[bool, Query(description="respond with the image and the mask drawn on it")] = False,
        include: Annotated[list[Extra] | None, Query(description="PNGs to include in the JSON, in base64")] = None,
        name: Annotated[str | None, Query(description=_NAME, max_length=MAX_NAME)] = None,
    ) -> Response:
        return await _answer(handler, request.headers, request.receive, overlay, include or (), name)


class PlainRoute:
    """Checks of a plain request, in place of those of the application. Both answer equal requests equally.

    token, hosts: as for `create_application`.
    """

    def __init__(self, handler: RequestHandler, token: str | None, hosts: Collection[str] | None) -> None:
        self.handler = handler
        self._token = token
        self._hosts = hosts

    def check(self, head: Head) -> tuple[Form, Upload]:
        """Return the form of the answer and the upload that receives the image. Raises HttpError."""
        check_source(head.headers, self._hosts)
        headers = Headers(raw=head.headers)
        check_token(headers, self._token)
        form = choose_form(headers.get("accept"), False)
        _check_name(head.name)
        self.handler.check_form(form)
        return form, Upload(headers, self.handler.limits.bytes)


async def _answer(
    handler: RequestHandler,
    headers: Headers,
    receive: Receive,
    overlay: bool,
    include: Collection[Extra],
    name: str | None,
) -> Response:
    form = choose_form(headers.get("accept"), overlay)
    _check_name(name)
    body = await handler.answer(headers, receive, form, include, name)
    return Response(body, media_type=MEDIA_TYPES[form], headers=HEADERS)


def _check_name(name: str | None) -> None:
    if name is not None and not _is_part_name(name):
        raise HttpError(
            422,
            f"The name must be a relative path with / and without a drive, of at most {_MAX_LEVELS} parts of at most "
            f"{_MAX_PART} bytes, with visible characters that any system permits in the name of a file.",
        )


def _is_part_name(name: str) -> bool:
    """Return True if files may be named like this on all systems, and be listed on any terminal."""
    *folders, _ = parts = name.split("/")
    return (
        is_result_name(name)
        and name.isprintable()
        and not set(name) & set('<>:"|?*\ufffd')  # the last is in place of bytes that are no UTF-8
        and len(parts) <= _MAX_LEVELS
        and all(len(part.encode()) <= _MAX_PART and part == part.strip().rstrip(".") for part in parts)
        and not any(part.startswith(".") or part.partition(".")[0].strip().upper() in _RESERVED for part in parts)
        # such a folder would be in the place of a marker
        and not any(part.upper().endswith((f".{OK}", f".{NG}", f".{ERROR}")) for part in folders)
    )
