"""Six short explanations beside the controls of the window, for the first project and from the menu Help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from workbench.core.text_patterns import fill
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import in_column, in_row

_WIDTH, _GAP, _RING = 300, 12, 4  # px: of the explanation, to its control, around the control


@dataclass(frozen=True)
class CoachMark:
    """Explanation of a control. text: returns it, as it may name an image of the user."""

    control: QWidget
    title: str
    text: Callable[[], str]


class _Ring(QWidget):
    """Frame around a control; transparent to the pointer."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().highlight().color(), 2.5))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1.5, 1.5, -1.5, -1.5), 6, 6)
        painter.end()


class CoachMarks(QFrame):
    """Explanation that moves from control to control. It blocks nothing: every control can be used meanwhile."""

    ended = Signal()

    def __init__(self, window: QWidget, marks: Sequence[CoachMark], then_focus: QWidget) -> None:
        super().__init__(window, objectName="card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAutoFillBackground(True)
        self._marks, self._then_focus, self.number = tuple(marks), then_focus, -1
        self._ring = _Ring(window)
        self.title, self.text = QLabel(objectName="heading", wordWrap=True), QLabel(wordWrap=True)
        for label in (self.title, self.text):
            label.setTextFormat(Qt.TextFormat.PlainText)  # names of images are user input
        self.place = QLabel(objectName="muted")
        self.skip = QPushButton(self.tr("Skip"), objectName="link", clicked=self.end)
        self.next = QPushButton(objectName="primary", clicked=self.go_on)
        in_column(
            self.title, self.text, in_row(self.place, 1, self.skip, self.next, spacing=8),
            owner=self, margins=(14, 12, 14, 12), spacing=8,
        )  # fmt: skip
        self.setFixedWidth(_WIDTH)
        self.hide()
        window.installEventFilter(self)

    def start(self) -> None:
        """Show the first explanation."""
        self.number = -1
        self.go_on()

    def go_on(self) -> None:
        """Show the next explanation whose control is visible, or end."""
        count = len(self._marks)
        visible = (n for n in range(self.number + 1, count) if self._marks[n].control.isVisible())
        self.number = next(visible, count)
        if self.number == count:
            self.end()
            return
        mark = self._marks[self.number]
        self.title.setText(mark.title)
        self.text.setText(mark.text())
        self.place.setText(self.tr("{number} of {count}").format(number=self.number + 1, count=count))
        self.skip.setVisible(self.number + 1 < count)
        self.next.setText(self.tr("Next") if self.number + 1 < count else self.tr("Done"))
        self._arrange()
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def end(self) -> None:
        """Hide the explanations."""
        if not self.isHidden():
            self.hide()
            self._ring.hide()
            self._then_focus.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._arrange()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)

    def _arrange(self) -> None:
        """Place frame and explanation: beside the control, where the window has room, without covering it."""
        window, control = self.parentWidget(), self._marks[self.number].control
        area = QRect(control.mapTo(window, QPoint()), control.size()) & window.rect()
        self._ring.setGeometry(area.adjusted(-_RING, -_RING, _RING, _RING))
        self.resize(_WIDTH, self.heightForWidth(_WIDTH) if self.hasHeightForWidth() else self.sizeHint().height())
        self.move(_place(area, self.rect(), window.rect()))
        for widget in (self._ring, self):
            widget.show()
            widget.raise_()


def first_marks(context: CommandContext, next_step: QWidget, done: QWidget) -> list[CoachMark]:
    """Return the explanations of what a first project needs, in the order of its use, with the user's images."""
    session = context.session

    def name() -> str:
        return PurePosixPath(session.key or "").name

    def images() -> str:
        text = QCoreApplication.translate("CoachMarks", "{n} {n:image is|images are} listed here. {image} is open.")
        return fill(text, n=number(len(session.keys)), image=name())

    def canvas() -> str:
        text = QCoreApplication.translate(
            "CoachMarks", "Paint the defects of {image} with the brush, or with another tool on the left."
        )
        return text.format(image=name())

    texts = {
        "step": QCoreApplication.translate("CoachMarks", "This button always names what helps most, and does it."),
        "classes": QCoreApplication.translate("CoachMarks", "Choose the class that you paint. + adds another one."),
        "done": QCoreApplication.translate(
            "CoachMarks", "Marks the image as done and opens the next one. Unpainted, it is good."
        ),
        "train": QCoreApplication.translate(
            "CoachMarks", "Two images with defects and ten good images are enough for a training."
        ),
    }
    return [
        CoachMark(context.images.pages, QCoreApplication.translate("CoachMarks", "Your images"), images),
        CoachMark(next_step, QCoreApplication.translate("CoachMarks", "Next step"), lambda: texts["step"]),
        CoachMark(context.classes, QCoreApplication.translate("CoachMarks", "Classes"), lambda: texts["classes"]),
        CoachMark(context.canvas, QCoreApplication.translate("CoachMarks", "Paint"), canvas),
        CoachMark(done, QCoreApplication.translate("CoachMarks", "Done"), lambda: texts["done"]),
        CoachMark(
            context.training.controls.button, QCoreApplication.translate("CoachMarks", "Train"), lambda: texts["train"]
        ),
    ]


def _place(control: QRect, box: QRect, window: QRect) -> QPoint:
    """Return the corner for a box beside a control; inside its lower part if no side has room."""
    middle = control.center() - box.center()
    beside = [
        QPoint(control.right() + _GAP, middle.y()),
        QPoint(control.left() - _GAP - box.width(), middle.y()),
        QPoint(middle.x(), control.bottom() + _GAP),
        QPoint(middle.x(), control.top() - _GAP - box.height()),
    ]
    if control.height() < box.height():  # below a button it covers no other one of the row
        beside = beside[2:] + beside[:2]
    room = window.adjusted(_GAP, _GAP, -_GAP, -_GAP)

    def inside(corner: QPoint) -> QPoint:
        x = min(max(corner.x(), room.left()), room.right() - box.width())
        return QPoint(x, min(max(corner.y(), room.top()), room.bottom() - box.height()))

    free = (inside(corner) for corner in beside)
    free = (corner for corner in free if not box.translated(corner).intersects(control))
    return next(free, inside(QPoint(middle.x(), control.bottom() - box.height() - _GAP)))
