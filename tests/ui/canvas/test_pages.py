"""Image files with several pages: any page can be shown, the labels belong to the first."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken

pytestmark = pytest.mark.usefixtures("one_window")

LEFT, ALT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def stack(driver):
    """Three pages of one size, the third of 16 bits, and a fourth one that is small."""
    path = driver.session.project.image_path("lot1/stack.tif")
    pages = [np.full((80, 96), value, np.uint8) for value in (40, 200)]
    pages[1][30:40, 50:60] = 90
    with tifffile.TiffWriter(path) as file:
        for page in (*pages, np.full((80, 96), 3000, np.uint16), np.full((20, 24), 7, np.uint8)):
            file.write(page, photometric="minisblack", metadata=None)
    driver.session.refresh_images()
    driver.qtbot.waitUntil(lambda: "lot1/stack.tif" in driver.session.keys, timeout=10_000)
    driver.open("lot1/stack.tif")
    return driver


def turn(driver, id: str, number: int) -> None:
    driver.window.table[id].trigger()
    driver.qtbot.waitUntil(lambda: driver.services.image_pages.number == number, timeout=10_000)


def page_indicator(driver):
    return next(guest_tool for guest_tool in driver.canvas.items if type(guest_tool).__name__ == "PageIndicator")


def test_labels_are_unchanged_while_pages_are_shown(stack):
    canvas, session = stack.canvas, stack.session
    assert page_indicator(stack).text() == "Page 1 of 4" and page_indicator(stack).area is not None
    stack.drag((20, 20), (30, 20))
    painted, view = session.mask.copy(), canvas.view
    turn(stack, "next_page", 1)
    assert int(canvas.content.pixels[5, 5]) == 200 and int(session.image[5, 5]) == 40
    assert canvas.scene.labels is not None and np.array_equal(session.mask, painted) and canvas.view == view
    canvas.choose_tool("wand")
    stack.click(55, 35)
    stack.qtbot.waitUntil(lambda: (session.mask[30:40, 50:60] == 1).all(), timeout=10_000)
    assert (session.mask > 0).sum() == (painted > 0).sum() + 100, "the wand uses the shown page"
    turn(stack, "next_page", 2)
    assert canvas.content.pixels.dtype == np.uint16
    turn(stack, "next_page", 3)
    assert "different size" in page_indicator(stack).text() and canvas.scene.labels is None
    before = session.mask.copy()
    canvas.choose_tool("brush")
    QTest.mouseClick(canvas, LEFT, pos=QPoint(canvas.width() // 2, canvas.height() // 2))
    assert np.array_equal(session.mask, before)
    canvas.choose_tool("brush")
    turn(stack, "next_page", 0)
    assert (
        page_indicator(stack).text() == "Page 1 of 4"
        and int(canvas.content.pixels[5, 5]) == 40
        and canvas.scene.labels is not None
    )
    stack.drag((20, 60), (30, 60))
    assert session.mask[60, 25] == 1
    turn(stack, "previous_page", 3)
    stack.open("lot1/new.png")
    assert page_indicator(stack).area is None and stack.services.image_pages.number == 0
    stack.qtbot.waitUntil(lambda: not stack.window.table["next_page"].isEnabled(), timeout=5000)


def test_page_indicator_changes_the_page(stack):
    canvas = stack.canvas
    area = page_indicator(stack).area
    QTest.mouseClick(canvas, LEFT, pos=QPoint(area.right() - 8, area.center().y()))
    stack.qtbot.waitUntil(lambda: stack.services.image_pages.number == 1, timeout=10_000)
    QTest.mouseClick(canvas, LEFT, pos=page_indicator(stack).area.center())
    area = page_indicator(stack).area
    QTest.mouseClick(canvas, LEFT, pos=QPoint(area.left() + 8, area.center().y()))
    stack.qtbot.waitUntil(lambda: stack.services.image_pages.number == 0, timeout=10_000)
    assert not stack.session.mask.any(), "the plate is not painted through"


def test_page_indicator_works_on_a_page_of_another_size(stack):
    """Such a page cannot be painted on, but the indicator lies above the guard that blocks the tools."""
    turn(stack, "previous_page", 3)
    area = page_indicator(stack).area
    QTest.mouseClick(stack.canvas, LEFT, pos=QPoint(area.left() + 8, area.center().y()))
    stack.qtbot.waitUntil(lambda: stack.services.image_pages.number == 2, timeout=10_000)
    assert not stack.session.mask.any()


def test_truncated_page_shows_a_message(stack):
    path = stack.session.project.image_path("lot1/stack.tif")
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as file:
        entry = file.pages[2].tags["StripOffsets"].valueoffset
    data[entry : entry + 4] = (len(data) + 999).to_bytes(4, "little")
    path.write_bytes(data)
    stack.window.table["next_page"].trigger()
    stack.qtbot.waitUntil(lambda: stack.services.image_pages.number == 1, timeout=10_000)
    stack.window.table["next_page"].trigger()
    stack.qtbot.waitUntil(lambda: any("stack.tif" in text for text in stack.window.messages.texts), timeout=10_000)
    assert stack.services.image_pages.number == 1
    with pytest.raises(ImageBroken):
        image_files.read_displayed_page(path, 2)


def test_a_page_of_a_very_large_file_is_read_by_region(tmp_path, monkeypatch):
    monkeypatch.setattr(image_files, "MIN_REGION_PIXELS", 50_000)
    rng = np.random.default_rng(1)
    pages = [rng.integers(0, 255, (300, 400)).astype(np.uint8) for _ in range(2)]
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        for page in pages:
            file.write(page, tile=(64, 64), photometric="minisblack", metadata=None)
    found = image_files.read_displayed_page(tmp_path / "a.tif", 1)
    assert not isinstance(found, np.ndarray) and np.array_equal(found[10:200, 30:390], pages[1][10:200, 30:390])
    found.close()
