"""Messages about events, problems and advice.

They float over the image or the content of a page, so that nothing moves during painting and no control is covered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from workbench.ui.shortcuts import with_key
from workbench.ui.text.formatting import problem_text
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import IconLabel
from workbench.ui.widgets.theme import ThemeManager

MAX_WIDTH = 440  # px
_LEAST_WIDTH = 320  # px, in a very narrow area
_LONG = 80  # characters of a text above which the buttons are below it
_GAP = 10  # px, to the lower left corner of the area
MAX_MESSAGES = 3  # that stay; the oldest is removed first
# Of "info" and "success", without and with a button, ms. Counted while the window is active and the pointer elsewhere.
_TIMEOUT, _BUTTON_TIMEOUT = 4000, 9000
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)  # of an area
_ICONS = {
    "info": ("info", "accent"),
    "success": ("success", "success"),
    "warning": ("warning", "warning"),
    "problem": ("error", "danger"),
}


class MessageBar(QWidget):
    """Messages at the lower left of the shown one of several areas. The same text is shown once.

    "info" and "success" disappear after some seconds, and there is one of them at a time; "warning" and "problem" stay
    until they are closed or withdrawn.
    """

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._place = QTimer(self, singleShot=True, interval=0)  # once the layout is complete
        self._place.timeout.connect(self._update_geometry)
        self._areas: Callable[[], Sequence[QWidget]] = tuple
        self._column = in_column(owner=self, margins=0, spacing=6)
        self.shown: list[BarMessage] = []
        self.hide()

    def float_over(self, parent: QWidget, areas: Callable[[], Sequence[QWidget]]) -> None:
        """Place the messages over a widget from now on.

        areas: returns descendants of it; the messages are in the first visible one, and in the widget if there is none.
        """
        self.setParent(parent)
        self._areas = areas
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES and self.shown:
            self._place.start()
        return super().eventFilter(watched, event)

    def _update_geometry(self) -> None:
        parent = self.parentWidget()
        if parent is None or not self.shown:
            return
        areas = self._areas()
        for area in areas:  # some are created later
            area.installEventFilter(self)
        area = next((area for area in areas if area.isVisible()), parent)
        corner = area.mapTo(parent, QPoint()) if area is not parent else QPoint()
        width = min(MAX_WIDTH, max(area.width() - 2 * _GAP, _LEAST_WIDTH))
        left = min(max(corner.x() + _GAP, 0), max(0, parent.width() - width))
        height = sum(m.heightForWidth(width) for m in self.shown) + self._column.spacing() * (len(self.shown) - 1)
        self.setGeometry(left, max(corner.y(), corner.y() + area.height() - _GAP - height), width, height)
        self.raise_()

    @property
    def texts(self) -> list[str]:
        return [message.full_text for message in self.shown]

    def problem(self, problem: Exception) -> None:
        """Show a problem. The message stays until the user closes it."""
        text, advice = problem_text(problem)
        self.show_message("problem", text, advice)

    def show_message(
        self,
        kind: str,
        text: str,
        advice: str = "",
        *,
        button: str = "",
        callback: Callable[[], None] | None = None,
        topic: str = "",
        buttons: Sequence[tuple[str, Callable[[], None]]] = (),
        sticky: bool = False,
        lasting: bool = False,
    ) -> None:
        """Show a message.

        kind: info | success | warning | problem. topic: a message with the same topic or text is replaced. buttons:
        further ones, (text, function), from left to right. sticky: the message stays until it is withdrawn. lasting: it
        stays until it is closed.
        """
        brief = kind in ("info", "success") and not sticky and not lasting
        same = next((m for m in self.shown if topic and m.topic == topic), None)
        if sticky and same is not None and same.sticky and same.set_texts(text, advice):
            self._update_geometry()  # replacing the texts keeps the focus on its buttons
            return
        replaced = [m for m in self.shown if (topic and m.topic == topic) or (m.text, m.advice) == (text, advice)]
        for old in dict.fromkeys(replaced + [m for m in self.shown if brief and m.brief]):
            self._remove(old)
        while len(self.shown) >= MAX_MESSAGES and (oldest := next((m for m in self.shown if not m.sticky), None)):
            self._remove(oldest)
        message = BarMessage(self._style, kind, text, advice, topic)
        message.close_button.clicked.connect(lambda: self._remove(message))
        if button and callback is not None:
            message.add_button(button, callback)
        for text, call in buttons:
            message.add_button(text, call)
        if sticky:
            message.sticky = True
            message.close_button.hide()
        self._column.addWidget(message)
        self.shown.append(message)
        self.show()
        self._update_geometry()
        if brief:
            message.brief = True
            message.start_timer(_BUTTON_TIMEOUT if button or buttons else _TIMEOUT, lambda: self._remove(message))

    def withdraw(self, topic: str) -> None:
        """Remove the messages of a topic that no longer apply."""
        for message in [m for m in self.shown if m.topic == topic]:
            self._remove(message)

    def dismiss(self) -> bool:
        """Close the newest message that the user may close. Return False if there is none."""
        newest = next((message for message in reversed(self.shown) if not message.sticky), None)
        if newest is not None:
            self._remove(newest)
        return newest is not None

    def clear(self) -> None:
        for message in list(self.shown):
            self._remove(message)

    def _remove(self, message: BarMessage) -> None:
        if message in self.shown:
            self.shown.remove(message)
            self._column.removeWidget(message)
            message.hide()
            message.deleteLater()
        self.setVisible(bool(self.shown))
        self._update_geometry()


class BarMessage(QFrame):
    """One message."""

    def __init__(self, style: ThemeManager, kind: str, text: str, advice: str, topic: str) -> None:
        super().__init__()
        self.text, self.advice, self.topic = text, advice, topic
        self.sticky = self.brief = False
        self._timer: QTimer | None = None
        self._labels: dict[str, QLabel] = {}
        self.setObjectName("message")
        self.setProperty("kind", kind)
        self.setAccessibleName(self.full_text)
        texts = in_column(spacing=1)
        for name, content in (("messageText", text), ("advice", advice)):
            if content:
                label = QLabel(content, objectName=name, wordWrap=True)
                label.setTextFormat(Qt.TextFormat.PlainText)  # the text may quote a file
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                texts.addWidget(label)
                self._labels[name] = label
        self.close_button = QToolButton(icon=style.icon("close", "muted"))
        self.close_button.setToolTip(with_key(self.tr("Close message"), "cancel"))
        self.close_button.setAccessibleName(self.tr("Close message"))
        row = in_row(IconLabel(style.icon(*_ICONS[kind]), 20), (texts, 1), spacing=10)
        self._buttons, below = in_row(spacing=8), in_row(1, spacing=0)
        (row if len(self.full_text) <= _LONG else below).addLayout(self._buttons)
        row.addWidget(self.close_button)
        in_column(row, below, owner=self, margins=(10, 7, 6, 7), spacing=6)

    def start_timer(self, milliseconds: int, on_end: Callable[[], None]) -> None:
        """Call `on_end` after some time without the pointer over the message, or at a press beside its buttons."""
        for label in self._labels.values():  # it may cover a defect: a press that is meant for the image removes it
            label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self._timer = QTimer(self, singleShot=True, interval=milliseconds, timeout=lambda: self._end(on_end))
        self._timer.start()

    def _end(self, on_end: Callable[[], None]) -> None:
        # No effect fades the message out: Qt warns of effects of widgets that are painted into a picture or are hidden.
        if self.isVisible() and not self.isActiveWindow():  # nobody has read it
            self._timer.start()
        else:
            on_end()

    def mousePressEvent(self, event) -> None:
        if self.brief:
            self.close_button.click()

    def enterEvent(self, event) -> None:
        if self._timer is not None:
            self._timer.stop()

    def leaveEvent(self, event) -> None:
        if self._timer is not None:
            self._timer.start()

    @property
    def full_text(self) -> str:
        return " ".join(filter(None, (self.text, self.advice)))

    def set_texts(self, text: str, advice: str) -> bool:
        """Replace the texts in place. Return False if the set of empty texts differs."""
        if set(self._labels) != {name for name, content in (("messageText", text), ("advice", advice)) if content}:
            return False
        self.text, self.advice = text, advice
        for name, content in (("messageText", text), ("advice", advice)):
            if name in self._labels:
                self._labels[name].setText(content)
        self.setAccessibleName(self.full_text)
        return True

    def add_button(self, text: str, callback: Callable[[], None]) -> None:
        self._buttons.addWidget(QPushButton(text, clicked=lambda: callback()), 0, Qt.AlignmentFlag.AlignVCenter)
