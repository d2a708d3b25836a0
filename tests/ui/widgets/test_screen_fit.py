"""Sizes of windows that fit on the screen."""

from __future__ import annotations

import shiboken6
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from workbench.ui.widgets.screen_fit import available_area, resize_for_text, resize_on_screen, set_width_for_text


def test_a_window_is_not_larger_than_the_screen(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    resize_on_screen(widget, 500, 400)
    assert (widget.width(), widget.height()) == (500, 400)
    resize_on_screen(widget, 5000, 4000)
    available = available_area(widget).size()
    assert widget.width() <= max(1024, available.width()) - 16
    assert widget.height() <= max(600, available.height()) - 40


def test_dialogs_are_larger_with_larger_texts(qtbot, qapp):
    font = qapp.font()
    larger = QFont(font)
    larger.setPointSizeF(1.5 * font.pointSizeF())
    qapp.setFont(larger)
    try:
        widget = QWidget()
        qtbot.addWidget(widget)
        resize_for_text(widget, 400, 200)
        assert (widget.width(), widget.height()) == (600, 300)
        set_width_for_text(widget, 300)
        assert widget.minimumWidth() == 450
        set_width_for_text(widget, 5000)
        assert widget.minimumWidth() <= max(1024, available_area(widget).size().width()) - 16
    finally:
        qapp.setFont(font)


def test_screen_is_not_deleted_with_a_window(qtbot):
    """The window has no parent, so that Python deletes it."""
    screen = QGuiApplication.primaryScreen()
    window = QDialog()
    set_width_for_text(window, 300)
    resize_for_text(window, 400, 200)
    window.show()
    assert available_area(window) == screen.availableGeometry()
    del window
    assert shiboken6.isValid(screen)


def test_contents_of_a_hidden_dialog_fit_the_screen_of_the_window(qtbot, monkeypatch):
    window, points = QWidget(), []
    qtbot.addWidget(window)
    window.setGeometry(300, 200, 100, 80)
    window.show()
    content = QWidget(QDialog(window))
    monkeypatch.setattr(QGuiApplication, "screenAt", points.append)
    available_area(content)
    assert points == [window.mapToGlobal(window.rect().center())]
