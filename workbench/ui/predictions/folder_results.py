"""Results of a folder prediction: a table that grows, and a preview of one image."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from workbench.core.text_patterns import fill
from workbench.session.folder_prediction import ImagePredicted
from workbench.session.tasks import TaskRunner
from workbench.ui.text import formatting
from workbench.ui.text.translation import translate_message

_MAX_ROWS = 100_000  # rows; a watched folder may run for weeks
_PREVIEW = 900  # px, longer side of a preview
_Index = QModelIndex | QPersistentModelIndex


class ResultsModel(QAbstractTableModel):
    """Table model with one row per image in the order of prediction. Beyond 100,000 rows the oldest are dropped."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[ImagePredicted] = []

    def clear(self) -> None:
        self.beginResetModel()
        self.rows.clear()
        self.endResetModel()

    def add(self, entry: ImagePredicted) -> None:
        if len(self.rows) >= _MAX_ROWS:
            self.beginRemoveRows(QModelIndex(), 0, 0)
            del self.rows[0]
            self.endRemoveRows()
        self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows))
        self.rows.append(entry)
        self.endInsertRows()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 4

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Image"), self.tr("Result"), self.tr("Largest, px²"), self.tr("Time, ms"))[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole):
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            remarks = [row.why] if row.why else row.input.why if row.input else ()
            return "\n".join(map(translate_message, remarks)) or str(row.path)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        return None

    def _text(self, row: ImagePredicted, column: int) -> str:
        if column == 0:
            return row.path.name
        if column == 1:
            if row.why:
                return self.tr("Skipped: {why}").format(why=translate_message(row.why))
            regions = fill(self.tr("{n} {n:region|regions}"), n=row.found) if row.found else "–"
            result = regions if row.verdict is None else row.verdict
            if row.input is None or row.input.ok:
                return result
            why = "; ".join(map(translate_message, row.input.why))
            return self.tr("{result}: {why}").format(result=result, why=why)
        if column == 2:
            return formatting.number(row.largest) if row.largest is not None else ""
        return "" if row.why else f"{row.milliseconds:.0f}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= 2 else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class ResultPreview(QLabel):
    """Preview of an image file. The file is read in a background thread and scaled to the widget."""

    def __init__(self, hint: str) -> None:
        super().__init__(hint, alignment=Qt.AlignmentFlag.AlignCenter, objectName="muted", wordWrap=True)
        self.setMinimumSize(220, 160)
        self.setContentsMargins(14, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._tasks = TaskRunner(1, self)
        self._image = QImage()

    def show_file(self, path: Path) -> None:
        self._tasks.submit(lambda _: _read(path), self._show_image, key="read")

    def end(self) -> None:
        self._tasks.stop()

    def _show_image(self, image: QImage) -> None:
        if not image.isNull():
            self._image = image
            self._fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._image.isNull():
            return
        ratio = self.devicePixelRatioF()
        size = self._image.size().scaled(self.contentsRect().size() * ratio, Qt.AspectRatioMode.KeepAspectRatio)
        fitted = self._image.scaled(size, mode=Qt.TransformationMode.SmoothTransformation)
        fitted.setDevicePixelRatio(ratio)
        self.setPixmap(QPixmap.fromImage(fitted))


def _read(path: Path) -> QImage:
    reader = QImageReader(str(path))
    size = reader.size()
    if size.isValid() and max(size.width(), size.height()) > _PREVIEW:
        reader.setScaledSize(size.scaled(QSize(_PREVIEW, _PREVIEW), Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()
