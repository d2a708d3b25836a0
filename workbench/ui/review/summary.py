"""Summary of an evaluation: share of defects found, false alarms per image, Dice and IoU."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.core.review.figures import Figures, OfClass, Rate
from workbench.ui.review import sayings
from workbench.ui.review.sayings import NOTHING


class Figure(QWidget):
    """One metric: caption, value and confidence."""

    def __init__(self, caption: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        self.caption = QLabel(caption, objectName="muted")
        self.number = QLabel(NOTHING, objectName="figure")
        self.detail = QLabel(objectName="muted", wordWrap=True)
        for label in (self.caption, self.number, self.detail):
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)

    def say(self, number: str, detail: str) -> None:
        self.number.setText(number)
        self.detail.setText(detail)
        self.setAccessibleName(f"{self.caption.text()}: {number}, {detail}")


class Summary(QWidget):
    """Metrics of all classes, or of one."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        self.found = Figure(self.tr("Defects found"))
        self.false = Figure(self.tr("False alarms a picture"))
        self.pixels = Figure(self.tr("Dice of the pixels"))
        self.found.setToolTip(self.tr(
            "A labelled defect counts as found when predictions cover a tenth of it or more. The range is Wilson's."
        ))  # fmt: skip
        self.false.setToolTip(self.tr(
            "Marked regions that touch no labelled defect. The range heeds that pictures of one part are alike."
        ))  # fmt: skip
        self.pixels.setToolTip(self.tr(
            "Dice and IoU of all pictures together. Good pictures that are left empty earn nothing."
        ))  # fmt: skip
        for figure in (self.found, self.false, self.pixels):
            column.addWidget(figure)

    def show_figures(self, figures: Figures, class_id: int | None) -> None:
        row = next((row for row in figures.classes if row.class_id == class_id), None)
        of: Figures | OfClass = figures if row is None else row
        self.found.say(sayings.share(of.found), sayings.counted(of.found))
        false = of.false or Rate(0, 0, None)
        detail = sayings.rate_counted(false)
        if row is None and figures.good and figures.good < figures.pictures:
            good = self.tr("on good pictures {rate}").format(rate=sayings.rate(figures.false_on_good))
            detail = f"{detail}; {good}"
        self.false.say(sayings.rate(false), detail)
        detail = f"IoU {sayings.score(of.iou)}"
        if row is None and figures.dice_interval:
            low, high = (sayings.score(edge) for edge in figures.dice_interval)
            detail += "; " + self.tr("95 % sure of {range}").format(range=f"{low}–{high}")
        self.pixels.say(sayings.score(of.dice), detail)

    def wait(self) -> None:
        for figure in (self.found, self.false, self.pixels):
            figure.say(NOTHING, "")
