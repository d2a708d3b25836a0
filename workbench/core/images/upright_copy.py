"""Copies of image files whose stored pixels are as displayed, for programs that do not apply the EXIF orientation."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

import tifffile
from PIL import Image, ImageOps
from PIL.JpegImagePlugin import JpegImageFile

from workbench.core.images.image_files import read
from workbench.inference.io.atomic_write import replacing
from workbench.inference.io.image_io import encode_png, read_header


def copy_upright(source: Path, target: Path) -> None:
    """Copy an image file. One with an EXIF orientation is written with turned or mirrored pixels and without the mark.

    PNG, TIFF and WebP keep their pixel values, of which only the first page is written. A JPEG is encoded again with
    its own quantization. Raises OSError, ReadError, ImageBroken.
    """
    header = read_header(source)
    with replacing(target) as file:
        if header.orientation == 1 or header.kind not in ("jpeg", "png", "tiff", "webp"):
            with source.open("rb") as opened:
                shutil.copyfileobj(opened, file)
        elif header.kind == "jpeg":
            _write_jpeg(source, file)
        else:
            _write_pixels(source, header.kind, file)


def _write_jpeg(source: Path, file: BinaryIO) -> None:
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
        tifffile.imwrite(file, pixels, photometric="rgb" if pixels.ndim == 3 else "minisblack", compression="zlib")
    else:
        Image.fromarray(pixels).save(file, "WEBP", lossless=True, exact=True)
