"""Icons follow the theme: those of buttons, labels and actions are drawn in its colors without being set again."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QIcon, QImage, QPixmap, QRegion
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget

from workbench.ui.widgets.text_labels import IconLabel
from workbench.ui.widgets.theme import Theme


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
