"""Image in a request: raw bytes, or the field `picture` of a form. Kept in memory, never written to a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from workbench.cli.serving.responses import HttpError

FIELD = "picture"
IMAGE_TYPES = (
    *("image/bmp", "image/jp2", "image/jpeg", "image/png", "image/tiff", "image/webp"),
    *("image/x-portable-anymap", "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap"),
)
"""Media types of the pictures that can be read. A request may also name a type that is none of a picture."""
_ALIASES = ("image/jpg", "image/j2k", "image/jpx", "image/x-ms-bmp", "image/x-bmp", "image/tif", "image/*")


async def read_upload(request: Request, most: int, stall: float, on_bytes: Callable[[int], None]) -> bytearray:
    """Return the bytes of the image. most: largest body in bytes. stall: seconds to wait for the next part.

    on_bytes: called with the size of each part that arrives. Raises Refused 400, 408, 413, 415 or 422, the exceptions
    of `on_bytes`, and Starlette's ClientDisconnect.
    """
    _refuse_length(request, most)
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind.startswith(b"image/") and kind.decode("latin-1") not in (*IMAGE_TYPES, *_ALIASES):
        raise HttpError(415, f"Pictures of this type cannot be read; these can: {', '.join(IMAGE_TYPES)}.")
    form = _Form(options.get(b"boundary")) if kind == b"multipart/form-data" else None
    content = bytearray()
    total = 0
    parts = request.stream()
    while True:
        try:
            chunk = await asyncio.wait_for(anext(parts), stall)
        except StopAsyncIteration:
            break
        except asyncio.TimeoutError:
            why = f"Nothing more of the picture arrived within {stall:g} s."
            raise HttpError(408, why, {"Connection": "close"}) from None
        total += len(chunk)
        if total > most:
            raise _too_large(most)
        on_bytes(len(chunk))
        if form is None:
            content += chunk
        else:
            form.feed(chunk)
    if form is not None:
        content = form.finish()
    if not content:
        raise HttpError(422, f"There is no picture in the request: send its bytes, or a form with the field {FIELD!r}.")
    return content


def _refuse_length(request: Request, most: int) -> None:
    """Raise Refused 413 before reading if the header Content-Length exceeds `most`."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)


def _too_large(most: int) -> HttpError:
    return HttpError(413, f"The request is larger than {most / 2**20:.4g} MB, which is the most that is taken here.")


class _Form:
    """Incremental parser of a form that keeps only the field `picture`."""

    def __init__(self, boundary: bytes | None) -> None:
        if not boundary:
            raise HttpError(400, "The form has no boundary.")
        self._image = bytearray()
        self._name = bytearray()
        self._value = bytearray()
        self._wanted = False
        self._found = 0
        self._whole = False
        callbacks: Any = {
            "on_part_begin": self._begin_part,
            "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_part_data": self._take,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)
        except FormParserError as error:
            raise HttpError(400, f"The form cannot be read: {error}.") from None

    def feed(self, chunk: bytes) -> None:
        if not chunk:
            return
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise HttpError(400, f"The form cannot be read: {error}.") from None

    def finish(self) -> bytearray:
        if not self._whole:
            raise HttpError(400, "The form cannot be read: its end is missing.")
        if self._found > 1:
            raise HttpError(422, f"The form has {self._found} fields {FIELD!r}: send one picture a request.")
        return self._image

    def _begin_part(self) -> None:
        self._wanted = False

    def _end_header(self) -> None:
        if self._name.lower() == b"content-disposition":
            _, options = parse_options_header(self._value.decode("latin-1"))
            self._wanted = options.get(b"name") == FIELD.encode()
            self._found += self._wanted
        self._name.clear()
        self._value.clear()

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._wanted and self._found == 1:
            self._image += data[start:end]

    def _end(self) -> None:
        self._whole = True
