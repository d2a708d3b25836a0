"""Forms of responses to a prediction request: JSON, the mask, or the image with the mask drawn on it."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field
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


class Size(BaseModel):
    """Image size in pixels."""

    width: int
    height: int


class RegionResponse(BaseModel):
    """One defect. Positions and lengths are in image pixels; those in micrometers and millimeters are null if the
    model has no scale.
    """

    class_id: int = Field(description="value in the mask")
    class_name: str
    x: int
    y: int
    width: int
    height: int
    area: int
    centroid: tuple[float, float]
    width_um: float | None
    height_um: float | None
    area_um2: float | None
    score: float = Field(description="mean probability, 0 to 1")
    peak: float = Field(description="maximum probability, 0 to 1")
    feret_max: float = Field(description="length: maximum Feret diameter, in pixels")
    feret_min: float = Field(description="width: minimum Feret diameter, in pixels")
    feret_max_mm: float | None
    feret_min_mm: float | None


class DecidingRegion(BaseModel):
    """Region with the greatest mass, by region of those that reach their limit."""

    class_id: int
    class_name: str
    x: int
    y: int
    width: int
    height: int
    area: int
    peak: float = Field(description="maximum probability, 0 to 1")
    mass: float = Field(description="area weighted by the probability, in pixels")


class ReachedLimit(BaseModel):
    """Limit of a class: a minimum area in pixels, a minimum probability, or both."""

    area: int | None
    probability: float | None


class VerdictReason(BaseModel):
    """Reason of a verdict. By mass, an image with an anomaly score above the threshold is rejected."""

    rule: Literal["region", "mass"]
    anomaly_score: float
    threshold: float | None = Field(description="by mass; in pixels")
    region: DecidingRegion | None
    limit: ReachedLimit | None = Field(description="by region, of a rejected image")


class PredictionResponse(BaseModel):
    """Result for one image."""

    model: str
    run: str
    size: Size
    um_per_pixel: float | None
    verdict: str | None = Field(description="predicted verdict; null for segmentation models without a verdict rule")
    probabilities: dict[str, float] | None = Field(
        description="probability of each verdict; null for segmentation models"
    )
    regions: list[RegionResponse] = Field(
        description="detected defects, largest first; empty for classification models"
    )
    anomaly_score: float | None = Field(
        description="area of all defects, weighted by the probability, in pixels; null for classification models"
    )
    verdict_reason: VerdictReason | None = Field(description="reason of the verdict, by a verdict rule only")
    milliseconds: float = Field(description="duration of the prediction")
    waited_milliseconds: float = Field(description="time in the queue before the prediction")
    mask: str | None = Field(None, description="PNG in base64, with include=mask")
    overlay: str | None = Field(None, description="PNG in base64, with include=overlay")


class ErrorResponse(BaseModel):
    """Reason for a missing result."""

    detail: str


@functools.lru_cache(maxsize=64)
def choose_form(accept: str | None, overlay_requested: bool) -> Form:
    """Return the form requested by the header Accept. Raises HttpError 406 if the header allows none of the forms."""
    if overlay_requested:
        return "overlay"
    if not accept or not accept.strip():
        return "json"
    best: tuple[float, Form] | None = None
    for part in accept.split(","):
        kind, *options = (word.strip().lower() for word in part.split(";"))
        form = _form(kind, options)
        weight = _weight(options)
        if form and weight > 0 and (best is None or weight > best[0]):
            best = weight, form
    if best is None:
        raise HttpError(406, "Request application/json, image/png or image/png;overlay.")
    return best[1]


def _form(kind: str, options: Collection[str]) -> Form | None:
    if kind in ("application/json", "application/*", "*/*"):
        return "json"
    if kind in ("image/png", "image/*"):
        return "overlay" if any(option.partition("=")[0] == "overlay" for option in options) else "mask"
    return None


def _weight(options: Collection[str]) -> float:
    for option in options:
        name, _, value = option.partition("=")
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


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


def error_documentation(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of statuses for FastAPI."""
    texts = {
        400: "The form is damaged",
        401: "The token is missing or wrong",
        403: "The request was made by another website",
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
