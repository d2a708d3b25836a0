"""Image files: size without decoding, pixels, previews, thumbnails, and copies stored as displayed.

Image files of kinds that are not read, and the programs that convert them.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np

from workbench.core.messages import Message
from workbench.core.problems import ImageBroken
from workbench.inference.io import file_access, image_io
from workbench.inference.io.file_access import open_file, replacing
from workbench.inference.io.image_io import (
    ReadError,
    decode_image,
    encode_png,
    load_file,
    read_header,
    read_image,
    read_page,
    read_reduced,
)
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray, NotByRegion, TiffImage, tiff_pages, tiff_size
from workbench.inference.overlay_drawing import to_display

VIDEO_SUFFIXES = (".webm", ".mp4", ".avi", ".mov", ".mkv", ".wmv")
# Suffixes of one kind, and a program that converts them to PNG.
_CONVERTERS: tuple[tuple[str, str], ...] = (
    (".heic .heif .avif .jxl .psd .tga .ico .exr .hdr .dds .pcx", "ImageMagick (magick mogrify -format png)"),
    (".dcm .dicom", "ImageJ"),
    (".nii .nrrd .mha .czi .lif .nd2 .oib .vsi .svs .ndpi .mrxs", "ImageJ with Bio-Formats"),
    (".nef .cr2 .cr3 .arw .dng .orf .rw2 .raf .pef", "darktable"),
    (" ".join((".gif", ".apng", *VIDEO_SUFFIXES)), "ffmpeg"),
    (".svg .pdf .eps .ai", "Inkscape"),
    (".raw .bin .img", "ImageJ (File > Import > Raw)"),
)
_PROGRAMS: dict[str, str] = {suffix: program for suffixes, program in _CONVERTERS for suffix in suffixes.split()}
CONVERTIBLE_SUFFIXES = frozenset(_PROGRAMS)  # of image files that are not read


def count_unused(names: Iterable[str]) -> Counter[str]:
    """Return the number of image files that are not read, by their suffix in lower case."""
    return Counter(suffix for name in names if (suffix := PurePosixPath(name).suffix.lower()) in _PROGRAMS)


def unused_texts(counts: Counter[str]) -> list[str]:
    """Return a sentence for each suffix of `counts`, with a program that converts such files."""
    return [
        Message("images.unused", n=count, suffix=suffix, program=_PROGRAMS[suffix])
        for suffix, count in counts.most_common()
    ]


MIN_PREVIEW_PIXELS = 12_000_000  # a JPEG of at least this size is shown reduced first
MIN_REGION_PIXELS = 150_000_000  # pixels from which on a TIFF is read by region


def read(path: Path) -> np.ndarray:
    """Return pixels (H, W) or (H, W, 3) RGB; uint8, uint16 or float32; EXIF applied. Raises ImageBroken."""
    try:
        return read_image(path)
    except ReadError as error:
        raise ImageBroken(path=str(path), why=error.why) from error


def read_with_sum(path: Path) -> tuple[np.ndarray, str]:
    """Return the pixels as `read` does, and the SHA-256 of the file, which is opened once. Raises ImageBroken."""
    try:
        data = load_file(path)
        return decode_image(data, path), hashlib.sha256(data.data).hexdigest()
    except ReadError as error:
        raise ImageBroken(path=str(path), why=error.why) from error


def read_displayed(path: Path) -> ImageArray:
    """Return the image for a viewer; a very large TIFF is decoded by region, on access.

    Raises ImageBroken.
    """
    image = _by_region(path)
    return read(path) if image is None else image


def read_displayed_page(path: Path, number: int) -> ImageArray:
    """Return page `number`, counted from 0, of a file of several pages for a viewer. Raises ImageBroken."""
    try:
        image = _by_region(path, number)
        return read_page(path, number) if image is None else image
    except ReadError as error:
        raise ImageBroken(path=str(path), why=error.why) from error


def preview(path: Path) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Return a large JPEG reduced, (h, w) or (h, w, 3) uint8, and its full (width, height); None for other images."""
    try:
        header = read_header(path)
    except ReadError:
        return None
    if header.kind != "jpeg" or header.width * header.height < MIN_PREVIEW_PIXELS:
        return None
    reduced = read_reduced(path, gray=header.channels == 1)
    return None if reduced is None else (reduced, header.shown)


def page_count(path: Path) -> int:
    """Return the number of pages of a TIFF, of which the first is the image; 1 for other files."""
    return tiff_pages(path) if path.suffix.lower() in (".tif", ".tiff") else 1


def _by_region(path: Path, page: int = 0) -> TiffImage | None:
    if path.suffix.lower() not in (".tif", ".tiff"):
        return None
    try:
        size = tiff_size(path, page)
        if size is None or size[0] * size[1] < MIN_REGION_PIXELS:
            return None
        too_large = image_io.size_problem(*size)
        if too_large:
            raise ImageBroken(path=str(path), why=too_large)
        return TiffImage(path, page)
    except NotByRegion:
        return None
    except OSError as error:
        raise ImageBroken(path=str(path), why=file_access.reason(error)) from error


def image_size(path: Path) -> tuple[int, int]:
    """Return (width, height) as shown, EXIF applied, from the header only.

    Raises ImageBroken, also for an incomplete file or an image that is larger than the limits allow.
    """
    try:
        return read_header(path).shown
    except ReadError as error:
        raise ImageBroken(path=str(path), why=error.why) from error


def thumbnail(path: Path, edge: int) -> np.ndarray:
    """Return uint8 (h, w) or (h, w, 3) RGB with a longer side of at most `edge` pixels. Raises ImageBroken."""
    large = _by_region(path)
    if large is not None:
        image = large.overview
        large.close()
    else:
        image = read(path)
    height, width = image.shape[:2]
    factor = edge / max(height, width)
    if factor < 1:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return to_display(image)


def copy_upright(source: Path, target: Path) -> None:
    """Copy an image file. One with an EXIF orientation is written with turned or mirrored pixels and without the mark.

    PNG, TIFF and WebP keep their pixel values, of which only the first page is written. A JPEG is encoded again with
    its own quantization. Raises OSError, ReadError, ImageBroken.
    """
    header = read_header(source)
    with replacing(target) as file:
        if header.orientation == 1 or header.kind not in ("jpeg", "png", "tiff", "webp"):
            with open_file(source) as opened:
                shutil.copyfileobj(opened, file)
        elif header.kind == "jpeg":
            _write_jpeg(source, file)
        else:
            _write_pixels(source, header.kind, file)


def _write_jpeg(source: Path, file: BinaryIO) -> None:
    from PIL import ImageOps
    from PIL.JpegImagePlugin import JpegImageFile

    from workbench.core.images.pillow import Image

    with Image.open(source, formats=("JPEG", "MPO")) as image:
        turned = ImageOps.exif_transpose(image)
        assert isinstance(image, JpegImageFile)
        quantization = image.quantization
        profile = image.info.get("icc_profile")
    turned.save(file, "JPEG", qtables=quantization, subsampling=0, exif=turned.getexif(), icc_profile=profile)


def _write_pixels(source: Path, kind: str, file: BinaryIO) -> None:
    pixels = read(source)
    if kind == "png":
        file.write(encode_png(pixels))
    elif kind == "tiff":
        import tifffile

        tifffile.imwrite(file, pixels, photometric="rgb" if pixels.ndim == 3 else "minisblack", compression="zlib")
    else:
        from workbench.core.images.pillow import Image

        Image.fromarray(pixels).save(file, "WEBP", lossless=True, exact=True)
