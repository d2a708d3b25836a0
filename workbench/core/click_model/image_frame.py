"""Place of an image in the input of an encoder: scaling of pixels, of coordinates and of masks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.click_model.model_interface import ModelInterface
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.geometry.selection import Point, Selection, levels_of
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
    pixels = np.clip(np.nan_to_num(pixels, copy=False), 0, 255)
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
