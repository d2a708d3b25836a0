"""Confusion matrix of verdicts with selectable cells and recalls."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QTableWidget,
    QTableWidgetItem,
)

from workbench.core.evaluation.confidence import digits_supported
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.widgets.screen_fit import text_scale
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
    """Confusion matrix: one row per labeled verdict, one column per predicted one, and a column of recalls.

    `cell_chosen` follows the current cell, moved by mouse or arrow keys.
    """

    cell_chosen = Signal(str, str)  # labeled, predicted

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._report: dict[str, Any] = {"confusion": {"names": (), "rows": []}, "per_class": {}}
        self.setObjectName("metrics")
        self.setAccessibleName(self.tr("Confusion matrix"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(_NARROWEST)
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setItemDelegateForColumn(0, _LabelDelegate(self))
        self.currentCellChanged.connect(self._cell_changed)
        style.changed.connect(self._fill)

    @property
    def cell(self) -> tuple[str, str] | None:
        """Labeled and predicted verdict of the selected cell."""
        names, row, column = self._names, self.currentRow(), self.currentColumn() - 1
        return (names[row], names[column]) if row >= 0 and 0 <= column < len(names) else None

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._report["confusion"]["names"])

    def show_report(self, report: dict[str, Any]) -> None:
        """Show a report as returned by `VerdictEvaluation.report`. The selection stays if the verdicts are the same."""
        cell = self.cell
        self._report = report
        self._fill()
        self.select_cell(*(cell or ("", "")))

    def select_cell(self, truth: str, predicted: str) -> None:
        """Select a cell, or none if a verdict is unknown, without emitting `cell_chosen`."""
        names = self._names
        known = truth in names and predicted in names
        with QSignalBlocker(self):
            self.clearSelection()
            self.setCurrentCell(*((names.index(truth), names.index(predicted) + 1) if known else (-1, -1)))

    def cell_rect(self, truth: str, predicted: str) -> QRect:
        """Return the rectangle of a cell in the viewport."""
        return self.visualItemRect(self.item(self._names.index(truth), self._names.index(predicted) + 1))

    def _cell_changed(self, *_: int) -> None:
        if self.cell is not None:
            self.cell_chosen.emit(*self.cell)

    # --- content ---------------------------------------------------------------------------------

    def _fill(self) -> None:
        theme, names = self._style.theme, self._names
        with QSignalBlocker(self):
            row, column = self.currentRow(), self.currentColumn()
            self.clear()
            self.setRowCount(len(names))
            self.setColumnCount(len(names) + 2)
            heads = [self.tr("Label ↓  Prediction →"), *names, self.tr("Recall")]
            for number, text in enumerate(heads):
                head = QTableWidgetItem(text)
                head.setToolTip(text)
                head.setTextAlignment(_CENTER if number else _LEFT)
                self.setHorizontalHeaderItem(number, head)
            for number, name in enumerate(names):
                self.setItem(number, 0, _fixed(name, theme.color("text")))
                self._fill_row(number)
                self._fill_recall(number)
            self.setCurrentCell(row, column)
        self._fit_columns()
        self.setMinimumHeight(min(self._whole_height(), _TALLEST))
        self.setMaximumHeight(self._whole_height())
        self.setMaximumWidth(self.sizeHint().width())

    def _fill_row(self, row: int) -> None:
        theme, names, counts = self._style.theme, self._names, self._report["confusion"]["rows"][row]
        total = max(1, sum(counts))
        for column, count in enumerate(counts):
            item = QTableWidgetItem(str(count) if count else "·")
            item.setTextAlignment(_CENTER)
            item.setForeground(theme.color("text" if count else "disabled"))
            # Errors are rare and must be visible, so their color grows with the square root of the share.
            share = count / total if row == column else (count / total) ** 0.5
            role = "success" if row == column else "danger"
            item.setBackground(QBrush(theme.color(role, round(40 + 120 * share)) if count else theme.color("base")))
            item.setToolTip(self._tip(names[row], names[column], count))
            self.setItem(row, column + 1, item)

    def _fill_recall(self, row: int) -> None:
        metrics, theme = self._report["per_class"][self._names[row]], self._style.theme
        if metrics["recall"] is None:
            item = _fixed(self.tr("no images"), theme.color("muted"))
        else:
            text = interval(*metrics["recall_interval"])
            if digits_supported(metrics["pictures"]):
                text = f"{formatting.percent(metrics['recall'])}  ({text})"
            item = _fixed(text, theme.color("text"))
        item.setTextAlignment(_CENTER)
        item.setToolTip(self.tr("Share of the images with this label that are predicted correctly, with 95% CI"))
        self.setItem(row, len(self._names) + 1, item)

    def _tip(self, truth: str, predicted: str, count: int) -> str:
        if truth == predicted:
            return fill(self.tr("{n} {n:image|images} labeled {label} and predicted correctly"), n=count, label=truth)
        text = self.tr("{n} {n:image|images} labeled {label} but predicted as {predicted}")
        return fill(text, n=count, label=truth, predicted=predicted)

    # --- geometry --------------------------------------------------------------------------------

    def _cells(self) -> int:
        return max(2, len(self._names))

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
        return self.horizontalHeader().sizeHint().height() + self._cells() * _ROW + 4

    def minimumSizeHint(self) -> QSize:
        width = self._names_width() + min(self._cells(), 5) * self._narrowest() + _RECALL + 2
        return QSize(width, min(self._whole_height(), _TALLEST))

    def sizeHint(self) -> QSize:
        return QSize(self._names_width() + self._cells() * self._widest() + _RECALL + 2, self._whole_height())

    def _fit_columns(self) -> None:
        count = len(self._names)
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


def interval(low: float, high: float, digits: int = 0) -> str:
    """Return an interval as text, such as "94–99%"."""
    return f"{formatting.number(100 * low, digits)}–{formatting.percent(high, digits)}"
