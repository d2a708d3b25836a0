"""Inspection area that moves with the part, in the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from tests.blank_project import create_blank_project
from tests.inference.shifted_parts import CORNERS, HEIGHT, WIDTH, part, view
from tests.ui.canvas.tools.tool_input import draw_area, stored_areas
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

SHIFTS = {"a.png": (0, 0, 0), "b.png": (30, -20, 0), "c.png": (-20, 10, 4), "d.png": (0, 5, 0)}


@pytest.fixture
def root(tmp_path):
    root = create_blank_project(tmp_path / "moving", dict.fromkeys([*SHIFTS, "e.png"], (WIDTH, HEIGHT)))
    with Project.open(root) as project:
        for key, shift in SHIFTS.items():
            write_png(project.image_path(key), view(part(1), *shift))
    return root


def center(driver) -> tuple[float, float]:
    middle = driver.canvas.area_outline.path.boundingRect().center()
    return middle.x(), middle.y()


def test_the_area_moves_with_the_part_and_the_reason_is_shown_where_it_is_not_found(driver):
    command, outline = driver.window.table["moving_area"], driver.canvas.area_outline
    driver.open("a.png")
    assert not command.isEnabled()
    draw_area(driver, *map(int, (*CORNERS[0], *CORNERS[2])))
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)) == 1)
    assert command.isEnabled() and not command.isChecked()
    x, y = center(driver)
    command.trigger()
    driver.qtbot.waitUntil(lambda: stored_areas(driver)[0].reference is not None)
    driver.qtbot.waitUntil(lambda: outline.placement is not None)
    assert command.isChecked() and center(driver) == pytest.approx((x, y), abs=0.5)
    driver.open("b.png")
    driver.qtbot.waitUntil(lambda: outline.placement is not None)
    assert center(driver) == pytest.approx((x + 30, y - 20), abs=0.5)
    draw_area(
        driver, 230, 200, 280, 250, keys=Qt.KeyboardModifier.ControlModifier
    )  # drawn around the part, stored without
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)[0].polygons) == 2)
    first = stored_areas(driver)[0].polygons[1].points[0]
    assert first == pytest.approx((200, 220), abs=2.5)
    driver.open("e.png")
    driver.qtbot.waitUntil(lambda: outline.placement is not None)
    assert outline.placement.why == "the image shows no structure"
    assert center(driver) == pytest.approx((x, y), abs=0.5) and not driver.canvas.grab().isNull()
    driver.session.undo()
    driver.session.undo()
    assert stored_areas(driver)[0].reference is None
    driver.qtbot.waitUntil(lambda: not command.isChecked())
