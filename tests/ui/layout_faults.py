"""Search for controls that are cut or outside of their parents, and for layouts without end."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from workbench.ui.widgets.text_labels import ElidedLabel

MOST_ROUNDS = 20  # of layouts that request another one
_ARROWS = 26  # px, arrows and frame of a combo box or a number field
CHEVRONS = ("qt_toolbar_ext_button", "qt_menubar_ext_button")


def cut(window: QWidget) -> list[str]:
    """Return a description of each visible control of a window that is not completely visible."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not window or isinstance(widget.parentWidget(), QLineEdit):
            continue
        if widget.objectName() in CHEVRONS:
            found.append(f"chevron in {widget.parentWidget().objectName()}")
        elif isinstance(widget, (QAbstractButton, QLabel, QComboBox, QAbstractSpinBox)):
            reason = _cut_reason(widget)
            if reason:
                text = widget.text() if isinstance(widget, (QAbstractButton, QLabel)) else widget.accessibleName()
                names = f"{widget.objectName()} {text!r} {widget.toolTip()!r}"
                found.append(f"{type(widget).__name__} {names}: {reason}")
    return found


def _cut_reason(widget: QWidget) -> str:
    parent = widget.parentWidget()
    inside = parent is None or parent.rect().contains(widget.geometry())
    scrolled = isinstance(parent.parentWidget(), QAbstractScrollArea) and parent.parentWidget().viewport() is parent
    if not (inside or scrolled):
        return f"{widget.geometry()} is outside {parent.rect()}"
    ignored = widget.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Ignored
    ignores = ignored or isinstance(widget, ElidedLabel)
    if isinstance(widget, QLabel) and widget.wordWrap():
        needed = widget.heightForWidth(widget.width())
        return f"{widget.height()} px high, needs {needed}" if widget.height() < needed else ""
    if isinstance(widget, QLabel) and not (widget.text() or widget.pixmap()):
        return ""
    if isinstance(widget, (QComboBox, QAbstractSpinBox)):  # their hints hold the longest entry, not the shown one
        text = widget.currentText() if isinstance(widget, QComboBox) else widget.text()
        missing = widget.fontMetrics().horizontalAdvance(text) + _ARROWS - widget.width()
        return f"{missing} px too narrow for {text!r}" if missing > 0 else ""
    needed = widget.sizeHint()
    if not ignores and widget.width() < needed.width():
        return f"{widget.width()} px wide, needs {needed.width()}"
    return f"{widget.height()} px high, needs {needed.height()}" if widget.height() < needed.height() else ""


class _LayoutRequests(QObject):
    """Counter of the layouts that a window is requested to make."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.count = 0
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def layout_rounds(window: QWidget) -> int:
    """Process events until the window requests no layout. Return the number of rounds, `MOST_ROUNDS` at most."""
    requests = _LayoutRequests(window)
    for number in range(MOST_ROUNDS):
        requests.count = 0
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        if number and not requests.count:
            break
    else:
        number = MOST_ROUNDS
    window.removeEventFilter(requests)
    return number
