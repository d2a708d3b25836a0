"""Inspection area that moves with the part, in the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from tests.blank_project import create_blank_project
from tests.inference.shifted_parts import CORNERS, HEIGHT, WIDTH, part, view
from tests.ui.canvas.tools.tool_input import draw_area, stored_areas
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.ui.images.moving_area_dialog import MovingAreaDialog

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
    x, y = center(driver)
    dialog = moving_dialog(driver)
    assert "becomes the reference" in dialog.status.text()
    dialog.use_button.click()
    driver.qtbot.waitUntil(lambda: stored_areas(driver)[0].reference is not None)
    driver.qtbot.waitUntil(lambda: outline.placement is not None)
    assert center(driver) == pytest.approx((x, y), abs=0.5)
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


def test_the_limits_of_the_movement_are_tried_on_the_open_image_and_used(driver):
    driver.open("a.png")
    draw_area(driver, *map(int, (*CORNERS[0], *CORNERS[2])))
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)) == 1)
    dialog = moving_dialog(driver)
    assert dialog.pixels.text() == f"{WIDTH // 10} px" and dialog.limits == (0.1, 10)
    dialog.shift.setValue(8)
    dialog.angle.setValue(0)
    use(driver, dialog)
    reference = stored_areas(driver)[0].reference
    assert (reference.most_shift, reference.most_angle) == (0.08, 0)
    driver.open("b.png")  # moved by 36 px
    dialog = moving_dialog(driver)
    assert "has moved by 36 px and is rotated by 0.0°" in dialog.status.text()
    dialog.shift.setValue(4)
    driver.qtbot.waitUntil(lambda: "36 px, more than the limit of" in dialog.status.text())
    use(driver, dialog)
    assert stored_areas(driver)[0].reference.image == reference.image  # of the first image
    assert stored_areas(driver)[0].reference.most_shift == 0.04
    dialog = moving_dialog(driver, "not found")
    dialog.moves.setChecked(False)
    assert not dialog.shift.isEnabled()
    use(driver, dialog)
    assert stored_areas(driver)[0].reference is None
    driver.session.undo()
    assert stored_areas(driver)[0].reference.most_shift == 0.04


def test_an_unusable_reference_image_gives_its_reason(driver):
    driver.open("e.png")  # it shows nothing
    draw_area(driver, 40, 40, 200, 200)
    driver.qtbot.waitUntil(lambda: len(stored_areas(driver)) == 1)
    dialog = moving_dialog(driver, "shows nothing")
    dialog.use_button.click()
    driver.qtbot.waitUntil(dialog.use_button.isEnabled)
    assert (
        dialog.isVisible()
        and not any("nothing" in text for text in driver.window.messages.texts)
        and stored_areas(driver)[0].reference is None
    )


def moving_dialog(driver, text: str = "image") -> MovingAreaDialog:
    """Open the dialog and wait until it states the result of its search, with this text."""
    driver.window.table["moving_area"].trigger()
    dialog = next(found for found in driver.window.findChildren(MovingAreaDialog) if found.isVisible())
    driver.qtbot.waitUntil(lambda: text in dialog.status.text() and "Looking" not in dialog.status.text())
    return dialog


def use(driver, dialog: MovingAreaDialog) -> None:
    with driver.qtbot.waitSignal(driver.session.areas.changed):
        dialog.use_button.click()
    driver.qtbot.waitUntil(lambda: not dialog.isVisible())
