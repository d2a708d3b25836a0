"""Files that claim a far larger size than they hold or unpack to one, and damaged files of every kind."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from workbench.core.images.image_files import image_size
from workbench.core.problems import ImageBroken
from workbench.inference.io.image_io import ReadError, read_image, read_page
from workbench.inference.io.opencv import cv2

LIMIT = 64  # MB; largest decoded image in the reading process
BOUND = 2 * LIMIT + 32  # MB; largest growth of its memory: an image and a copy, and what allocators keep of others

# Reads each file with every reader and prints the growth of the process's peak memory.
READER = """
import json, sys
from pathlib import Path
from workbench.core.project import annotation; from workbench.core.images import image_files
from workbench.core.project.formats.base import UnreadableLabel
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.problems import Problem

def peak():
    with open("/proc/self/status") as status:  # getrusage begins with the peak of the parent
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

start = None
for line in sys.stdin:
    path, outcome = Path(line.rstrip("\\n")), {}
    ways = {
        "size": lambda: image_files.image_size(path), "read": lambda: image_files.read(path).shape,
        "displayed": lambda: image_files.read_displayed(path).shape,
        "page": lambda: image_files.read_displayed_page(path, 1).shape,
        "count": lambda: image_files.page_count(path), "preview": lambda: image_files.preview(path) is None,
        "thumbnail": lambda: image_files.thumbnail(path, 96).shape, "mask": lambda: annotation.read_mask(path).shape,
        "fitting": lambda: annotation.read_mask(path, (64, 64)).shape, "import": lambda: read_raw(path).size,
    }
    for name, way in ways.items():
        try:
            outcome[name] = repr(way())
        except (Problem, UnreadableLabel) as problem:
            outcome[name] = "refused"
        except Exception as error:
            outcome[name] = f"unforeseen {type(error).__name__}: {error}"
    start = peak() if start is None else start  # after the first file, for which all modules were loaded
    print(json.dumps([path.name, peak() - start, outcome]), flush=True)
"""


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@functools.cache
def zeros(count: int) -> bytes:
    """Return `count` zero bytes, compressed by repeating one block of compressed zeros."""
    size = 1 << 22

    def packed(length: int, flush: int) -> bytes:
        packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        return packer.compress(bytes(length)) + packer.flush(flush)

    blocks, rest = divmod(count, size)
    checksum = struct.pack(">I", count % 65521 << 16 | 1)  # Adler-32
    return b"\x78\xda" + packed(size, zlib.Z_FULL_FLUSH) * blocks + packed(rest, zlib.Z_FINISH) + checksum


def png(width: int, height: int, bits: int = 8, color: int = 0, data: int | None = None, extra: bytes = b"") -> bytes:
    """Return a PNG of zeros. data: their number in bytes, by default as claimed by the header."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    whole = height * (1 + -(-width * channels * bits // 8))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0))
    palette = chunk(b"PLTE", bytes(768)) if color == 3 else b""
    body = chunk(b"IDAT", zeros(whole if data is None else data))
    return b"\x89PNG\r\n\x1a\n" + header + extra + palette + body + chunk(b"IEND", b"")


def jpeg(width: int, height: int, mode: str = "L", **options) -> bytes:
    file = io.BytesIO()
    Image.new(mode, (64, 64), 90 if mode == "L" else (90, 10, 200)).save(file, "JPEG", **options)
    data = bytearray(file.getvalue())
    at = next(at for at in range(len(data)) if data[at] == 0xFF and data[at + 1] in (0xC0, 0xC2))
    data[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def bmp(width: int, height: int, bits: int = 24, packing: int = 0) -> bytes:
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, packing, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 1000, 0, 0, 54) + head + bytes(1000)


def tiff(width: int, height: int, samples: int = 1, bits: int = 8, rows: int | None = None, packing: int = 8) -> bytes:
    body = zeros(1 << 20)
    entries = [
        (256, 4, 1, width),
        (257, 4, 1, height),
        (258, 3, 1, bits),
        (259, 3, 1, packing),
        (262, 3, 1, 2 if samples > 2 else 1),
        (273, 4, 1, 8),
        (277, 3, 1, samples),
        (278, 4, 1, rows or height),
        (279, 4, 1, len(body)),
    ]
    packed = b"".join(
        struct.pack("<HHI", *e[:3]) + struct.pack("<HH" if e[1] == 3 else "<I", *([e[3], 0] if e[1] == 3 else [e[3]]))
        for e in entries
    )
    return b"II*\0" + struct.pack("<I", 8 + len(body)) + body + struct.pack("<H", len(entries)) + packed + bytes(4)


def webp(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (1, 2, 3)).save(file, "WEBP", lossless=True)
    data = bytearray(file.getvalue())
    at = data.index(b"VP8L") + 9
    bits = struct.unpack_from("<I", data, at)[0] & ~0xFFFFFFF | (width - 1) | (height - 1) << 14
    struct.pack_into("<I", data, at, bits)
    return bytes(data)


def encoded(suffix: str, image: np.ndarray) -> bytes:
    done, data = cv2.imencode(suffix, image)
    assert done
    return data.tobytes()


def saved(form: str, mode: str, width: int, height: int, **options) -> bytes:
    """Return a whole image of zeros, written by Pillow."""
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, form, **options)
    return file.getvalue()


def saved_tiff(shape: tuple[int, ...], kind: str = "uint8", **options) -> bytes:
    """Return a whole TIFF of zeros, written by tifffile: in one strip unless compressed."""
    file = io.BytesIO()
    tifffile.imwrite(file, np.zeros(shape, kind), **options)
    return file.getvalue()


def jp2(width: int, height: int) -> bytes:
    data = bytearray(encoded(".jp2", np.zeros((64, 64, 3), np.uint8)))
    struct.pack_into(">II", data, data.index(b"ihdr") + 4, height, width)
    at = data.index(b"\xff\x4f\xff\x51")
    struct.pack_into(">II", data, at + 8, width, height)
    return bytes(data)


BOMBS = {
    "png-65535.png": lambda: png(65535, 65535, data=1000),
    "png-million.png": lambda: png(10**6, 10**6, data=1000),
    "png-2-31.png": lambda: png(2**31 - 1, 2**31 - 1, data=1000),
    "png-rgba16.png": lambda: png(9999, 9999, 16, 6, data=10**6),
    "png-rgba16-whole.png": lambda: png(3500, 3500, 16, 6),
    "png-grey-whole.png": lambda: png(20000, 20000),
    "png-one-bit.png": lambda: png(30000, 30000, 1),
    "png-palette.png": lambda: png(12000, 12000, 8, 3),
    "png-more-data.png": lambda: png(64, 64, data=1 << 28),
    "png-ztxt.png": lambda: png(64, 64, extra=chunk(b"zTXt", b"Comment\0\0" + zeros(1 << 28))),
    "png-many-ztxt.png": lambda: png(64, 64, extra=chunk(b"zTXt", b"Comment\0\0" + zeros(1 << 24)) * 40),
    "png-iccp.png": lambda: png(64, 64, extra=chunk(b"iCCP", b"profile\0\0" + zeros(1 << 28))),
    "png-itxt.png": lambda: png(64, 64, extra=chunk(b"iTXt", b"Comment\0\1\0\0\0" + zeros(1 << 28))),
    "png-empty.png": lambda: png(0, 64, data=10),
    "jpeg-65500.jpg": lambda: jpeg(65500, 65500),
    "jpeg-9990.jpg": lambda: jpeg(9990, 9990, "RGB"),
    "jpeg-progressive.jpg": lambda: jpeg(30000, 30000, "RGB", progressive=True),
    "bmp-negative.bmp": lambda: bmp(1000, -(2**31)),
    "bmp-2-31.bmp": lambda: bmp(2**31 - 1, 2**31 - 1),
    "bmp-rle.bmp": lambda: bmp(30000, 30000, 8, 1),
    "pnm-text.pgm": lambda: b"P2\n1000000 1000000\n255\n0 0 0\n",
    "pnm-10-12.ppm": lambda: b"P6\n1000000000000 1\n255\n" + bytes(100),
    "pnm-bits.pbm": lambda: b"P4\n200000 200000\n" + bytes(100),
    "tiff-65535.tif": lambda: tiff(65535, 65535),
    "tiff-2-32.tif": lambda: tiff(2**32 - 1, 2**32 - 1),
    "tiff-rgb.tif": lambda: tiff(30000, 30000, 3),
    "tiff-one-strip.tif": lambda: tiff(20000, 20000),
    "tiff-rows.tif": lambda: tiff(20000, 20000, rows=1),
    "tiff-plain.tif": lambda: tiff(30000, 30000, packing=1),
    "webp-16383.webp": lambda: webp(16383, 16383),
    "jp2-60000.jp2": lambda: jp2(60000, 60000),
    "jp2-2-31.jp2": lambda: jp2(2**31, 2**31),
    # Whole images, about as large as the limit allows. Their decoders need more than an image and a copy.
    "whole-gray-alpha.png": lambda: png(4000, 4000, 16, 4),
    "whole-progressive-gray.jpg": lambda: saved("JPEG", "L", 8100, 8100, progressive=True),
    "whole-progressive.jpg": lambda: saved("JPEG", "RGB", 4600, 4600, progressive=True, subsampling=0),
    "whole-gray-end.jpg": lambda: encoded(".jpg", np.full((8000, 8000), 128, np.uint8)),
    "whole.bmp": lambda: saved("BMP", "RGB", 4600, 4600),
    "whole.ppm": lambda: saved("PPM", "RGB", 4600, 4600),
    "whole-strip.tif": lambda: saved_tiff((4600, 4600, 3), photometric="rgb"),
    "whole-gray-strip.tif": lambda: saved_tiff((6000, 6000), compression="zlib", rowsperstrip=6000),
    "whole-half.tif": lambda: saved_tiff((5600, 5600), "float16", compression="zlib"),
    "whole-palette.tif": lambda: saved("TIFF", "P", 8000, 8000, compression="tiff_deflate"),
    "whole-rgba.png": lambda: png(3600, 3600, 8, 6),
}


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory by /proc")
def test_memory_of_every_bomb_is_bounded(tmp_path, cases, report):
    written = {}
    for name, make in list(BOMBS.items())[:: cases(9, 1)]:
        written[name] = tmp_path / name
        written[name].write_bytes(make())
    whole = tmp_path / "whole.png"
    whole.write_bytes(png(64, 64))
    environment = {**os.environ, "WORKBENCH_MAX_DECODED_MB": str(LIMIT)}
    done = subprocess.run(
        [sys.executable, "-c", READER],
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        input="".join(f"{path}\n" for path in [whole, *written.values(), whole]),
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["whole.png", *written, "whole.png"]
    assert lines[0][2] == lines[-1][2] and lines[0][2]["read"] == "(64, 64)"
    failed = [line for line in lines if line[1] > BOUND or any("unforeseen" in message for message in line[2].values())]
    # Files that claim more than the limit are refused by the list as well.
    over = [line for line in lines if line[0].startswith(("png-65535", "png-million", "jpeg-65500", "bmp-2-31"))]
    failed += [line for line in over if line[2]["size"] != "refused" or line[2]["mask"] != "refused"]
    report("image bombs, 10 ways to read each", len(written), len(failed))
    assert not failed


@functools.cache
def valid_images() -> dict[str, bytes]:
    """Return one valid image file of each kind, 48 x 40 pixels."""
    image = np.random.default_rng(5).integers(0, 255, (40, 48, 3), np.uint8)
    found = {}
    for form, suffix in (("PNG", "png"), ("JPEG", "jpg"), ("TIFF", "tif"), ("BMP", "bmp"), ("WEBP", "webp")):
        file = io.BytesIO()
        Image.fromarray(image).save(file, form)
        found[suffix] = file.getvalue()
    found["jp2"] = cv2.imencode(".jp2", image)[1].tobytes()
    found["ppm"] = cv2.imencode(".ppm", image)[1].tobytes()
    pages = io.BytesIO()
    with tifffile.TiffWriter(pages) as writer:
        for _ in range(3):
            writer.write(image, photometric="rgb", compression="zlib")
    return {**found, "pages.tif": pages.getvalue()}


def damage(data: bytes, rng: np.random.Generator) -> bytes:
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if not found:
            break
        at = int(rng.integers(0, min(len(found), 200) if rng.random() < 0.6 else len(found)))
        way = rng.integers(0, 5)
        if way == 0:
            found[at] ^= 1 << int(rng.integers(0, 8))
        elif way == 1:
            found[at] = int(rng.choice([0, 255, 127, 128, 1]))
        elif way == 2:
            del found[at : at + int(rng.integers(1, 40))]
        elif way == 3:
            found[at:at] = rng.bytes(int(rng.integers(1, 40)))
        else:
            found = found[: max(1, at)] if rng.random() < 0.3 else found
    return bytes(found)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "bmp", "webp", "jp2", "ppm", "pages.tif"])
def test_a_damaged_image_is_read_or_refused(tmp_path, suffix, cases, report, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MAX_DECODED_MB", str(LIMIT))
    rng = np.random.default_rng(len(suffix) + ord(suffix[0]))
    path = tmp_path / f"image.{suffix}"
    failed, count = [], cases(40, 2000)
    for number in range(count):
        path.write_bytes(damage(valid_images()[suffix], rng))
        sizes = []
        for way in (lambda path: read_image(path).shape[1::-1], image_size):
            try:
                sizes.append(way(path))
            except (ReadError, ImageBroken):
                sizes.append(None)
        with contextlib.suppress(ReadError):
            read_page(path, 1)
        if sizes[0] is not None and sizes[0] != sizes[1]:
            failed.append((number, sizes))
    report(f"damaged images: {suffix}", count, len(failed))
    assert not failed
