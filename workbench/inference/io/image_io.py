"""Image files decoded into arrays, identically for the viewer, training and every export.

Orientation is applied here only, because OpenCV's handling of it differs by format, depth and version.

Limits on image size, checked against the header before decoding.

A file of a few kilobytes can expand to gigabytes. Two environment variables set the limits: WORKBENCH_MAX_MEGAPIXELS
(pixels of an image) and WORKBENCH_MAX_DECODED_MB (memory of an image decoded as a whole, of which its decoder may use
twice as much).
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import file_access
from .file_access import FileView, load_regular, open_regular, write_atomic
from .image_header import ImageHeader, apply_orientation, describe, inspect, page_index
from .opencv import cv2
from .tiff_regions import tiff_size

MEGAPIXELS, DECODED = "WORKBENCH_MAX_MEGAPIXELS", "WORKBENCH_MAX_DECODED_MB"
_DEFAULTS = {MEGAPIXELS: 1000, DECODED: 2048}


def limit(name: str) -> float:
    """Return a limit: the value of its environment variable if that is a positive number, else the default."""
    try:
        value = float(os.environ.get(name, ""))
    except ValueError:
        return _DEFAULTS[name]
    return value if value > 0 and not math.isnan(value) else _DEFAULTS[name]


def decoded_bytes() -> int:
    """Return the memory limit in bytes for an image decoded as a whole."""
    return int(min(limit(DECODED) * (1 << 20), 1 << 62))


def size_problem(width: int, height: int, values: int = 0, size: int = 1, peak: int = 0) -> str:
    """Return the reason why an image is too large, a part of a sentence; "" if it is not.

    values: number of values decoded at once, of `size` bytes each; 0 if the image is not decoded as a whole. peak:
        bytes in use while it is decoded, of which at most twice the limit are allowed.
    """
    maximum = limit(MEGAPIXELS)
    if width * height > maximum * 1e6:
        return (
            f"its {width} x {height} pixels are over the limit of {maximum:g} megapixels"
            f" (the environment variable {MEGAPIXELS} changes it)"
        )
    maximum = limit(DECODED)
    needed = math.ceil(max(values * size, peak / 2) / (1 << 20))
    if needed > maximum:
        return (
            f"decoded it would take {needed} MB, over the limit of {maximum:g} MB"
            f" (the environment variable {DECODED} changes it)"
        )
    return ""


IMAGE_SUFFIXES = frozenset(
    {
        *(".bmp", ".dib", ".jfif", ".jp2", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm"),
        *(".tif", ".tiff", ".webp"),
    }
)

_MAX_PNG_SIDE = 1_000_000  # pixels per side; limit of libpng
_MAX_EXTRA_BYTES = 64 << 20  # bytes of a file allowed beyond those of the largest decoded image


class ReadError(Exception):
    """Image that cannot be read. path: file or name as given. why: reason, a part of a sentence."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(path, why)
        self.path = path
        self.why = why

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


class _TooLarge(ReadError):
    """TIFF page that exceeds the limits."""


def read_image(path: Path | str) -> np.ndarray:
    """Read an image file, detecting the format from its content.

    Returns (H,W) grayscale or (H,W,3) RGB, C-contiguous, uint8, uint16 or float32, with values as stored (12-bit values
    in 16 bits are not rescaled). EXIF orientation is applied, alpha is dropped, and the largest of several pages is
    returned. Raises ReadError.
    """
    return decode_image(load_file(path), path)


def read_header(path: Path | str) -> ImageHeader:
    """Return the properties given in an image file's header, including its size, without decoding.

    Raises ReadError, also if the file is incomplete or the image exceeds the limits.
    """
    try:
        with open_regular(path) as file:
            view = FileView(file)
            if not len(view):
                raise ReadError(path, "the file is empty")
            properties = describe(view)
    except (OSError, ValueError) as error:
        raise _cannot_open(path, error) from error
    if properties.kind == "tiff" and not properties.width:
        width, height = tiff_size(path, upright=False) or (0, 0)
        properties = replace(properties, width=width, height=height)
    _check_header(properties, path, whole=properties.kind != "tiff")
    return properties


def load_file(path: Path | str) -> np.ndarray:
    """Return the bytes of a file that may be an image, uint8 (n,). Raises ReadError."""
    try:
        return load_regular(path, decoded_bytes() + _MAX_EXTRA_BYTES)
    except MemoryError:
        raise ReadError(path, "there is not enough memory for it") from None
    except (OSError, ValueError) as error:
        raise _cannot_open(path, error) from error


def _cannot_open(path: Path | str, error: Exception) -> ReadError:
    if isinstance(error, FileNotFoundError):
        return ReadError(path, "there is no such file")
    why = file_access.reason(error)
    return ReadError(path, f"the file cannot be opened ({why})")


def _check_header(container: ImageHeader, name: Path | str, *, whole: bool = True) -> None:
    """Raise ReadError unless the header is that of an image within the limits. whole: decoded at once."""
    if container.cut and container.kind in ("jpeg", "png"):
        # Some builds of OpenCV silently fill the missing part of a JPEG with gray.
        raise ReadError(name, f"the file is incomplete: {container.cut}")
    if not container.kind:
        raise ReadError(name, "this is not an image file that can be read")
    width, height = container.width, container.height
    if not width or not height:
        if container.cut:
            raise ReadError(name, f"the file is incomplete: {container.cut}")
        raise ReadError(name, f"the {container.kind.upper()} data are damaged or of an unknown variant")
    if container.kind == "png" and max(width, height) > _MAX_PNG_SIDE:
        raise ReadError(
            name, f"its sides of {width} and {height} pixels are over the limit of {_MAX_PNG_SIDE} for PNG files"
        )
    values, peak = (container.values, _peak(container)) if whole else (0, 0)
    too_large = size_problem(width, height, values, container.depth, peak)
    if too_large:
        raise ReadError(name, too_large)


def _peak(container: ImageHeader) -> int:
    """Return the number of bytes in use while an image is decoded, by the decoder that is chosen."""
    return container.lean if _is_lean(container) else container.peak


def _is_lean(container: ImageHeader) -> bool:
    """Return True if a TIFF is to be decoded by tifffile because OpenCV would need too much memory."""
    return bool(container.lean) and container.peak > 2 * decoded_bytes()


def read_page(path: Path | str, number: int) -> np.ndarray:
    """Return page `number` of a TIFF (0 is the image), in the form of `read_image`. Raises ReadError."""
    data = load_file(path)
    try:
        if describe(data.data).kind != "tiff":
            raise ReadError(path, "only TIFF files have pages")
        index = page_index(data.data, number)
        try:
            return _to_supported(_decode_with_tifffile(data, path, index), path)
        except _TooLarge:
            raise
        except ReadError:
            success, pages = cv2.imdecodemulti(data, _flags(), range=(index, index + 1))
            if not success or not pages:
                raise
    except MemoryError:
        raise ReadError(path, "there is not enough memory for it") from None
    except (OSError, ValueError, cv2.error) as error:
        raise ReadError(path, f"page {number + 1} cannot be read ({error})") from None
    page = pages[0] if pages[0].ndim == 2 else pages[0][:, :, 2::-1]
    return np.ascontiguousarray(_to_supported(page, path))


def read_reduced(path: Path | str, *, gray: bool) -> np.ndarray | None:
    """Return a JPEG at an eighth of its size, as a preview; None if that is not possible.

    gray: the file holds grayscale values. EXIF orientation is applied.
    """
    try:
        data = load_file(path)
        container, data = inspect(data)
        if container.kind != "jpeg":
            return None
        _check_header(container, path)
        flags = cv2.IMREAD_REDUCED_GRAYSCALE_8 if gray else cv2.IMREAD_REDUCED_COLOR_8
        reduced = cv2.imdecode(data, flags | cv2.IMREAD_IGNORE_ORIENTATION)
    except (ReadError, ValueError, MemoryError, cv2.error):
        return None
    if reduced is None:
        return None
    return apply_orientation(
        reduced if reduced.ndim == 2 else cv2.cvtColor(reduced, cv2.COLOR_BGR2RGB), container.orientation
    )


def decode_image(data: Any, name: Path | str = "") -> np.ndarray:
    """Decode a bytes-like object in the form of `read_image`. name: used in a ReadError."""
    return _decode(np.frombuffer(data, np.uint8), name)


def write_png(path: Path | str, image: np.ndarray) -> None:
    """Write (H,W) grayscale or (H,W,3) RGB, uint8 or uint16, losslessly and atomically.

    Raises OSError, and ValueError for other arrays.
    """
    write_atomic(path, encode_png(image))


def encode_png(image: np.ndarray) -> memoryview:
    """Return (H,W) grayscale or (H,W,3) RGB, uint8 or uint16, encoded as PNG. Raises ValueError for other arrays."""
    if image.dtype not in (np.uint8, np.uint16) or image.size == 0:
        raise ValueError(f"a PNG cannot hold {image.dtype} values of shape {image.shape}")
    if image.ndim == 3 and image.shape[2] == 3:
        image = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2BGR)
    elif image.ndim != 2:
        raise ValueError(f"a PNG cannot hold an array of shape {image.shape}")
    success, encoded = cv2.imencode(".png", image)
    if not success:
        raise ValueError("the PNG could not be encoded")
    return encoded.data


def _decode(data: np.ndarray, name: Path | str) -> np.ndarray:
    if data.size == 0:
        raise ReadError(name, "the file is empty")
    try:
        container, bytes_to_decode = inspect(data)
        _check_header(container, name)
        image = _decode_plain_pnm(data) if container.kind == "pnm" else None
        if image is None and not _is_lean(container):
            image = _decode_with_opencv(bytes_to_decode)
        if container.planes_apart and image is not None and image.dtype != np.uint8:
            image = None  # OpenCV decodes separate planes incorrectly, except for 8 bits
        if image is None and container.kind == "tiff":
            image = _decode_with_tifffile(bytes_to_decode, name)
    except MemoryError:
        raise ReadError(name, "there is not enough memory for it") from None
    if image is None:
        if container.cut:
            raise ReadError(name, f"the file is incomplete: {container.cut}")
        raise ReadError(name, f"the {container.kind.upper()} data are damaged or of an unknown variant")
    image = _to_supported(image, name)
    height, width = image.shape[:2]
    if (width, height) != (container.width, container.height):
        size = f"{container.width} x {container.height}"
        raise ReadError(name, f"its header gives {size} pixels, but its data are {width} x {height}")
    if container.kind == "jpeg" and _may_be_truncated(image):
        pixels = hashlib.blake2b(image.data).digest()
        del image  # only one of the two images is in memory
        image = _decode_with_opencv(_lengthen(data))
        if image is None or hashlib.blake2b(image.data).digest() != pixels:
            raise ReadError(name, "the file is incomplete: the JPEG data end before the last row")
    if container.gray_alpha and image.ndim == 3:
        image = image[:, :, 0]
    if container.inverted and image.dtype != np.float32:
        image = np.iinfo(image.dtype).max - image
    return apply_orientation(image, container.orientation)


def _may_be_truncated(image: np.ndarray) -> bool:
    """Return True if JPEG data may end before the last row; libjpeg silently fills the rest with medium gray."""
    # The last 8 x 8 block without its first row and column, which the color of the previous block may affect.
    rows, columns = (max(1, (size - 1) % 8) for size in image.shape[:2])
    return bool((image[-rows:, -columns:] == 128).all())


def _lengthen(data: np.ndarray) -> np.ndarray:
    """Return a JPEG with random bytes before its end: a decoder with complete data ignores them."""
    end = data.tobytes().rfind(b"\xff\xd9")
    return np.concatenate([data[:end], np.random.default_rng(0).integers(1, 255, 4096, np.uint8), data[end:]])


def _decode_with_opencv(data: np.ndarray) -> np.ndarray | None:
    try:
        image = cv2.imdecode(data, _flags())
    except cv2.error as error:
        if error.code == cv2.Error.StsNoMem:
            raise MemoryError from None
        return None
    if image is None or image.ndim != 3 or image.shape[2] < 3:
        return image
    if image.dtype in (np.uint8, np.uint16, np.float32) and image.shape[2] == 3:
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=image)
    return image[:, :, 2::-1]


def _decode_plain_pnm(data: np.ndarray) -> np.ndarray | None:
    """Return the values of a PGM or PPM in text form, of which OpenCV rescales those with a maximum below 255."""
    if data[:2].tobytes() not in (b"P2", b"P3"):
        return None
    numbers = re.sub(rb"#[^\r\n]*", b"", data.tobytes()).split()
    try:
        width, height, largest = map(int, numbers[1:4])
        shape = (height, width, 3) if numbers[0] == b"P3" else (height, width)
        dtype = np.uint8 if largest < 256 else np.uint16
        return np.array(numbers[4 : 4 + int(np.prod(shape))]).astype(dtype).reshape(shape)
    except (ValueError, OverflowError):
        return None  # damaged: the decoder says so


def _decode_with_tifffile(data: np.ndarray, name: Path | str, number: int = 0) -> np.ndarray:
    """Decode a TIFF page that OpenCV does not support, such as half floats and uncompressed tiles."""
    try:
        import tifffile
    except ImportError:
        why = "this kind of TIFF needs the package tifffile, which is not installed (pip install tifffile)"
        raise ReadError(name, why) from None
    try:
        # Closed, the copy of the file is freed at once; the objects of tifffile refer to each other and live longer.
        with io.BytesIO(data.data) as stream, tifffile.TiffFile(stream) as file:
            page = file.pages[number]
            too_large = size_problem(
                page.imagewidth, page.imagelength, page.size, page.dtype.itemsize, _tifffile_peak(page, data.size)
            )
            if too_large:
                raise _TooLarge(name, too_large)
            if page.compression == 1 and page.size * page.bitspersample > 8 * data.size:
                raise ValueError("it claims to hold more than the file does")
            image = page.asarray()
            colors = page.colormap if page.photometric == tifffile.PHOTOMETRIC.PALETTE else None
            planes_first = image.ndim == 3 and page.planarconfig == tifffile.PLANARCONFIG.SEPARATE
    except (MemoryError, _TooLarge):
        raise
    except Exception as error:  # damaged files can cause any exception in the decoder
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ReadError(name, f"the TIFF data are damaged or of an unknown variant ({reason})") from None
    if planes_first:
        image = np.moveaxis(image, 0, -1)
    if colors is not None:
        image = np.ascontiguousarray(np.moveaxis(colors[:, image], 0, -1))
    return image


def _tifffile_peak(page: Any, file_size: int) -> int:
    """Return the number of bytes in use while tifffile decodes a page from a copy of the file, with conversions."""
    part = 0 if page.compression == 1 else math.prod(page.chunks) * page.dtype.itemsize
    is_palette = page.photometric == 3
    values = page.size * 3 * 2 * 2 if is_palette else 0 if page.dtype.char in "BHf" else 4 * page.size
    copied = page.nbytes if page.planarconfig == 2 and not values else 0
    return 2 * file_size + page.size * page.dtype.itemsize + max(part, values + copied)


def _to_supported(image: np.ndarray, name: Path | str) -> np.ndarray:
    """Convert an array to grayscale or RGB in uint8, uint16 or float32."""
    if image.ndim == 3:
        channels = image.shape[2]
        if channels > 4:
            raise ReadError(name, f"it has {channels} channels; only gray and color images can be read")
        image = image[:, :, 0] if channels < 3 else image[:, :, :3]
    if image.ndim != 2 and image.ndim != 3 or 0 in image.shape:
        raise ReadError(name, f"an array of shape {image.shape} is not an image")
    if image.dtype in (np.uint8, np.uint16, np.float32) and image.dtype.isnative:
        return image
    if image.dtype == np.bool_:
        return image.astype(np.uint8) * 255
    if image.dtype.kind in "iuf":
        native = image.dtype.newbyteorder("=")
        return image.astype(native if native in (np.uint8, np.uint16) else np.float32)
    raise ReadError(name, f"values of type {image.dtype} cannot be read")


def _flags() -> int:
    """Return the flags with which OpenCV decodes: all channels and bits as stored, without rotation."""
    return cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
