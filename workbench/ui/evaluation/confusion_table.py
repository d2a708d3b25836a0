"""Confusion matrix of verdicts or of regions, with selectable cells and recalls; side panel of an evaluation.

That has headline figures with their confidence; of a UNet first OK and NG images by label and verdict, their errors,
and what these cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QStyledItemDelegate,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.figure_texts import region_confusion
from workbench.core.evaluation.figures import METRICS, Figure, Figures
from workbench.core.evaluation.split_evaluation import ImageConfusion
from workbench.core.evaluation.verdict_rules import GroupedProportion
from workbench.core.text_patterns import fill
from workbench.inference.verdict_rule import BAD, GOOD, UNSURE
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.evaluation_texts import NOTHING
from workbench.ui.text.image_texts import shown_verdict
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.item_views import show_as_metrics
from workbench.ui.widgets.text_labels import set_disabled_reason, text_scale
from workbench.ui.widgets.theme import ThemeManager

_ROW = 32  # px
_NARROWEST, _NARROW, _WIDEST = 46, 64, 92  # px, width of a cell: with short names, with long names, at most
_NAMES, _RECALL = 170, 130  # px, columns of labels, at least and at most double, and of recalls
_GAP = 8  # px, between a label and the cells
_TALLEST = 420  # px
_CENTER = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class _LabelDelegate(QStyledItemDelegate):
    """Delegate that keeps a gap between a label and the colored cells."""

    def initStyleOption(self, option, index) -> None:
        super().initStyleOption(option, index)
        option.rect.setRight(option.rect.right() - _GAP)


class ConfusionTable(QTableWidget):
    """Confusion matrix: a row for each label, a column for each prediction, and a column of recalls.

    `cell_chosen` follows the current cell, moved by mouse or arrow keys.
    """

    cell_chosen = Signal(str, str)  # labeled, predicted

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._labels: list[str] = []
        self._predictions: list[str] = []
        self._rows: list[list[int]] = []
        self._recalls: list[Figure | None] = []  # of each row
        self._regions = False  # regions are counted, not images
        show_as_metrics(self, self.tr("Confusion matrix"), row_height=_ROW)
        self.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(_NARROWEST)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setItemDelegateForColumn(0, _LabelDelegate(self))
        self.currentCellChanged.connect(self._cell_changed)
        style.changed.connect(self._fill)

    @property
    def cell(self) -> tuple[str, str] | None:
        """Label and prediction of the selected cell."""
        index = self.index
        return None if index is None else (self._labels[index[0]], self._predictions[index[1]])

    @property
    def index(self) -> tuple[int, int] | None:
        """Row and column of the selected cell in the matrix."""
        row, column = self.currentRow(), self.currentColumn() - 1
        return (row, column) if row >= 0 and 0 <= column < len(self._predictions) else None

    def show_verdicts(self, figures: Figures) -> None:
        """Show images by verdict. The selection stays if the verdicts are the same."""
        names = list(figures.classes)
        rows = [[figures.confusion.get((label, name), 0) for name in names] for label in names]
        self._show(names, names, rows, [figures.get("verdict_recall", "verdict", name) for name in names])

    def show_regions(self, figures: Figures, names: Sequence[str]) -> None:
        """Show regions by class. names: of the classes, in the order of the model."""
        self._regions = True
        recalls = [figures.get("recall_right_class", "class", id) for id in figures.classes]
        labels, predictions = [*names, self.tr("background")], [*names, self.tr("missed")]
        self._show(labels, predictions, region_confusion(figures)["rows"], [*recalls, None])

    def _show(
        self,
        labels: list[str],
        predictions: list[str],
        rows: list[list[int]],
        recalls: list[Figure | None],
    ) -> None:
        cell = self.cell
        self._labels, self._predictions, self._rows, self._recalls = labels, predictions, rows, recalls
        self._fill()
        self.select_cell(*(cell or ("", "")))

    def select_cell(self, label: str, prediction: str) -> None:
        """Select a cell, or none if it is unknown, without emitting `cell_chosen`."""
        known = label in self._labels and prediction in self._predictions
        place = (self._labels.index(label), self._predictions.index(prediction) + 1) if known else (-1, -1)
        with QSignalBlocker(self):
            self.clearSelection()
            self.setCurrentCell(*place)

    def cell_rect(self, label: str, prediction: str) -> QRect:
        """Return the rectangle of a cell in the viewport."""
        return self.visualItemRect(self.item(self._labels.index(label), self._predictions.index(prediction) + 1))

    def _cell_changed(self, *_: int) -> None:
        if self.cell is not None:
            self.cell_chosen.emit(*self.cell)

    # --- content ---------------------------------------------------------------------------------

    def _fill(self) -> None:
        theme = self._style.theme
        with QSignalBlocker(self):
            row, column = self.currentRow(), self.currentColumn()
            self.clear()
            self.setRowCount(len(self._labels))
            self.setColumnCount(len(self._predictions) + 2)
            recall = next((evaluation_texts.column(figure.id) for figure in self._recalls if figure), "")
            heads = [self.tr("Label ↓  Prediction →"), *self._predictions, recall]
            for number, text in enumerate(heads):
                head = QTableWidgetItem(text)
                head.setToolTip(text)
                head.setTextAlignment(_CENTER if number else _LEFT)
                self.setHorizontalHeaderItem(number, head)
            for number, name in enumerate(self._labels):
                self.setItem(number, 0, _fixed(name, theme.color("text")))
                self._fill_row(number)
                self._fill_recall(number)
            self.setCurrentCell(row, column)
        self._fit_columns()
        self.setMinimumHeight(min(self._whole_height(), _TALLEST))
        self.setMaximumHeight(self._whole_height())
        self.setMaximumWidth(self.sizeHint().width())

    def _fill_row(self, row: int) -> None:
        theme, counts = self._style.theme, self._rows[row]
        total = max(1, sum(counts))
        for column, count in enumerate(counts):
            item = QTableWidgetItem(str(count) if count else "·")
            item.setTextAlignment(_CENTER)
            item.setForeground(theme.color("text" if count else "disabled"))
            right = self._labels[row] == self._predictions[column]
            # Errors are rare and must be visible, so their color grows with the square root of the share.
            share = count / total if right else (count / total) ** 0.5
            role = "success" if right else "danger"
            item.setBackground(QBrush(theme.color(role, round(40 + 120 * share)) if count else theme.color("base")))
            item.setToolTip(self._tip(self._labels[row], self._predictions[column], count))
            self.setItem(row, column + 1, item)

    def _fill_recall(self, row: int) -> None:
        figure, theme = self._recalls[row], self._style.theme
        if figure is None or figure.value is None:
            item = _fixed("" if figure is None else self.tr("no labels"), theme.color("muted"))
        else:
            item = _fixed(evaluation_texts.value(figure), theme.color("text"))
        item.setTextAlignment(_CENTER)
        if figure is not None:
            item.setToolTip(f"{evaluation_texts.tip(figure.id)}\n{evaluation_texts.detail(figure)}")
        self.setItem(row, len(self._predictions) + 1, item)

    def _tip(self, label: str, prediction: str, count: int) -> str:
        if self._regions:
            texts = (
                self.tr("{n} {n:region|regions} labeled {label} and predicted correctly"),
                self.tr("{n} {n:region|regions}; label: {label}, prediction: {predicted}"),
            )
        else:
            texts = (
                self.tr("{n} {n:image|images} labeled {label} and predicted correctly"),
                self.tr("{n} {n:image|images} labeled {label} but predicted as {predicted}"),
            )
        return fill(texts[label != prediction], n=count, label=label, predicted=prediction)

    # --- geometry --------------------------------------------------------------------------------

    def _cells(self) -> int:
        return max(2, len(self._predictions))

    def _names_width(self) -> int:
        if not self.columnCount():
            return _NAMES
        labels = min(self.sizeHintForColumn(0) + _GAP, 2 * _NAMES)
        return max(_NAMES, self.horizontalHeader().sectionSizeHint(0), labels)

    def _narrowest(self) -> int:
        """Return the least width of a cell: that of the longest predicted verdict, within limits."""
        header, scale = self.horizontalHeader(), text_scale()
        names = [header.sectionSizeHint(column) for column in range(1, self.columnCount() - 1)]
        return min(round(_NARROW * scale), max([round(_NARROWEST * scale), *names]))

    def _widest(self) -> int:
        return round(_WIDEST * text_scale())

    def _whole_height(self) -> int:
        return self.horizontalHeader().sizeHint().height() + max(2, len(self._labels)) * _ROW + 4

    def minimumSizeHint(self) -> QSize:
        width = self._names_width() + min(self._cells(), 5) * self._narrowest() + _RECALL + 2
        return QSize(width, min(self._whole_height(), _TALLEST))

    def sizeHint(self) -> QSize:
        return QSize(self._names_width() + self._cells() * self._widest() + _RECALL + 2, self._whole_height())

    def _fit_columns(self) -> None:
        count = len(self._predictions)
        width = (self.viewport().width() - self._names_width() - _RECALL) // max(1, count)
        self.setColumnWidth(0, self._names_width())
        for column in range(1, count + 1):
            self.setColumnWidth(column, min(self._widest(), max(self._narrowest(), width)))
        self.setColumnWidth(count + 1, _RECALL)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit_columns()


def _fixed(text: str, color) -> QTableWidgetItem:
    """Return a table item that cannot be selected."""
    item = QTableWidgetItem(text)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setForeground(color)
    item.setTextAlignment(_LEFT)
    item.setToolTip(text)
    return item


# --- side panel -----------------------------------------------------------------------------------


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
    return formatting.with_note(name, formatting.number(images))


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
    text = translate("DefectBrowser", "{label} → {verdict}  {n}")
    return text.format(label=label, verdict=shown_verdict(verdict), n=formatting.number(images))
