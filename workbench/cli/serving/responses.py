"""Limits of a server, and its responses: JSON, the mask, or the image with the mask drawn on it, or a refusal."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from starlette.responses import JSONResponse

from workbench.inference.io.image_io import encode_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.overlay_drawing import overlay
from workbench.inference.predictor import Prediction

Form = Literal["json", "mask", "overlay"]
Extra = Literal["mask", "overlay"]

HEADERS = {"Cache-Control": "no-store", "Vary": "Accept"}  # of every prediction
_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # `json.dumps` would create one each time
MEDIA_TYPES: dict[Form, str] = {"json": "application/json", "mask": "image/png", "overlay": "image/png"}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one server process.

    threads: images processed at once. bytes: body of one request. pixels: one image. seconds: from the arrival of a
    request to its answer. memory: bytes; a third for the bodies of requests that arrive or wait, the rest for decoded
    images. connections: open at once, and requests that are processed or wait. stall: seconds for the header of a
    request, and between two parts of its body. idle: seconds a connection may stay open between two requests.
    """

    threads: int = 4
    bytes: int = 64 * 2**20
    pixels: int = 100 * 10**6
    seconds: float = 60.0
    memory: int = 1536 * 2**20
    connections: int = 1000
    stall: float = 10.0
    idle: int = 30

    @property
    def body_memory(self) -> int:
        """Bytes of the bodies of requests that arrive or wait: one body fits in any case."""
        return max(self.memory // 3, self.bytes)

    @property
    def image_memory(self) -> int:
        """Bytes of decoded images."""
        return self.memory - self.memory // 3


@functools.lru_cache(maxsize=64)
def choose_form(accept: str | None, overlay_requested: bool) -> Form:
    """Return the form requested by the header Accept. Raises HttpError 406 if the header allows none of the forms."""
    if overlay_requested:
        return "overlay"
    if not accept or not accept.strip():
        return "json"
    best: tuple[float, Form] | None = None
    for part in accept.split(","):
        kind, *words = (word.strip().lower() for word in part.split(";"))
        options = dict(word.partition("=")[::2] for word in words)
        if kind in ("application/json", "application/*", "*/*"):
            form: Form = "json"
        elif kind in ("image/png", "image/*"):
            form = "overlay" if "overlay" in options else "mask"
        else:
            continue
        try:
            weight = float(options.get("q", 1))
        except ValueError:
            continue
        if weight > 0 and (best is None or weight > best[0]):
            best = weight, form
    if best is None:
        raise HttpError(406, "Request application/json, image/png or image/png;overlay.")
    return best[1]


def write_response(
    image: np.ndarray,
    result: Prediction,
    settings: ModelSettings,
    form: Form,
    *,
    include: Collection[Extra] = (),
    waited: float = 0.0,
) -> bytes:
    """Return the body of the answer. form: must be "json" for a classification. waited: seconds in the queue."""
    if form == "mask":
        return _mask(result)
    if form == "overlay":
        return _overlay(image, result, settings)
    content = _prediction(image, result, settings, waited)
    if "mask" in include and result.mask is not None:
        content["mask"] = base64.b64encode(_mask(result)).decode()
    if "overlay" in include and result.mask is not None:
        content["overlay"] = base64.b64encode(_overlay(image, result, settings)).decode()
    return _to_json(content).encode("utf-8", "backslashreplace")


def _mask(result: Prediction) -> bytes:
    assert result.mask is not None
    return bytes(encode_png(result.mask))


def _overlay(image: np.ndarray, result: Prediction, settings: ModelSettings) -> bytes:
    assert result.mask is not None
    return bytes(encode_png(overlay(image, result.mask, settings)))


def _prediction(image: np.ndarray, result: Prediction, settings: ModelSettings, waited: float) -> dict[str, Any]:
    return {
        "model": settings.name,
        "run": settings.run,
        "size": {"width": image.shape[1], "height": image.shape[0]},
        "um_per_pixel": settings.um_per_pixel,
        **result.to_json(),
        "waited_milliseconds": round(1000 * waited, 3),
    }


class HttpError(Exception):
    """Refused request. status: HTTP status. detail: a sentence for the user. headers: additional headers."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}


def error_response(error: HttpError) -> JSONResponse:
    return JSONResponse({"detail": error.detail}, error.status, headers=error.headers)
