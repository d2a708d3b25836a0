"""Reading and writing of image files of every kind."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from workbench.inference.io.image_header import apply_orientation
from workbench.inference.io.image_io import (
    ReadError,
    decode_image,
    read_header,
    read_image,
    read_page,
    write_png,
)
from workbench.inference.io.tiff_regions import tiff_size

RNG = np.random.default_rng(1)


def corner_image(height: int = 24, width: int = 40) -> np.ndarray:
    """Return an image with color in one corner, in blocks of 8, so that rotations and flips are visible after JPEG."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[:8, :16] = (240, 16, 16)
    picture[:8, 16:24] = (16, 16, 240)
    return picture


def saved(picture: np.ndarray | Image.Image, form: str, **options) -> bytes:
    file = io.BytesIO()
    (picture if isinstance(picture, Image.Image) else Image.fromarray(picture)).save(file, form, **options)
    return file.getvalue()


def tiff(picture: np.ndarray, **options) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, picture, **options)
    return file.getvalue()


def test_error_of_an_image_over_the_limit_states_the_limit():
    header = struct.pack(">IIBBBBB", 2_000_000, 4, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    with pytest.raises(ReadError, match="2000000 and 4 pixels are over the limit of 1000000"):
        decode_image(data)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_exif_orientation_is_applied_exactly_once(form, orientation):
    exif = Image.Exif()
    exif[274] = orientation
    options = {"JPEG": {"quality": 100, "subsampling": 0}, "WEBP": {"lossless": True}}.get(form, {})
    data = saved(corner_image(), form, exif=exif, **options)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    found = decode_image(data)
    assert found.shape == expected.shape == ((24, 40, 3) if orientation < 5 else (40, 24, 3))
    assert np.abs(found.astype(int) - expected).max() <= 3
    assert found.flags.c_contiguous


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize(
    "layout", [{}, {"compression": "zlib", "tile": (16, 16)}, {"bigtiff": True}, {"byteorder": ">"}]
)
def test_tiff_orientation_is_applied_exactly_once(orientation, dtype, layout):
    picture = corner_image().astype(dtype)
    data = tiff(picture, photometric="rgb", extratags=[(274, 3, 1, orientation, True)], **layout)
    upright = Image.fromarray(corner_image())
    exif = upright.getexif()
    exif[274] = orientation
    expected = np.asarray(ImageOps.exif_transpose(upright))
    np.testing.assert_array_equal(decode_image(data), expected.astype(dtype))


def test_rotation_and_its_inverse_cancel():
    picture = RNG.integers(0, 255, (5, 7), dtype=np.uint8)
    for there, back in ((2, 2), (3, 3), (4, 4), (5, 5), (6, 8), (7, 7), (8, 6)):
        np.testing.assert_array_equal(apply_orientation(apply_orientation(picture, there), back), picture)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (33, 47), (33, 47, 3)])
def test_png_round_trip(tmp_path, dtype, shape):
    picture = RNG.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    write_png(tmp_path / "p.png", picture)
    found = read_image(tmp_path / "p.png")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, picture)
    if dtype == np.uint8:  # other programs read the same colors
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "p.png")), picture)


def test_twelve_bits_in_sixteen_are_not_scaled():
    picture = RNG.integers(0, 4096, (20, 30)).astype(np.uint16)
    np.testing.assert_array_equal(decode_image(tiff(picture)), picture)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("uint8", "uint8"),
        ("uint16", "uint16"),
        ("float32", "float32"),
        ("float16", "float32"),
        ("float64", "float32"),
        ("int16", "float32"),
        ("int8", "float32"),
        ("uint32", "float32"),
        ("int32", "float32"),
    ],
)
@pytest.mark.parametrize("layout", [{}, {"tile": (16, 16)}, {"compression": "zlib"}, {"byteorder": ">"}])
def test_tiff_of_every_type(dtype, expected, layout):
    low = 0 if dtype.startswith("u") else -100
    picture = RNG.integers(low, 100, (20, 33)).astype(dtype)
    found = decode_image(tiff(picture, **layout))
    assert found.dtype == expected
    np.testing.assert_array_equal(found, picture.astype(expected))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("planar", ["contig", "separate"])
def test_color_tiff_keeps_its_channel_order(dtype, planar):
    picture = RNG.integers(0, 200, (17, 19, 3)).astype(dtype)
    stored = picture if planar == "contig" else np.moveaxis(picture, -1, 0)
    found = decode_image(tiff(stored, photometric="rgb", planarconfig=planar))
    np.testing.assert_array_equal(found, picture)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_tiff_in_which_zero_is_white(dtype):
    picture = RNG.integers(0, 200, (17, 19)).astype(dtype)
    found = decode_image(tiff(picture, photometric="miniswhite"))
    np.testing.assert_array_equal(found, np.iinfo(dtype).max - picture)


@pytest.mark.parametrize("options", [{}, {"compression": "group4"}])
def test_one_bit_is_black_and_white(options):
    bits = RNG.integers(0, 2, (16, 24)).astype(bool)
    found = decode_image(saved(Image.fromarray(bits), "TIFF", **options))
    np.testing.assert_array_equal(found, bits * np.uint8(255))
    np.testing.assert_array_equal(decode_image(saved(Image.fromarray(bits), "PNG")), bits * np.uint8(255))


@pytest.mark.parametrize("form", ["PNG", "TIFF", "WEBP"])
def test_alpha_is_dropped_and_does_not_darken(form):
    picture = RNG.integers(0, 256, (16, 20, 4)).astype(np.uint8)
    options = {"lossless": True, "exact": True} if form == "WEBP" else {}
    np.testing.assert_array_equal(decode_image(saved(picture, form, **options)), picture[:, :, :3])


def test_gray_with_alpha_stays_gray():
    gray = RNG.integers(0, 256, (16, 20)).astype(np.uint8)
    for form in ("PNG", "BMP", "TIFF", "PPM"):
        np.testing.assert_array_equal(decode_image(saved(gray, form)), gray)
    with_alpha = Image.merge("LA", (Image.fromarray(gray), Image.fromarray(255 - gray)))
    np.testing.assert_array_equal(decode_image(saved(with_alpha, "PNG")), gray)
    assert decode_image(saved(gray, "JPEG")).ndim == 2


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF"])
def test_palette_becomes_color(form):
    picture = corner_image()
    found = decode_image(saved(Image.fromarray(picture).quantize(8), form))
    assert found.shape == picture.shape
    assert np.abs(found.astype(int) - picture).max() <= 8


@pytest.mark.parametrize(
    "name", ["划痕 1.png", "a [b] {c} %d.png", "scratch🔍.png", " leading.png", "no-ending", "é" * 100]
)
def test_any_name_works(tmp_path, name):
    picture = RNG.integers(0, 256, (9, 8)).astype(np.uint8)
    write_png(tmp_path / name, picture)
    np.testing.assert_array_equal(read_image(tmp_path / name), picture)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("kept", [0.999, 0.9, 0.5, 0.05])
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("PNG", {}),
        ("BMP", {}),
        ("WEBP", {"lossless": True}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("PPM", {}),
    ],
)
def test_a_truncated_file_is_refused(tmp_path, form, options, kept):
    noise = RNG.integers(0, 256, (120, 140, 3)).astype(np.uint8)
    data = saved(noise, form, **options)
    path = tmp_path / "cut"
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(ReadError) as caught:
        read_image(path)
    assert caught.value.path == path
    assert caught.value.why


def test_the_end_marker_of_a_thumbnail_is_not_that_of_the_jpeg():
    """The thumbnail in the header ends with the marker that is missing from the image itself."""
    whole = saved(RNG.integers(0, 256, (90, 90, 3)).astype(np.uint8), "JPEG")
    thumbnail = b"Exif\0\0" + saved(np.zeros((8, 8), np.uint8), "JPEG")
    with_thumbnail = whole[:2] + b"\xff\xe1" + struct.pack(">H", len(thumbnail) + 2) + thumbnail + whole[2:]
    assert decode_image(with_thumbnail).shape == (90, 90, 3)
    with pytest.raises(ReadError, match="incomplete"):
        decode_image(with_thumbnail[:-40])


def test_bytes_after_the_end_of_a_jpeg_are_ignored():
    data = saved(corner_image(), "JPEG")
    np.testing.assert_array_equal(decode_image(data + bytes(100)), decode_image(data))


def test_a_damaged_png_is_refused():
    data = bytearray(saved(RNG.integers(0, 256, (50, 60)).astype(np.uint8), "PNG"))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(ReadError, match="damaged"):
        decode_image(bytes(data), "x.png")


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 50, b"hello, I am no image", b"\xff\xd8\xff", b"II*\0", b"BM", b"RIFF"]
)
def test_files_that_are_no_images_are_refused(tmp_path, content):
    path = tmp_path / "x.jpg"
    path.write_bytes(content)
    with pytest.raises(ReadError):
        read_image(path)


def test_missing_folder_and_many_channels_have_reasons(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        read_image(tmp_path / "none.png")
    with pytest.raises(ReadError, match="cannot be opened"):
        read_image(tmp_path)
    many = RNG.integers(0, 256, (8, 9, 6)).astype(np.uint8)
    with pytest.raises(ReadError, match="6 channels"):
        decode_image(tiff(many, photometric="minisblack", planarconfig="contig"))


def test_a_read_error_can_be_pickled():
    import pickle

    error = pickle.loads(pickle.dumps(ReadError("a.png", "it is broken")))
    assert (error.path, error.why, str(error)) == ("a.png", "it is broken", "a.png: it is broken")


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "p.png"
    write_png(path, np.zeros((3, 3), np.uint8))
    before = path.read_bytes()
    for wrong in (np.zeros((3, 3), np.float32), np.zeros((3, 3, 2), np.uint8), np.zeros((0, 3), np.uint8)):
        with pytest.raises(ValueError):
            write_png(path, wrong)
    assert path.read_bytes() == before
    with pytest.raises(OSError):
        write_png(path / "below a file.png", np.zeros((3, 3), np.uint8))
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.png"]


def test_real_sixteen_bit_images(shared_data):
    files = sorted((shared_data / "sixteen-bit").rglob("*.tif"))
    assert files
    for file in files:
        np.testing.assert_array_equal(read_image(file), tifffile.imread(file))
        assert read_image(file).dtype == np.uint16


def test_importing_opencv_keeps_the_variables_of_qt():
    """The desktop build of OpenCV sets these two variables; a stand-in does it here."""
    code = """
import os, sys, types
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "cv2" and not getattr(self, "done", False):
            self.done = True
            os.environ["QT_QPA_PLATFORM_PLUGIN_PATH"] = "/wrong"
            os.environ["QT_QPA_FONTDIR"] = "/wrong"
sys.meta_path.insert(0, Finder())
os.environ["QT_QPA_FONTDIR"] = "/mine"
from workbench.inference.io.opencv import cv2
cv2.imread
assert sys.meta_path[0].done
for name in ("QT_QPA_PLATFORM_PLUGIN_PATH", "QT_QPA_FONTDIR", "OPENCV_IO_MAX_IMAGE_PIXELS"):
    print(os.environ.get(name))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["None", "/mine", str(2**40)], done.stderr


@pytest.mark.parametrize("options", [{}, {"bigtiff": True}, {"byteorder": ">"}])
def test_the_largest_page_of_a_tiff_is_the_image(tmp_path, options):
    """Scanners store a thumbnail before the image; the pages of a stack are equally large, and the first one counts."""
    large = RNG.integers(0, 4096, (90, 120)).astype(np.uint16)
    stack = [RNG.integers(0, 256, (30, 40), dtype=np.uint8) for _ in range(3)]
    with tifffile.TiffWriter(tmp_path / "a.tif", **options) as file:
        for page in (stack[0], large, stack[1]):
            file.write(page, photometric="minisblack")
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), large)
    np.testing.assert_array_equal(decode_image((tmp_path / "a.tif").read_bytes()), large)
    assert read_header(tmp_path / "a.tif").shown == tiff_size(tmp_path / "a.tif") == (120, 90)
    for number, page in enumerate((large, stack[0], stack[1])):
        np.testing.assert_array_equal(read_page(tmp_path / "a.tif", number), page)
    with tifffile.TiffWriter(tmp_path / "b.tif", **options) as file:
        for page in stack:
            file.write(page, photometric="minisblack")
    np.testing.assert_array_equal(read_image(tmp_path / "b.tif"), stack[0])


@pytest.mark.parametrize("largest", [1, 15, 63, 254, 255, 1023, 4095])
@pytest.mark.parametrize("form", ["P2", "P3", "P5", "P6"])
def test_values_of_portable_maps_are_not_rescaled(form, largest):
    values = RNG.integers(0, largest + 1, (5, 7, 3) if form in ("P3", "P6") else (5, 7))
    values[0, 0] = largest
    head = f"{form}\n# by a camera\n7 5 # width and height\n{largest}\n".encode()
    text = "\n".join(" ".join(map(str, row)) for row in values.reshape(5, -1)).encode()
    stored = text if form in ("P2", "P3") else values.astype(">u2" if largest > 255 else np.uint8).tobytes()
    np.testing.assert_array_equal(decode_image(head + stored), values)


@pytest.mark.parametrize("data", [b"P2\n8 6\nx\n1 2", b"P2\n2 1\n63\n1", b"P2\n2 1\n63\n1 900", b"P2\n2 1\n63\n1 a"])
def test_damaged_portable_maps_are_refused(data):
    with pytest.raises(ReadError):
        decode_image(data)
