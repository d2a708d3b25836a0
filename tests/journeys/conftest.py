"""The real application on a folder of real files, driven by mouse and keys."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.conftest import scratched
from tests.journeys.user_input import UserInput
from workbench.inference.io.image_io import write_png
from workbench.session.preferences import Preferences
from workbench.session.training.trainer_thread import DEFAULT_OPTIONS, ExportJob
from workbench.ui.shell.application import Application


@pytest.fixture
def raw_images(tmp_path):
    """Return (folder, {name: mask}) of eight images with a dark blob each and four good ones."""
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
def language() -> str:
    """Language of the window."""
    return "en"


@pytest.fixture
def size() -> tuple[int, int]:
    """Width and height of the window in pixels."""
    return 1280, 800


@pytest.fixture
def application(qapp, qtbot, language, size, monkeypatch):
    brief = dataclasses.replace(DEFAULT_OPTIONS, seconds=0)  # a measurement takes 8 s on all cores
    monkeypatch.setattr(ExportJob.start, "__defaults__", (None, brief))
    application = Application(qapp, Preferences(language=language, theme="dark", introduced=True))
    application.window.resize(*size)
    application.show()
    application.window.training.make_curves()
    # Keys reach the actions of the active window only.
    application.window.activateWindow()
    qtbot.waitUntil(lambda: qapp.activeWindow() is application.window)
    yield application
    application.end()


@pytest.fixture
def user(application, qtbot):
    return UserInput(application, qtbot)
