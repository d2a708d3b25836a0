"""Assisted tools on real images: results of one gesture or two clicks, compared with the masks of experts."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QSettings, Qt
from PySide6.QtTest import QTest

from workbench.core.project.project import Project
from workbench.inference.io.opencv import cv2

LEFT = Qt.MouseButton.LeftButton
# Accurately labeled blowholes among the first ones of the magnetic tiles.
BLOWHOLES = ("exp1_num_108889", "exp1_num_308015", "exp1_num_327970")


@pytest.fixture(autouse=True)
def default_tools(qapp):
    QSettings().remove("tools")


@pytest.fixture
def stage(user, shared_data, tmp_path):
    """User input on a project of some of the real images."""
    root = tmp_path / "真实 pictures"
    Project.create(root, classes=["blowhole", "crack"]).close()
    sources = [shared_data / "magnetic-tile/MT_Blowhole/Imgs" / f"{name}.jpg" for name in BLOWHOLES]
    sources.append(shared_data / "crackforest/image/001.jpg")
    for source in sources:
        (root / "pictures").mkdir(exist_ok=True)
        shutil.copy(source, root / "pictures" / source.name)
    with user.qtbot.waitSignal(user.session.current.opened, timeout=10_000):
        user.session.open_project(root)
    return user


def settle(user) -> None:
    user.qtbot.waitUntil(lambda: not user.canvas.tasks.busy, timeout=20_000)


def press_at(user, x: float, y: float) -> None:
    """Click in the center of a pixel, after a move of the pointer to it."""
    sx, sy = user.canvas.view.to_screen(x + 0.5, y + 0.5)
    spot = QPointF(sx, sy).toPoint()
    QTest.mouseMove(user.canvas, spot)
    QTest.mouseClick(user.canvas, LEFT, pos=spot)
    settle(user)


@pytest.mark.parametrize("tool", ["wand", "threshold"])
def test_one_gesture_selects_a_real_blowhole(stage, shared_data, tool):
    scores = []
    for name in BLOWHOLES:
        stage.open(f"{name}.jpg")
        truth = shared_data / "magnetic-tile/MT_Blowhole/Imgs" / f"{name}.png"
        drawn = cv2.imdecode(np.fromfile(truth, np.uint8), cv2.IMREAD_GRAYSCALE) > 127
        _, parts, stats, _ = cv2.connectedComponentsWithStats(drawn.astype(np.uint8))
        number = 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
        hole = parts == number
        deep = cv2.distanceTransform(hole.astype(np.uint8), cv2.DIST_L2, 5)
        row, column = np.unravel_index(deep.argmax(), deep.shape)
        stage.canvas.set_diameter(round(1.8 * stats[number, cv2.CC_STAT_WIDTH : cv2.CC_STAT_AREA].max()))
        stage.window.table[tool].trigger()
        press_at(stage, column, row)
        got = stage.session.mask == 1
        scores.append((got & hole).sum() / (got | hole).sum())
    assert min(scores) > 0.6, scores


def test_a_real_crack_is_traced_from_its_ends(stage):
    stage.open("001.jpg")
    stage.session.classes.choose(2)
    stage.window.table["crack"].trigger()
    height, width = stage.session.mask.shape
    press_at(stage, 0, 163)
    press_at(stage, width - 1, 160)
    found = stage.session.mask == 2
    assert found[:, :4].any() and found[:, -4:].any()
    assert found.any(axis=0).mean() > 0.98  # connected from side to side
    gray = stage.session.image.mean(axis=2)
    beside = cv2.dilate(found.astype(np.uint8), np.ones((21, 21), np.uint8)) > 0
    assert gray[found].mean() < gray[beside & ~found].mean() - 20  # it covers dark pixels
    assert found.sum() / width < 8  # and is as thin as the crack
