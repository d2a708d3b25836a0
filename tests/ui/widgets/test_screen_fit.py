"""Sizes of windows that fit on the screen."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.ui.widgets.screen_fit import resize_on_screen


def test_a_window_is_not_larger_than_the_screen(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    resize_on_screen(widget, 500, 400)
    assert (widget.width(), widget.height()) == (500, 400)
    resize_on_screen(widget, 5000, 4000)
    available = widget.screen().availableSize()
    assert widget.width() <= max(1024, available.width()) - 16
    assert widget.height() <= max(600, available.height()) - 40
