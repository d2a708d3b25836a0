"""Dialog for predicting a folder of images: settings, progress and results.

Results of a folder prediction: a table that grows, and a preview of one image.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, QSortFilterProxyModel, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QCheckBox, QLabel, QSizePolicy, QSplitter, QTableView, QWidget

from workbench.core.text_patterns import fill
from workbench.inference.batch.results_log import RESULTS_LOG_FILE
from workbench.session.prediction_jobs import FolderPrediction, FolderRequest, FolderSummary, ImagePredicted
from workbench.session.tasks import TaskRunner
from workbench.ui.text import formatting, image_texts
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.dialogs import JobDialog, PathField, open_path
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text

_MAX_ROWS = 100_000  # rows; a watched folder may run for weeks
_PREVIEW = 900  # px, longer side of a preview
_INDICATOR = 12  # px, mark of the sorted column
_NAME = 320  # px, greatest width of names that are shown in full
_Index = QModelIndex | QPersistentModelIndex


class ResultsModel(QAbstractTableModel):
    """Table model with one row per image in the order of prediction. Beyond 100,000 rows the oldest are dropped."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[ImagePredicted] = []
        self._largest = 0.0  # µm²

    def clear(self) -> None:
        self.beginResetModel()
        self.rows.clear()
        self._largest = 0.0
        self.endResetModel()

    def add(self, entry: ImagePredicted) -> None:
        if len(self.rows) >= _MAX_ROWS:
            self.beginRemoveRows(QModelIndex(), 0, 0)
            del self.rows[0]
            self.endRemoveRows()
        self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows))
        self.rows.append(entry)
        self.endInsertRows()
        area = entry.largest.area_um2 if entry.largest is not None else None
        if area is not None and area > self._largest:  # the areas of all rows have the unit of the largest
            self._largest = area
            self.dataChanged.emit(self.index(0, 4), self.index(len(self.rows) - 1, 4))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 6

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (
                self.tr("Image"),
                self.tr("Verdict"),
                self.tr("Class"),
                self.tr("Regions"),
                self.tr("Largest"),
                self.tr("Time, ms"),
            )[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole):
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, (str(row.path), _remarks(row))))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.UserRole:
            numbers = (row.found, row.largest.area if row.largest is not None else 0, row.milliseconds)
            return self._text(row, index.column()) if index.column() < 3 else float(numbers[index.column() - 3])
        return None

    def _text(self, row: ImagePredicted, column: int) -> str:
        if column == 0:
            return row.path.name
        if column == 1:
            if row.why:
                return self.tr("Skipped: {why}").format(why=translate_message(row.why))
            verdict = image_texts.shown_verdict(row.verdict)
            if row.input is None or row.input.ok:
                return verdict
            why = formatting.clauses(*map(translate_message, row.input.why))
            return self.tr("{result}: {why}").format(result=verdict, why=why)
        if column == 2:
            return formatting.listed(row.classes)
        if column == 3:
            return formatting.number(row.found) if row.found else ""
        if column == 4:
            largest = row.largest
            return "" if largest is None else formatting.region_area(largest.area, largest.area_um2, self._largest)
        return "" if row.why else formatting.number(row.milliseconds)


def _remarks(row: ImagePredicted) -> str:
    """Return why an image was skipped, or why its result is unsure, or what is told about its pixels; "" if nothing."""
    reasons = [row.why] if row.why else row.input.why if row.input else ()
    return "\n".join(map(translate_message, reasons))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= 3 else Qt.AlignmentFlag.AlignLeft
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


class PredictFolderDialog(JobDialog):
    """Non-modal dialog for a folder prediction. models: folders of the offered runs and exports, with their names.

    However the dialog is closed, the prediction stops. Results written until then are kept.
    """

    while_running = "stop"

    def __init__(self, models: Mapping[Path, str], parent: QWidget | None = None) -> None:
        super().__init__(FolderPrediction(), parent)
        self.job.setParent(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Predict folder"))
        resize_for_text(self, 1080, 640)
        self.action, self.cancel_action = self.tr("Predict"), self.tr("Stop")
        self._start_time = 0.0
        self._first = self._skipped = 0
        self._models, self._proposed = models, ""
        self._add_fields()
        self.body.addWidget(self._make_results(), 1)
        self.show_results = self.add_button(self.tr("Open results folder"), lambda: open_path(self.out.path), link=True)
        self.show_results.hide()
        self.job.began.connect(self._show_total)
        self.job.predicted.connect(self._add)
        self.job.ended.connect(self._show_end)
        for field in (self.model, self.images, self.out):
            field.line.textChanged.connect(self._show_missing)
        self._show_missing()
        self.refresh()
        (self.images if self.model.path else self.model).input.setFocus()

    def _add_fields(self) -> None:
        name = self.tr("Folder of a run or an export")
        self.model = PathField(name, "folder", placeholder=name, choices=self._models)
        self.images = PathField(
            self.tr("Folder of the images to predict"), "folder", placeholder=self.tr("Subfolders are included")
        )
        self.out = PathField(
            self.tr("Folder for the results"),
            "folder",
            placeholder=self.tr("For masks, overlays, regions.csv and results.json"),
        )
        self.overlays = QCheckBox(self.tr("Save &overlays"), checked=True)
        self.overlays.setToolTip(self.tr("Save each image with its predictions drawn on it"))
        self.skip_existing = QCheckBox(self.tr("&Skip images that already have results"))
        self.watch = QCheckBox(self.tr("&Watch folder"))
        self.watch.setToolTip(self.tr("Predict new images in the folder until stopped"))
        self.add_field(self.tr("&Model"), self.model)
        self.add_field(self.tr("&Images"), self.images)
        self.add_field(self.tr("&Results"), self.out)
        self.add_options(self.overlays, self.skip_existing, self.watch)
        self.images.chosen.connect(self._propose_out)
        self.images.line.editingFinished.connect(self._propose_for_typed)
        self.watch.toggled.connect(self.refresh)

    def _make_results(self) -> QSplitter:
        self.results = ResultsModel(self)
        self.table = QTableView(selectionMode=QTableView.SelectionMode.SingleSelection)
        self._sorted = QSortFilterProxyModel(self, sortRole=Qt.ItemDataRole.UserRole)
        self._sorted.setSourceModel(self.results)
        self.table.setModel(self._sorted)
        show_as_rows(self.table, self.tr("Results"), stretch=1)  # a verdict may be followed by its reason
        header = self.table.horizontalHeader()
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        self.table.setSortingEnabled(True)  # a click on a column sorts, a third one shows the order of prediction again
        for section, width in ((0, 180), (2, 90), (3, 60), (4, 110), (5, 70)):
            header.resizeSection(section, max(width, header.sectionSizeHint(section) + _INDICATOR))
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._preview)
        self.preview = ResultPreview(self.tr("Choose images, click Predict and select a result to preview it."))
        self.remark = QLabel(objectName="muted", wordWrap=True)
        self.remark.setTextFormat(Qt.TextFormat.PlainText)
        self.remark.setContentsMargins(14, 0, 0, 0)
        side = QWidget()
        in_column((self.preview, 1), self.remark, owner=side, margins=0)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.table)
        splitter.addWidget(side)
        splitter.setSizes([780, 260])
        splitter.setChildrenCollapsible(False)
        return splitter

    # --- commands --------------------------------------------------------------------------------

    def show_models(self, models: Mapping[Path, str]) -> None:
        """Offer other models, unless the user has chosen a folder beside them or a prediction is running."""
        if models != self._models and not self.job.running and self.model.path in (None, *self._models):
            self._models = models
            self.model.set_choices(models)

    def begin(self) -> None:
        self.results.clear()
        self.show_results.hide()
        self._first = self._skipped = 0
        self.show_status(self.tr("Loading the model and listing images…"))
        request = FolderRequest(
            self.model.path,
            self.images.path,
            self.out.path,
            overlays=self.overlays.isChecked(),
            resume=self.skip_existing.isEnabled() and self.skip_existing.isChecked(),
            watch=self.watch.isChecked(),
        )
        self.job.start(request)

    def complete(self) -> bool:
        return None not in (self.model.path, self.images.path, self.out.path)

    def _show_missing(self, *_: object) -> None:
        """Show what has to be chosen before the prediction can be started."""
        if self.model.path is None:
            text = self.tr("Choose a model: the folder of a run or an export.")
            if not self._models:
                text = self.tr("There is no model yet. Train one, or choose the folder of a run or an export.")
        elif self.images.path is None:
            text = self.tr("Choose the folder of the images to predict.")
        else:
            text = "" if self.out.path is not None else self.tr("Choose a folder for the results.")
        self.show_status(text)

    def start(self) -> None:
        running = self.job.running
        super().start()
        if running:
            self.show_status(self.tr("Stopping…"))

    def _propose_for_typed(self) -> None:
        if self.images.path is not None and self.images.path.is_dir():
            self._propose_out(str(self.images.path))

    def _propose_out(self, folder: str) -> None:
        """Propose a folder for the results beside the images, unless the user has chosen one."""
        if self.out.line.text() in ("", self._proposed):
            self._proposed = f"{folder.rstrip('/')}-results"
            self.out.line.setText(self._proposed)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            open_path(self._row(index).shown)

    def _preview(self, index: QModelIndex) -> None:
        if index.isValid():
            self.preview.show_file(self._row(index).shown)
            self.remark.setText(_remarks(self._row(index)))

    def _row(self, index: QModelIndex) -> ImagePredicted:
        return self.results.rows[self._sorted.mapToSource(index).row()]

    def done(self, result: int) -> None:
        self.preview.end()
        super().done(result)

    # --- events ----------------------------------------------------------------------------------

    def _show_total(self, total: int) -> None:
        self.bar.setRange(0, total)
        self._start_time = time.monotonic()
        if not total:
            self.show_status(self.tr("Waiting for images in {folder}…").format(folder=self.images.path))

    def _add(self, entry: ImagePredicted) -> None:
        self._first = self._first or entry.number  # images before this number were done in an earlier prediction
        self._skipped += bool(entry.why)
        scroll_bar = self.table.verticalScrollBar()
        at_end = scroll_bar.value() == scroll_bar.maximum()
        self.results.add(entry)
        if at_end and not self.table.currentIndex().isValid():
            self.table.scrollToBottom()
            if not entry.total:
                self.preview.show_file(entry.shown)  # while a folder is watched, the preview follows the newest image
        if not entry.total:
            text = self.tr("Watching the folder: {done} {done:image|images} done, {skipped} skipped")
            self.show_status(fill(text, done=entry.number - self._skipped, skipped=self._skipped))
            return
        self.bar.setValue(entry.number)
        done = entry.number - self._first + 1
        left = (time.monotonic() - self._start_time) / done * (entry.total - entry.number)
        text = self.tr("{done} of {total} {total:image|images}, about {left} left")
        self.show_status(fill(text, done=entry.number, total=entry.total, left=formatting.duration(left)))

    def _show_end(self, summary: FolderSummary) -> None:
        if summary.whole:
            text = self.tr("{done} {done:image|images} done, {skipped} skipped. Results are saved in {path}.")
        else:
            text = self.tr(
                "Stopped. {done} {done:image|images} done, {skipped} skipped. Results are kept; select “Skip "
                "images that already have results” to continue."
            )
            self.skip_existing.setChecked(True)
        text = fill(text, done=summary.images, skipped=summary.skipped, path=summary.out)
        if summary.images:
            results = self.tr("{results}.").format(results=image_texts.summary_text(summary.results))
            text = formatting.sentences(results, text)
        unlike = sum(row.input is not None and not row.input.ok for row in self.results.rows)
        if unlike:
            text = formatting.sentences(
                text, fill(self.tr("{n} {n:image is|images are} unlike the training images."), n=unlike)
            )
        for remark in summary.remarks:
            text = formatting.sentences(text, formatting.translate_message(remark))
        self.show_status(text)
        self.table.setColumnWidth(0, min(self.table.sizeHintForColumn(0) + _INDICATOR, _NAME))
        self.show_results.show()
        if self.results.rows and not self.table.currentIndex().isValid():
            self.table.selectRow(0)

    def refresh(self, *_: object) -> None:
        super().refresh()
        self.start_button.setObjectName("danger" if self.job.running else "primary")
        self.start_button.style().polish(self.start_button)
        begun = self.out.path is not None and (self.out.path / RESULTS_LOG_FILE).is_file()
        self.skip_existing.setEnabled(begun and not self.watch.isChecked())  # watching always keeps earlier results
