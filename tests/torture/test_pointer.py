"""Random sequences of buttons and moves on the canvas: no stroke continues without a pressed button."""

from __future__ import annotations

import random

from PySide6.QtCore import Qt

from tests.ui.canvas.pointer_input import NEW, B, Mouse, paints_without_a_button
from tests.ui.conftest import application, driver, load_theme, opened, root  # noqa: F401
from workbench.ui.canvas.context_menu import ContextMenu


def test_random_buttons_leave_no_stroke(driver, cases, report, monkeypatch):  # noqa: F811
    monkeypatch.setattr(ContextMenu, "press", lambda *_: False)  # a menu would wait for an answer
    driver.open(NEW)
    driver.canvas.set_diameter(10)
    tried, failed = cases(12, 400), []
    for seed in range(tried):
        chance, mouse = random.Random(seed), Mouse(driver)
        mouse.keys = chance.choice(
            [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier]
        )
        down: list[Qt.MouseButton] = []
        for _ in range(chance.randrange(4, 24)):
            button = chance.choice([B.LeftButton, B.MiddleButton, B.RightButton])
            if button in down:
                down.remove(button)
                mouse.release(button)
            elif chance.random() < 0.6:
                down.append(button)
                mouse.press(button)
            mouse.move(chance.uniform(5, 90), chance.uniform(5, 75))
        for button in down:
            mouse.release(button)
        mouse.keys = Qt.KeyboardModifier.NoModifier
        if paints_without_a_button(mouse):
            failed.append(seed)
    report("pointer buttons on the canvas", tried, len(failed))
    assert not failed
