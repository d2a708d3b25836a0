"""Side panel of an evaluation: headline figures with their confidence, and first panel of the evaluation of a UNet.

That has OK and NG images by label and verdict, their errors, and what these cost.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from workbench.core.evaluation.figures import METRICS, Figures
from workbench.core.evaluation.image_confusion import ImageConfusion
from workbench.core.evaluation.image_ranking import GroupedProportion
from workbench.core.text_patterns import fill
from workbench.inference.verdict_rule import BAD, GOOD, UNSURE
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.evaluation_texts import NOTHING
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.text_labels import set_disabled_reason, text_scale

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


# --- confusion of images --------------------------------------------------------------------------


_VERDICTS = (GOOD, UNSURE, BAD)
_CELL = 40  # px, least width of a cell: three fit into the panel


class ImageConfusionPanel(QWidget):
    """Confusion of OK and NG per image. `cell_chosen`: whether a defect is labeled, and the verdict of the images."""

    cell_chosen = Signal(bool, str)

    def __init__(self) -> None:
        super().__init__()
        self.confusion: ImageConfusion | None = None
        self._ratio: float | None = None
        self.cells: dict[tuple[bool, str], QPushButton] = {}
        self._heads: dict[str, QLabel] = {}
        self.missed = HeadlineMetric(self.tr("Missed defective images"))
        self.missed.setToolTip(self.tr("Images with a labeled defect that get the verdict of a good image"))
        self.false = HeadlineMetric(self.tr("False alarms on good images"))
        self.false.setToolTip(self.tr("Images without a labeled defect that are rejected"))
        self.note = QLabel(objectName="muted", wordWrap=True)
        self.cost = QLabel(objectName="muted", wordWrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        column.addLayout(self._grid())
        for widget in (self.note, self.missed, self.false, self.cost):
            column.addWidget(widget)
        self.cost.hide()  # until the cost of a missed image is known

    def _grid(self) -> QGridLayout:
        grid = self._cells = QGridLayout()
        grid.setSpacing(4)
        grid.addWidget(QLabel(self.tr("Label ↓  Verdict →"), objectName="muted"), 0, 0)
        names = {GOOD: self.tr("OK"), UNSURE: self.tr("Unsure"), BAD: self.tr("NG")}
        group = QButtonGroup(self)
        for column, verdict in enumerate(_VERDICTS, start=1):
            head = self._heads[verdict] = QLabel(names[verdict], alignment=Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(head, 0, column)
            grid.setColumnStretch(column, 1)
            for row, defective in enumerate((False, True), start=1):
                right = verdict == (BAD if defective else GOOD)
                name = "cellUnsure" if verdict == UNSURE else "cellRight" if right else "cellWrong"
                button = self.cells[defective, verdict] = QPushButton("–", objectName=name, checkable=True)
                button.setMinimumWidth(_CELL)
                button.clicked.connect(lambda _=False, cell=(defective, verdict): self.cell_chosen.emit(*cell))
                group.addButton(button)
                grid.addWidget(button, row, column)
        grid.addWidget(QLabel(self.tr("Good")), 1, 0)
        grid.addWidget(QLabel(self.tr("Defective")), 2, 0)
        return grid

    def clear(self) -> None:
        self.confusion = None
        for metric in (self.missed, self.false):
            metric.set_value(evaluation_texts.NOTHING, "")
        self.setEnabled(False)

    def show_confusion(self, confusion: ImageConfusion, *, ruled: bool) -> None:
        """Show the images of an evaluation. ruled: the verdicts are those of a rule."""
        self.confusion = confusion
        self.setEnabled(True)
        unsure = any(verdict == UNSURE for _, verdict in confusion.cells)
        for (defective, verdict), button in self.cells.items():
            count = len(confusion.cells.get((defective, verdict), ()))
            button.setText(formatting.number(count))
            pattern = self.tr("{n} defective {n:image|images}") if defective else self.tr("{n} good {n:image|images}")
            name = f"{fill(pattern, n=count)}: {self._heads[verdict].text()}"
            button.setAccessibleName(name)
            button.setToolTip(self.tr("{images}. Click to see them.").format(images=name) if count else name)
            set_disabled_reason(button, "" if count else self.tr("No such images at this operating point"))
            button.setVisible(verdict != UNSURE or unsure)
        self._heads[UNSURE].setVisible(unsure)
        self._cells.setColumnStretch(1 + _VERDICTS.index(UNSURE), int(unsure))
        self.note.setText(self.tr("Without a verdict rule an image with a region is NG."))
        self.note.setVisible(not ruled)
        self._show_errors(self.missed, confusion.missed, self.tr("no defective image held out"))
        self._show_errors(self.false, confusion.false, self.tr("no good image held out"))
        if self._ratio is not None:
            self.show_cost(self._ratio)

    def _show_errors(self, metric: HeadlineMetric, errors: GroupedProportion, none: str) -> None:
        if errors.value is None:
            metric.set_value(self.tr("Not measured"), none)
            return
        number = self.tr("{n} of {total}  ·  {share}").format(
            n=formatting.number(errors.hits),
            total=formatting.number(errors.total),
            share=formatting.percent(errors.value),
        )
        metric.set_value(number, evaluation_texts.stated(errors.stated, evaluation_texts.between))

    def show_cost(self, ratio: float) -> None:
        """Show the cost of the errors. ratio: cost of a missed defective image in false alarms."""
        self._ratio = ratio
        if self.confusion is not None:
            text = self.tr("Cost of these errors: {cost} false {cost:alarm|alarms}; a missed image counts as {ratio}")
            shown = {"cost": round(self.confusion.cost(ratio), 1), "ratio": ratio}
            self.cost.show()
            self.cost.setText(fill(text, **{name: formatting.number(n, n % 1 > 0) for name, n in shown.items()}))


def cell_text(defective: bool, verdict: str, images: int) -> str:
    """Return the name of a cell with its number of images, such as "Defective → NG  6"."""
    translate = QCoreApplication.translate
    label = translate("DefectBrowser", "Defective") if defective else translate("DefectBrowser", "Good")
    name = translate("DefectBrowser", "Unsure").lower() if verdict == UNSURE else verdict
    text = translate("DefectBrowser", "{label} → {verdict}  {n}")
    return text.format(label=label, verdict=name, n=formatting.number(images))
