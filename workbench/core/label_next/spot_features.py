"""Filter responses in the cells of an image, from which spots that differ from the rest of it are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray, TiffImage

MAX_PIXELS = 1 << 20  # of the reduced image
CELL = 4  # pixels of the reduced image
_MEAN = 5  # pixels: side of the square in which a response is averaged
_SIGMAS = (1.0, 2.0, 4.0, 8.0)  # pixels of the reduced image
_WIDER = 1.6  # ratio of the sigmas of a difference of Gaussians
_GRAY, _COLOR = 5, 2  # responses per scale
FEATURES = len(_SIGMAS) * (_GRAY + _COLOR)
SHAPE_RESPONSES = (2 * _GRAY, 3 * _GRAY)  # differences of Gaussians at the two coarse scales
_BAND = 64  # rows of the reduced image that are decoded at once
_LEAST_COLOR = 0.02  # share of the brightness spread below which color is noise of the compression


@dataclass(frozen=True)
class CellFeatures:
    """Responses in square cells of an image.

    values: float32 (rows, columns, FEATURES), each response divided by the spread of the image. width, height: of the
    image. cell_width, cell_height: of a cell, in pixels of the image.
    """

    values: np.ndarray
    width: int
    height: int
    cell_width: float
    cell_height: float

    @property
    def rim(self) -> np.ndarray:
        """Number of cells to the border of the image, int (rows, columns); 0 for those at the border."""
        rows, columns = (np.minimum(np.arange(n), n - 1 - np.arange(n)) for n in self.values.shape[:2])
        return np.minimum(rows[:, None], columns[None, :])

    def point(self, row: int, column: int) -> tuple[int, int]:
        """Return the pixel (x, y) at the center of a cell."""
        x, y = round((column + 0.5) * self.cell_width - 0.5), round((row + 0.5) * self.cell_height - 0.5)
        return min(max(x, 0), self.width - 1), min(max(y, 0), self.height - 1)


def cell_features(image: ImageArray) -> CellFeatures:
    """Return the responses of an image (H, W) or (H, W, 3) RGB, uint8, uint16 or float32.

    Per scale: difference of Gaussians (Marr and Hildreth, 1980), absolute derivatives in x and y, and both eigenvalues
    of the Hessian (Lindeberg, 1998), of the brightness; differences of Gaussians of two opponent colors. Larger images
    are reduced to MAX_PIXELS first, so that small images and large ones take a bounded time.
    """
    height, width = image.shape[:2]
    factor = min(1.0, (MAX_PIXELS / (height * width)) ** 0.5)
    small = _reduced(image, max(1, round(width * factor)), max(1, round(height * factor)))
    gray, colors = _channels(small)
    responses = [response for sigma in _SIGMAS for response in _gray_responses(gray, sigma)]
    for sigma in _SIGMAS:
        responses += [_difference(color, sigma) if color is not None else None for color in colors]
    rows, columns = (max(1, side // CELL) for side in gray.shape)
    values = np.zeros((rows, columns, FEATURES), np.float32)
    for number, response in enumerate(responses):
        if response is not None:
            values[:, :, number] = _in_cells(response, rows, columns)
    return CellFeatures(values, width, height, width / columns, height / rows)


def _reduced(image: ImageArray, width: int, height: int) -> np.ndarray:
    """Return area means as float32; non-finite pixels become the median of the finite ones."""
    if not isinstance(image, np.ndarray):
        small = _read_reduced(image, width, height)
    elif (height, width) != image.shape[:2]:
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    else:
        small = image.astype(np.float32)
    finite = np.isfinite(small)
    return small if finite.all() else np.where(finite, small, np.median(small[finite]) if finite.any() else 0)


def _read_reduced(image: TiffImage, width: int, height: int) -> np.ndarray:
    """Return the area means of an image that is decoded by region, band by band."""
    bands = []
    for top in range(0, height, _BAND):
        bottom = min(top + _BAND, height)
        band = image[top * image.shape[0] // height : bottom * image.shape[0] // height, :]
        bands.append(cv2.resize(band, (width, bottom - top), interpolation=cv2.INTER_AREA))
    return np.concatenate(bands).astype(np.float32)


def _channels(small: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray | None, np.ndarray | None]]:
    """Return brightness and two opponent colors, each with mean 0; all divided by the spread of the brightness."""
    if small.ndim == 2:
        return _standardized(small, float(small.std())), (None, None)
    red, green, blue = (small[:, :, channel] for channel in range(3))
    gray = small.mean(axis=2, dtype=np.float32)
    colors = red - green, (red + green) / 2 - blue
    spread = max(float(gray.std()), *(float(color.std()) for color in colors))
    return _standardized(gray, spread), tuple(
        _standardized(color, spread) if color.std() > _LEAST_COLOR * spread else None for color in colors
    )  # pyright: ignore[reportReturnType]


def _standardized(values: np.ndarray, spread: float) -> np.ndarray:
    # The spread of an even image is rounding, not contrast.
    least = 1e-5 * max(1e-30, float(np.abs(values).max()))
    return (values - values.mean()) / spread if spread > least else np.zeros_like(values)


def _gray_responses(gray: np.ndarray, sigma: float) -> list[np.ndarray]:
    blurred = _blurred(gray, sigma)
    across, down = (cv2.Sobel(blurred, cv2.CV_32F, *order, scale=sigma / 8, borderType=_BORDER) for order in _FIRST)
    xx, yy, xy = (
        cv2.Sobel(blurred, cv2.CV_32F, *order, scale=sigma * sigma * scale, borderType=_BORDER)
        for order, scale in _SECOND
    )
    middle, half = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy * xy)
    return [blurred - _blurred(gray, _WIDER * sigma), np.abs(across), np.abs(down), middle + half, middle - half]


_FIRST = (1, 0), (0, 1)
_SECOND = ((2, 0), 1 / 4), ((0, 2), 1 / 4), ((1, 1), 1 / 4)  # sums of the smoothing weights of Sobel's kernels
_BORDER = cv2.BORDER_REFLECT_101


def _difference(channel: np.ndarray, sigma: float) -> np.ndarray:
    return _blurred(channel, sigma) - _blurred(channel, _WIDER * sigma)


def _blurred(channel: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(channel, (0, 0), sigma, borderType=_BORDER)


def _in_cells(response: np.ndarray, rows: int, columns: int) -> np.ndarray:
    mean = cv2.blur(response, (_MEAN, _MEAN), borderType=_BORDER)
    height, width = mean.shape
    y = ((np.arange(rows) + 0.5) * height / rows).astype(int)
    x = ((np.arange(columns) + 0.5) * width / columns).astype(int)
    return mean[np.ix_(y, x)]
