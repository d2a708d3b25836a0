"""Font of the application: fonts of the language after the font of the system, at the chosen size; style sheet."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from workbench.ui.widgets import theme
from workbench.ui.widgets.theme import Theme, ThemeManager


@pytest.fixture
def style(qapp):
    font, sheet, palette = QApplication.font(), qapp.styleSheet(), qapp.palette()
    yield ThemeManager(qapp)
    qapp.setFont(font)
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


def test_fonts_of_the_language_follow_that_of_the_system(style, monkeypatch):
    installed = QFontDatabase.families()[0]
    monkeypatch.setattr(theme, "FONTS", {"zh_CN": ("Not Installed Sans", installed)})
    size = QApplication.font().pointSizeF()
    style.set_language("zh_CN")
    style.set_text_size(150)
    font = QApplication.font()
    assert font.families()[1:] == [installed] and font.pointSizeF() == pytest.approx(1.5 * size, abs=0.1)
    style.set_language("en")
    assert installed not in QApplication.font().families()[1:]


def test_style_sheet_is_made_once_after_changes_that_are_postponed(style, monkeypatch):
    made = []
    make = Theme.style
    monkeypatch.setattr(Theme, "style", lambda self, folder: made.append(self.name) or make(self, folder))
    with style.postponed():
        style.apply("light")
        style.set_text_size(150)
        assert QApplication.instance().styleSheet() == "" and not made
    assert made == ["light"]
    postponed = QApplication.instance().styleSheet()
    style.apply("light")
    assert postponed == QApplication.instance().styleSheet() and len(made) == 2
