"""Segmentation of an object by clicks and a box with the encoder and decoder of the Segment Anything family.

A. Kirillov et al., Segment Anything, ICCV 2023. The encoder runs once for an image, the decoder once for each click.
"""

from __future__ import annotations

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.click_model.model_interface import (
    ClickCancelled,
    ModelInterface,
    OnnxNetwork,
    file_stamp,
    recognize,
)
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.geometry.selection import Point, Selection, levels_of
from workbench.core.problems import ClickModelChanged, TooManyPoints
from workbench.core.runs.network_process import Tensor
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, for values from 0 to 255, RGB
MAX_SELECTED = 1 << 27  # pixels of the rectangle around a mask
_BAND = 1 << 20  # pixels of a mask that are computed at once


@dataclass(frozen=True)
class ImageFrame:
    """A window of an image, scaled to `width` x `height` pixels of a network's input.

    mask_width, mask_height: the part of the input, in pixels, that the masks cover; it begins at the same corner.
    """

    window: Rect
    width: int
    height: int
    mask_width: int
    mask_height: int

    def to_input(self, point: Point) -> tuple[float, float]:
        """Return the coordinates of an image point in the input, where the center of the first pixel is 0.

        The networks add half a pixel to coordinates.
        """
        x = (point[0] - self.window.x) * self.width / self.window.width - 0.5
        y = (point[1] - self.window.y) * self.height / self.window.height - 0.5
        return max(x, 0.0), max(y, 0.0)

    def selection(self, logits: np.ndarray) -> Selection:
        """Return the pixels of the image at which the bilinear interpolation of `logits`, (h, w), is above 0.

        The selection is empty and `cut` if it is larger than `MAX_SELECTED`.
        """
        positive = logits > 0
        rows, columns = np.flatnonzero(positive.any(axis=1)), np.flatnonzero(positive.any(axis=0))
        if not rows.size:
            return Selection(NOTHING, np.zeros((0, 0), bool))
        # Size of a pixel of the image, in pixels of the mask.
        step_y = logits.shape[0] * self.height / (self.mask_height * self.window.height)
        step_x = logits.shape[1] * self.width / (self.mask_width * self.window.width)
        top, bottom = _reached(int(rows[0]), int(rows[-1]), step_y, self.window.height)
        left, right = _reached(int(columns[0]), int(columns[-1]), step_x, self.window.width)
        rect = Rect(self.window.x + left, self.window.y + top, right - left, bottom - top)
        if rect.empty:
            return Selection(NOTHING, np.zeros((0, 0), bool))
        if rect.width * rect.height > MAX_SELECTED:
            return Selection(NOTHING, np.zeros((0, 0), bool), cut=True)
        inside = np.empty((rect.height, rect.width), bool)
        x0, x1, share = _neighbors(np.arange(left, right), step_x, logits.shape[1])
        band = max(1, _BAND // rect.width)
        for first in range(0, rect.height, band):
            y = np.arange(top + first, min(top + first + band, bottom))
            y0, y1, weight = _neighbors(y, step_y, logits.shape[0])
            lines = logits[y0] * (1 - weight)[:, None] + logits[y1] * weight[:, None]
            inside[first : first + band] = lines[:, x0] * (1 - share) + lines[:, x1] * share > 0
        return Selection(rect, inside).trimmed()


def _reached(first: int, last: int, step: float, size: int) -> tuple[int, int]:
    """Return the range of pixels that the values `first` to `last` of a mask can reach by interpolation."""
    start = int(np.floor((first - 0.5) / step)) - 1
    end = int(np.ceil((last + 1.5) / step)) + 1
    return min(max(start, 0), size), min(max(end, 0), size)


def _neighbors(pixels: np.ndarray, step: float, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two values of a mask beside the center of each pixel, and the weight of the second, float32."""
    position = np.clip((pixels + 0.5) * step - 0.5, 0, size - 1)
    lower = np.floor(position).astype(np.intp)
    return lower, np.minimum(lower + 1, size - 1), (position - lower).astype(np.float32)


def frame_for(interface: ModelInterface, window: Rect) -> ImageFrame:
    """Return the frame of a window of the image: the longest side is that of the network, or both are."""
    height, width = interface.sides
    if interface.fit == "stretch":
        return ImageFrame(window, width, height, width, height)
    scale = min(width / window.width, height / window.height)
    new_width = min(max(int(window.width * scale + 0.5), 1), width)
    new_height = min(max(int(window.height * scale + 0.5), 1), height)
    if interface.masks_cover_image:
        return ImageFrame(window, new_width, new_height, new_width, new_height)
    side = max(width, height)  # the masks are square, also of an encoder that pads a lower image itself
    return ImageFrame(window, new_width, new_height, side, side)


def network_input(image: ImageArray, interface: ModelInterface, frame: ImageFrame) -> np.ndarray:
    """Return the window of an image as the encoder expects it.

    image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32; deep images use the range of their values.
    """
    window = np.ascontiguousarray(image[frame.window.slices])
    smaller = frame.width * frame.height < frame.window.width * frame.window.height
    method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    levels = levels_of(image)
    pixels = cv2.resize(window, (frame.width, frame.height), interpolation=method).astype(np.float32)
    pixels -= np.float32(levels.low)
    pixels *= np.float32(255 / (levels.high - levels.low))
    pixels: np.ndarray = np.clip(np.nan_to_num(pixels, copy=False), 0, 255)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if interface.fit == "pad" and (interface.fixed or interface.layout == "nchw"):
        # Filled with the mean color, which is 0 after the normalization. A free layout of pixels is padded inside.
        height, width = interface.sides
        padded = np.full((height, width, 3), MEAN, np.float32)
        padded[: frame.height, : frame.width] = pixels
        pixels = padded
    if interface.values == "normalized":
        pixels = (pixels - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    elif interface.values == "1":
        pixels = pixels / np.float32(255)
    elif interface.image.type == "uint8":
        pixels = np.rint(pixels)
    if interface.layout == "nchw":
        pixels = pixels.transpose(2, 0, 1)
    if interface.layout != "hwc":
        pixels = pixels[None]
    return np.ascontiguousarray(pixels, dtype=interface.image.dtype)


MAX_IMAGES = 4  # whose features are kept
MAX_FEATURES = 1 << 29  # bytes of the features that are kept
_REMOVES, _ADDS, _CORNER, _OPPOSITE, _NO_POINT = 0, 1, 2, 3, -1  # labels of points

Cancelled = Callable[[], bool]
Prior = object  # of each model its own kind; of `ClickModel` float32 (1, 1, h, w)

__all__ = ["ClickCancelled", "ClickMask", "ClickModel", "Prompts"]


@dataclass(frozen=True)
class Prompts:
    """Clicks (position, True to add or False to remove) in the order in which they were made, and a box."""

    points: tuple[tuple[Point, bool], ...] = ()
    box: Rect | None = None


@dataclass(frozen=True, eq=False)
class ClickMask:
    """Segmented object. prior: mask for the next step of the same model; None if it takes none."""

    selection: Selection
    prior: Prior
    quality: float | None


@dataclass(frozen=True, eq=False)
class _Embedding:
    """Features of a window of an image, by inputs of the decoder."""

    frame: ImageFrame
    features: dict[str, np.ndarray]

    @property
    def size(self) -> int:
        return sum(array.nbytes for array in self.features.values())


class ClickModel:
    """Pair of networks. Not for several threads at once, except `terminate`.

    values: a value of `PIXEL_VALUES`. Raises ClickModelRefused if the files cannot be used, ClickCancelled.
    """

    def __init__(
        self, encoder: Path, decoder: Path, values: str = "auto", cancelled: Cancelled = lambda: False
    ) -> None:
        with ExitStack() as stack:  # no process is left for networks that are refused
            self._encoder, self._decoder = OnnxNetwork(encoder), OnnxNetwork(decoder)
            for network in (self._encoder, self._decoder):
                stack.callback(network.terminate)
                network.load(cancelled)
            self.interface: ModelInterface = recognize(self._encoder, self._decoder, values)
            stack.pop_all()
        self.embeddings: OrderedDict[bytes, _Embedding] = OrderedDict()  # by the input of the encoder; newest last
        self._latest: tuple[weakref.ref, Rect, _Embedding] | None = None

    def check_files(self) -> None:
        """Raise ClickModelRefused if a file is gone, ClickModelChanged if it is not the one that was loaded."""
        for network in (self._encoder, self._decoder):
            if file_stamp(network.path) != network.stamp:
                raise ClickModelChanged(path=str(network.path))

    def terminate(self) -> None:
        """End the processes of the networks, and with them a computation of another thread, at once."""
        self._encoder.terminate()
        self._decoder.terminate()

    def encode(self, image: ImageArray, window: Rect, cancelled: Cancelled) -> None:
        """Compute the features of a window of an image, unless they are kept.

        Raises ClickModelRefused, ClickCancelled.
        """
        self._embedding(image, window, cancelled)

    def segment(
        self, image: ImageArray, window: Rect, prompts: Prompts, prior: Prior, cancelled: Cancelled
    ) -> ClickMask:
        """Return the mask of the highest predicted quality for the prompts, with its pixels in the image.

        image: (H, W) or (H, W, 3) RGB. prior: of the step before, or None. Raises ClickModelRefused, TooManyPoints,
        ClickCancelled.
        """
        interface, embedding = self.interface, self._embedding(image, window, cancelled)
        feeds = {**embedding.features, **self._prompt_feeds(prompts, embedding.frame)}
        if interface.mask_input is not None and interface.has_mask_input is not None:
            mask_shape = self._mask_shape(interface.mask_input)
            used = isinstance(prior, np.ndarray) and prior.shape == mask_shape
            mask = prior if isinstance(prior, np.ndarray) and used else np.zeros(mask_shape)
            feeds["mask_input"] = mask.astype(interface.mask_input.dtype)
            feeds["has_mask_input"] = _filled(interface.has_mask_input, used)
        if interface.image_size is not None:
            size = np.array([embedding.frame.height, embedding.frame.width], interface.image_size.dtype)
            feeds["orig_im_size"] = size.reshape([-1, 2]) if len(interface.image_size.shape) == 2 else size
        names = [interface.masks, *([interface.quality] if interface.quality else [])]
        masks, *qualities = self._decoder.run(feeds, names, cancelled)
        logits, quality = self._best(masks, qualities[0] if qualities else None)
        return ClickMask(embedding.frame.selection(logits), self._prior(logits), quality)

    # --- encoder ----------------------------------------------------------------------------------

    def _embedding(self, image: ImageArray, window: Rect, cancelled: Cancelled) -> _Embedding:
        if self._latest is not None and self._latest[0]() is image and self._latest[1] == window:
            return self._latest[2]
        frame = frame_for(self.interface, window)
        pixels = network_input(image, self.interface, frame)
        if cancelled():
            raise ClickCancelled
        # An image that was read again, or whose file has changed, is recognized by its pixels.
        key = hashlib.blake2b(pixels.tobytes() + repr(frame).encode(), digest_size=16).digest()
        embedding = self.embeddings.pop(key, None)
        if embedding is None:
            embedding = _Embedding(frame, self._encoded(pixels, cancelled))
        self.embeddings[key] = embedding
        while len(self.embeddings) > 1 and (
            len(self.embeddings) > MAX_IMAGES or sum(each.size for each in self.embeddings.values()) > MAX_FEATURES
        ):
            self.embeddings.popitem(last=False)
        self._latest = weakref.ref(image), window, embedding
        return embedding

    def _encoded(self, pixels: np.ndarray, cancelled: Cancelled) -> dict[str, np.ndarray]:
        needed = self.interface.features
        arrays = self._encoder.run({self.interface.image.name: pixels}, list(needed.values()), cancelled)
        for array in arrays:
            if not np.isfinite(array).all():
                raise self._encoder.refused("click.not_finite")
        return dict(zip(needed, arrays))

    # --- decoder ----------------------------------------------------------------------------------

    def _prompt_feeds(self, prompts: Prompts, frame: ImageFrame) -> dict[str, np.ndarray]:
        """Return the points and labels. The box is two points with labels of their own."""
        interface, box = self.interface, prompts.box
        coordinates = [frame.to_input(point) for point, _ in prompts.points]
        labels = [_ADDS if adds else _REMOVES for _, adds in prompts.points]
        if box is not None:
            coordinates += [frame.to_input((box.x, box.y)), frame.to_input((box.x + box.width, box.y + box.height))]
            labels += [_CORNER, _OPPOSITE]
        most, fixed = interface.max_points, interface.points.shape[-2]
        if most is not None and len(labels) > most:
            raise TooManyPoints(n=most)
        if fixed is not None:
            padding = fixed - len(labels)
        else:  # the decoders of these kinds were trained with a point that is none, unless there is a box
            padding = int(interface.fit == "pad" and box is None)
        coordinates += [(0.0, 0.0)] * padding
        labels += [_NO_POINT] * padding
        batch = (1,) * (len(interface.labels.shape) - 1)
        return {
            interface.points.name: np.array(coordinates, interface.points.dtype).reshape(*batch, -1, 2),
            interface.labels.name: np.array(labels, interface.labels.dtype).reshape(*batch, -1),
        }

    def _mask_shape(self, tensor: Tensor) -> tuple[int, ...]:
        height, width = (max(1, side // 4) for side in self.interface.sides)
        return tuple(size or default for size, default in zip(tensor.shape, (1, 1, height, width)))

    def _best(self, masks: np.ndarray, qualities: np.ndarray | None) -> tuple[np.ndarray, float | None]:
        """Return the mask of the highest quality as logits, float32 (h, w), and its quality."""
        if masks.ndim < 2 or not all(masks.shape) or masks.dtype.kind not in "fbui":
            raise self._decoder.refused("click.masks_shape", n="×".join(map(str, masks.shape)) or "0")
        each = masks.reshape(-1, *masks.shape[-2:])
        best, quality = 0, None
        if qualities is not None:
            values = np.asarray(qualities, np.float64).ravel()
            if len(values) != len(each):
                raise self._decoder.refused("click.qualities", n=len(each), m=len(values))
            if not np.isfinite(values).any():
                raise self._decoder.refused("click.not_finite")
            best = int(np.nanargmax(np.where(np.isfinite(values), values, np.nan)))
            quality = float(values[best])
        chosen = each[best].astype(np.float32)
        if not np.isfinite(chosen).all():
            raise self._decoder.refused("click.not_finite")
        if masks.dtype.kind != "f":  # a mask after the threshold
            chosen = 2 * (chosen > 0).astype(np.float32) - 1
        return chosen, quality

    def _prior(self, logits: np.ndarray) -> np.ndarray | None:
        """Return the mask for the input of the next step, None if it has another size than that input."""
        tensor = self.interface.mask_input
        if tensor is None or logits.shape != self._mask_shape(tensor)[-2:]:
            return None
        return logits[None, None]


def _filled(tensor: Tensor, value: bool) -> np.ndarray:
    return np.full([size or 1 for size in tensor.shape], value, tensor.dtype)
