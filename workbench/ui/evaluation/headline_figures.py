"""Summary of an evaluation: share of defects found, false alarms per image, Dice and IoU."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.core.evaluation.evaluation_summary import ClassSummary, EvaluationSummary, RatePerImage
from workbench.ui.text import evaluation_texts
from workbench.ui.text.evaluation_texts import NOTHING


class HeadlineFigure(QWidget):
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


class HeadlineFigures(QWidget):
    """Metrics of all classes, or of one."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        self.found = HeadlineFigure(self.tr("Defects found"))
        self.false = HeadlineFigure(self.tr("False alarms a picture"))
        self.pixels = HeadlineFigure(self.tr("Dice of the pixels"))
        self.found.setToolTip(
            self.tr(
                "A labeled defect counts as detected if predictions cover at least 10% of it. The interval is "
                "a Wilson interval."
            )
        )
        self.false.setToolTip(
            self.tr(
                "Predicted regions that touch no labeled defect. The interval accounts for images of the same "
                "part being similar."
            )
        )
        self.pixels.setToolTip(
            self.tr("Dice and IoU of all pictures together. Good pictures that are left empty earn nothing.")
        )
        for figure in (self.found, self.false, self.pixels):
            column.addWidget(figure)

    def show_figures(self, figures: EvaluationSummary, class_id: int | None) -> None:
        row = next((row for row in figures.classes if row.class_id == class_id), None)
        of: EvaluationSummary | ClassSummary = figures if row is None else row
        self.found.say(evaluation_texts.share(of.found), evaluation_texts.counted(of.found))
        false = of.false or RatePerImage(0, 0, None)
        detail = evaluation_texts.rate_counted(false)
        if row is None and figures.good and figures.good < figures.images:
            good = self.tr("on good pictures {rate}").format(rate=evaluation_texts.rate(figures.false_on_good))
            detail = f"{detail}; {good}"
        self.false.say(evaluation_texts.rate(false), detail)
        detail = f"IoU {evaluation_texts.score(of.iou)}"
        if row is None and figures.dice_interval:
            low, high = (evaluation_texts.score(edge) for edge in figures.dice_interval)
            detail += "; " + self.tr("95 % sure of {range}").format(range=f"{low}–{high}")
        self.pixels.say(evaluation_texts.score(of.dice), detail)

    def wait(self) -> None:
        for figure in (self.found, self.false, self.pixels):
            figure.say(NOTHING, "")
