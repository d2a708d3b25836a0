"""Loading of images: reduced previews of large ones, very large TIFFs by region, bounded memory over many changes."""

from __future__ import annotations

import gc
import json
import weakref

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.conftest import fill_project
from workbench.core.images import image_files
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import HalvedTiff, NotByRegion, TiffImage, tiff_size
from workbench.session.preferences import Preferences, settings_path
from workbench.session.session import Session

RNG = np.random.default_rng(8)
LAYOUTS = {
    "tiled": {"tile": (128, 256), "compression": "zlib"},
    "big-endian strips": {"byteorder": ">", "compression": "zlib", "rowsperstrip": 64},
    "bigtiff": {"bigtiff": True, "tile": (256, 256)},
    "predictor": {"tile": (256, 256), "compression": "zlib", "predictor": True},
}


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        yield project


@pytest.fixture
def small_limits(monkeypatch):
    """Lower the limits from which on images count as large."""
    monkeypatch.setattr(image_files, "MIN_REGION_PIXELS", 500_000)
    monkeypatch.setattr(image_files, "MIN_PREVIEW_PIXELS", 300_000)
    monkeypatch.setattr("workbench.inference.io.tiff_regions._MAX_OVERVIEW_SIDE", 300)
    monkeypatch.setattr("workbench.inference.io.tiff_regions._OVERVIEW_SEGMENTS", 9)


def picture(dtype, color: bool = False) -> np.ndarray:
    """Return an image with detail in every pixel that is smooth enough for its overview to be compared."""
    y, x = np.mgrid[0:1003, 0:1501]
    values = 100 + 60 * np.sin(x / 90) * np.cos(y / 70) + RNG.normal(0, 4, x.shape)
    values = np.stack((values, values[::-1], values[:, ::-1]), axis=2) if color else values
    return (values * (200 if dtype == np.uint16 else 1)).astype(dtype)


TYPES = [(np.uint8, True), (np.uint16, False), (np.float32, False)]
SHORT = {("tiled", np.uint8), ("big-endian strips", np.float32), ("bigtiff", np.float32), ("predictor", np.uint8)}


@pytest.mark.parametrize(
    "layout, dtype, color",
    [
        pytest.param(layout, *kind, marks=[] if (layout, kind[0]) in SHORT else pytest.mark.slow)
        for layout in LAYOUTS
        for kind in TYPES
    ],
)
def test_tiff_regions_equal_whole_image(tmp_path, small_limits, layout, dtype, color):
    if layout == "predictor" and dtype == np.float32:
        pytest.skip("integer predictor")
    whole, path = picture(dtype, color), tmp_path / "图 [1].tif"
    tifffile.imwrite(path, whole, photometric="rgb" if color else "minisblack", **LAYOUTS[layout])
    found = TiffImage(path)
    assert (found.shape, found.dtype, found.ndim, found.nbytes) == (whole.shape, whole.dtype, whole.ndim, whole.nbytes)
    for key in (
        np.s_[100:400, 300:1400],
        np.s_[900:, 1400:],
        np.s_[7, 9],
        np.s_[-1, -1],
        np.s_[5, :],
        np.s_[:, 1500],
        np.s_[10:500:2, 9:700:3],
    ):
        assert np.array_equal(found[key], whole[key]), key
    assert np.array_equal(np.asarray(found), whole)
    assert found.overview_step == 8 and found.refine()
    exact = cv2.resize(whole[:1000, :1496].astype(np.float32), (187, 125), interpolation=cv2.INTER_AREA)
    assert np.abs(found.overview[:125, :187] - exact).max() <= 1
    half = cv2.resize(whole[200:400, 600:900].astype(np.float32), (150, 100), interpolation=cv2.INTER_AREA)
    assert np.abs(HalvedTiff(found)[100:200, 300:450] - half).max() <= 1
    assert found[:: found.overview_step, :: found.overview_step].shape == found.overview.shape
    found.close()


def test_only_visible_parts_are_decoded(tmp_path, small_limits):
    path = tmp_path / "a.tif"
    light = np.tile(np.linspace(0, 250, 1501), (1003, 1)).astype(np.uint8)
    tifffile.imwrite(path, light, tile=(64, 64), compression="zlib")
    found = TiffImage(path)
    before = found.decoded
    assert before <= 60  # of 384
    found[200:330, 300:420]
    assert found.decoded - before <= 9
    again = found.decoded
    found[200:330, 300:420]
    assert found.decoded == again
    rough = np.abs(found.overview.astype(int) - cv2.resize(light, found.overview.shape[::-1])).mean()
    assert rough < 40  # the first overview is coarse
    found.close()


def test_only_damaged_tile_is_blank(tmp_path, small_limits):
    path, whole = tmp_path / "a.tif", picture(np.uint8)
    tifffile.imwrite(path, whole, tile=(128, 128), compression="zlib")
    with tifffile.TiffFile(path) as file:
        offset, count = file.pages[0].dataoffsets[17], file.pages[0].databytecounts[17]
    data = bytearray(path.read_bytes())
    data[offset : offset + count] = b"\xff" * count
    path.write_bytes(data)
    found = TiffImage(path)
    expected = whole.copy()
    expected[128:256, 640:768] = 0  # the sixth of the second row of twelve
    assert np.array_equal(np.asarray(found), expected)
    assert found.damaged == {17} and found.refine()
    found.close()


def test_unsupported_tiff_is_read_whole(tmp_path, small_limits):
    turned, inverted = tmp_path / "turned.tif", tmp_path / "inverted.tif"
    tifffile.imwrite(turned, picture(np.uint8), extratags=[(274, "H", 1, 6, True)])
    tifffile.imwrite(inverted, picture(np.uint8), photometric="miniswhite")
    for path in (turned, inverted):
        with pytest.raises(NotByRegion):
            TiffImage(path)
        assert isinstance(image_files.read_displayed(path), np.ndarray)
    assert tiff_size(turned) == image_files.read_displayed(turned).shape[1::-1] == (1003, 1501)
    torn = tmp_path / "torn.tif"
    torn.write_bytes(turned.read_bytes()[:100])
    assert tiff_size(torn) is None
    with pytest.raises(image_files.ImageBroken):
        image_files.read_displayed(torn)


def test_large_tiff_can_be_labeled(project, small_limits, qtbot):
    path = project.image_path("large.tif")
    tifffile.imwrite(path, picture(np.uint16), tile=(128, 128), compression="zlib")
    project.close()
    session = Session()
    session.open_project(project.root)
    qtbot.waitUntil(lambda: session.keys == ["large.tif"], timeout=10_000)
    session.open_image("large.tif")
    qtbot.waitUntil(lambda: session.image is not None, timeout=10_000)
    assert isinstance(session.image, TiffImage) and session.mask.shape == (1003, 1501)
    session.editor.paint_segment((50, 50), (60, 60), 4, 1)
    assert 50 < float(np.asarray(session.image[55, 55])) / 200 < 170
    assert session.flush() and project.mask_path("large.tif").exists()
    assert max(image_files.thumbnail(path, 64).shape) == 64
    session.close_project()


@pytest.mark.parametrize("mode, orientation", [("L", 1), ("RGB", 6)])
def test_preview_of_large_jpeg_equals_image(project, small_limits, qtbot, mode, orientation):
    whole = Image.fromarray(picture(np.uint8, mode == "RGB"))
    exif = Image.Exif()
    exif[274] = orientation
    whole.save(project.image_path("a.jpg"), quality=95, exif=exif)
    project.close()
    session, received = Session(), []
    session.image_loader.previewed.connect(lambda key, small, size: received.append((key, small, size, session.key)))
    session.open_project(project.root)
    qtbot.waitUntil(lambda: bool(session.keys), timeout=10_000)
    session.open_image("a.jpg")
    qtbot.waitUntil(lambda: session.image is not None, timeout=10_000)
    ((key, small, size, open_then),) = received
    exact = session.image
    assert key == "a.jpg" and open_then is None and size == exact.shape[1::-1]
    assert small.ndim == exact.ndim
    reduced = cv2.resize(exact, small.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert np.abs(small.astype(int) - reduced).mean() < 3
    session.open_image("a.jpg")  # cached: no second preview
    qtbot.wait(50)
    assert len(received) == 1
    session.close_project()


def test_memory_stays_bounded_over_many_changes(project, qtbot):
    """Open sixty images one after another with a cache for five; the others are released."""
    for i in range(20):
        write_png(project.image_path(f"{i:02}.png"), RNG.integers(0, 255, (300, 400)).astype(np.uint8))
    project.close()
    session = Session(cache=5 * 2 * 300 * 400)
    images: list[weakref.ref] = []
    session.current.opened.connect(lambda _: images.append(weakref.ref(session.image)))
    session.open_project(project.root)
    qtbot.waitUntil(lambda: len(session.keys) == 20, timeout=10_000)
    for i in range(60):
        key = session.keys[i % 20]
        session.open_image(key)
        qtbot.waitUntil(lambda key=key: session.key == key, timeout=10_000)
        assert session.image_loader.cache.nbytes <= session.image_loader.budget
    qtbot.wait(50)
    gc.collect()
    alive = {id(ref()) for ref in images if ref() is not None}
    assert len(images) >= 60 and len(alive) <= 6
    session.close_project()


def test_page_count_is_reported(project, qtbot):
    pages = RNG.integers(0, 255, (3, 40, 50)).astype(np.uint8)
    tifffile.imwrite(project.image_path("stack.tif"), pages, photometric="minisblack")
    write_png(project.image_path("plain.png"), pages[1])
    project.close()
    session = Session()
    session.open_project(project.root)
    for key, count, shown in (("stack.tif", 3, pages[0]), ("plain.png", 1, pages[1]), ("stack.tif", 3, pages[0])):
        session.open_image(key)
        qtbot.waitUntil(lambda key=key: session.key == key, timeout=10_000)
        assert session.current.pages == count and np.array_equal(session.image, shown)
    session.close_project()


def test_a_closed_project_is_released_and_reports_nothing(tmp_path, qtbot):
    """After several projects in turn, each event is reported once, and no object holds a former project."""
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        with Project.create(root, classes=["scratch"]) as project:
            fill_project(project, 2)
    session, former = Session(save_delay=600), []
    painted, opened, saved = [], [], []
    session.editor.mask_changed.connect(painted.append)
    session.current.opened.connect(opened.append)
    session.label_saved.connect(saved.append)
    for turn, root in enumerate((*roots, *roots)):
        with qtbot.waitSignal(session.image_list.listed, timeout=10_000):
            assert session.open_project(root)
        former.append(weakref.ref(session.project))
        key, other = session.keys
        with qtbot.waitSignal(session.current.opened, timeout=10_000):
            session.open_image(key)
        for reports in (painted, opened, saved):
            reports.clear()
        assert session.editor.begin("paint")
        session.editor.paint_segment((5 + 9 * turn, 5), (9 + 9 * turn, 9), 2, 1)
        assert session.editor.commit() and len(painted) == 1
        session.open_image(other)  # is still read when the project is closed
        assert session.close_project() and saved == [key]
        assert session.project is session.key is session.image is None and not session.keys and not session.rows
        opened.clear()
        qtbot.wait(50)
        assert opened == [] and saved == [key]
    gc.collect()
    assert not any(project() for project in former)


def test_preferences_are_stored():
    assert Preferences.load() == Preferences()
    settings = Preferences(theme="dark", brush_radius=12.5, minutes=30, model="resnet", language="zh_CN")
    settings.opened("/项目/a", "lot 1/划痕.png")
    settings.opened("/b")
    settings.opened("/项目/a")
    assert settings.save()
    assert settings_path().parent.name == "defect-workbench"
    back = Preferences.load()
    assert back == settings and back.recent_projects == ["/项目/a", "/b"]
    assert back.last_pictures == {"/项目/a": "lot 1/划痕.png"}


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", "\x00", "[" * 100_000])
def test_broken_file_yields_defaults(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_text(content)
    assert Preferences.load(path) == Preferences()
    assert Preferences(theme="light").save(path) and Preferences.load(path).theme == "light"


def test_invalid_value_is_replaced(tmp_path):
    path = tmp_path / "settings.json"
    odd = {
        "theme": "pink",
        "language": 3,
        "brush_radius": float("nan"),
        "minutes": 1e9,
        "overlay_opacity": True,
        "recent_projects": ["/a", 4],
        "last_pictures": {"/a": "x.png", "/b": None},
        "device": None,
        "model": "resnet",
        "from another version": 1,
    }
    path.write_text(json.dumps(odd))
    settings = Preferences.load(path)
    expected = Preferences(minutes=20_160.0, recent_projects=["/a"], last_pictures={"/a": "x.png"}, model="resnet")
    assert settings == expected


def test_unwritable_location_is_tolerated(tmp_path):
    (tmp_path / "file").write_text("")
    assert not Preferences().save(tmp_path / "file" / "settings.json")


def test_lists_are_limited():
    settings = Preferences()
    for i in range(500):
        settings.opened(f"/p{i}", "a.png")
    assert len(settings.recent_projects) == 12 and settings.recent_projects[0] == "/p499"
    assert len(settings.last_pictures) == 200 and "/p499" in settings.last_pictures


def test_moved_project_keeps_its_place_and_its_last_image():
    settings = Preferences()
    settings.opened("/a", "1.png", id="1" * 32)
    settings.opened("/b", id="2" * 32)
    settings.move_project("/a", "/moved")
    assert settings.recent_projects == ["/b", "/moved"]
    assert settings.project_ids == {"/b": "2" * 32, "/moved": "1" * 32}
    assert settings.last_pictures == {"/moved": "1.png"}
    settings.remove_project("/b")
    assert settings.recent_projects == ["/moved"] and settings.project_ids == {"/moved": "1" * 32}
