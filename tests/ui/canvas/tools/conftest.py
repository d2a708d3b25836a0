"""Project and tool options of the tests of tools."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QSettings

from tests.ui.canvas.tools.tool_input import CRACK, DISC, HALO, HEIGHT, HOLE, WIDTH
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


@pytest.fixture(autouse=True)
def default_tool_options(qapp):
    """Remove the tool options stored by earlier tests."""
    QSettings().remove("tools")


@pytest.fixture
def root(tmp_path):
    """a: a dark disc in a halo, with a bright hole; b: a thin dark line; c: one pixel; d and e: strips, and color."""
    root = tmp_path / "工具 [2]"
    with Project.create(root, classes=["scratch", "pit"]) as project:
        spot = np.full((HEIGHT, WIDTH), 150, np.uint8)
        spot[HALO], spot[DISC], spot[HOLE] = 110, 60, 150
        line = np.full((HEIGHT, WIDTH), 160, np.uint8)
        line[CRACK] = 70
        color = np.dstack([spot, spot, np.full_like(spot, 90)])
        for name, image in {
            "a": spot,
            "b": line,
            "c": np.full((1, 1), 9, np.uint8),
            "d": np.arange(20_000, dtype=np.uint16).reshape(1, -1),
            "e": color,
        }.items():
            write_png(project.image_path(f"{name}.png"), image)
    return root
