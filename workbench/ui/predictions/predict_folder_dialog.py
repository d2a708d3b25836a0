"""Dialog for predicting a folder of images: settings, progress and results."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QCheckBox, QHeaderView, QSplitter, QTableView, QWidget

from workbench.core.text_patterns import fill
from workbench.inference.batch.results_log import RESULTS_LOG_FILE
from workbench.session.folder_prediction import FolderPrediction, FolderRequest, FolderSummary, ImagePredicted
from workbench.ui.predictions.folder_results import ResultPreview, ResultsModel
from workbench.ui.text import formatting
from workbench.ui.widgets.job_dialog import JobDialog, PathField, open_path
from workbench.ui.widgets.screen_fit import resize_for_text


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
        resize_for_text(self, 900, 640)
        self.action, self.cancel_action = self.tr("Predict"), self.tr("Stop")
        self._start_time = 0.0
        self._first = self._skipped = 0
        self._models = models
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
        self.table = QTableView(objectName="rows", showGrid=False, cornerButtonEnabled=False)
        self.table.setModel(self.results)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setAccessibleName(self.tr("Results"))
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for section, width in ((0, 200), (2, 106), (3, 96)):
            header.resizeSection(section, max(width, header.sectionSizeHint(section)))
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._preview)
        self.preview = ResultPreview(self.tr("Choose images, click Predict and select a result to preview it."))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.table)
        splitter.addWidget(self.preview)
        splitter.setSizes([560, 320])
        splitter.setChildrenCollapsible(False)
        return splitter

    # --- commands --------------------------------------------------------------------------------

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
        if self.out.path is None:
            self.out.line.setText(f"{folder.rstrip('/')}-results")

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            open_path(self.results.rows[index.row()].shown)

    def _preview(self, index: QModelIndex) -> None:
        if index.isValid():
            self.preview.show_file(self.results.rows[index.row()].shown)

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
        unlike = sum(row.input is not None and not row.input.ok for row in self.results.rows)
        if unlike:
            text += " " + fill(self.tr("{n} {n:image is|images are} unlike the training images."), n=unlike)
        self.show_status(text)
        self.show_results.show()
        if self.results.rows and not self.table.currentIndex().isValid():
            self.table.selectRow(0)

    def refresh(self, *_: object) -> None:
        super().refresh()
        self.start_button.setObjectName("danger" if self.job.running else "primary")
        self.start_button.style().polish(self.start_button)
        begun = self.out.path is not None and (self.out.path / RESULTS_LOG_FILE).is_file()
        self.skip_existing.setEnabled(begun and not self.watch.isChecked())  # watching always keeps earlier results
