"""Spots on the canvas: offer, circles, and the way from one to the next."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.ui.conftest import LEFT, CanvasDriver
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

pytestmark = pytest.mark.usefixtures("one_window")

DEFECTS = (300, 80), (90, 200)  # (x, y), the stronger one first
KEY = "lot1/a.png"


@pytest.fixture
def root(tmp_path):
    """Project of one image without labels, with two dark defects."""
    root = tmp_path / "project"
    image = np.random.default_rng(2).normal(140, 5, (260, 400))
    for (x, y), depth in zip(DEFECTS, (80, 50)):
        image[y - 4 : y + 5, x - 4 : x + 5] -= depth
    with Project.create(root, classes=["pit"]) as project:
        write_png(project.image_path(KEY), image.clip(0, 255).astype(np.uint8))
    return root


@pytest.fixture
def driver(application, root, qtbot):
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    driver = CanvasDriver(application, qtbot)
    driver.bar, driver.finder = application.window.spots, application.services.spots
    return driver


def click_bar(driver, *, end: bool) -> None:
    area = driver.bar.area
    pixel = QPoint(area.right() - 8, area.center().y()) if end else area.center()
    QTest.mouseClick(driver.canvas, LEFT, Qt.KeyboardModifier.NoModifier, pixel)


def middle(driver) -> tuple[float, float]:
    view = driver.canvas.view
    return view.to_image(view.width / 2, view.height / 2)


def shown(driver):
    driver.qtbot.waitUntil(lambda: len(driver.finder.spots) >= 2, timeout=10_000)
    return driver.finder.spots


def test_offer_shows_circles_and_the_arrow_visits_them(driver):
    table = driver.window.table
    driver.qtbot.waitUntil(lambda: driver.bar.text() == "Suggest where to look")
    assert not table["next_spot"].isEnabled()
    before = driver.canvas.grab().toImage()
    click_bar(driver, end=False)
    spots = shown(driver)
    assert all(abs(spot.x - x) < 12 and abs(spot.y - y) < 12 for spot, (x, y) in zip(spots, DEFECTS))
    assert driver.canvas.grab().toImage() != before
    assert driver.session.mask is not None and not driver.session.mask.any(), "nothing was painted"
    driver.canvas.view_state.set(driver.canvas.view.at_scale(3.0))
    for number, spot in enumerate(spots[:2], 1):
        click_bar(driver, end=True)
        assert driver.bar.text() == f"Spot {number} of {len(spots)}"
        x, y = middle(driver)
        assert abs(x - spot.x) < 40 and abs(y - spot.y) < 40
    driver.qtbot.waitUntil(lambda: table["next_spot"].isEnabled())
    table["previous_spot"].trigger()
    assert driver.bar.text().startswith("Spot 1 ")
    table["previous_spot"].trigger()
    assert driver.bar.text().startswith(f"Spot {len(spots)} ")


def test_circles_are_hidden_with_the_overlays(driver):
    driver.finder.switch(True)
    shown(driver)
    with_circles = driver.canvas.grab().toImage()
    driver.canvas.scene.hide_overlays(True)
    assert driver.canvas.grab().toImage() != with_circles
    driver.canvas.scene.hide_overlays(False)
    assert driver.canvas.grab().toImage() == with_circles


def test_command_toggles_and_the_end_of_the_offer_declines(driver):
    table = driver.window.table
    driver.qtbot.waitUntil(lambda: table["spots"].isEnabled())
    click_bar(driver, end=True)
    assert not driver.finder.on and not driver.bar.text() and driver.bar.area is None
    table["spots"].trigger()
    shown(driver)
    driver.qtbot.waitUntil(table["spots"].isChecked)
    table["spots"].trigger()
    assert not driver.finder.spots and not driver.bar.text()


def test_done_image_shows_no_spots(driver):
    driver.finder.switch(True)
    shown(driver)
    driver.session.verdict_steps.set_status("done")
    assert not driver.finder.spots and not driver.bar.text()
    driver.qtbot.waitUntil(lambda: not driver.window.table["next_spot"].isEnabled())


def test_strokes_beside_the_bar_paint(driver):
    driver.finder.switch(True)
    x, y = DEFECTS[0]
    shown(driver)
    driver.drag((x, y), (x + 3, y))
    assert driver.session.mask[y, x] == 1, "circles do not take the pointer"
