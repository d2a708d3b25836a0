"""Display settings, minimap, ruler, region navigation and reference image; none of them changes the data."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PIL import Image
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QMouseEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog

from tests.ui.canvas.canvas_images import RED, on_screen, textured
from workbench.core.geometry.drawing import Paint, draw_segment
from workbench.core.images.display import Display
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.network_stats import smallest_detectable_area
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import TiffImage
from workbench.ui.canvas.canvas_items import END, HEIGHT, bar_width, draw_bar

pytestmark = pytest.mark.usefixtures("one_window")

RIGHT, LEFT = Qt.MouseButton.RightButton, Qt.MouseButton.LeftButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier

DISPLAYS = [
    Display(local_contrast=3.0),
    Display(10, 200, 1.7, flat_field=True, invert=True),
    Display(flat_field=True, local_contrast=2.0, palette="turbo", channel="grey"),
]


CASES = [(display, color, zoom) for zoom in (0.41, 1.0, 2.3) for color in (False, True) for display in DISPLAYS]
SHORT = CASES[0], CASES[4], CASES[8], CASES[9], CASES[14], CASES[16]  # each value twice


@pytest.mark.parametrize(
    "display, color, zoom",
    [pytest.param(*case, marks=[] if case in SHORT else pytest.mark.slow) for case in CASES],
)
def test_partial_repaints_of_local_displays_equal_a_full_one(view, qtbot, display, color, zoom):
    """After partial repaints by pans and strokes, no pixel differs from a full repaint."""
    image = textured(701, 903)
    image = np.stack((image, image[::-1], image[:, ::-1]), axis=2) if color else image
    copy = image.copy()
    mask = np.zeros(image.shape[:2], np.uint8)
    view.scene.show_image(image)
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    view.scene.set_display(display)
    view.set_view(view.view.at_scale(zoom).centered(450, 350))
    assert view.minimap.area is None or view.minimap.area.isValid()
    qtbot.wait(10)
    rng = np.random.default_rng(4)
    for _ in range(6):
        start, end = rng.uniform(200, 600, 2), rng.uniform(200, 600, 2)
        view.scene.mask_changed(draw_segment(mask, tuple(start), tuple(end), 6, Paint(1)))
        qtbot.wait(1)
        view.set_view(view.view.moved(int(rng.integers(-60, 60)), int(rng.integers(-60, 60))))
        qtbot.wait(1)
    qtbot.wait(300)  # the overview follows the labels a little later
    partial = on_screen(view)
    view.update()
    qtbot.wait(10)
    assert np.array_equal(partial, on_screen(view))
    assert np.array_equal(image, copy)


def test_flat_field_and_local_contrast(view, qtbot):
    """Local contrast deepens a faint scratch; flat field evens out the brightness of both ends."""
    image = np.tile(np.linspace(40, 200, 400), (300, 1)).astype(np.uint8)
    image[100:103, 30:60] -= 6
    view.scene.show_image(image)
    view.set_view(view.view.at_scale(1.0))
    x, y = view.view.x, view.view.y

    def shown(display: Display) -> np.ndarray:
        view.scene.set_display(display)
        qtbot.wait(10)
        return on_screen(view)[y : y + 300, x : x + 400].astype(int)

    plain, flat, local = shown(Display()), shown(Display(flat_field=True)), shown(Display(local_contrast=6.0))
    ends = [abs(int(s[:, 40:80].mean()) - int(s[:, 320:360].mean())) for s in (plain, flat)]
    assert ends[1] < ends[0] / 3
    depth = [(s[110:120, 30:60] - s[101, 30:60]).mean() for s in (plain, local)]
    assert depth[1] > 2 * depth[0]
    inverted = shown(Display(invert=True))
    assert np.array_equal(inverted, 255 - plain)
    colored = shown(Display(palette="turbo"))
    assert len(np.unique(colored.reshape(-1, 3), axis=0)) > 100 and (colored[:, :, 0] != colored[:, :, 2]).any()


def test_single_channel_display(view, qtbot):
    image = np.zeros((200, 300, 3), np.uint8)
    image[:] = 10, 120, 240
    view.scene.show_image(image)
    for channel, value in (("red", 10), ("green", 120), ("blue", 240), ("grey", 101)):
        view.scene.set_display(Display(channel=channel))
        qtbot.wait(10)
        assert set(on_screen(view)[150, 200].tolist()) == {value}, channel


def test_shift_right_drag_changes_window_and_level(driver):
    driver.open("lot1/new.png")
    canvas, before = driver.canvas, driver.canvas.scene.display
    start = driver.pixel(48, 40)
    QTest.mousePress(canvas, RIGHT, SHIFT, start)
    QTest.mouseMove(canvas, start + QPoint(80, 0))
    narrower = canvas.scene.display
    QTest.mouseMove(canvas, start + QPoint(80, 50))
    QTest.mouseRelease(canvas, RIGHT, SHIFT, start + QPoint(80, 50))
    assert narrower.high - narrower.low < 0.8 * (before.high - before.low)
    assert canvas.scene.display.low > narrower.low and canvas.scene.display.high > narrower.high
    assert not driver.session.mask.any() and driver.window.display.low.value() > 0
    driver.window.display.reset.click()
    assert canvas.scene.display == before


def test_histogram_drag_sets_the_window(driver):
    driver.open("lot1/new.png")
    panel = driver.window.display.histogram
    middle, width = panel.height() // 2, panel.width()
    for start, end in (
        (QPoint(2, middle), QPoint(width // 4, middle)),
        (QPoint(width - 2, middle), QPoint(width // 2, middle)),
    ):
        QTest.mousePress(panel, LEFT, NONE, start)
        QTest.mouseMove(panel, end)
        QTest.mouseRelease(panel, LEFT, NONE, end)
    display = driver.canvas.scene.display
    assert display.low == pytest.approx(64, abs=4) and display.high == pytest.approx(128, abs=4)


def test_presets_are_stored_in_the_project(driver, monkeypatch):
    driver.open("lot1/new.png")
    panel, canvas, project = driver.window.display, driver.canvas, driver.session.project
    display = Display(20, 180, 1.5, local_contrast=2.0, palette="magma")
    canvas.scene.set_display(display)
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("camera 1 灯", True))
    panel.save_button.click()
    kept = json.loads((project.root / "display.json").read_text("utf-8"))
    assert list(kept["presets"]) == ["camera 1 灯"] and kept["presets"]["camera 1 灯"]["gamma"] == 1.5
    panel.reset.click()
    assert panel.presets.currentIndex() == -1
    assert not panel.delete_button.isEnabled() and "Select a preset first" in panel.delete_button.toolTip()
    driver.session.close_project()
    driver.session.open_project(project.root)
    driver.qtbot.waitUntil(lambda: driver.session.image is not None, timeout=10_000)
    panel.presets.setCurrentIndex(0)
    panel.presets.activated.emit(0)
    assert canvas.scene.display == display and panel.presets.currentText() == "camera 1 灯"
    panel.delete_button.click()
    assert panel.presets.count() == 0 and canvas.scene.display == display


def test_broken_display_file_is_reported_and_not_overwritten(driver):
    root = driver.session.project.root
    driver.session.close_project()
    (root / "display.json").write_text('{"format": 1, "presets": {"a": {"gamma": "loud"}}}')
    driver.session.open_project(root)
    driver.qtbot.waitUntil(lambda: driver.session.image is not None, timeout=10_000)
    assert any("display.json" in text for text in driver.window.messages.texts)
    assert not driver.window.display.save_button.isEnabled()
    assert not driver.services.display_presets.save_preset("b", Display())
    assert "loud" in (root / "display.json").read_text()


# --- overview, ruler, regions ---------------------------------------------------------------------


def test_minimap_shows_and_moves_the_view(driver):
    driver.open("lot1/new.png")
    canvas = driver.canvas
    canvas.view_state.fit()
    assert canvas.minimap.area is None
    canvas.set_view(canvas.view.at_scale(32).centered(10, 10))
    area = canvas.minimap.area
    assert area is not None and canvas.rect().contains(area)
    spot = QPoint(area.x() + area.width() * 3 // 4, area.y() + area.height() // 2)
    QTest.mousePress(canvas, LEFT, NONE, spot)
    middle = canvas.view.to_image(canvas.view.width / 2, canvas.view.height / 2)
    assert middle == pytest.approx((72, 40), abs=2)
    QTest.mouseMove(canvas, spot - QPoint(area.width() // 2, 0))
    QTest.mouseRelease(canvas, LEFT, NONE, spot - QPoint(area.width() // 2, 0))
    assert canvas.view.to_image(canvas.view.width / 2, 0)[0] == pytest.approx(24, abs=2)
    assert not driver.session.mask.any()
    driver.window.table["minimap"].trigger()
    assert canvas.minimap.area is None


def test_ruler_measures_pixels_and_micrometers(driver, monkeypatch):
    driver.open("lot1/new.png")
    ruler = driver.canvas.ruler
    driver.key(Qt.Key.Key_M)
    assert ruler.on and driver.window.table["ruler"].isChecked()
    driver.drag((10, 10), (40, 50))
    assert ruler.length == pytest.approx(50, abs=0.5) and ruler.text().endswith("px")
    assert not driver.session.mask.any()
    monkeypatch.setattr(QInputDialog, "getDouble", lambda *_, **__: (ruler.length * 12.5, True))
    driver.window.table["scale"].trigger()
    assert driver.session.project.file.um_per_pixel == pytest.approx(12.5)
    assert Project.open(driver.session.project.root, write=False).file.um_per_pixel == pytest.approx(12.5)
    assert "µm" in ruler.text()
    driver.drag((10, 10), (60, 14), keys=SHIFT)
    assert ruler.line is not None and ruler.line[0][1] == pytest.approx(ruler.line[1][1])
    driver.key(Qt.Key.Key_Escape)
    assert not ruler.on and ruler.line is None
    driver.drag((10, 10), (20, 10))
    assert driver.session.mask.any()


def test_region_navigation_keeps_the_scale(driver):
    driver.open("lot1/new.png")
    session, canvas = driver.session, driver.canvas
    for x, y in ((20, 10), (70, 12), (40, 60)):
        session.editor.paint_segment((x, y), (x + 3, y), 2, 1)
    scales, middles = set(), []
    for _ in range(4):
        driver.key(Qt.Key.Key_N)
        scales.add(canvas.view.scale)
        middles.append(canvas.view.to_image(canvas.view.width / 2, canvas.view.height / 2))
    assert scales == {2.0} and middles[3] == middles[0]
    assert np.allclose(middles[:3], [(21.5, 10.5), (71.5, 12.5), (41.5, 60.5)], atol=2.5)
    assert driver.window.status.step.text() == "Region 1 of 3"
    driver.key(Qt.Key.Key_N, SHIFT)
    assert driver.window.status.step.text() == "Region 3 of 3"
    canvas.view_state.zoom(3)
    driver.key(Qt.Key.Key_N)
    assert canvas.view.scale == pytest.approx(6.0)
    session.undo(), session.undo(), session.undo()
    driver.key(Qt.Key.Key_N)
    assert "No regions" in driver.window.status.step.text()


def test_status_bar_shows_value_position_and_region_size(driver):
    driver.open("lot1/new.png")
    driver.services.display_presets.set_scale(20.0)
    driver.session.editor.paint_segment((30, 30), (30, 30), 0.5, 1)
    driver.session.editor.paint_segment((60, 30), (70, 30), 4, 2)
    status = driver.window.status
    QTest.mouseMove(driver.canvas, driver.pixel(65.5, 30.5))
    expected = ("gray 140", "(1,300, 600) µm", "pit")
    driver.qtbot.waitUntil(lambda: all(part in status.pixel.text() for part in expected), timeout=5000)
    area = int((driver.session.mask == 2).sum())
    driver.qtbot.waitUntil(
        lambda: f"{area} px²" in status.region.text() and "µm²" in status.region.text(), timeout=5000
    )
    assert "⚠" not in status.region.text()
    status._minimum = "a run", 30
    status._run = lambda: type("Named", (), {"name": "a run"})()
    QTest.mouseMove(driver.canvas, driver.pixel(30.5, 30.5))
    QTest.mouseMove(driver.canvas, driver.pixel(29.5, 29.5))
    driver.qtbot.waitUntil(lambda: "⚠" in status.region.text() or status.region.text() == "", timeout=5000)


@pytest.mark.parametrize("name", ["20260101-000000-unet-2", "renamed"])
def test_minimum_area_warning_does_not_depend_on_the_run_name(driver, name):
    run = Run(driver.session.project.root / "runs" / name)
    write_json(run.settings_path, TrainingSettings(model="unet", min_area=40).model_dump(mode="json"))
    status = driver.window.status
    status._run = lambda: run  # the run whose predictions are shown
    driver.open("lot1/new.png")
    driver.session.editor.paint_segment((60, 30), (62, 30), 1, 2)
    QTest.mouseMove(driver.canvas, driver.pixel(60.5, 31.5))
    QTest.mouseMove(driver.canvas, driver.pixel(60.5, 30.5))
    driver.qtbot.waitUntil(lambda: "40 px²" in status.region.text(), timeout=5000)


def test_smallest_detectable_area():
    settings = TrainingSettings(model="unet", scale=0.5, stem=2, min_area=9)
    assert smallest_detectable_area(settings) == 16
    assert smallest_detectable_area(settings.model_copy(update={"min_area": 40})) == 40


# --- reference image ----------------------------------------------------------------------------------


def test_difference_from_the_reference_image(driver):
    session, canvas = driver.session, driver.canvas
    rng = np.random.default_rng(1)
    good = rng.integers(90, 120, (160, 200)).astype(np.uint8)
    other = np.roll(good, (3, -4), (0, 1))
    other[80:90, 90:120] = 220
    write_png(session.project.image_path("good.png"), good)
    write_png(session.project.image_path("other.png"), other)
    driver.open("good.png")
    driver.window.layers.choose.click()
    assert driver.services.reference_comparison.reference == "good.png"
    driver.open("other.png")
    driver.key(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    driver.qtbot.waitUntil(lambda: canvas.scene.heat is not None, timeout=10_000)
    canvas.view_state.actual_size()
    driver.qtbot.wait(10)
    x, y = canvas.view.x, canvas.view.y
    shown = canvas.grab().toImage()
    hot, cold = shown.pixelColor(x + 100, y + 85), shown.pixelColor(x + 100, y + 40)
    assert hot.red() - hot.green() > 60 and cold.red() == cold.green() == cold.blue()
    driver.open("lot1/new.png")  # of another size: reported once, and no difference is shown
    driver.qtbot.waitUntil(
        lambda: any("reference image" in text for text in driver.window.messages.texts), timeout=10_000
    )
    assert canvas.scene.heat is None
    driver.open("other.png")
    driver.key(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert not driver.services.reference_comparison.on and not driver.window.layers.difference.check.isChecked()
    assert replace(canvas.scene.display) == Display()


# --- loading of an image --------------------------------------------------------------------------


def test_preview_is_shown_and_cannot_be_painted_on(driver, monkeypatch):
    """A large JPEG is first shown reduced and blocks strokes; the full image replaces it at the same position."""
    monkeypatch.setattr("workbench.core.images.image_files.MIN_PREVIEW_PIXELS", 300_000)
    session, canvas = driver.session, driver.canvas
    driver.open("lot1/new.png")
    y, x = np.mgrid[0:800, 0:1200]
    values = (100 + 50 * np.sin(x / 60) * np.cos(y / 50)).astype(np.uint8)
    Image.fromarray(values).save(session.project.image_path("big.jpg"), quality=95)
    shown = []

    def read_pixels() -> None:
        shown.append((canvas.scene.previewing, canvas.view, canvas.grab().toImage()))
        for kind, x in (
            ("Press", 300),
            ("Move", 500),
            ("Release", 500),
        ):  # queued, like a mouse event of the system
            at = QPointF(driver.pixel(x, 300))
            kind = getattr(QEvent.Type, {"Move": "MouseMove"}.get(kind, f"MouseButton{kind}"))
            QApplication.sendEvent(canvas, QMouseEvent(kind, at, canvas.mapToGlobal(at), LEFT, LEFT, NONE))

    session.image_loader.previewed.connect(read_pixels)
    driver.open("big.jpg")
    ((previewing, where, early),) = shown
    late = canvas.grab().toImage()
    assert previewing and not canvas.scene.previewing and canvas.view == where
    middle = canvas.rect().center()
    assert abs(early.pixelColor(middle).red() - late.pixelColor(middle).red()) < 12
    driver.open("lot1/new.png")
    assert not session.mask.any()
    driver.open("big.jpg")
    assert not session.mask.any()
    driver.drag((300, 300), (500, 300))
    assert session.mask.any()


def test_damaged_parts_of_a_very_large_tiff_are_reported(driver, monkeypatch):
    monkeypatch.setattr("workbench.core.images.image_files.MIN_REGION_PIXELS", 100_000)
    monkeypatch.setattr("workbench.inference.io.tiff_regions._MAX_OVERVIEW_SIDE", 300)
    path = driver.session.project.image_path("torn.tif")
    tifffile.imwrite(path, textured(500, 700), tile=(64, 64), compression="zlib")
    with tifffile.TiffFile(path) as file:
        offset, count = file.pages[0].dataoffsets[17], file.pages[0].databytecounts[17]
    data = bytearray(path.read_bytes())
    data[offset : offset + count] = b"\xff" * count
    path.write_bytes(data)
    driver.open("torn.tif")
    driver.qtbot.waitUntil(lambda: "part of the file is damaged" in driver.window.status.step.text(), timeout=10_000)
    driver.drag((100, 100), (200, 120))
    assert driver.session.mask.any()


def test_very_large_tiff_read_by_region_is_the_same(view, qtbot, tmp_path, monkeypatch):
    """At every position and zoom the screen equals that of the decoded image once the overview is computed."""
    monkeypatch.setattr("workbench.inference.io.tiff_regions._MAX_OVERVIEW_SIDE", 300)
    whole = textured(1003, 1501)
    whole = cv2.GaussianBlur(whole, (0, 0), 3)
    tifffile.imwrite(tmp_path / "a.tif", whole, tile=(128, 128), compression="zlib")
    image = TiffImage(tmp_path / "a.tif")

    def frames(shown) -> list[np.ndarray]:
        found = []
        view.scene.show_image(shown)
        view.end()  # the overview, and the halvings
        for zoom, x, y in ((2.0, 700, 500), (1.0, 30, 970), (0.4, 800, 400), (0.12, 750, 500)):
            view.set_view(view.view.at_scale(zoom).centered(x, y))
            qtbot.wait(10)
            qtbot.waitUntil(lambda: not view.scene.reading, timeout=10_000)
            qtbot.wait(10)
            found.append(on_screen(view).astype(int))
        return found

    for by_region, at_once in zip(frames(image), frames(whole), strict=True):
        assert np.abs(by_region - at_once).mean() < 1.0
    assert np.array_equal(frames(image)[1], frames(whole)[1])
    image.close()


def test_very_large_tiff_is_decoded_in_a_thread(view, qtbot, tmp_path, monkeypatch):
    """New parts are shown coarsely first, are decoded outside the GUI thread, and are then shown exactly."""
    monkeypatch.setattr("workbench.inference.io.tiff_regions._MAX_OVERVIEW_SIDE", 300)
    whole = cv2.GaussianBlur(textured(1003, 1501), (0, 0), 6)
    tifffile.imwrite(tmp_path / "a.tif", whole, tile=(64, 64), compression="zlib")
    image = TiffImage(tmp_path / "a.tif")
    by: list[int] = []
    segment = TiffImage._decode

    def decoded(self, data, index):
        by.append(threading.get_ident())
        return segment(self, data, index)

    view.scene.show_image(image)
    view.end()
    monkeypatch.setattr(TiffImage, "_decode", decoded)
    for zoom, x, y in ((1.0, 900, 300), (3.0, 200, 800), (0.45, 700, 500)):
        view.set_view(view.view.at_scale(zoom).centered(x, y))
        view.repaint()
        coarse = on_screen(view).astype(int)
        assert view.scene.reading
        qtbot.waitUntil(lambda: not view.scene.reading, timeout=10_000)
        qtbot.wait(10)
        fine = on_screen(view).astype(int)
        assert (coarse != fine).any() and np.abs(coarse - fine).mean() < 12
        view.update()
        qtbot.wait(10)
        assert np.array_equal(on_screen(view), fine) and not view.scene.reading
    assert by and threading.get_ident() not in by
    assert image.peek(300, 900) == whole[300, 900]
    image.close()


@pytest.mark.parametrize("ends", [1, 2])
def test_text_is_in_the_middle_of_the_space_beside_the_ends(qapp, ends):
    width = bar_width(QFontMetrics(qapp.font()), "MMMM", ends=ends)
    image = QImage(width, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.setFont(qapp.font())
    draw_bar(painter, QRect(0, 0, width, HEIGHT), "MMMM", ends=ends)
    painter.end()
    gray = np.frombuffer(image.constBits(), np.uint8).reshape(HEIGHT, width, 4)[..., 0]
    columns = np.flatnonzero(gray[:, 2:-2].max(0) > 120) + 2
    left, right = columns[0], width - 1 - columns[-1]
    assert abs(left - (right - END if ends == 1 else right)) <= 2 and left < END + 12
