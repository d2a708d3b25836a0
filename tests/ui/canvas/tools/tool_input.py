"""Choice of tools in the window, and the project they paint on."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from workbench.core.project.project import read_project_file

WIDTH, HEIGHT = 120, 100


ROWS, COLUMNS = np.mgrid[:HEIGHT, :WIDTH] + 0.5


DISC = (COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 15**2


HOLE = (COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 4**2


HALO = ((COLUMNS - 60) ** 2 + (ROWS - 50) ** 2 <= 22**2) & ~DISC


CRACK = np.abs(ROWS - (30 + 8 * np.sin(COLUMNS / 14))) <= 1.5


def choose(driver, tool: str) -> None:
    driver.window.table[tool].trigger()
    assert driver.canvas.tool == tool


def wait_for_tasks(driver) -> None:
    driver.qtbot.waitUntil(lambda: not driver.canvas.tasks.busy, timeout=10_000)


def draw_area(driver, left: int, top: int, right: int, bottom: int, keys=Qt.KeyboardModifier.NoModifier) -> None:
    choose(driver, "inspection_area")
    for number, point in enumerate(((left, top), (right, top), (right, bottom), (left, bottom))):
        driver.click(*point, keys=Qt.KeyboardModifier.NoModifier if number else keys)
    driver.key(Qt.Key.Key_Return)


def stored_areas(driver):
    return read_project_file(driver.session.project.root).inspection_areas
