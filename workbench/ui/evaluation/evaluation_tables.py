"""Tables of an evaluation: by class and defect size, and by image."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTableWidget, QTableWidgetItem, QWidget

from workbench.core.documents.run_blocks import size_range
from workbench.core.evaluation.figures import METRICS, Figure, Figures
from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.core.evaluation.stored_predictions import ImageEvaluation, StoredPrediction
from workbench.core.geometry.drawing import NOTHING
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.item_views import show_as_metrics

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTER = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_PADDING = 24  # px, of a name
_NARROW, _WIDE = 14, 24  # characters in a line of the head, with and without the columns of the masks
_MOST_WIDTH = 700  # px, that the table claims


class ClassTable(QTableWidget):
    """Table with rows for classes and the whole model, then rows for defect sizes."""

    def __init__(self) -> None:
        super().__init__()
        show_as_metrics(self, self.tr("Metrics by class and defect size"), row_height=26)
        header = self.horizontalHeader()
        header.setDefaultAlignment(_RIGHT)
        header.setMinimumSectionSize(72)
        self._set_columns([], _WIDE)

    def _set_columns(self, ids: list[str], chars: int) -> None:
        self.setRowCount(0)
        self.setColumnCount(1 + len(ids))
        self.setHorizontalHeaderLabels(["", *(evaluation_texts.column(id, chars) for id in ids)])
        for column, id in enumerate(ids, start=1):
            self.horizontalHeaderItem(column).setToolTip(evaluation_texts.tip(id))
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def show_figures(
        self, figures: Figures, classes: dict[int, tuple[str, str]], um_per_pixel: float | None, *, masks: bool
    ) -> None:
        """Show figures. classes: id to name and color. um_per_pixel: None if unknown. masks: also those of pixels."""
        several = len(figures.classes) > 1
        shown = dict.fromkeys(row.id for row in figures.rows if row.scope == "class" and row.metric.shown)
        ids = [id for id in shown if several or not id.endswith("right_class")]
        ids = [id for id in ids if masks or METRICS[id].unit != "ratio"]
        self._set_columns(ids, _NARROW if masks else _WIDE)
        for id in figures.classes:
            name, color = classes[id]
            self._add_row(name, [figures.get(metric, "class", id) for metric in ids], color)
        if several:
            by_id = {scope: {row.id: row for row in figures.rows if row.scope == scope} for scope in ("any", "mean")}
            self._add_row(self.tr("Any defect"), [by_id["any"].get(id) for id in ids])
            self._add_row(self.tr("Mean of classes"), [by_id["mean"].get(id) for id in ids])
        sizes = figures.all("recall", "size")
        for row in sizes:
            name = translate_message(size_range(row.of, um_per_pixel))
            self._add_row(name, [row if id == row.id else None for id in ids])
        if not sizes and figures.get("recall").total:
            self._add_texts([self.tr("Too few defects to group by size"), *[""] * len(ids)])
            self.setSpan(self.rowCount() - 1, 0, 1, self.columnCount())
        self._claim_width(self.rowCount() - max(1, len(sizes)))

    def _claim_width(self, classes: int) -> None:
        """Claim the width of all columns with the names of the first rows, up to a limit, from the plot beside it."""
        header = self.horizontalHeader()
        others = sum(
            max(self.sizeHintForColumn(column), header.sectionSizeHint(column))
            for column in range(1, self.columnCount())
        )
        indexes = (self.model().index(row, 0) for row in range(classes))
        names = max((self.sizeHintForIndex(index).width() for index in indexes), default=0)
        scroll_bar = self.verticalScrollBar().sizeHint().width()
        self.setMinimumWidth(min(names + _PADDING + others + scroll_bar, _MOST_WIDTH))

    def _add_row(self, name: str, figures: Sequence[Figure | None], color: str = "") -> None:
        self._add_texts([name, *("" if row is None else evaluation_texts.value(row) for row in figures)], color)
        for column, figure in enumerate(figures, start=1):
            if figure is not None:
                tip = f"{evaluation_texts.name(figure)}: {evaluation_texts.value(figure)}"
                self.item(self.rowCount() - 1, column).setToolTip(f"{tip}\n{evaluation_texts.explanation(figure)}")

    def _add_texts(self, texts: list[str], color: str = "") -> None:
        row = self.rowCount()
        self.insertRow(row)
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setTextAlignment(_LEFT if column == 0 else _RIGHT)
            self.setItem(row, column, item)
        self.item(row, 0).setToolTip(texts[0])
        if color:
            self.item(row, 0).setIcon(_dot(color))


def _dot(color: str) -> QIcon:
    pixmap = QPixmap(64, 64)  # enough for screens of any scale
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(11, 11, 42, 42)
    painter.end()
    return QIcon(pixmap)


def _error_counts(image: ImageEvaluation) -> tuple[int, int, int]:
    return image.counts.missed, image.counts.confused, image.counts.false


class _ImageTableModel(QAbstractTableModel):
    """Table model of the images, worst first until the user sorts by a column."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[tuple[StoredPrediction, ImageEvaluation]] = []
        self._sort_column, self._descending = 3, True

    def set_rows(self, rows: list[tuple[StoredPrediction, ImageEvaluation]]) -> None:
        self.beginResetModel()
        self.rows = rows
        self._sort_rows()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.beginResetModel()
        self._sort_column, self._descending = column, order == Qt.SortOrder.DescendingOrder
        self._sort_rows()
        self.endResetModel()

    def _sort_rows(self) -> None:
        self.rows.sort(key=lambda row: (*(-count for count in _error_counts(row[1])), row[0].key))
        if self._sort_column >= 0:
            self.rows.sort(key=lambda row: self._value(row, self._sort_column), reverse=self._descending)

    @staticmethod
    def _value(row: tuple[StoredPrediction, ImageEvaluation], column: int):
        prediction, counts = row[0], row[1].counts
        value = counts.dice
        values = (
            prediction.key,
            prediction.group,
            len(counts.defects),
            *_error_counts(row[1]),
            2 if value is None else value,
        )
        return values[column]

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 7

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (
                self.tr("Image"),
                self.tr("Part"),
                self.tr("Defects"),
                self.tr("Missed"),
                self.tr("Wrong class"),
                self.tr("False alarms"),
                evaluation_texts.column("dice"),
            )[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _CENTER if section >= 2 else _LEFT  # leaves space for the sort indicator
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole):
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _CENTER if index.column() >= 2 else _LEFT
        prediction, image = self.rows[index.row()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return prediction.key
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if index.column() < 2:
            return (prediction.key, prediction.group)[index.column()].removeprefix("@")
        if index.column() == 6:
            # Dice is undefined for an image without defects and predictions.
            return evaluation_texts.score(image.counts.dice)
        count = (len(image.counts.defects), *_error_counts(image))[index.column() - 2]
        return formatting.number(count) if count else evaluation_texts.NOTHING


class ImageTableView(QTableView):
    """Table of the images. `region_chosen` carries the key of an image, with an empty region."""

    region_chosen = Signal(str, object)  # key, Rect

    def __init__(self) -> None:
        super().__init__()
        self._images = _ImageTableModel(self)
        self.setModel(self._images)
        self.setObjectName("imageTable")
        self.setAccessibleName(self.tr("Metrics by image"))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        header = self.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        self.setSortingEnabled(True)
        self.sortByColumn(3, Qt.SortOrder.DescendingOrder)
        self.activated.connect(self._choose)
        self.doubleClicked.connect(self._choose)

    def show_result(self, evaluation: RunEvaluation, result: EvaluatedImages) -> None:
        self.setColumnHidden(4, len(result.figures.classes) < 2)  # defects with a wrong class
        self._images.set_rows(list(zip(evaluation.pass_result.predictions, result.evaluations)))

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.region_chosen.emit(self._images.rows[index.row()][0].key, NOTHING)
