"""Image in a request: raw bytes, or the field `image` of a form. Kept in memory, never written to a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.types import Receive

from workbench.cli.serving.responses import HttpError, Limits

FIELDS = ("image", "picture")
# Media types of readable images. A request may also have a media type that is no image type.
IMAGE_TYPES = (
    *("image/bmp", "image/jp2", "image/jpeg", "image/png", "image/tiff", "image/webp"),
    *("image/x-portable-anymap", "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap"),
)
_ALIASES = ("image/jpg", "image/j2k", "image/jpx", "image/x-ms-bmp", "image/x-bmp", "image/tif", "image/*")


async def read_upload(headers: Headers, receive: Receive, limits: Limits, deadline: float) -> bytearray:
    """Return the bytes of the image. receive: of the ASGI interface. deadline: time of the event loop.

    Raises HttpError 400, 408, 413, 415, 422, or 499 if the client disconnects.
    """
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.bytes:
        raise _too_large(limits)
    kind, _ = parse_options_header(headers.get("content-type", ""))
    if kind.startswith(b"image/") and kind.decode("latin-1") not in (*IMAGE_TYPES, *_ALIASES):
        raise HttpError(415, f"Images of this type cannot be read. Supported types: {', '.join(IMAGE_TYPES)}.")
    content, parts = bytearray(), _parts(receive, limits, deadline)
    if kind == b"multipart/form-data":
        content += await _image_of_form(headers, parts, limits)
    else:
        async for part in parts:
            content += part
    if not content:
        raise HttpError(
            422, f"The request contains no image. Send the bytes of the image or a form with the field {FIELDS[0]!r}."
        )
    return content


async def _parts(receive: Receive, limits: Limits, deadline: float) -> AsyncGenerator[bytes, None]:
    """Receive the body. Raises HttpError 408, 413 or 499."""
    loop, size, more = asyncio.get_running_loop(), 0, True
    while more:
        left = deadline - loop.time()
        try:
            message = await asyncio.wait_for(receive(), min(limits.stall, left))
        except asyncio.TimeoutError:
            if left <= limits.stall:
                why = f"The image did not arrive within {limits.seconds:g} s."
            else:
                why = f"No further part of the image arrived within {limits.stall:g} s."
            raise HttpError(408, why, {"Connection": "close"}) from None
        if message["type"] == "http.disconnect":
            raise HttpError(499, "The client has disconnected.")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > limits.bytes:
            raise _too_large(limits)
        yield part


class _Form(MultiPartParser):
    """Parser of a form. complete: the end of the form has been read."""

    complete = False

    def on_end(self) -> None:
        self.complete = True


async def _image_of_form(headers: Headers, parts: AsyncGenerator[bytes, None], limits: Limits) -> bytes:
    """Return the file in the field of the image. Raises HttpError 400 or 422."""

    async def checked_parts() -> AsyncGenerator[bytes, None]:
        async for part in parts:
            yield part
        if not form.complete:
            raise MultiPartException("Its end is missing.")

    form = _Form(headers, checked_parts(), max_files=8, max_fields=64)
    form.spool_max_size = limits.bytes + 1  # above it, the parser would write a file
    try:
        fields = await form.parse()
    except MultiPartException as error:
        raise HttpError(400, f"The form cannot be read: {error.message}") from None
    found = [value for name, value in fields.multi_items() if name in FIELDS]
    if len(found) > 1:
        raise HttpError(422, f"The form has {len(found)} fields with an image. Send one image per request.")
    try:
        return await found[0].read() if found and isinstance(found[0], UploadFile) else b""
    finally:
        await fields.close()


def _too_large(limits: Limits) -> HttpError:
    return HttpError(413, f"The request is larger than the limit of {limits.bytes / 2**20:.4g} MB.")
