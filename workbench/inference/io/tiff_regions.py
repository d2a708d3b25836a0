"""Region-wise access to very large TIFF files: only the requested tiles or strips are decoded.

`TiffImage` offers `shape`, `dtype` and slicing like an array, for the viewer and for prediction. Code that needs the
whole image, such as training, uses `image_io.read_image`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .file_access import FileView, open_regular, require_regular
from .image_header import page_index
from .opencv import cv2

_CACHE = 256 << 20  # cache size in bytes of decoded segments
_MAX_OVERVIEW_SIDE = 6000  # maximum of the overview's longer side, in pixels
_OVERVIEW_SEGMENTS = 120  # segments decoded for the first, coarse overview
_LARGEST_SEGMENT = 64 << 20  # bytes; larger segments make region-wise reading pointless
_ORIENTATION = 274  # tag number
_GRAY, _RGB = 1, 2  # photometric: black is zero, and RGB


class NotByRegion(Exception):
    """File that cannot be read by region and must be read whole; the text gives the reason."""


def tiff_size(path: Path | str, number: int = 0, *, upright: bool = True) -> tuple[int, int] | None:
    """Return (width, height) of a page from its header, upright or as stored; None if it cannot be determined.

    number: 0 for the image, see `image_header.page_index`.
    """
    try:
        import tifffile

        require_regular(path)
        with tifffile.TiffFile(path) as file:
            page = file.pages[_index(path, number)].keyframe  # a page is its own keyframe
            orientation = page.tags.get(_ORIENTATION)
            swapped = upright and orientation is not None and orientation.value in (5, 6, 7, 8)
            width, height = int(page.imagewidth), int(page.imagelength)
    except Exception:  # a damaged or foreign file can make the parser fail in any way
        return None
    return (height, width) if swapped else (width, height)


def _index(path: Path | str, number: int) -> int:
    with open_regular(path) as file:
        return page_index(FileView(file), number)


def tiff_pages(path: Path | str) -> int:
    """Return the number of pages of a TIFF; 1 if it cannot be determined."""
    try:
        import tifffile

        require_regular(path)
        with tifffile.TiffFile(path) as file:
            return max(1, len(file.pages))
    except Exception:  # a damaged or foreign file can make the parser fail in any way
        return 1


class TiffImage:
    """One page of a TIFF: (H,W) grayscale or (H,W,3) RGB, uint8, uint16 or float32. Thread-safe.

    overview: image reduced by `overview_step` (a power of two); coarse until `refine` has run.

    Raises NotByRegion if the file's kind does not permit reading by region, OSError if it cannot be read.
    """

    def __init__(self, path: Path | str, page: int = 0) -> None:
        try:
            import tifffile
        except ImportError:
            raise NotByRegion("tifffile is not installed") from None
        self._lock = threading.Lock()
        self._cached: OrderedDict[int, np.ndarray] = OrderedDict()
        self._cached_bytes = 0
        self.damaged: set[int] = set()  # segments that cannot be decoded and are shown blank
        self.decoded = 0  # number of segments decoded so far, used by tests
        try:
            require_regular(path)
            self._file = tifffile.TiffFile(path)
        except OSError:
            raise
        except Exception as error:  # a damaged file can make the parser fail in any way
            raise NotByRegion(str(error)) from error
        try:
            self._open(_index(path, page))
        except NotByRegion:
            self._file.close()
            raise
        except Exception as error:
            self._file.close()
            raise NotByRegion(str(error)) from error
        self.overview_step = 1
        while max(self.shape[:2]) > _MAX_OVERVIEW_SIDE * self.overview_step:
            self.overview_step *= 2
        self.overview = self._quick_overview()

    def _open(self, number: int) -> None:
        from tifffile import TiffPage

        self.pages = len(self._file.pages)
        page = self._file.pages[number]
        assert isinstance(page, TiffPage)  # frames have to be requested
        samples, dtype = int(page.samplesperpixel), np.dtype(page.dtype)
        supported = (
            page.photometric == (_GRAY if samples == 1 else _RGB) and samples in (1, 3) and page.planarconfig == 1
        )
        rotated = page.tags.get(_ORIENTATION) is not None and page.tags[_ORIENTATION].value != 1
        if not supported or rotated or dtype not in (np.uint8, np.uint16, np.float32) or page.imagedepth != 1:
            raise NotByRegion("this kind of TIFF is read whole")
        self._page, self._samples = page, samples
        self.dtype = dtype.newbyteorder("=")
        self.shape = (page.imagelength, page.imagewidth) + ((3,) if samples == 3 else ())
        self.ndim = len(self.shape)
        self._height = page.tilelength or page.rowsperstrip
        self._width = page.tilewidth or page.imagewidth
        self._across = -(-page.imagewidth // self._width)
        self._down = -(-page.imagelength // self._height)
        if len(page.dataoffsets) < self._across * self._down:
            raise NotByRegion("segments are missing")
        if self._height * self._width * samples * dtype.itemsize > _LARGEST_SEGMENT:
            raise NotByRegion("its segments are too large")
        self._segment(0)  # fails now if the compression cannot be decoded

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()

    @property
    def nbytes(self) -> int:
        """Size of the whole decoded image in bytes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        pixels = self[:, :]
        return pixels if dtype is None else pixels.astype(dtype)

    def __getitem__(self, key: Any) -> np.ndarray:
        """Return rows and columns selected by index or slice; steps must be positive.

        If both steps are at least `overview_step`, the values come from the overview.
        """
        rows, columns, *rest = key if isinstance(key, tuple) else (key, slice(None))
        spans = [_span(part, size) for part, size in zip((rows, columns), self.shape, strict=False)]
        (top, bottom, down), (left, right, across) = spans
        step = self.overview_step
        if 1 < step <= min(down, across):
            result = self.overview[top // step : -(-bottom // step), left // step : -(-right // step)]
            result = result[:: max(1, down // step), :: max(1, across // step)]
        else:
            result = self._read(top, left, bottom, right)[::down, ::across]
        for axis, part in enumerate((rows, columns)):
            if not isinstance(part, slice):
                result = result.take(0, axis=axis if isinstance(rows, slice) else 0)
        return result[(..., *rest)] if rest else result

    def is_cached(self, top: int, left: int, bottom: int, right: int) -> bool:
        """Return True if all segments of this box are cached, so that reading the box requires no decoding."""
        with self._lock:
            return all(index in self._cached for index in self._segments_in(top, left, bottom, right))

    def peek(self, row: int, column: int) -> Any:
        """Return a pixel, or the value of the overview at its position if its segment is not cached."""
        if self.is_cached(row, column, row + 1, column + 1):
            return self[row, column]
        return self.overview[row // self.overview_step, column // self.overview_step]

    def _segments_in(self, top: int, left: int, bottom: int, right: int) -> Iterator[int]:
        """Yield the indices of the segments of a box, which may extend beyond the image."""
        for row in range(max(0, top) // self._height, -(-min(bottom, self.shape[0]) // self._height)):
            for column in range(max(0, left) // self._width, -(-min(right, self.shape[1]) // self._width)):
                yield row * self._across + column

    def _read(self, top: int, left: int, bottom: int, right: int, *, keep: bool = True) -> np.ndarray:
        result = np.zeros((max(0, bottom - top), max(0, right - left), *self.shape[2:]), self.dtype)
        for index in self._segments_in(top, left, bottom, right):
            part = self._segment(index, keep=keep)
            y, x = index // self._across * self._height, index % self._across * self._width
            y0, y1 = max(y, top), min(y + part.shape[0], bottom)
            x0, x1 = max(x, left), min(x + part.shape[1], right)
            if y0 < y1 and x0 < x1:
                result[y0 - top : y1 - top, x0 - left : x1 - left] = part[y0 - y : y1 - y, x0 - x : x1 - x]
        return result

    def _segment(self, index: int, *, keep: bool = True) -> np.ndarray:
        with self._lock:
            segment = self._cached.get(index)
            if segment is not None:
                self._cached.move_to_end(index)
                return segment
            # Sparse files omit empty segments.
            offset, count = self._page.dataoffsets[index], self._page.databytecounts[index]
            data = b""
            if count:
                self._file.filehandle.seek(offset)
                data = self._file.filehandle.read(count)
        try:
            segment = self._decode(data, index)
        except Exception:  # a damaged segment can make the decoder fail in any way
            if index == 0:
                raise
            self.damaged.add(index)
            segment = self._blank(index)
        with self._lock:
            self.decoded += 1
            if keep and index not in self._cached:
                self._cached[index] = segment
                self._cached_bytes += segment.nbytes
                while self._cached_bytes > _CACHE and len(self._cached) > 1:
                    self._cached_bytes -= self._cached.popitem(last=False)[1].nbytes
        return segment

    def _decode(self, data: bytes, index: int) -> np.ndarray:
        if not data:
            return self._blank(index)
        segment, _, _ = self._page.decode(data, index, jpegtables=self._page.jpegtables, _fullsize=False)
        if segment is None:
            return self._blank(index)
        segment = segment[0] if self._samples == 3 else segment[0, :, :, 0]
        return np.ascontiguousarray(segment.astype(self.dtype, copy=False))

    def _blank(self, index: int) -> np.ndarray:
        y = index // self._across * self._height
        shape = (min(self._height, self.shape[0] - y), self._width, *self.shape[2:])
        return np.full(shape, self._page.nodata, self.dtype)

    # --- overview --------------------------------------------------------------------------------

    def _quick_overview(self) -> np.ndarray:
        """Return an overview made from a few segments; gaps are filled with the nearest of them."""
        step = self.overview_step
        size = tuple(-(-value // step) for value in self.shape[:2])
        overview = np.zeros((*size, *self.shape[2:]), self.dtype)
        interval = max(1, round((self._across * self._down / _OVERVIEW_SEGMENTS) ** 0.5))
        intervals = min(interval, self._down), min(interval, self._across)
        for top in range(0, self._down, intervals[0]):
            for left in range(0, self._across, intervals[1]):
                row, column = (
                    min(top + intervals[0] // 2, self._down - 1),
                    min(left + intervals[1] // 2, self._across - 1),
                )
                part = self._segment(row * self._across + column, keep=False)[::step, ::step]
                y, x = top * self._height // step, left * self._width // step
                height = min(intervals[0] * self._height // step, size[0] - y)
                width = min(intervals[1] * self._width // step, size[1] - x)
                if height > 0 and width > 0 and part.size:
                    overview[y : y + height, x : x + width] = cv2.resize(
                        part, (width, height), interpolation=cv2.INTER_AREA
                    )
        return overview

    def refine(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Compute the exact overview, decoding each segment without caching it. Return False if stopped."""
        step = self.overview_step
        # Bands consist of whole segments and whole steps, so that each overview pixel lies in one band.
        rows = -(-max(step, self._height) // step) * step
        columns = self.shape[1] if self._across == 1 else -(-max(4096, self._width) // self._width) * self._width
        columns = -(-columns // step) * step
        for top in range(0, self.shape[0], rows):
            if stopped():
                return False
            bottom = min(top + rows, self.shape[0])
            for left in range(0, self.shape[1], columns):
                part = self._read(top, left, bottom, min(left + columns, self.shape[1]), keep=False)
                if step > 1:
                    pad_rows, pad_columns = -part.shape[0] % step, -part.shape[1] % step
                    part = cv2.copyMakeBorder(part, 0, pad_rows, 0, pad_columns, cv2.BORDER_REPLICATE)
                    size = (part.shape[1] // step, part.shape[0] // step)
                    part = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
                y, x = top // step, left // step
                self.overview[y : y + part.shape[0], x : x + part.shape[1]] = part
        return True


class HalvedTiff:
    """Region-wise image at half its size, computed on access."""

    def __init__(self, image: TiffImage) -> None:
        self._image = image
        self.dtype, self.ndim = image.dtype, image.ndim
        self.shape = (*((size + 1) // 2 for size in image.shape[:2]), *image.shape[2:])
        self.size = int(np.prod(self.shape))

    def is_cached(self, top: int, left: int, bottom: int, right: int) -> bool:
        return self._image.is_cached(2 * top, 2 * left, 2 * bottom, 2 * right)

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray:
        (top, bottom, _), (left, right, _) = (_span(part, size) for part, size in zip(key, self.shape, strict=False))
        part = self._image[2 * top : 2 * bottom, 2 * left : 2 * right]
        part = cv2.copyMakeBorder(part, 0, part.shape[0] % 2, 0, part.shape[1] % 2, cv2.BORDER_REPLICATE)
        return cv2.resize(part, (part.shape[1] // 2, part.shape[0] // 2), interpolation=cv2.INTER_AREA)


def _span(part: Any, size: int) -> tuple[int, int, int]:
    """Return start, stop and step of an index or slice along one axis."""
    if isinstance(part, slice):
        first, end, step = part.indices(size)
        if step < 1:
            raise IndexError("steps must be positive")
        return first, max(first, end), step
    number = int(part)
    number += size if number < 0 else 0
    if not 0 <= number < size:
        raise IndexError(f"{part} is outside of {size}")
    return number, number + 1, 1


# Pixels of an image: an array, or a very large TIFF whose regions are decoded on access.
ImageArray = np.ndarray | TiffImage
