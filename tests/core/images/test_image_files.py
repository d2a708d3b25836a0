"""Image files of many kinds, and EXIF orientations, also for programs that ignore them."""

from __future__ import annotations

import io
import os
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from tests.core.images.jpeg_files import SIZE, encoded, jpeg_with_wrong_size, noise, turned
from workbench.core import problems
from workbench.core.images.image_files import (
    copy_upright,
    image_size,
    page_count,
    preview,
    read,
    read_displayed_page,
    thumbnail,
)
from workbench.core.project import annotation, grouping
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.project import Project
from workbench.core.project_check import check
from workbench.core.runs.dataset import collect
from workbench.inference.io.image_io import ReadError, decode_image, read_image, read_page

FORMS = ["TIFF", "TIFF 64", "JPEG", "JPEG with rubbish", "PNG", "PNG at the end", "WEBP"]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", FORMS)
def test_the_size_in_the_header_is_that_of_the_decoded_image(tmp_path, form, orientation):
    path = tmp_path / f"image.{form.split()[0].lower()}"
    path.write_bytes(turned(form, orientation))
    height, width = read(path).shape[:2]
    assert (width, height) == (SIZE if orientation < 5 else SIZE[::-1])
    assert image_size(path) == (width, height)


@pytest.mark.parametrize("orientation", [3, 6])
def test_exif_behind_other_bytes_is_applied_as_by_pillow(orientation):
    data = turned("JPEG with rubbish", orientation)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(turned("JPEG", orientation)))))
    found = decode_image(data)
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).mean() < 6


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_labeled_tiffs_with_an_orientation_are_trained_on(tmp_path, orientation):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        for number in range(4):
            path = project.root / "pictures" / f"{number}.tif"
            path.write_bytes(turned("TIFF", orientation))
            mask = annotation.new_mask(SIZE[::-1])
            mask[:8, :8] = 1
            annotation.save_mask(project, f"{number}.tif", mask)
        found = collect(project, "unet")
    assert not found.skipped and len(found.items) == 4
    assert {(item.width, item.height) for item in found.items} == {SIZE[::-1]}


# --- incomplete -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(64, 128), (640, 64), (2000, 1500), (65, 200)])
@pytest.mark.parametrize("options", [{}, {"gray": True}, {"progressive": True}, {"subsampling": 0}])
def test_a_jpeg_smaller_than_its_header_declares_is_refused(tmp_path, size, options):
    path = tmp_path / "lying.jpg"
    path.write_bytes(jpeg_with_wrong_size(*size, **options))
    with pytest.raises(ReadError, match="incomplete"):
        read_image(path)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"optimize": True}, {"restart_marker_blocks": 3}])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_a_medium_gray_jpeg_is_not_taken_for_incomplete(tmp_path, options, mode):
    path = tmp_path / "grey.jpg"
    gray = Image.new("L", (200, 150), 128).convert(mode)
    gray.save(path, quality=100, **options)
    assert read_image(path).shape[:2] == (150, 200)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_an_incomplete_file_is_detected_by_its_header(tmp_path, form, share):
    data = encoded(form)
    path = tmp_path / f"image.{form.lower()}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(problems.ImageBroken, match="incomplete"):
        image_size(path)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "BMP"])
@pytest.mark.parametrize("kept", [0.4, 0.9, 1.0])
def test_only_a_tiff_has_pages(tmp_path, form, kept):
    data = encoded(form)
    path = tmp_path / "page.tif"
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(ReadError):
        read_page(path, 1)
    assert page_count(path) == 1


# --- too large ------------------------------------------------------------------------------------------


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def huge_png(width: int, height: int, bits: int = 8, color: int = 0) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def test_errors_of_limits_name_the_environment_variable(tmp_path, monkeypatch):
    path = tmp_path / "image.png"
    path.write_bytes(huge_png(40_000, 40_000))
    with pytest.raises(problems.ImageBroken, match="limit of 1000 megapixels .*WORKBENCH_MAX_MEGAPIXELS"):
        image_size(path)
    with pytest.raises(ReadError, match="40000 x 40000"):
        read_image(path)
    path.write_bytes(huge_png(20_000, 20_000, 16, 6))
    with pytest.raises(ReadError, match="3052 MB, over the limit of 2048 MB .*WORKBENCH_MAX_DECODED_MB"):
        read_image(path)
    path.write_bytes(encoded("PNG"))
    monkeypatch.setenv("WORKBENCH_MAX_MEGAPIXELS", "0.001")
    with pytest.raises(ReadError, match="limit of 0.001 megapixels"):
        read_image(path)
    for value in ("none", "-5", "0", "nan", ""):
        monkeypatch.setenv("WORKBENCH_MAX_MEGAPIXELS", value)
        assert read_image(path).shape == (32, 48, 3)
    monkeypatch.setenv("WORKBENCH_MAX_MEGAPIXELS", "inf")
    monkeypatch.setenv("WORKBENCH_MAX_DECODED_MB", "inf")
    assert read_image(path).shape == (32, 48, 3)


def test_a_mask_of_another_size_is_refused_by_its_header(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        (project.root / "pictures" / "a.png").write_bytes(encoded("PNG"))
        # Its data are damaged: reading them first would give another error.
        project.mask_path("a.png").write_bytes(huge_png(30_000, 30_000))
        with pytest.raises(problems.MaskWrongSize, match="30000 × 30000"):
            annotation.load_mask(project, "a.png", SIZE)
        with pytest.raises(problems.MaskBroken, match="megapixels"):
            project.mask_path("a.png").write_bytes(huge_png(60_000, 60_000))
            annotation.read_mask(project.mask_path("a.png"))


def test_a_tiff_page_over_the_limit_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "pages.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(noise((40, 30)), photometric="rgb")
        file.write(noise((400, 300)), photometric="rgb", compression="zlib")
    assert read_displayed_page(path, 0).shape == (300, 400, 3)
    monkeypatch.setenv("WORKBENCH_MAX_MEGAPIXELS", "0.1")
    assert read_displayed_page(path, 1).shape == (30, 40, 3)
    with pytest.raises(ReadError, match="400 x 300"):
        read_image(path)
    with pytest.raises(problems.ImageBroken, match="400 x 300"):
        read_displayed_page(path, 0)


# --- not a file -------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_device_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.tif").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe.png", tmp_path / "zero.tif"):
        for load in (read, image_size, lambda path: thumbnail(path, 64)):
            with pytest.raises(problems.ImageBroken, match="not a regular file"):
                load(path)
        with pytest.raises(problems.MaskBroken, match="not a regular file"):
            annotation.read_mask(path)
        assert preview(path) is None and page_count(path) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_check_ends_with_pipes_in_every_folder(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        for name in ("a.png", "b.png", "copy.png"):
            (project.root / "pictures" / name).write_bytes(encoded("PNG"))
        os.mkfifo(project.root / "pictures" / "pipe.png")
        os.mkfifo(project.mask_path("a.png"))
        os.mkfifo(project.note_path("b.png"))
        found = {(finding.kind, finding.key) for finding in check(project)}
    assert {("broken_mask", "a.png"), ("broken_note", "b.png")} <= found
    assert not any(key == "pipe.png" for _, key in found)


# --- patterns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern", ["(a|aa)+$", pytest.param(r"(?:a|a|a)*\1(x)?$", marks=pytest.mark.slow), "(a", "(?P<n>x)(?P<n"]
)
def test_a_pattern_that_cannot_be_used_is_refused_with_a_reason(tmp_path, monkeypatch, pattern):
    monkeypatch.setattr(grouping, "_SEARCH_TIMEOUT", 0.05)
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        for name in ("a" * 60 + "b.png", "other.png"):
            (project.root / "pictures" / name).write_bytes(encoded("PNG"))
            mask = annotation.new_mask(SIZE)
            mask[:8, :8] = 1
            annotation.save_mask(project, name, mask)
        project.file.grouping.rule, project.file.grouping.pattern = "pattern", pattern
        with pytest.raises(problems.BadGrouping):
            collect(project, "unet")
        assert "bad_grouping" in {finding.kind for finding in check(project)}


ORIENTATION = 0x0112


def pixels(channels=3, dtype=np.uint8):
    rows, columns = np.mgrid[:40, :60]
    image = np.stack([rows * 4, columns * 3, (rows + columns) * 2], axis=2).astype(dtype)
    return image if channels == 3 else image[:, :, 0].copy()


def save(path, image, orientation, **options):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, exif=exif, **options)


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("suffix", [".png", ".webp"])
def test_lossless_images_keep_their_values(tmp_path, suffix, orientation):
    save(tmp_path / f"a{suffix}", pixels(), orientation, lossless=True)
    copy_upright(tmp_path / f"a{suffix}", tmp_path / "out" / f"b{suffix}")
    with Image.open(tmp_path / "out" / f"b{suffix}") as copy:
        assert copy.getexif().get(ORIENTATION, 1) == 1
        assert np.array_equal(np.array(copy), read(tmp_path / f"a{suffix}"))


@pytest.mark.parametrize(("dtype", "channels"), [(np.uint8, 3), (np.uint16, 1), (np.uint16, 3)])
def test_tiff_keeps_its_depth(tmp_path, dtype, channels):
    tifffile.imwrite(tmp_path / "a.tif", pixels(channels, dtype), extratags=[(274, 3, 1, 6, True)])
    copy_upright(tmp_path / "a.tif", tmp_path / "b.tif")
    stored = tifffile.imread(tmp_path / "b.tif")
    assert stored.dtype == dtype and np.array_equal(stored, np.rot90(pixels(channels, dtype), -1))


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg_changes_little_and_keeps_its_profile(tmp_path, mode):
    image = Image.fromarray(pixels()).convert(mode)
    exif = Image.Exif()
    exif[ORIENTATION], exif[0x010F] = 6, "Camera"
    image.save(tmp_path / "a.jpg", exif=exif, quality=90, icc_profile=b"profile")
    copy_upright(tmp_path / "a.jpg", tmp_path / "b.jpg")
    with Image.open(tmp_path / "a.jpg") as first, Image.open(tmp_path / "b.jpg") as copy:
        turned = ImageOps.exif_transpose(first)
        assert copy.size == (40, 60) and copy.mode == mode and copy.info["icc_profile"] == b"profile"
        assert ORIENTATION not in copy.getexif() and copy.getexif()[0x010F] == "Camera"
        difference = np.array(copy, np.int16) - np.array(turned, np.int16)
    assert np.abs(difference).mean() < 2


def test_images_without_orientation_are_copied_as_they_are(tmp_path):
    save(tmp_path / "a.jpg", pixels(), 1, quality=80)
    copy_upright(tmp_path / "a.jpg", tmp_path / "b.jpg")
    assert (tmp_path / "b.jpg").read_bytes() == (tmp_path / "a.jpg").read_bytes()


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_exported_images_fit_their_labels(tmp_path, name):
    image = np.full((40, 60), 50, np.uint8)
    image[4:12, 8:30] = 250  # the defect as stored; it is displayed rotated by 90 degrees
    with Project.create(tmp_path / "project", classes=["scratch"], verdicts=["OK", "NG"]) as project:
        save(project.image_path("a.jpg"), image, 6, quality=95)
        displayed = read(project.image_path("a.jpg"))
        assert displayed.shape == (60, 40)
        annotation.save_mask(project, "a.jpg", (displayed > 150).astype(np.uint8))
        note = annotation.load_note(project, "a.jpg")
        note.verdict, note.status = "NG", "done"
        annotation.save_note(project, "a.jpg", note)
        export_labels(project, tmp_path / "out", format=name, options=LabelExportOptions(images=True))
    copy = next(path for path in (tmp_path / "out").rglob("*.jpg"))
    stored = np.array(Image.open(copy))  # does not apply an orientation
    assert stored.shape == (60, 40)
    assert np.array_equal(stored > 150, displayed > 150)
