"""The real application on a folder of real files, driven by mouse and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from tests.conftest import scratched
from workbench.inference.io.image_io import write_png
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application


@pytest.fixture
def raw_images(tmp_path):
    """A folder of eight pictures with a dark blob each and four good ones; returns (folder, {name: mask})."""
    folder = tmp_path / "来自产线 [3]"
    rng = np.random.default_rng(3)
    masks = {}
    for i in range(12):
        image, mask = scratched(rng, 160, 128, defects=1 if i < 8 else 0)
        name = f"part{i:02d}.png"
        write_png(folder / name, image)
        masks[name] = mask
    return folder, masks


@pytest.fixture
def application(qapp, qtbot):
    application = Application(qapp, Preferences(language="en", theme="dark"))
    application.window.resize(1280, 800)
    application.show()
    application.window.training.make_curves()
    # Keys reach the actions of the active window only.
    application.window.activateWindow()
    qtbot.waitUntil(lambda: qapp.activeWindow() is application.window, timeout=5000)
    yield application
    application.end()


class Hand:
    """Mouse and keys on the window, in picture coordinates."""

    def __init__(self, application, qtbot) -> None:
        self.window = application.window
        self.canvas = application.window.canvas
        self.services = application.services
        self.session = application.services.session
        self.qtbot = qtbot

    def at(self, x: float, y: float) -> QPoint:
        """The widget point whose picture point is (x, y)."""
        origin = self.canvas.view_state.image_point(QPointF(0, 0))
        right = self.canvas.view_state.image_point(QPointF(100, 0))
        scale = 100 / (right[0] - origin[0])
        return QPoint(round((x - origin[0]) * scale), round((y - origin[1]) * scale))

    def open(self, key: str) -> None:
        if self.session.key != key or self.session.image is None:
            with self.qtbot.waitSignal(self.session.image_opened, timeout=10_000):
                self.session.open_image(key)
        QTest.qWait(50)

    def scribble(self, mask: np.ndarray) -> None:
        """Paint what is marked in `mask` with the mouse, row by row as a person would hatch it."""
        rows, columns = np.nonzero(mask)
        self.canvas.set_diameter(3)
        for row in range(rows.min() + 1, rows.max() + 1, 2):
            inside = columns[rows == row]
            QTest.mousePress(self.canvas, Qt.MouseButton.LeftButton, pos=self.at(inside.min() + 1, row))
            QTest.mouseMove(self.canvas, self.at(inside.mean(), row))
            QTest.mouseMove(self.canvas, self.at(inside.max(), row))
            QTest.mouseRelease(self.canvas, Qt.MouseButton.LeftButton, pos=self.at(inside.max(), row))

    def show_training(self) -> None:
        """Show the training panel by a click on its stage."""
        QTest.mouseClick(self.window.stage_bar.stages["train"], Qt.MouseButton.LeftButton)
        self.qtbot.waitUntil(self.window.training.body.isVisible, timeout=5000)

    def key(self, key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.canvas, key, modifier)


@pytest.fixture
def hand(application, qtbot):
    return Hand(application, qtbot)
