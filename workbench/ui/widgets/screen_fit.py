"""Sizes of windows that fit on the screen, and content that scrolls where the screen has no room for it."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

_GENERAL = QFontDatabase.SystemFont.GeneralFont
_SMALLEST = QSize(1024, 600)  # px, the smallest supported screen
_FRAME = QSize(16, 40)  # px, of title bar and border
_BUTTONS = 90  # px, of the buttons of a dialog and its margins


class ContentScrollArea(QScrollArea):
    """Content of a dialog above its buttons: as large as it is, or as high as the screen allows, then it scrolls."""

    def __init__(self, content: QWidget) -> None:
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a focused widget in it is scrolled into view
        content.setObjectName("settingsPage")  # its background
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        content = self.widget()
        width = max(content.sizeHint().width(), content.minimumSizeHint().width())
        height = max(content.sizeHint().height(), content.heightForWidth(width))
        room = available_area(self).size().expandedTo(_SMALLEST).height() - _FRAME.height() - _BUTTONS
        return QSize(width + self.verticalScrollBar().sizeHint().width(), min(height, room))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), super().minimumSizeHint().height())


def available_area(widget: QWidget) -> QRect:
    """Return the area for windows, in logical pixels, of the screen of a widget or of its first visible ancestor.

    `QWidget.screen` is not used: PySide then binds the QScreen to the widget, and can delete both together.
    """
    shown: QWidget | None = widget
    while shown is not None and not shown.isVisible():
        shown = shown.parentWidget()
    screen = QGuiApplication.screenAt(shown.mapToGlobal(shown.rect().center())) if shown is not None else None
    return (screen or QGuiApplication.primaryScreen()).availableGeometry()


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size in pixels, or to what its screen has room for."""
    available = available_area(window).size().expandedTo(_SMALLEST)
    window.resize(QSize(width, height).boundedTo(available - _FRAME))


def text_scale() -> float:
    """Return the size of the texts relative to that of the system, at least 1."""
    size, usual = QGuiApplication.font().pointSizeF(), QFontDatabase.systemFont(_GENERAL).pointSizeF()
    return max(1.0, size / usual) if size > 0 and usual > 0 else 1.0


def resize_for_text(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size in pixels at texts of the usual size, or to what its screen has room for."""
    scale = text_scale()
    resize_on_screen(window, round(width * scale), round(height * scale))


def set_width_for_text(window: QWidget, width: int) -> None:
    """Set the least width of a window, in pixels at texts of the usual size, as far as its screen has room for it."""
    room = available_area(window).size().expandedTo(_SMALLEST).width() - _FRAME.width()
    window.setMinimumWidth(min(round(width * text_scale()), room))


def fit_height(window: QWidget) -> None:
    """Make a window higher if its texts, which wrap, need more height than it has."""
    layout = window.layout()
    layout.activate()
    height = (
        layout.totalHeightForWidth(window.width()) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
    )
    if height > window.height():
        resize_on_screen(window, window.width(), height)
