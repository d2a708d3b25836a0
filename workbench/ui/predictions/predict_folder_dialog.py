"""Dialog for predicting a folder of images: settings, progress and results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.inference.batch.results_log import RESULTS_LOG_FILE
from workbench.session.folder_prediction import FolderPrediction, FolderRequest, FolderSummary, ImagePredicted
from workbench.ui.predictions.predict_results import ResultPreview, ResultsModel
from workbench.ui.text import formatting


class PredictFolderForm(QWidget):
    """Fields for model, images, results folder and options. models: folders of the offered runs and exports."""

    changed = Signal()

    def __init__(self, models: Sequence[Path]) -> None:
        super().__init__()
        self.model = QComboBox(editable=True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        for path in models:
            self.model.addItem(str(path))
        self.model.lineEdit().setPlaceholderText(self.tr("Folder of a run or an export"))
        self.images = QLineEdit(placeholderText=self.tr("Subfolders are included"))
        self.out = QLineEdit(placeholderText=self.tr("For masks, overlays, regions.csv and results.json"))
        self.overlays = QCheckBox(self.tr("Save &overlays"), checked=True)
        self.skip_existing = QCheckBox(self.tr("&Skip images that already have results"))
        self.watch = QCheckBox(self.tr("&Watch folder"))
        self.watch.setToolTip(self.tr("Predict new images in the folder until stopped"))
        self.overlays.setToolTip(self.tr("Save each image with its predictions drawn on it"))
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(9)
        for name, field, tip in (
            (self.tr("&Model"), self.model, self.tr("Folder of a run or an export")),
            (self.tr("&Images"), self.images, self.tr("Folder of the images to predict")),
            (self.tr("&Results"), self.out, self.tr("Folder for the results")),
        ):
            label = QLabel(name)
            label.setBuddy(field)
            label.setMinimumHeight(field.sizeHint().height())  # centers the label vertically beside its field
            field.setToolTip(tip)
            field.setAccessibleName(tip)
            button = QPushButton(self.tr("Browse…"))
            button.setToolTip(tip)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, field=field, tip=tip: self._browse(field, tip))
            line = QHBoxLayout()
            line.setSpacing(6)
            line.addWidget(field, 1)
            line.addWidget(button)
            form.addRow(label, line)
        options = QHBoxLayout()
        options.setSpacing(22)
        for box in (self.overlays, self.skip_existing, self.watch):
            options.addWidget(box)
        options.addStretch(1)
        form.addRow("", options)
        for line_edit in (self.images, self.out):
            line_edit.textChanged.connect(self._refresh)
        self.watch.toggled.connect(self._refresh)
        self.model.editTextChanged.connect(self._refresh)
        self._refresh()

    @property
    def results_folder(self) -> Path:
        return Path(self.out.text().strip()).expanduser()

    def request(self) -> FolderRequest:
        return FolderRequest(
            Path(self.model.currentText().strip()).expanduser(),
            Path(self.images.text().strip()).expanduser(),
            self.results_folder,
            overlays=self.overlays.isChecked(),
            go_on=self.skip_existing.isEnabled() and self.skip_existing.isChecked(),
            watch=self.watch.isChecked(),
        )

    def is_complete(self) -> bool:
        return all((self.model.currentText().strip(), self.images.text().strip(), self.out.text().strip()))

    def _refresh(self) -> None:
        begun = bool(self.out.text().strip()) and (self.results_folder / RESULTS_LOG_FILE).is_file()
        self.skip_existing.setEnabled(begun and not self.watch.isChecked())  # watching always keeps earlier results
        self.changed.emit()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() == event.Type.EnabledChange and self.isEnabled():
            self._refresh()  # there may be results now

    def _browse(self, field: QWidget, title: str) -> None:
        current = field.currentText() if isinstance(field, QComboBox) else field.text()
        folder = QFileDialog.getExistingDirectory(self, title, current or str(Path.home()))
        if folder and isinstance(field, QComboBox):
            field.setEditText(folder)
        elif folder:
            field.setText(folder)
            if field is self.images and not self.out.text().strip():
                self.out.setText(f"{folder.rstrip('/')}-results")


class PredictFolderDialog(QDialog):
    """Non-modal dialog for a folder prediction. models: folders of the runs and exports that are offered."""

    def __init__(self, models: Sequence[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Predict folder"))
        self.resize(900, 640)
        self.work = FolderPrediction(self)
        self._start_time = 0.0
        self._first = self._skipped = 0
        self.form = PredictFolderForm(models)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(12)
        column.addWidget(self.form)
        column.addLayout(self._make_progress())
        column.addWidget(self._make_results(), 1)
        column.addLayout(self._make_buttons())
        self.work.began.connect(self._show_total)
        self.work.predicted.connect(self._add)
        self.work.ended.connect(self._show_end)
        self.work.failed.connect(self._show_failure)
        self.work.state_changed.connect(self._refresh)
        self.form.changed.connect(self._refresh)
        self._refresh()
        (self.form.images if self.form.model.currentText() else self.form.model).setFocus()

    def _make_progress(self) -> QVBoxLayout:
        self.bar = QProgressBar(textVisible=False)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addWidget(self.bar)
        column.addWidget(self.status)
        return column

    def _make_results(self) -> QSplitter:
        self.results = ResultsModel(self)
        self.table = QTableView(showGrid=False, cornerButtonEnabled=False)
        self.table.setModel(self.results)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setAccessibleName(self.tr("Results"))
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for section, width in ((0, 200), (2, 90), (3, 80)):
            header.resizeSection(section, width)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._preview)
        self.preview = ResultPreview(self.tr("Select an image in the table to preview it. Press Enter to open it."))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.table)
        splitter.addWidget(self.preview)
        splitter.setSizes([560, 320])
        splitter.setChildrenCollapsible(False)
        return splitter

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.show_results = QPushButton(self.tr("Open results folder"), objectName="link")
        self.show_results.clicked.connect(lambda: _open_path(self.form.results_folder))
        self.show_results.hide()
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.close)
        self.start_button = QPushButton(objectName="primary")
        self.start_button.setDefault(True)
        self.start_button.clicked.connect(self._start)
        row.addWidget(self.show_results)
        row.addStretch(1)
        row.addWidget(close)
        row.addWidget(self.start_button)
        return row

    # --- commands --------------------------------------------------------------------------------

    def _start(self) -> None:
        if self.work.running:
            self.work.cancel()
            self.start_button.setEnabled(False)
            self.status.setText(self.tr("Stopping…"))
            return
        self.results.clear()
        self.show_results.hide()
        self._first = self._skipped = 0
        self.bar.setRange(0, 0)
        self.status.setText(self.tr("Loading the model and listing images…"))
        self.work.start(self.form.request())

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            _open_path(self.results.rows[index.row()].shown)

    def _preview(self, index: QModelIndex) -> None:
        if index.isValid():
            self.preview.show_file(self.results.rows[index.row()].shown)

    def done(self, result: int) -> None:
        """Stop the prediction however the dialog is closed. Results written so far are kept."""
        self.work.close()
        self.preview.end()
        super().done(result)

    # --- events ----------------------------------------------------------------------------------

    def _show_total(self, total: int) -> None:
        self.bar.setRange(0, total)
        self._start_time = time.monotonic()
        if not total:
            folder = self.form.images.text().strip()
            self.status.setText(self.tr("Waiting for images in {folder}…").format(folder=folder))

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
            text = self.tr("Watching the folder: {done} images done, {skipped} skipped")
            self.status.setText(text.format(done=entry.number - self._skipped, skipped=self._skipped))
            return
        self.bar.setValue(entry.number)
        done = entry.number - self._first + 1
        left = (time.monotonic() - self._start_time) / done * (entry.total - entry.number)
        text = self.tr("{done} of {total} images, about {left} left")
        self.status.setText(text.format(done=entry.number, total=entry.total, left=formatting.duration(left)))

    def _show_end(self, summary: FolderSummary) -> None:
        self.bar.setRange(0, 1)
        self.bar.setValue(int(summary.whole))
        if summary.whole:
            text = self.tr("{done} images done, {skipped} skipped. Results are saved in {path}.")
        else:
            text = self.tr(
                "Stopped. {done} images done, {skipped} skipped. Results are kept; select “Skip "
                "images that already have results” to continue."
            )
            self.form.skip_existing.setChecked(True)
        self.status.setText(text.format(done=summary.images, skipped=summary.skipped, path=summary.out))
        self.show_results.show()
        if self.results.rows and not self.table.currentIndex().isValid():
            self.table.selectRow(0)

    def _show_failure(self, problem: Exception) -> None:
        self.bar.setRange(0, 1)
        self.bar.setValue(0)
        self.status.setText(" ".join(filter(None, formatting.problem_text(problem))))

    def _refresh(self) -> None:
        running = self.work.running
        self.form.setEnabled(not running)
        self.start_button.setText(self.tr("Stop") if running else self.tr("Predict"))
        self.start_button.setEnabled(running or self.form.is_complete())
        self.start_button.setObjectName("danger" if running else "primary")
        self.start_button.style().polish(self.start_button)


def _open_path(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute())))
