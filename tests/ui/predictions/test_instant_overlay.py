"""Instant overlay in the window: heat after a stroke, suggestions after some labels, the switch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.spot_images import scene
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

PLACES = [(16 * number, 10 * number) for number in range(7)]


@pytest.fixture
def root(tmp_path):
    """Project of seven images with one defect each; the first two have no label."""
    with Project.create(tmp_path / "project", classes=["pit"]) as project:
        for number, place in enumerate(PLACES):
            key, (image, mask) = f"{number}.png", scene(number, place)
            write_png(project.image_path(key), image)
            if number > 1:
                annotation.save_mask(project, key, mask)
                annotation.save_note(project, key, annotation.Note(status="done"))
    return tmp_path / "project"


@pytest.fixture
def opened(application, root, qtbot):
    """Application with the project and its first image open."""
    session = application.services.session
    with qtbot.waitSignal(session.image_list.finished, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: session.key == "0.png" and session.image is not None, timeout=10_000)
    return application


def test_heat_then_suggestions_then_off(driver, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr("workbench.session.preferences.settings_path", lambda: tmp_path / "settings.json")
    window, scene_ = driver.window, driver.canvas.scene
    overlay, suggestions = driver.services.instant_overlay, driver.services.suggestions
    action = window.table["instant_overlay"]
    assert not action.isChecked() and scene_.predictions is None
    action.trigger()
    driver.drag((8, 12), (16, 12))
    qtbot.waitUntil(lambda: scene_.predictions is not None, timeout=60_000)
    assert window.header.prediction.text().startswith("Instant overlay: ")
    driver.open("1.png")
    qtbot.waitUntil(lambda: bool(suggestions.shown), timeout=60_000)
    assert window.header.prediction.text() == f"Instant overlay: Dice {overlay.prediction.dice:.2f}"
    (found,) = suggestions.shown
    x, y = PLACES[1]
    rect = found.selection.rect
    assert abs(rect.x - x) < 12 and abs(rect.y - y) < 12 and found.model == "instant" and not scene_.predictions.soft
    assert suggestions.accept([found])
    qtbot.waitUntil(lambda: np.count_nonzero(driver.session.mask) == found.area)
    action.trigger()
    assert not action.isChecked() and scene_.predictions is None and not window.header.prediction.text()


def test_without_a_score_there_is_soft_heat_only(driver, root, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr("workbench.session.preferences.settings_path", lambda: tmp_path / "settings.json")
    window, session = driver.window, driver.session
    for number in range(2, 7):
        session.open_image(f"{number}.png")
        qtbot.waitUntil(lambda number=number: session.key == f"{number}.png", timeout=10_000)
        session.verdict_steps.set_status("started")
        session.editor.paint_region(np.ones((120, 160), bool), (0, 0), 0)
    driver.open("0.png")
    window.table["instant_overlay"].trigger()
    driver.drag((8, 12), (16, 12))
    qtbot.waitUntil(lambda: driver.canvas.scene.predictions is not None, timeout=60_000)
    assert window.header.prediction.text() == "Instant overlay: 1 labeled image"
    assert window.overlay.immature and driver.canvas.scene.predictions.soft and not driver.services.suggestions.shown
    assert not window.layers.display.threshold.isVisibleTo(window.layers.display)
    assert "instant overlay" in window.suggestions_panel._hint(0, 0)
