"""Image in a request: raw bytes, or the field `picture` of a form. Kept in memory, never written to a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.types import Receive

from workbench.cli.serving.responses import HttpError

FIELD = "picture"
# Media types of readable images. A request may also have a media type that is no image type.
IMAGE_TYPES = (
    *("image/bmp", "image/jp2", "image/jpeg", "image/png", "image/tiff", "image/webp"),
    *("image/x-portable-anymap", "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap"),
)
_ALIASES = ("image/jpg", "image/j2k", "image/jpx", "image/x-ms-bmp", "image/x-bmp", "image/tif", "image/*")


async def read_upload(headers: Headers, receive: Receive, limit: int, on_bytes: Callable[[int], None]) -> bytearray:
    """Return the bytes of the image. receive: of the ASGI interface. limit: largest body in bytes.

    on_bytes: called with the size of each part that arrives. Raises HttpError 400, 413, 415, 422, or 499 if the client
    disconnects, and the exceptions of `on_bytes`.
    """
    upload, more = Upload(headers, limit), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(499, "The client has disconnected.")
        part, more = message.get("body", b""), message.get("more_body", False)
        on_bytes(len(part))
        upload.add(part)
    return upload.finish()


class Upload:
    """Image of a request whose parts arrive one after another. limit: largest body in bytes.

    Raises HttpError 400, 413 or 415 for headers that cannot be accepted.
    """

    def __init__(self, headers: Headers, limit: int) -> None:
        _refuse_length(headers, limit)
        self._form = _form(headers.get("content-type"))
        self._content = bytearray()
        self._size = 0
        self._limit = limit

    @property
    def is_form(self) -> bool:
        return self._form is not None

    def add(self, part: bytes | memoryview) -> None:
        """Add a part of the body. Raises HttpError 400 or 413."""
        self._size += len(part)
        if self._size > self._limit:
            raise _too_large(self._limit)
        if self._form is not None:
            self._form.feed(bytes(part))
        else:
            self._content += part

    def finish(self) -> bytearray:
        """Return the image, of which no reference is kept. Raises HttpError 400 or 422."""
        content = self._content if self._form is None else self._form.finish()
        self._form, self._content = None, bytearray()
        if not content:
            raise HttpError(
                422, f"The request contains no image. Send the bytes of the image or a form with the field {FIELD!r}."
            )
        return content


def _form(content_type: str | None) -> _Form | None:
    """Return the parser of a form, or None for the bytes of an image. Raises HttpError 400 or 415."""
    if content_type is None:
        return None
    kind, options = parse_options_header(content_type)
    if kind.startswith(b"image/") and kind.decode("latin-1") not in (*IMAGE_TYPES, *_ALIASES):
        raise HttpError(415, f"Images of this type cannot be read. Supported types: {', '.join(IMAGE_TYPES)}.")
    return _Form(options.get(b"boundary")) if kind == b"multipart/form-data" else None


def _refuse_length(headers: Headers, limit: int) -> None:
    """Raise HttpError 413 before reading if the header Content-Length exceeds `limit`."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> HttpError:
    return HttpError(413, f"The request is larger than the limit of {limit / 2**20:.4g} MB.")


class _Form:
    """Incremental parser of a form that keeps only the field `picture`."""

    def __init__(self, boundary: bytes | None) -> None:
        if not boundary:
            raise HttpError(400, "The form has no boundary.")
        self._image = bytearray()
        self._name = bytearray()
        self._value = bytearray()
        self._is_image = False
        self._field_count = 0
        self._complete = False
        callbacks: Any = {
            "on_part_begin": self._begin_part,
            "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_part_data": self._add_data,
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
        if not self._complete:
            raise HttpError(400, "The form cannot be read: its end is missing.")
        if self._field_count > 1:
            raise HttpError(422, f"The form has {self._field_count} fields {FIELD!r}. Send one image per request.")
        return self._image

    def _begin_part(self) -> None:
        self._is_image = False

    def _end_header(self) -> None:
        if self._name.lower() == b"content-disposition":
            _, options = parse_options_header(self._value.decode("latin-1"))
            self._is_image = options.get(b"name") == FIELD.encode()
            self._field_count += self._is_image
        self._name.clear()
        self._value.clear()

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_image and self._field_count == 1:
            self._image += data[start:end]

    def _end(self) -> None:
        self._complete = True
