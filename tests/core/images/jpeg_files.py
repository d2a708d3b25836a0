"""JPEG files with unusual headers."""

from __future__ import annotations

import io
import struct

import numpy as np
import tifffile
from PIL import Image

SIZE = (48, 32)  # width, height as stored


def noise(size: tuple[int, int] = SIZE) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 255, (size[1], size[0], 3), np.uint8)


def encoded(form: str, **options) -> bytes:
    file = io.BytesIO()
    Image.fromarray(noise()).save(file, form, **options)
    return file.getvalue()


def turned(form: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[274] = orientation
    if form.startswith("TIFF"):
        file = io.BytesIO()
        tifffile.imwrite(
            file,
            noise(),
            photometric="rgb",
            bigtiff=form == "TIFF 64",
            extratags=[(274, 3, 1, orientation, True)],
        )
        return file.getvalue()
    if form == "PNG at the end":  # the chunk follows the image data
        data = encoded("PNG", exif=exif)
        at = data.index(b"eXIf") - 4
        length = 12 + struct.unpack_from(">I", data, at)[0]
        return data[:at] + data[at + length : -12] + data[at : at + length] + data[-12:]
    if form == "JPEG with rubbish":  # decoders pass over bytes between segments
        data = encoded("JPEG", exif=exif)
        return data[:20] + b"\x07rubbish\xff\x00" + data[20:]  # behind the first segment
    return encoded(form, exif=exif)


def jpeg_with_wrong_size(width: int, height: int, gray: bool = False, **options) -> bytes:
    """Return a JPEG of 64 x 64 pixels whose header declares another size."""
    file = io.BytesIO()
    image = noise((64, 64))
    Image.fromarray(image[:, :, 0] if gray else image).save(file, "JPEG", **options)
    data = bytearray(file.getvalue())
    at = next(at for at in range(len(data)) if data[at] == 0xFF and data[at + 1] in (0xC0, 0xC2))
    data[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(data)
