"""Fixtures: the application on a small project, and a driver of its canvas in image coordinates."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.conftest import NEVER, fill_project
from tests.ui.shared_window import SharedWindow, activate
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.preferences import Preferences
from workbench.ui.actions.menus import default_shortcuts
from workbench.ui.shell.application import Application
from workbench.ui.shortcuts import install_shortcuts
from workbench.ui.widgets.theme import Theme, ThemeManager

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def root(tmp_path) -> Path:
    """Project with three labeled images, a new and a broken one; classes 1 scratch, 2 pit; verdicts OK, NG."""
    root = tmp_path / "项目 [1]"
    with Project.create(root, classes=["scratch", "pit"], verdicts=["OK", "NG"]) as project:
        fill_project(project, 3, verdicts=True)
        write_png(project.image_path("lot1/new.png"), np.full((80, 96), 140, np.uint8))
        project.image_path("lot1/bad.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    return root


@pytest.fixture(scope="session", autouse=True)
def shortcuts():
    """The default shortcuts, which the application installs at its start, for tests of widgets without it."""
    install_shortcuts(default_shortcuts(), {})


@pytest.fixture(scope="session")
def load_theme(qapp):
    """`Theme.load` that returns equal themes as one object, whose icons are drawn once."""
    load = functools.cache(Theme.load)
    yield load
    load.cache_clear()  # pixmaps end before the QApplication


@pytest.fixture
def style_sheet():
    """Request this fixture for an `application` with the style sheet, for tests of looks and of sizes."""


@contextlib.contextmanager
def new_application(qapp, load_theme, *, styled: bool = False) -> Iterator[Application]:
    """Application without a project, in English, whose window is shown and active."""
    with pytest.MonkeyPatch.context() as patch:
        if not styled:
            patch.setattr(ThemeManager, "_set_style_sheet", lambda self: None)
        for delay in ("COMPLETION_DELAY", "EXCLUSION_DELAY"):  # or a test depends on its duration
            patch.setattr(f"workbench.ui.shell.application.{delay}", NEVER)
        patch.setattr(Theme, "load", load_theme)
        preferences = Preferences(language="en", theme="dark", instant_overlay=False, introduced=True)
        application = Application(qapp, preferences)
        application.window.resize(1280, 800)
        application.show()
        activate(application.window)
        yield application
        application.end()


@pytest.fixture(scope="module")
def one_window(qapp, load_theme):
    """Window that the tests of a module use in turn: `pytestmark = pytest.mark.usefixtures("one_window")`."""
    shared = SharedWindow(functools.partial(new_application, qapp, load_theme))
    yield shared
    shared.end()


@pytest.fixture
def application(qapp, qtbot, monkeypatch, load_theme, tmp_path, request):
    """Application without a project, in English. Without the style sheet, as styling takes a third of the start.

    The project is closed before `tmp_path` removes its folder, and before `monkeypatch` restores anything.
    """
    styled = "style_sheet" in request.fixturenames
    shared = request.getfixturevalue("one_window") if "one_window" in request.fixturenames else None
    if shared is not None and (styled or getattr(request.node, "execution_count", 1) > 1):  # after a failure
        shared.end()
    with contextlib.ExitStack() as stack:
        if shared is None or styled:
            application = stack.enter_context(new_application(qapp, load_theme, styled=styled))
        else:
            application = shared.take()
            stack.callback(shared.give_back)
        yield application
        for button in (LEFT, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
            if QGuiApplication.mouseButtons() & button:  # a failed test must not leave it pressed for the next ones
                QTest.mouseRelease(application.window, button)
    QSettings().clear()  # tool options of one test must not reach the next one


@pytest.fixture
def opened(application, root, qtbot):
    """Application with the project and its first image open."""
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 5, timeout=10_000)
    return application


@pytest.fixture
def driver(opened, qtbot):
    return CanvasDriver(opened, qtbot)


class CanvasDriver:
    """Mouse and keyboard input on the canvas."""

    def __init__(self, application, qtbot) -> None:
        self.window, self.services = application.window, application.services
        self.canvas, self.session, self.qtbot = application.window.canvas, application.services.session, qtbot

    def open(self, key: str) -> None:
        if self.session.key != key:
            self.session.open_image(key)
        self.qtbot.waitUntil(lambda: self.session.key == key, timeout=10_000)
        self.qtbot.waitUntil(lambda: self.canvas.content.seen or not self.canvas.isVisible(), timeout=10_000)

    def pixel(self, x: float, y: float) -> QPoint:
        """Return the pixel of the widget that shows an image point."""
        sx, sy = self.canvas.view.to_screen(x, y)
        ratio = self.canvas.devicePixelRatioF()
        return QPoint(int(np.floor(sx / ratio)), int(np.floor(sy / ratio)))

    def point(self, pixel: QPoint) -> tuple[float, float]:
        """Return the image point of a mouse event at a pixel."""
        ratio = self.canvas.devicePixelRatioF()
        return self.canvas.view.to_image(pixel.x() * ratio, pixel.y() * ratio)

    def drag(self, *points: tuple[float, float], keys=Qt.KeyboardModifier.NoModifier) -> list[tuple[float, float]]:
        """Press, move and release. Return the exact image points of the events."""
        pixels = [self.pixel(*p) for p in points]
        QTest.mouseMove(self.canvas, pixels[0])
        QTest.mousePress(self.canvas, LEFT, keys, pixels[0])
        for pixel in pixels[1:]:
            QTest.mouseMove(self.canvas, pixel)
        QTest.mouseRelease(self.canvas, LEFT, keys, pixels[-1])
        return [self.point(p) for p in pixels]

    def click(self, x: float, y: float, keys=Qt.KeyboardModifier.NoModifier) -> tuple[float, float]:
        pixel = self.pixel(x, y)
        QTest.mouseMove(self.canvas, pixel)
        QTest.mouseClick(self.canvas, LEFT, keys, pixel)
        return self.point(pixel)

    def key(self, key, keys=Qt.KeyboardModifier.NoModifier) -> None:
        if key == Qt.Key.Key_Return:  # marks a shown image only
            self.qtbot.waitUntil(lambda: self.canvas.content.seen or not self.canvas.isVisible())
        QTest.keyClick(self.canvas, key, keys)

    def activate(self) -> None:
        """Activate the window after a dialog was closed, and give the canvas the focus."""
        self.window.activateWindow()
        self.qtbot.waitUntil(self.window.isActiveWindow)
        self.canvas.setFocus()

    def saved(self) -> np.ndarray:
        """Save, and return the mask from its file."""
        assert self.session.flush()
        return annotation.load_mask(self.session.project, self.session.key)
