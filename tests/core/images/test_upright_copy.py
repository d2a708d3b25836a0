"""Copies of images with an EXIF orientation fit their labels, also for programs that ignore the orientation."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from workbench.core.images.image_files import read
from workbench.core.images.upright_copy import copy_upright
from workbench.core.project import annotation
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.project import Project

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
    image[4:12, 8:30] = 250  # the defect, as stored; displayed it is turned by 90 degrees
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
