"""Declared image sizes: correct for every readable format, never smaller than the decoded size."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings, strategies as st
from PIL import Image

from workbench.inference.io.image_header import describe
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.io.opencv import cv2

WIDTH, HEIGHT = 37, 23
GRAY = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH)).astype(np.uint8)
COLOR = np.dstack([GRAY, GRAY[::-1], GRAY[:, ::-1]])


def by_opencv(ending, picture=GRAY, *flags):
    done, data = cv2.imencode(ending, picture, list(flags))
    assert done
    return data.tobytes()


def by_pillow(kind, picture=GRAY, **options):
    out = io.BytesIO()
    Image.fromarray(picture).save(out, kind, **options)
    return out.getvalue()


def by_tifffile(picture=GRAY, **options):
    out = io.BytesIO()
    big, order = options.pop("bigtiff", False), options.pop("byteorder", "<")
    with tifffile.TiffWriter(out, bigtiff=big, byteorder=order) as writer:
        writer.write(picture, **options)
    return out.getvalue()


FILES = {
    "png": by_opencv(".png"),
    "png 16 colour": by_opencv(".png", COLOR.astype(np.uint16) * 257),
    "jpeg": by_opencv(".jpg", COLOR),
    "jpeg progressive": by_opencv(".jpg", COLOR, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "jpeg with exif": by_pillow("JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"),
    "jpeg with fill": by_opencv(".jpg")[:2] + b"\xff\xff\xff" + by_opencv(".jpg")[2:],
    "bmp": by_opencv(".bmp", COLOR),
    "webp": by_pillow("WEBP", COLOR),
    "webp lossless": by_pillow("WEBP", COLOR, lossless=True),
    "webp with exif": by_pillow("WEBP", COLOR, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"),
    "jp2": by_pillow("JPEG2000", COLOR),
    "jpeg 2000 codestream": by_pillow("JPEG2000", COLOR, no_jp2=True),
    "pgm": by_opencv(".pgm"),
    "pgm of text": by_opencv(".pgm", GRAY, cv2.IMWRITE_PXM_BINARY, 0),
    "pgm with remarks": f"P5 # {WIDTH + 5}\n#7 7\n {WIDTH}\n# x\n{HEIGHT} 255\n".encode() + GRAY.tobytes(),
    "ppm": by_opencv(".ppm", COLOR),
    "pbm": by_opencv(".pbm", (GRAY > 99).astype(np.uint8) * 255),
    "tiff": by_opencv(".tif", COLOR),
    "tiff deflate": by_tifffile(compression="zlib"),
    "tiff 16 big-endian": by_tifffile(GRAY.astype(np.uint16), byteorder=">"),
    "tiff of 8 byte offsets": by_tifffile(bigtiff=True),
    "tiff half float": by_tifffile(GRAY.astype(np.float16)),
    "tiff planes": by_tifffile(np.moveaxis(COLOR, 2, 0), photometric="rgb", planarconfig="separate"),
}


@pytest.mark.parametrize("kind", FILES)
def test_declared_size_equals_decoded_size(kind):
    claim = describe(FILES[kind])
    height, width = decode_image(FILES[kind]).shape[:2]
    assert (claim.width, claim.height) == (width, height) == (WIDTH, HEIGHT)
    assert claim.channels <= 4
    assert describe(bytearray(FILES[kind])) == claim


def test_tiff_tiles_count_with_their_whole_size():
    claim = describe(by_tifffile(tile=(64, 128)))
    assert claim.padded == 64 * 128


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_that_claims(width, height):
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(100_000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + data + chunk(b"IEND", b"")


BOMBS = {
    "png": (png_that_claims(60_000, 50_000), 60_000 * 50_000),
    "jpeg": (FILES["jpeg"].replace(struct.pack(">HH", HEIGHT, WIDTH), b"\xff\xf0\xff\xf0"), 0xFFF0**2),
    "bmp from top to bottom": (b"BM" + bytes(12) + struct.pack("<Iii", 40, 30_000, -20_000) + bytes(99), 6 * 10**8),
    "pgm": (b"P2 100000 100000 255 1 2 3", 10**10),
}


def test_declared_size_of_small_files():
    for kind, (data, pixels) in BOMBS.items():
        assert describe(data).pixels == pixels, kind


def tiff(*entries):
    head = struct.pack("<2sHIH", b"II", 42, 8, len(entries))
    return head + b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)


def test_larger_of_two_tiff_sizes_counts():
    long, once = 4, 1
    assert describe(tiff((256, long, once, 9), (257, long, once, 8))).shown == (9, 8)
    twice = tiff((256, long, once, 9), (256, long, once, 90_000), (257, long, once, 8))
    assert describe(twice).width == 90_000
    assert describe(tiff((256, long, once, 9), (257, long, once, 8), (277, long, once, 60_000))).channels == 60_000
    assert not describe(tiff((256, long, 2, 9), (257, long, once, 8))).width
    assert not describe(tiff((256, 11, once, 9), (257, long, once, 8))).width
    assert not describe(tiff((256, long, once, 9))).width


UNKNOWN = [b"", b"GIF89a" + bytes(99), b"P7\nWIDTH 9\n", b"Pf 9 9 1", b"%PDF", b"P2 1" + b"0" * 13]


@pytest.mark.parametrize("data", UNKNOWN)
def test_unknown_formats_have_no_size(data):
    assert not describe(data).width


CHANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=6)


@given(st.sampled_from(sorted(FILES)), CHANGES, st.data())
@settings(max_examples=250, deadline=None)
def test_damaged_header_never_understates_the_size(kind, changes, draw):
    """No error is raised, and a decodable image is at most as large as declared."""
    data = bytearray(FILES[kind])
    for position, value in changes:
        data[position % len(data)] = value
    data = data[: draw.draw(st.integers(0, len(data)))] if draw.draw(st.booleans()) else data
    claim = describe(data)
    if not claim.width or claim.pixels > 10**6:
        return
    try:
        picture = decode_image(bytes(data))
    except ReadError:
        return
    assert sorted(picture.shape[:2]) <= sorted((claim.height, claim.width))
    assert picture.shape[0] * picture.shape[1] <= claim.pixels


SIGNATURES = [*(data[:4] for data in FILES.values()), b"RIFF\0\0\0\0WEBP", FILES["jp2"][:12]]


@given(st.sampled_from(SIGNATURES), st.binary(max_size=400))
@settings(max_examples=250, deadline=None)
def test_random_bytes_after_a_signature_raise_no_error(start, noise):
    assert describe(start + noise).pixels >= 0
