"""Font of the application: fonts of the language after that of the system, at the chosen size; style sheet; icons."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor, QFontDatabase, QIcon, QImage, QPainter, QPixmap, QRegion
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget

from workbench.ui.widgets import theme
from workbench.ui.widgets.text_labels import IconLabel
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


def colors(image: QImage) -> set[str]:
    """Return the names of the opaque colors of an image."""
    points = [(x, y) for x in range(image.width()) for y in range(image.height())]
    return {image.pixelColor(x, y).name() for x, y in points if image.pixelColor(x, y).alpha() == 255}


def in_theme(image: QImage, theme: Theme) -> bool:
    """Return True if all opaque colors are those of a theme, but for rounding where lines of an icon cross."""
    known = np.array([QColor(color).getRgb()[:3] for color in theme.colors.values()])
    shown = np.array([QColor(color).getRgb()[:3] for color in colors(image)]).reshape(-1, 1, 3)
    return bool((np.abs(shown - known).max(2).min(1, initial=255) <= 2).all())


def painted(label: QWidget) -> QImage:
    pixmap = QPixmap(label.size())
    pixmap.fill("transparent")
    label.render(pixmap, QPoint(), QRegion(), QWidget.RenderFlag(0))
    return pixmap.toImage()


def wrong_icons(root: QWidget, theme: Theme) -> list[str]:
    """Return the buttons, actions and labels with icons that are not in the colors of the theme."""
    wrong = []
    for button in root.findChildren(QAbstractButton):
        if isinstance(button.parent(), QLineEdit) or button.objectName().startswith("qt_"):
            continue  # Qt draws the button that clears the text, and those whose names begin with qt_
        mode = QIcon.Mode.Normal if button.isEnabled() else QIcon.Mode.Disabled
        if not button.icon().isNull() and not in_theme(button.icon().pixmap(QSize(32, 32), mode).toImage(), theme):
            wrong.append(f"button {button.text() or button.accessibleName()}")
    for label in root.findChildren(QLabel):
        if not label.pixmap().isNull():
            wrong.append(f"{label} keeps its pixmap")
    for label in root.findChildren(IconLabel):
        if label.width() < 50 and not in_theme(painted(label), theme):  # larger: icon of the program
            wrong.append(f"icon in {label.parentWidget()}")
    return wrong


def test_an_icon_without_room_is_not_drawn(style, qtlog):
    painter = QPainter(image := QImage(16, 16, QImage.Format.Format_RGB32))
    style.icon("save").paint(painter, QRect(0, 0, 0, 16))
    painter.end()
    assert not image.isNull() and not qtlog.records


def test_icons_of_messages_and_of_the_welcome_page_follow_the_theme(application):
    window = application.window
    window.messages.show_message("warning", "Low disk space", button="Free space", callback=lambda: None)
    window.table["theme_light"].trigger()
    light = window.theme_manager.theme
    assert light.name == "light" and wrong_icons(window, light) == []
    warning = window.messages.shown[0].findChild(IconLabel)
    assert colors(painted(warning)) == {light.colors["warning"]}


def test_icons_of_an_open_project_follow_the_theme(opened):
    window = opened.window
    window.table["theme_light"].trigger()
    light = window.theme_manager.theme
    assert wrong_icons(window, light) == []
    icons = [action.icon() for action in window.table.all() if not action.icon().isNull()]
    assert len(icons) > 20 and all(in_theme(icon.pixmap(32).toImage(), light) for icon in icons)
