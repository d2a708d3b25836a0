"""Headline metrics of the evaluation of a UNet run: recall, false alarms and Dice, with their confidence."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.core.evaluation.evaluation_summary import ClassSummary, EvaluationSummary, RatePerImage
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.evaluation_texts import NOTHING


class HeadlineMetric(QWidget):
    """One metric: caption, value and confidence."""

    def __init__(self, caption: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        self.caption = QLabel(caption, objectName="muted")
        self.number = QLabel(NOTHING, objectName="metric")
        self.detail = QLabel(objectName="muted", wordWrap=True)
        for label in (self.caption, self.number, self.detail):
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)

    def set_value(self, number: str, detail: str) -> None:
        self.number.setText(number)
        self.detail.setText(detail)
        self.setAccessibleName(f"{self.caption.text()}: {number}, {detail}")


class HeadlineMetrics(QWidget):
    """Metrics of all classes, or of one."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        self.recall = HeadlineMetric(self.tr("Recall"))
        self.false_alarms = HeadlineMetric(self.tr("False alarms per image"))
        self.dice = HeadlineMetric(self.tr("Dice"))
        self.recall.setToolTip(
            self.tr(
                "A labeled defect counts as detected if predictions cover at least 10% of it. The interval is "
                "a Wilson interval."
            )
        )
        self.false_alarms.setToolTip(
            self.tr(
                "Predicted regions that touch no labeled defect. The interval accounts for images of the same "
                "part being similar."
            )
        )
        self.dice.setToolTip(
            self.tr("Dice and IoU over the pixels of all images. Good images without predictions do not count.")
        )
        for metric in (self.recall, self.false_alarms, self.dice):
            column.addWidget(metric)

    def show_metrics(self, metrics: EvaluationSummary, class_id: int | None) -> None:
        row = next((row for row in metrics.classes if row.class_id == class_id), None)
        summary: EvaluationSummary | ClassSummary = metrics if row is None else row
        self.recall.set_value(evaluation_texts.share(summary.found), evaluation_texts.counted(summary.found))
        false = summary.false or RatePerImage(0, 0, None)
        detail = evaluation_texts.rate_counted(false)
        if row is None and metrics.good and metrics.good < metrics.images:
            good = self.tr("good images: {rate}").format(rate=evaluation_texts.rate(metrics.false_on_good))
            detail = formatting.clauses(detail, good)
        self.false_alarms.set_value(evaluation_texts.rate(false), detail)
        detail = f"IoU {evaluation_texts.score(summary.iou)}"
        if row is None and metrics.dice_interval:  # of Dice, so it stands before the IoU
            low, high = (evaluation_texts.score(edge) for edge in metrics.dice_interval)
            detail = formatting.clauses(self.tr("95% CI: {range}").format(range=f"{low}–{high}"), detail)
        self.dice.set_value(evaluation_texts.score(summary.dice), detail)

    def clear(self) -> None:
        for metric in (self.recall, self.false_alarms, self.dice):
            metric.set_value(NOTHING, "")
