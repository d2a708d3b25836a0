"""Side panel of an evaluation, and headline figures with their confidence."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.core.evaluation.figures import METRICS, Figures
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.evaluation_texts import NOTHING
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.text_labels import text_scale

_WIDTH, _MOST_WIDTH = 312, 400  # px


class EvaluationSide(QScrollArea):
    """Side panel of an evaluation. items: from top to bottom."""

    def __init__(self, *items: QWidget) -> None:
        super().__init__(objectName="side", widgetResizable=True)
        body = QWidget(objectName="panel")
        in_column(*items, 1, owner=body, margins=(16, 12, 16, 12), spacing=11)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Metrics and operating point"))
        self.setWidget(body)
        self.setFixedWidth(min(round(_WIDTH * text_scale()), _MOST_WIDTH))


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

    def show_figure(self, caption: str, number: str, detail: str) -> None:
        self.caption.setText(caption)
        self.set_value(number, detail)

    def set_value(self, number: str, detail: str) -> None:
        self.number.setText(number)
        self.detail.setText(detail)
        self.setAccessibleName(f"{self.caption.text()}: {number}, {detail}")


class HeadlineMetrics(QWidget):
    """Main figures of all classes, or of one. Those about the class are hidden if there is only one.

    ids: of the metrics.
    """

    def __init__(self, *ids: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        self.metrics = {id: HeadlineMetric(evaluation_texts.column(id).replace("\n", " ")) for id in ids}
        for id, metric in self.metrics.items():
            metric.setToolTip(evaluation_texts.tip(id))
            column.addWidget(metric)

    def show_figures(self, figures: Figures, class_id: int | None) -> None:
        """Show the figures of a class; None: of any defect."""
        for id, metric in self.metrics.items():
            whole = "any" if "any" in METRICS[id].scopes else "mean"
            figure = figures.get(id, whole) if class_id is None else figures.get(id, "class", class_id)
            detail = evaluation_texts.explanation(figure)
            if id == "false_alarms" and class_id is None and 0 < figures.good < figures.images:
                good = figures.get(id, "good")
                good_text = self.tr("good images: {rate}").format(rate=evaluation_texts.value(good))
                detail = formatting.clauses(detail, good_text)
            metric.show_figure(evaluation_texts.name(figure), evaluation_texts.headline(figure), detail)
            metric.setVisible(len(figures.classes) > 1 or id != "recall_right_class")

    def clear(self) -> None:
        for metric in self.metrics.values():
            metric.set_value(NOTHING, "")


def split_text(split: str, images: int) -> str:
    """Return the name of a data split, "val+test" for both, with its number of images."""
    names = {
        "val": QCoreApplication.translate("SplitChoice", "Validation images"),
        "test": QCoreApplication.translate("SplitChoice", "Test images"),
    }
    name = names.get(split, QCoreApplication.translate("SplitChoice", "Validation/test images"))
    return f"{name} ({formatting.number(images)})"
