"""Confusion matrix of verdicts or of regions, with selectable cells and recalls."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QTableWidget, QTableWidgetItem

from workbench.core.evaluation.figure_report import region_confusion
from workbench.core.evaluation.figures import Figure, Figures
from workbench.core.text_patterns import fill
from workbench.ui.text import evaluation_texts
from workbench.ui.widgets.item_views import show_as_metrics
from workbench.ui.widgets.text_labels import text_scale
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
