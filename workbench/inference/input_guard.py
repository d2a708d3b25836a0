"""Comparison of an image with the training images before it is predicted: bit depth, exposure, sharpness, color, size.

A network answers anything. A black frame, or 12-bit values in a 16-bit file where the training images had 8 bits, shows
no defects and would look like a good part.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .io.opencv import cv2
from .io.tiff_regions import ImageArray

# Side of a measured window in pixels, and their number along each side of an image: few large ones miss the structures
# of sparse images, such as the tracks of a circuit board.
_WINDOW, _WINDOWS = 16, 8
_TYPES = {"uint8": 255.0, "uint16": 65535.0, "float32": 1.0}  # largest values
_BITS = {255.0: 8, 1023.0: 10, 4095.0: 12, 16383.0: 14, 65535.0: 16}  # of a largest value
_SATURATED = 0.996  # share of the largest value
_REACHED = 0.7  # share of the smallest maximum of a training image that images of the same depth reach
_CERTAIN = 15.0  # change of the brightness by another depth that cannot be a fault of the light
_DEVIATIONS = 3.8  # standard deviations; 3.3 leave 1 in 1000 images of other parts outside, the rest is for heavy tails


@dataclass(frozen=True)
class _Measure:
    """Measure of an image. text: reason for a value beyond the limits; its numbers are multiplied by `unit`.

    Its logarithm varies evenly, that of a share p of p / (1 - p). Values below `smallest` count as that. nearest,
    farthest: distance of a limit from the values of all training images on this scale. remark: withholds no verdict.
    """

    text: str
    unit: float
    smallest: float
    nearest: float
    farthest: float
    share: bool = False
    remark: bool = False

    def limits(self, values: Sequence[float], parts: int) -> tuple[float, float]:
        """Return the limits between which nearly all images of other parts are (Student's prediction interval)."""
        scaled = np.maximum(np.asarray(values, np.float64), self.smallest)
        if self.share:
            scaled = np.minimum(scaled, 1 - self.smallest)
            scaled = scaled / (1 - scaled)
        scaled = np.log(scaled)
        least, greatest, mean = (float(value) for value in (scaled.min(), scaled.max(), scaled.mean()))
        low, high = least - self.farthest, greatest + self.farthest
        if parts > 3:
            width = _DEVIATIONS * (1 + 3.2 / (parts - 3)) * float(scaled.std(ddof=1)) * math.sqrt(1 + 1 / parts)
            low = max(low, min(mean - width, least - self.nearest))
            high = min(high, max(mean + width, greatest + self.nearest))
        low, high = (1 / (1 + math.exp(-x)) if self.share else math.exp(x) for x in (low, high))
        return 0.0 if min(values) <= self.smallest else float(f"{low:.4g}"), float(f"{high:.4g}")


_MEASURES = {
    "brightness": _Measure("brightness {}%, expected {}% to {}%", 100, 0.002, 0.3, 1.6, share=True),
    "contrast": _Measure("contrast {}%, expected {}% to {}%", 100, 1e-5, 0.3, 1.6),
    "sharpness": _Measure("sharpness {}, expected {} to {}", 1, 1e-3, 0.3, 1.2),
    "saturated": _Measure("saturated pixels {}%, expected {}% to {}%", 100, 0.05, 1.2, 2.0, share=True),
    "color": _Measure("color {}%, expected {}% to {}%", 100, 0.005, 1.1, 2.0),
    # A network for images of any size may be right all the same.
    "megapixels": _Measure("size {} megapixels, expected {} to {}", 1, 1e-6, 0.8, 1.4, remark=True),
}


@dataclass(frozen=True)
class InputLimits:
    """Limits between which the measures of the training images, and of nearly all images of other parts, lie.

    images, parts: numbers of those that were measured.
    type: of their values: uint8, uint16 or float32; "" for several. maximum: largest value of their bit depth: 4095 for
        12 bits in 16-bit files; of several types the share 1.
    least_maximum: smallest of the largest values of all images, as a share of `maximum`.
    limits: name of a measure to its least and greatest usual value. Brightness (mean), contrast (standard deviation),
        saturated pixels and color (mean deviation of the channels from gray) are shares; sharpness is the standard
        deviation of the Laplacian over that of the values.
    withhold: images beyond the limits get no verdict but "unsure".

    Raises ValueError with the problem, as a part of a sentence.
    """

    images: int
    parts: int
    type: str
    maximum: float
    least_maximum: float
    limits: dict[str, tuple[float, float]]
    withhold: bool = True

    def __post_init__(self) -> None:
        valid = isinstance(self.limits, dict) and set(self.limits) == set(_MEASURES)
        pairs = list(self.limits.values()) if valid else []
        if not valid or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"limits must hold two numbers for each of {', '.join(_MEASURES)}")
        numbers = [self.images, self.parts, self.maximum, self.least_maximum, *itertools.chain(*pairs)]
        if not all(type(value) in (int, float) and math.isfinite(value) and value >= 0 for value in numbers):
            raise ValueError("its numbers must be 0 or more")
        if self.type not in ("", *_TYPES) or not self.maximum or not isinstance(self.withhold, bool):
            raise ValueError("type must name a type of values, maximum be above 0, and withhold be true or false")
        object.__setattr__(self, "limits", {name: tuple(map(float, self.limits[name])) for name in _MEASURES})

    @classmethod
    def from_json(cls, content: Any) -> InputLimits:
        """Return limits from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        names = {entry.name for entry in fields(cls)}
        if not isinstance(content, dict) or not names - {"withhold"} <= set(content) <= names:
            raise ValueError(f"it must hold {', '.join(sorted(names))}")
        return cls(**content)

    @property
    def bits(self) -> int | None:
        """Bit depth of the training images if their type would hold more, else None."""
        return _BITS.get(self.maximum) if self.depth < 1 else None

    @property
    def depth(self) -> float:
        """Share of the range of their type that the values of the training images may reach."""
        return self.maximum / _TYPES.get(self.type, 1.0)


@dataclass(frozen=True)
class InputCheck:
    """Result for one image. ok: it is like the training images. why: reasons against it, and other remarks.

    unlike: unlike score, see `known_features`, whose limit is 1; None if the model or its engine has none.
    """

    ok: bool
    why: tuple[str, ...] = ()
    unlike: float | None = None

    def to_json(self) -> dict[str, Any]:
        score = {} if self.unlike is None else {"unlike": self.unlike}
        return {"ok": self.ok, "why": list(self.why), **score}


def is_withheld(limits: InputLimits | None, check: InputCheck | None) -> bool:
    """Return True if an image gets no verdict but "unsure", because it is unlike the training images."""
    return limits is not None and limits.withhold and check is not None and not check.ok


@dataclass(frozen=True)
class ImageMeasures:
    """Measurements of an image. type: of its values. least, greatest: values. pixels: gray values of the windows.

    values: by name, those of gray values and color in their unit.
    """

    type: str
    least: float
    greatest: float
    pixels: np.ndarray
    values: dict[str, float]

    @classmethod
    def of(cls, image: ImageArray) -> ImageMeasures:
        """Measure an image, in at most 64 windows at full resolution. Raises ValueError for other types of values."""
        if image.dtype.name not in _TYPES:
            raise ValueError(f"an image is uint8, uint16 or float32, not {image.dtype}")
        windows = _windows(image)
        pixels = np.concatenate(windows).astype(np.float32)
        if image.dtype.kind == "f":
            pixels = np.nan_to_num(pixels, copy=False, nan=0, posinf=0, neginf=0)
        color = 0.0
        if pixels.ndim == 3:
            planes = cv2.split(pixels)
            pixels = (planes[0] + planes[1] + planes[2]) / 3
            color = sum(float(cv2.norm(plane, pixels, cv2.NORM_L1)) for plane in planes) / 3 / pixels.size
        edges = cv2.Laplacian(pixels, cv2.CV_32F).reshape(len(windows), -1, pixels.shape[1])
        if edges.shape[1] > 2:  # without the rows at which windows meet
            edges = edges[:, 1:-1].reshape(-1, pixels.shape[1])
        (brightness, contrast), edge = (
            (float(value[0, 0]) for value in cv2.meanStdDev(pixels)),
            cv2.meanStdDev(edges)[1],
        )
        values = {
            "brightness": brightness,
            "contrast": contrast,
            "sharpness": float(edge[0, 0]) / contrast if contrast else 0.0,
            "color": color,
            "megapixels": image.shape[0] * image.shape[1] / 1e6,
        }
        least, greatest = cv2.minMaxLoc(pixels)[:2]
        if (
            isinstance(image, np.ndarray)
            and image.dtype.kind == "u"
            and (image.dtype == np.uint16 or least == greatest)
        ):
            least, greatest = cv2.minMaxLoc(image.reshape(len(image), -1))[:2]  # all pixels
        return cls(image.dtype.name, least, greatest, pixels, values)

    def at(self, maximum: float) -> dict[str, float]:
        """Return the measures of `InputLimits` if `maximum` is the largest value of the bit depth."""
        shares = {name: max(0.0, self.values[name] / maximum) for name in ("brightness", "contrast", "color")}
        saturated = np.count_nonzero(self.pixels >= _SATURATED * maximum) / self.pixels.size
        return {**self.values, **shares, "saturated": saturated}

    @property
    def depths(self) -> list[float]:
        """Largest values of the bit depths that the values may have, in ascending order."""
        if self.type == "uint8":
            return [255.0]
        if self.type == "uint16":
            return [depth for depth in _BITS if depth > 255 and depth >= self.greatest]
        # Interpolation may exceed 1.
        return [1.0] * (self.greatest <= 2) + [depth for depth in _BITS if depth >= self.greatest] or [self.greatest]


def _windows(image: ImageArray) -> list[np.ndarray]:
    height, width = image.shape[:2]
    if height * width <= (_WINDOW * _WINDOWS) ** 2:
        return [np.asarray(image)]
    tops, lefts = (np.linspace(0, max(0, side - _WINDOW), _WINDOWS).astype(int) for side in (height, width))
    return [np.asarray(image[top : top + _WINDOW, left : left + _WINDOW]) for top in tops for left in lefts]


def learn_limits(measured: Sequence[tuple[str, ImageMeasures]]) -> InputLimits:
    """Return the limits for images like these. measured: part and measures of each training image, at least one."""
    images, types = [found for _, found in measured], {found.type for _, found in measured}
    same = len(types) == 1
    maximum = max(images, key=lambda found: found.greatest).depths[0] if same else 1.0
    maxima = [maximum if same else _TYPES[found.type] for found in images]
    parts = len({part for part, _ in measured})
    values = [found.at(depth) for found, depth in zip(images, maxima)]
    limits = {name: measure.limits([one[name] for one in values], parts) for name, measure in _MEASURES.items()}
    least = max(0.0, min(found.greatest / depth for found, depth in zip(images, maxima)))
    return InputLimits(len(images), parts, types.pop() if same else "", maximum, float(f"{least:.4g}"), limits)


def check_input(image: ImageArray, limits: InputLimits) -> tuple[ImageArray, InputCheck]:
    """Return an image in the scale of the training images, and whether it is like them.

    An image of another bit depth is scaled if only that depth makes it like them; if several do, it is not `ok`.
    """
    found = ImageMeasures.of(image)
    usual = limits.maximum if found.type == limits.type else _TYPES[found.type]
    values = found.at(usual)
    remarks, reasons = (_beyond(limits, values, remark=remark) for remark in (True, False))
    if found.least == found.greatest and limits.limits["contrast"][0] > 0:
        return image, InputCheck(False, (f"every pixel has the value {found.least:g}", *remarks))
    others = [
        depth
        for depth in found.depths
        if depth != usual
        and found.greatest >= _REACHED * limits.least_maximum * depth
        and not _beyond(limits, found.at(depth))
    ]
    same = found.type == limits.type
    reaches = found.greatest >= _REACHED * limits.least_maximum * usual
    if not reasons and (not others or (same and reaches)):
        chosen = usual
    elif reasons and len(others) == 1 and not (same and 1 < usual / others[0] < _CERTAIN):
        chosen = others[0]
    else:
        bits = [f"{_BITS[depth]}" for depth in (*others, *([] if reasons else [usual])) if depth in _BITS]
        unknown = [f"the values may have {' or '.join(bits)} bits"] if others else []
        return image, InputCheck(False, (*unknown, *reasons, *remarks))
    factor = _TYPES[found.type] / chosen * limits.depth
    if math.isclose(factor, 1):
        return image, InputCheck(True, tuple(remarks))
    what = f"{_BITS[chosen]}-bit values" if chosen in _BITS else f"values up to {chosen:g}"
    return _scaled(image, factor), InputCheck(
        True, (f"{what} are scaled to the range of the training images", *remarks)
    )


def _beyond(limits: InputLimits, values: dict[str, float], *, remark: bool = False) -> list[str]:
    reasons = []
    for name, measure in _MEASURES.items():
        low, high = limits.limits[name]
        if measure.remark == remark and not low <= values[name] <= high:
            numbers = [measure.unit * value for value in (values[name], low, high)]
            reasons.append(measure.text.format(*(f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in numbers)))
    return reasons


def _scaled(image: ImageArray, factor: float) -> np.ndarray:
    """Return an image whose shares of the largest value of its type are multiplied, float32 or uint16."""
    pixels = np.asarray(image)
    if pixels.dtype == np.float32:
        return pixels * np.float32(factor)
    largest = int(_TYPES[pixels.dtype.name])
    table = np.arange(largest + 1) * (factor * _TYPES["uint16"] / largest)
    return np.minimum(np.rint(table), _TYPES["uint16"]).astype(np.uint16)[pixels]
