"""Font of the application: fonts of the language after the font of the system, at the chosen size; style sheet."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtGui import QFontDatabase, QImage
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


def images_of(sheet: str) -> list[Path]:
    return [Path(name) for name in re.findall(r'url\("(.+?)"\)', sheet)]


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is of Linux")
def test_images_of_the_style_sheet_are_kept_in_the_cache_of_the_user(style, monkeypatch):
    """A folder for each start would be left behind by a window that is killed."""
    monkeypatch.setattr(tempfile, "TemporaryDirectory", None)
    style.apply("dark")
    images = images_of(QApplication.instance().styleSheet())
    cache = Path(os.environ["XDG_CACHE_HOME"])
    assert len(images) >= 4 and all(path.is_relative_to(cache) and QImage(str(path)).width() == 48 for path in images)
    monkeypatch.setattr(theme, "write_atomic", None)  # the next window finds them
    assert Theme.load("dark").style(images[0].parent) in QApplication.instance().styleSheet()


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is of Linux")
def test_style_sheet_without_a_cache_that_can_be_written(qapp, style, monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    manager = ThemeManager(qapp)
    manager.apply("light")
    images = images_of(qapp.styleSheet())
    assert images and all(path.is_file() and "workbench-style-" in path.parts[-2] for path in images)


def test_style_sheet_in_a_folder_whose_name_contains_a_mark_of_colors(qapp, tmp_path):
    """`@` begins the name of a color in the style sheet; accounts of a domain have it in their folder."""
    images = images_of(Theme.load("dark").style(tmp_path / "user@domain"))
    assert images and all(path.is_file() for path in images)
