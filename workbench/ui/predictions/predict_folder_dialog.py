"""Dialog for predicting a folder of images: settings, progress and results."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, QUrl
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

from workbench.core.runs.model_lookup import models_of
from workbench.inference.batch.results_log import LEDGER_FILE
from workbench.session.folder_prediction import FolderPrediction, FolderRequest, FolderSummary, ImagePredicted
from workbench.ui.predictions.predict_results import ResultPreview, ResultsModel
from workbench.ui.text import formatting


class PredictFolderDialog(QDialog):
    """Non-modal dialog for a folder prediction. project: root of the project whose models are offered, or None."""

    def __init__(self, project: Path | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Predict a folder"))
        self.resize(900, 640)
        self.work = FolderPrediction(self)
        self._began = 0.0
        self._first = self._skipped = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(12)
        column.addLayout(self._make_form(project))
        column.addLayout(self._make_progress())
        column.addWidget(self._make_results(), 1)
        column.addLayout(self._make_buttons())
        self.work.began.connect(self._show_total)
        self.work.predicted.connect(self._add)
        self.work.ended.connect(self._end)
        self.work.failed.connect(self._fail)
        self.work.state_changed.connect(self._refresh)
        for field in (self.images, self.out):
            field.textChanged.connect(self._refresh)
        self.watch.toggled.connect(self._refresh)
        self.model.editTextChanged.connect(self._refresh)
        self._refresh()
        (self.images if self.model.currentText() else self.model).setFocus()

    # --- construction ----------------------------------------------------------------------------

    def _make_form(self, project: Path | None) -> QFormLayout:
        self.model = QComboBox(editable=True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        for path in models_of(project) if project else []:
            self.model.addItem(str(path))
        self.model.lineEdit().setPlaceholderText(self.tr("A folder that was exported"))
        self.images = QLineEdit(placeholderText=self.tr("The folder is searched with all below it"))
        self.out = QLineEdit(placeholderText=self.tr("Masks, overlays, regions.csv and results.json are written here"))
        self.overlays = QCheckBox(self.tr("Draw &overlays"), checked=True)
        self.go_on = QCheckBox(self.tr("&Skip images that already have results"))
        self.watch = QCheckBox(self.tr("&Watch folder"))
        self.watch.setToolTip(self.tr("Looks at each picture that comes into the folder, until it is stopped"))
        self._choices: list[QWidget] = [self.model, self.images, self.out, self.overlays, self.go_on, self.watch]
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(9)
        rows = (
            (self.tr("&Model"), self.model, self.tr("A run or an export")),
            (self.tr("&Pictures"), self.images, self.tr("The folder of pictures to look at")),
            (self.tr("&Results"), self.out, self.tr("The folder that the results are written to")),
        )
        for name, field, tip in rows:
            label = QLabel(name)
            label.setBuddy(field)
            field.setToolTip(tip)
            field.setAccessibleName(tip)
            button = QPushButton(self.tr("Browse…"))
            button.setToolTip(tip)
            button.setAutoDefault(False)
            self._choices.append(button)
            label.setMinimumHeight(field.sizeHint().height())  # centers the label vertically beside its field
            button.clicked.connect(lambda _=False, field=field, tip=tip: self._browse(field, tip))
            line = QHBoxLayout()
            line.setSpacing(6)
            line.addWidget(field, 1)
            line.addWidget(button)
            form.addRow(label, line)
        boxes = QHBoxLayout()
        boxes.setSpacing(22)
        boxes.addWidget(self.overlays)
        boxes.addWidget(self.go_on)
        boxes.addWidget(self.watch)
        boxes.addStretch(1)
        form.addRow("", boxes)
        return form

    def _make_progress(self) -> QVBoxLayout:
        self.bar = QProgressBar(textVisible=False)
        self.said = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addWidget(self.bar)
        column.addWidget(self.said)
        return column

    def _make_results(self) -> QSplitter:
        self.found = ResultsModel(self)
        self.table = QTableView(showGrid=False, cornerButtonEnabled=False)
        self.table.setModel(self.found)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setAccessibleName(self.tr("What was found"))
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
        self.preview = ResultPreview(self.tr("Choose a picture in the table to see it; Enter opens it."))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.table)
        splitter.addWidget(self.preview)
        splitter.setSizes([560, 320])
        splitter.setChildrenCollapsible(False)
        return splitter

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.show_results = QPushButton(self.tr("Show the folder of results"), objectName="link")
        self.show_results.clicked.connect(lambda: self._open_path(Path(self.out.text().strip()).expanduser()))
        self.show_results.hide()
        self.leave = QPushButton(self.tr("Close"))
        self.leave.clicked.connect(self.close)
        self.go = QPushButton(objectName="primary")
        self.go.setDefault(True)
        self.go.clicked.connect(self._start)
        row.addWidget(self.show_results)
        row.addStretch(1)
        row.addWidget(self.leave)
        row.addWidget(self.go)
        return row

    # --- commands --------------------------------------------------------------------------------

    def request(self) -> FolderRequest:
        out = Path(self.out.text().strip()).expanduser()
        return FolderRequest(
            Path(self.model.currentText().strip()).expanduser(),
            Path(self.images.text().strip()).expanduser(),
            out,
            overlays=self.overlays.isChecked(),
            go_on=self.go_on.isEnabled() and self.go_on.isChecked(),
            watch=self.watch.isChecked(),
        )

    def _start(self) -> None:
        if self.work.running:
            self.work.cancel()
            self.go.setEnabled(False)
            self.said.setText(self.tr("Stopping…"))
            return
        self.found.clear()
        self.show_results.hide()
        self._first = self._skipped = 0
        self.bar.setRange(0, 0)
        self.said.setText(self.tr("Loading the model and looking for pictures…"))
        self.work.start(self.request())

    def _browse(self, field: QWidget, title: str) -> None:
        now = field.currentText() if isinstance(field, QComboBox) else field.text()
        folder = QFileDialog.getExistingDirectory(self, title, now or str(Path.home()))
        if folder and isinstance(field, QComboBox):
            field.setEditText(folder)
        elif folder:
            field.setText(folder)
            if field is self.images and not self.out.text().strip():
                self.out.setText(f"{folder.rstrip('/')}-results")

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self._open_path(self.found.rows[index.row()].shown)

    def _open_path(self, path: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute())))

    def _preview(self, index: QModelIndex) -> None:
        if index.isValid():
            self.preview.show_file(self.found.rows[index.row()].shown)

    def done(self, result: int) -> None:
        """Stop the prediction however the dialog is closed. Results written so far are kept."""
        self.work.close()
        self.preview.end()
        super().done(result)

    # --- events ----------------------------------------------------------------------------------

    def _show_total(self, total: int) -> None:
        self.bar.setRange(0, total)
        self._began = time.monotonic()
        if not total:
            self.said.setText(self.tr("Waiting for pictures in {folder}…").format(folder=self.images.text().strip()))

    def _add(self, looked: ImagePredicted) -> None:
        self._first = self._first or looked.number  # images before this number were done in an earlier prediction
        self._skipped += bool(looked.why)
        bottom = self.table.verticalScrollBar()
        follows = bottom.value() == bottom.maximum()
        self.found.add(looked)
        if follows and not self.table.currentIndex().isValid():
            self.table.scrollToBottom()
            if not looked.total:
                self.preview.show_file(looked.shown)  # while a folder is watched, the preview follows the newest image
        if not looked.total:
            text = self.tr("Waiting for more: {done} pictures, {skipped} skipped")
            self.said.setText(text.format(done=looked.number - self._skipped, skipped=self._skipped))
            return
        self.bar.setValue(looked.number)
        done = looked.number - self._first + 1
        left = (time.monotonic() - self._began) / done * (looked.total - looked.number)
        text = self.tr("{done} of {total} pictures, about {left} left")
        self.said.setText(text.format(done=looked.number, total=looked.total, left=formatting.duration(left)))

    def _end(self, ended: FolderSummary) -> None:
        self.bar.setRange(0, 1)
        self.bar.setValue(int(ended.whole))
        facts = {"done": ended.images, "skipped": ended.skipped, "path": ended.out}
        if ended.whole:
            text = self.tr("Done: {done} pictures, {skipped} skipped. The results are in {path}")
        else:
            text = self.tr(
                "Stopped. {done} images done, {skipped} skipped. Results are kept; select “Skip "
                "images that already have results” to continue."
            )
            self.go_on.setChecked(True)
        self.said.setText(text.format(**facts))
        self.show_results.show()
        if self.found.rows and not self.table.currentIndex().isValid():
            self.table.selectRow(0)

    def _fail(self, problem: Exception) -> None:
        self.bar.setRange(0, 1)
        self.bar.setValue(0)
        self.said.setText(" ".join(filter(None, formatting.problem_text(problem))))

    def _refresh(self) -> None:
        running = self.work.running
        out = self.out.text().strip()
        for field in self._choices:
            field.setEnabled(not running)
        if not running:
            begun = bool(out) and (Path(out).expanduser() / LEDGER_FILE).is_file()
            self.go_on.setEnabled(begun and not self.watch.isChecked())  # watching always keeps earlier results
        complete = all((self.model.currentText().strip(), self.images.text().strip(), out))
        self.go.setText(self.tr("Stop") if running else self.tr("Predict"))
        self.go.setEnabled(running or complete)
        self.go.setObjectName("danger" if running else "primary")
        self.go.style().polish(self.go)
