"""Questions of an import: which image a mask belongs to, and whether implausible masks are meant so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.core.project.import_plan import PlannedQuestion
from workbench.core.project.plausibility import Concern
from workbench.core.text_patterns import fill
from workbench.ui.text.formatting import capitalized, number
from workbench.ui.text.message_translation import translate_message
from workbench.ui.widgets.icon_label import IconLabel
from workbench.ui.widgets.theme import ThemeManager

_HEIGHT = 44  # px, of the example pictures
_MOST_HEIGHT = 120  # px, of the answers, which scroll
_SHOWN = 2  # example pairs of an answer


class MaskQuestion(QWidget):
    """Possible answers to a question about masks, with example pairs; hidden if nothing is open."""

    answered = Signal(str)  # rule

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, QRadioButton] = {}
        self._title = QLabel(
            self.tr("To which images do these masks belong? They are not imported before you choose."), wordWrap=True
        )
        answers = QWidget()
        self._grid = QGridLayout(answers)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setColumnStretch(2, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._title)
        area = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(self.tr("Possible answers"))
        area.setFixedHeight(_MOST_HEIGHT)
        area.setWidget(answers)
        column.addWidget(area)
        self.hide()

    def show_questions(self, questions: Sequence[PlannedQuestion]) -> None:
        """Show the possible answers."""
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.buttons.clear()
        for row, question in enumerate(questions):
            text = self.tr("{answer} ({n} {n:mask|masks})")
            answer = capitalized(translate_message(question.text)).rstrip(".\u3002")
            button = QRadioButton(fill(text, answer=answer, n=number(question.count)))
            button.clicked.connect(lambda _=False, rule=question.rule: self.answered.emit(rule))
            self.buttons[question.rule] = button
            self._grid.addWidget(button, row, 0)
            self._grid.addWidget(_Examples(question), row, 1)
        self.setVisible(bool(questions))


class _Examples(QWidget):
    """Example pairs of image and mask, side by side."""

    def __init__(self, question: PlannedQuestion) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for image, mask in question.examples[:_SHOWN]:
            for picture in (image, mask):
                if picture is not None:
                    label = QLabel()
                    label.setPixmap(_pixmap(picture))
                    row.addWidget(label)
            row.addSpacing(12)
        row.addStretch(1)


def _pixmap(picture: np.ndarray) -> QPixmap:
    rgb = picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
    data = np.ascontiguousarray(rgb.astype(np.uint8))
    height, width = data.shape[:2]
    image = QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
    return QPixmap.fromImage(image.scaledToHeight(_HEIGHT, Qt.TransformationMode.SmoothTransformation))


class ConcernList(QWidget):
    """Doubts about the labels, each with the click that changes it; hidden if there are none."""

    invert_requested = Signal()
    class_left_out = Signal(str)  # name in the labels

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self.buttons: list[QPushButton] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.hide()

    def show_concerns(self, concerns: Sequence[Concern]) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.buttons = []
        for concern in concerns:
            self._column.addWidget(self._row(concern))
        self.setVisible(bool(concerns))

    def _row(self, concern: Concern) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(IconLabel(self._style.icon("warning", "warning"), 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(QLabel(f"{capitalized(translate_message(concern.text))}.", wordWrap=True), 1)
        if concern.kind in ("inverted", "whole_image"):
            inverted = concern.kind == "inverted"
            button = QPushButton(self.tr("Invert the masks") if inverted else self.tr("Leave out this class"))
            button.setAutoDefault(False)
            if inverted:
                button.clicked.connect(self.invert_requested)
            else:
                button.clicked.connect(lambda: self.class_left_out.emit(concern.class_name))
            self.buttons.append(button)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return line
