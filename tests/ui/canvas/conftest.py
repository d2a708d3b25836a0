"""Images for canvases, and the pixels that a canvas shows."""

from __future__ import annotations

import pytest

from tests.ui.canvas.pointer_input import mouse
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas

__all__ = ["mouse"]


@pytest.fixture
def view(qtbot):
    view = Canvas(Session(), ClickSegmentation(Preferences()))
    qtbot.addWidget(view)
    view.resize(400, 300)
    with qtbot.waitExposed(view):
        view.show()
    yield view
    view.end()
