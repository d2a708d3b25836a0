"""Pens, touchpad gestures, and screens with several device pixels per logical pixel."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QInputDevice, QNativeGestureEvent, QPointingDevice, QTabletEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.canvas.canvas_images import RED, textured
from tests.ui.canvas.pointer_input import B, M, paints_without_a_button
from workbench.session.spot_finder import SpotFinder
from workbench.ui.canvas.context_menu import ContextMenu

pytestmark = pytest.mark.usefixtures("one_window")

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
NEW = "lot1/new.png"
PHASE = Qt.ScrollPhase.ScrollUpdate


@pytest.fixture
def blank(driver):
    driver.open(NEW)
    driver.canvas.set_diameter(20)
    return driver


def pen(canvas, kind: QEvent.Type, at: QPoint, pressure: float, *, rubber: bool = False) -> None:
    """Send a tablet event, then the mouse event that Qt derives from an ignored tablet event."""
    tip = QPointingDevice.PointerType.Eraser if rubber else QPointingDevice.PointerType.Pen
    device = QPointingDevice(
        "pen",
        7,
        QInputDevice.DeviceType.Stylus,
        tip,
        QInputDevice.Capability.Position | QInputDevice.Capability.Pressure,
        1,
        1,
    )
    buttons = Qt.MouseButton.NoButton if kind == QEvent.Type.TabletRelease else LEFT
    event = QTabletEvent(
        kind, device, QPointF(at), QPointF(canvas.mapToGlobal(at)), pressure, 0, 0, 0, 0, 0, NONE, LEFT, buttons
    )
    QApplication.sendEvent(canvas, event)
    assert not event.isAccepted()
    {QEvent.Type.TabletPress: QTest.mousePress, QEvent.Type.TabletRelease: QTest.mouseRelease}.get(
        kind, lambda canvas, *_: QTest.mouseMove(canvas, at)
    )(canvas, LEFT, NONE, at)


def stroke(driver, x: int, *pressures: float, rubber: bool = False) -> None:
    points = [driver.pixel(x, 15 + 10 * i) for i in range(len(pressures))]
    kinds = [QEvent.Type.TabletPress] + [QEvent.Type.TabletMove] * (len(points) - 1)
    for kind, point, pressure in zip(kinds, points, pressures, strict=True):
        pen(driver.canvas, kind, point, pressure, rubber=rubber)
    pen(driver.canvas, QEvent.Type.TabletRelease, points[-1], 0.0, rubber=rubber)


def test_pen_pressure_sets_the_stroke_width(blank):
    mask = blank.session.mask
    stroke(blank, 40, 0.2, 0.2, 1.0, 1.0, 1.0)
    wide = (mask > 0).sum(axis=1)
    assert 3 <= wide[15] <= 6 and 18 <= wide[50] <= 22
    blank.session.undo()
    assert not mask.any()
    blank.canvas.options.switch("pressure", False)
    stroke(blank, 40, 0.2, 0.2)
    assert 18 <= (mask > 0).sum(axis=1)[18] <= 22
    blank.canvas.options.switch("pressure", True)
    blank.drag((70, 20), (70, 40))
    assert 18 <= (mask[:, 58:] > 0).sum(axis=1)[30] <= 22, "a mouse knows no pressure"


def test_eraser_end_of_the_pen_erases(blank):
    blank.session.mask[:] = 1
    stroke(blank, 40, 1.0, 1.0, rubber=True)
    assert blank.session.mask[20, 40] == 0 and blank.session.mask[70, 80] == 1
    blank.drag((20, 60), (30, 60))
    stroke(blank, 40, 1.0, 1.0)
    assert blank.session.mask[20, 40] == 1


def test_pressure_option_appears_after_a_pen_is_used(blank):
    check = blank.window.options.checks["pressure"]
    assert not check.isVisibleTo(blank.window.options) or blank.canvas.options.pen
    stroke(blank, 40, 0.5)
    assert check.isVisibleTo(blank.window.options)
    blank.window.table["fill"].trigger()
    assert not check.isVisibleTo(blank.window.options)


def fingers(canvas, at: QPoint, pixels: QPoint, keys=NONE, phase=PHASE) -> None:
    event = QWheelEvent(
        QPointF(at), QPointF(canvas.mapToGlobal(at)), pixels, pixels * 8, Qt.MouseButton.NoButton, keys, phase, False
    )
    QApplication.sendEvent(canvas, event)


def gesture(canvas, kind: Qt.NativeGestureType, at: QPoint, value: float) -> None:
    event = QNativeGestureEvent(
        kind,
        QPointingDevice.primaryPointingDevice(),
        2,
        QPointF(at),
        QPointF(at),
        QPointF(canvas.mapToGlobal(at)),
        value,
        QPointF(9, -4),
    )
    QApplication.sendEvent(canvas, event)


def test_two_finger_scroll_pinch_and_tap(blank):
    canvas, at = blank.canvas, QPoint(200, 150)
    canvas.set_view(canvas.view.at_scale(20.0))
    before = canvas.view
    fingers(canvas, at, QPoint(13, -7))
    assert (canvas.view.x - before.x, canvas.view.y - before.y, canvas.view.scale) == (13, -7, before.scale)
    held = canvas.view.to_image(at.x(), at.y())
    fingers(canvas, at, QPoint(0, 60), CTRL)
    assert canvas.view.scale == pytest.approx(25.0)
    gesture(canvas, Qt.NativeGestureType.ZoomNativeGesture, at, -0.2)
    assert canvas.view.scale == pytest.approx(20.0)
    assert canvas.view.to_image(at.x(), at.y()) == pytest.approx(held, abs=0.1)
    before = canvas.view
    gesture(canvas, Qt.NativeGestureType.PanNativeGesture, at, 0.0)
    assert (canvas.view.x - before.x, canvas.view.y - before.y) == (9, -4)
    gesture(canvas, Qt.NativeGestureType.SmartZoomNativeGesture, at, 0.0)
    assert canvas.view_state.fitted
    gesture(canvas, Qt.NativeGestureType.SmartZoomNativeGesture, at, 0.0)
    assert canvas.view.scale == 1.0 and not blank.session.mask.any()
    fingers(canvas, at, QPoint(0, 0), phase=Qt.ScrollPhase.ScrollEnd)
    assert canvas.view.scale == 1.0


# --- screens --------------------------------------------------------------------------------------


def test_change_of_the_pixel_ratio_keeps_the_pixels_exact(view, qtbot, monkeypatch):
    """At 6400% an image pixel covers 64 × 64 device pixels at any ratio."""
    image, mask = textured(40, 60), np.zeros((40, 60), np.uint8)
    mask[20, 30] = 1
    view.scene.show_image(image)
    view.scene.show_labels(mask)
    view.scene.set_colors(RED)
    assert (view.view.width, view.view.height) == (400, 300)
    for ratio in (2.0, 1.5, 1.0):
        monkeypatch.setattr(view, "devicePixelRatioF", lambda ratio=ratio: ratio)
        QApplication.sendEvent(view, QEvent(QEvent.Type.DevicePixelRatioChange))
        assert (view.view.width, view.view.height) == (round(400 * ratio), round(300 * ratio))
        view.set_view(view.view.at_scale(64.0).centered(30.5, 20.5))
        scene = (
            view.renderer.backing.drawn(view.scene, view.view, ratio)
            .toImage()
            .convertToFormat(QImage.Format.Format_RGB888)
        )
        pixels = np.frombuffer(scene.constBits(), np.uint8).reshape(scene.height(), scene.bytesPerLine())
        pixels = pixels[:, : 3 * scene.width()].reshape(scene.height(), scene.width(), 3)
        assert pixels.shape[:2] == (view.view.height, view.view.width)
        red = pixels[:, :, 0].astype(int) - pixels[:, :, 1] > 30
        assert red.sum() == 64 * 64
        x, y = view.view.to_screen(31.0, 20.0)
        block = pixels[int(y) : int(y) + 64, int(x) : int(x) + 64]
        assert (block == image[20, 31]).all()


@pytest.mark.parametrize("factor", ["1.5", pytest.param("2", marks=pytest.mark.slow)])
def test_canvas_on_a_high_resolution_screen(factor):
    """Run exactness tests in a child process, because the scale factor is read when Qt starts."""
    chosen = "(partial_repaints and uint8) or each_device_pixel or stroke_equals"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/ui/canvas/test_canvas_scene.py",
            "tests/ui/canvas/test_painting.py",
            "-k",
            chosen,
        ],
        env=os.environ | {"QT_SCALE_FACTOR": factor},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-3000:]


def test_left_press_during_a_pan_starts_no_stroke(mouse):
    mouse.move(40, 40)
    mouse.press(B.MiddleButton)
    mouse.press(B.LeftButton)
    mouse.release(B.LeftButton)
    view = mouse.driver.canvas.view
    mouse.at += QPoint(9, 5)
    mouse.send(QEvent.Type.MouseMove, B.NoButton)
    assert mouse.driver.canvas.view != view, "it still pans"
    mouse.release(B.MiddleButton)
    assert not mouse.driver.session.mask.any() and not paints_without_a_button(mouse)


@pytest.mark.parametrize(
    "offered, modifiers",
    [
        (False, M.NoModifier),
        (True, M.AltModifier),
        pytest.param(True, M.NoModifier, marks=pytest.mark.slow),
        pytest.param(False, M.ShiftModifier, marks=pytest.mark.slow),
    ],
)
def test_two_buttons_in_any_order_leave_no_stroke(mouse, offered, modifiers, monkeypatch):
    """offered: the bar that offers spots is shown, as it is until the labeled images are counted."""
    monkeypatch.setattr(SpotFinder, "offered", offered)
    monkeypatch.setattr(ContextMenu, "press", lambda *_: False)  # a menu would wait for an answer
    pairs = itertools.permutations([B.LeftButton, B.MiddleButton, B.RightButton], 2)
    for (first, second), crossed in itertools.product(pairs, (False, True)):
        mouse.move(40, 40)
        mouse.keys = modifiers
        mouse.press(first)
        mouse.move(44, 44)
        mouse.press(second)
        mouse.move(48, 48)
        for button in (first, second) if crossed else (second, first):
            mouse.release(button)
        mouse.keys = M.NoModifier
        assert not paints_without_a_button(mouse), (first, second, crossed)
        mouse.driver.session.mask[:] = 0


def test_press_after_a_missed_release_ends_the_first_stroke(mouse):
    """A modal dialog can swallow the release of a button."""
    session = mouse.driver.session
    mouse.move(20, 20)
    mouse.press(B.LeftButton)
    mouse.move(40, 20)
    mouse.down = B.NoButton  # the release does not arrive
    mouse.move(20, 60)
    mouse.press(B.LeftButton)
    mouse.move(40, 60)
    mouse.release(B.LeftButton)
    assert session.mask[20, 30] and session.mask[60, 30]
    session.undo()
    assert session.mask[20, 30] and not session.mask[60, 38], "two strokes are two undo steps"
    session.undo()
    assert not session.mask.any() and not paints_without_a_button(mouse)


def test_change_of_the_tool_during_a_stroke_ends_its_ownership(mouse):
    canvas = mouse.driver.canvas
    mouse.move(20, 20)
    mouse.press(B.LeftButton)
    mouse.move(40, 20)
    canvas.choose_tool("rectangle")
    assert not mouse.driver.session.mask.any(), "the unfinished stroke is discarded"
    mouse.move(60, 40)
    mouse.release(B.LeftButton)
    assert not mouse.driver.session.mask.any() and not canvas.current.busy
    canvas.choose_tool("brush")
    assert not paints_without_a_button(mouse)
