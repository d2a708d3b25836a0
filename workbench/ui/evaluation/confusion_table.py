"""Confusion matrix of verdicts with selectable cells and recalls, and the reject probability."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSlider,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.evaluation.confidence import digits_supported, wilson
from workbench.core.evaluation.verdict_evaluation import MOST, VerdictEvaluation
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.widgets.disabled_reason import set_disabled_reason
from workbench.ui.widgets.screen_fit import text_scale
from workbench.ui.widgets.theme import ThemeManager

_ROW = 32  # px
_NARROWEST, _WIDEST = 46, 92  # px, width of a cell
_NAMES, _RECALL = 170, 130  # px, columns of labels, at least, and of recalls
_TALLEST = 420  # px
_CENTER = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_STEPS = 1000


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
        return max(_NAMES, self.horizontalHeader().sectionSizeHint(0)) if self.columnCount() else _NAMES

    def _whole_height(self) -> int:
        return self.horizontalHeader().sizeHint().height() + self._cells() * _ROW + 4

    def minimumSizeHint(self) -> QSize:
        width = self._names_width() + min(self._cells(), 5) * round(_NARROWEST * text_scale()) + _RECALL
        return QSize(width, min(self._whole_height(), _TALLEST))

    def sizeHint(self) -> QSize:
        return QSize(self._names_width() + self._cells() * _WIDEST + _RECALL + 2, self._whole_height())

    def _fit_columns(self) -> None:
        count = len(self._names)
        width = (self.viewport().width() - self._names_width() - _RECALL) // max(1, count)
        self.setColumnWidth(0, self._names_width())
        for column in range(1, count + 1):
            self.setColumnWidth(column, min(_WIDEST, max(_NARROWEST, width)))
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


class RejectOption(QWidget):
    """Slider for the reject probability and its effect on the shown images. `store_requested` asks to save it."""

    moved = Signal(float)
    store_requested = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._evaluation: VerdictEvaluation | None = None
        self._stored = 0.0
        self._writable = False
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=round(MOST * _STEPS))
        self.slider.setSingleStep(5)
        self.slider.setPageStep(50)
        self.slider.setMinimumWidth(120)
        label = QLabel(self.tr("&Unsure below"), objectName="heading")
        label.setBuddy(self.slider)
        self.value = QLabel()
        self.value.setMinimumWidth(56)
        self.no_errors = QPushButton(self.tr("Avoid all errors"))
        self.no_errors.setToolTip(self.tr("Lowest probability at which no given verdict is wrong on these images"))
        self.no_errors.clicked.connect(lambda: self.set_minimum(self._evaluation.threshold_for(0)))
        self.off = QPushButton(self.tr("Off"))
        self.off.setToolTip(self.tr("Give a verdict for every image"))
        self.off.clicked.connect(lambda: self.set_minimum(0.0))
        self.store = QPushButton(self.tr("Save with run"), objectName="primary")
        self.store.setToolTip(self.tr("Predictions and exports of this run are “unsure” below this probability"))
        self.store.clicked.connect(lambda: self.store_requested.emit(self.minimum))
        self.effect = QLabel(wordWrap=True)
        self.effect.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for column, widget in enumerate((label, self.slider, self.value, self.no_errors, self.off, self.store)):
            grid.addWidget(widget, 0, column)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.effect, 1, 0, 1, 6)
        self.slider.valueChanged.connect(self._slider_moved)
        self.slider.setAccessibleName(self.tr("Minimum probability of a verdict"))

    @property
    def minimum(self) -> float:
        """Shown reject probability."""
        return self.slider.value() / _STEPS

    def set_minimum(self, minimum: float) -> None:
        self.slider.setValue(round(minimum * _STEPS))

    def show_evaluation(self, evaluation: VerdictEvaluation | None, stored: float, writable: bool) -> None:
        """Show an evaluation. stored: reject probability of the run."""
        self._evaluation, self._stored, self._writable = evaluation, stored, writable
        self._refresh()

    def _slider_moved(self) -> None:
        self._refresh()
        self.moved.emit(self.minimum)

    def _refresh(self) -> None:
        evaluation = self._evaluation
        possible = evaluation is not None and bool(evaluation.images)
        for widget in (self.slider, self.no_errors, self.off):
            set_disabled_reason(widget, "" if possible else self.tr("There are no images to evaluate"))
        changed = round(self._stored * _STEPS) != self.slider.value()
        set_disabled_reason(self.store, self._reason_not_to_store(possible, changed))
        self.value.setText(formatting.percent(self.minimum, 1) if self.minimum else self.tr("Off"))
        self.effect.setText(self._effect(evaluation) if possible else "")

    def _reason_not_to_store(self, possible: bool, changed: bool) -> str:
        if not possible:
            return self.tr("There are no images to evaluate")
        if not self._writable:
            return self.tr("The project is read-only")
        return "" if changed else self.tr("This value is saved with the run already")

    def _effect(self, evaluation: VerdictEvaluation) -> str:
        band = evaluation.band(self.minimum)
        if not band.unsure:
            effect = self.tr("All {n} images get a verdict, {left} of them wrong.").format(
                n=band.images, left=band.errors
            )
        elif not band.decided:
            effect = self.tr("All {n} images are unsure and need manual inspection.").format(n=band.images)
        else:
            share = formatting.percent(band.unsure / band.images)
            text = self.tr(
                "{unsure} of {n} {n:image|images} ({share}) {unsure:needs|need} manual inspection; "
                "{caught} of them would have been wrong."
            )
            effect = fill(text, unsure=band.unsure, n=band.images, share=share, caught=band.rejected_errors)
            low, high = wilson(band.errors, band.decided) or (0.0, 1.0)
            text = self.tr(
                "Of the other {given} {given:verdict|verdicts}, {left} {left:is|are} wrong (95% CI: {interval})."
            )
            effect += " " + fill(text, given=band.decided, left=band.errors, interval=interval(low, high, 1))
        if round(self._stored * _STEPS) == self.slider.value() and self._stored:
            effect += " " + self.tr("This value is saved with the run.")
        return effect
