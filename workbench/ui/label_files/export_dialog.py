"""Dialog for exporting labels: format, folder, options, progress, and a report of what the format cannot hold."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.names import free_path
from workbench.core.problems import Problem
from workbench.core.project.exporting import EXPORT_FORMATS, LabelExportReport
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.session.label_export_job import LabelExportJob, LabelExportRequest
from workbench.session.session import Session
from workbench.ui.label_files.skipped_list import SkippedList
from workbench.ui.text.formatting import number, problem_text
from workbench.ui.text.message_translation import translate_message

# Content that a format cannot hold, as counted by the writers.
_LOSSES = {
    "verdicts": QT_TRANSLATE_NOOP("label_losses", "the verdict is not exported"),
    "masks": QT_TRANSLATE_NOOP("label_losses", "the mask is not exported"),
    "masks with ignored areas": QT_TRANSLATE_NOOP("label_losses", "ignored areas become background"),
    "masks with unlabeled areas": QT_TRANSLATE_NOOP("label_losses", "unlabeled areas are not distinguished"),
    "classes in one mask": QT_TRANSLATE_NOOP("label_losses", "several classes become one"),
    "images without a mask": QT_TRANSLATE_NOOP("label_losses", "there is no mask to export"),
    "images without a verdict": QT_TRANSLATE_NOOP("label_losses", "there is no verdict to export"),
    "objects": QT_TRANSLATE_NOOP("label_losses", "too many regions for this format"),
    "outlines of regions": QT_TRANSLATE_NOOP("label_losses", "outlines become bounding boxes"),
}


class LabelExportDialog(QDialog):
    """Dialog for one export after another. Activating a row of the report opens the image."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export labels"))
        self.resize(680, 460)
        self._session = session
        self.job = LabelExportJob(session, self)
        self._out: Path | None = None
        self.format, self.shapes = QComboBox(), QComboBox()
        for format in EXPORT_FORMATS.values():
            self.format.addItem(self._title(format.name), format.name)
        self.out = QLineEdit(placeholderText=self.tr("New or empty folder"))
        self.images = QCheckBox(self.tr("Copy the &images"))
        self.done_only = QCheckBox(self.tr("Only images marked as &done"), checked=True)
        self.split = QCheckBox(self.tr("Include the data s&plit"), checked=True)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.report = SkippedList(unfolded=True)
        self.bar = QProgressBar(textVisible=False)
        self.folder_button = QPushButton(self.tr("Open folder"), objectName="link")
        self.close_button = QPushButton(self.tr("Close"))
        self.export_button = QPushButton(self.tr("Export"), objectName="primary")
        self._lay_out()
        self.format.currentIndexChanged.connect(self._format_chosen)
        self.out.textChanged.connect(self._show_state)
        self.export_button.clicked.connect(self._export)
        self.close_button.clicked.connect(self.reject)
        self.folder_button.clicked.connect(self._open_folder)
        self.report.activated.connect(self._open_image)
        self.job.progressed.connect(self._show_progress)
        self.job.ended.connect(self._show_report)
        self.job.failed.connect(self._show_failure)
        self.job.state_changed.connect(self._show_state)
        session.project_closed.connect(self.close)
        self.folder_button.hide()
        self._format_chosen()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(9)
        form.addRow(self.tr("&Format"), self.format)
        self._shapes_label = QLabel(self.tr("&Regions"))
        self._shapes_label.setBuddy(self.shapes)
        form.addRow(self._shapes_label, self.shapes)
        browse = QPushButton(self.tr("Browse…"))
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.out, 1)
        row.addWidget(browse)
        label = QLabel(self.tr("F&older"))
        label.setBuddy(self.out)
        form.addRow(label, row)
        options = QHBoxLayout()
        options.setSpacing(22)
        for box in (self.images, self.done_only, self.split):
            options.addWidget(box)
        options.addStretch(1)
        form.addRow("", options)
        self._form = QWidget()
        self._form.setLayout(form)
        form.setContentsMargins(0, 0, 0, 0)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.folder_button)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        buttons.addWidget(self.export_button)
        self.close_button.setAutoDefault(False)
        self.export_button.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(12)
        column.addWidget(self._form)
        column.addWidget(self.bar)
        column.addWidget(self.status)
        column.addWidget(self.report, 1)
        column.addStretch(0)
        column.addLayout(buttons)

    # --- commands -------------------------------------------------------------------------------------

    def _format_chosen(self) -> None:
        format = EXPORT_FORMATS[self.format.currentData()]
        self.shapes.clear()
        names = {"polygon": self.tr("Polygons"), "mask": self.tr("Masks (exact)")}
        if format.name == "labelme":  # X-AnyLabeling and PaddleX read polygons only
            names["mask"] = self.tr("Masks (exact, for labelme only)")
        for shape in format.shapes:
            self.shapes.addItem(names.get(shape, shape), shape)
        self.shapes.setVisible(bool(format.shapes))
        self._shapes_label.setVisible(bool(format.shapes))
        self.images.setEnabled(not format.always_images)
        if format.always_images:
            self.images.setChecked(True)
        if self._session.project is not None and (not self.out.text() or not self.out.isModified()):
            folder = self._session.project.root.parent
            self.out.setText(str(free_path(folder, f"{self._session.project.root.name}-{format.name}")))
        self._show_state()

    def _browse(self) -> None:
        start = self.out.text() or str(Path.home())
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder for the labels"), str(Path(start).parent))
        if folder:
            self.out.setText(folder)
            self.out.setModified(True)

    def _export(self) -> None:
        if self.job.running:
            self.job.cancel()
            return
        keys = None
        if self.done_only.isChecked():
            keys = [key for key in self._session.keys if self._session.rows[key].status == "done"]
        options = LabelExportOptions(
            images=self.images.isChecked(), shapes=self.shapes.currentData(), split=self.split.isChecked()
        )
        self._out = Path(self.out.text().strip()).expanduser()
        self.report.show_entries([])
        self.folder_button.hide()
        self.status.clear()
        if not self.job.start(LabelExportRequest(self.format.currentData(), self._out, keys, options)):
            self.status.setText(self.tr("Unsaved labels could not be saved, so nothing was exported."))

    def _open_folder(self) -> None:
        if self._out is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._out.absolute())))

    def _open_image(self, key: str) -> None:
        if key in self._session.rows:
            self._session.open_image(key)

    def done(self, result: int) -> None:
        """End the export however the dialog is closed."""
        self.job.close()
        super().done(result)

    # --- events ---------------------------------------------------------------------------------------

    def _show_progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.status.setText(self.tr("{done} of {total} images").format(done=number(done), total=number(total)))

    def _show_report(self, report: LabelExportReport) -> None:
        if report.cancelled:
            text = self.tr("Export canceled after {n} labels. The files written until then remain in {path}.")
        else:
            text = self.tr("{n} labels exported to {path}.")
        lines = [text.format(n=number(report.labels), path=report.path)]
        if report.losses:
            lines.append(self.tr("This format cannot hold everything. Press Enter on a row to open the image."))
        self.status.setText("\n".join(lines))
        rows = list(report.skipped)
        for key, kinds in report.losses.items():
            rows += [(key, _loss_text(kind)) for kind in kinds]
        self.report.show_entries(report.skipped, losses=rows[len(report.skipped) :])
        self.folder_button.show()

    def _show_failure(self, problem: Problem) -> None:
        self.status.setText(" ".join(filter(None, problem_text(problem))))

    def _show_state(self) -> None:
        running = self.job.running
        self._form.setEnabled(not running)
        self.bar.setVisible(running)
        if not running:
            self.bar.setRange(0, 0)
        self.export_button.setText(self.tr("Cancel") if running else self.tr("Export"))
        self.export_button.setEnabled(running or bool(self.out.text().strip()))

    def _title(self, name: str) -> str:
        titles = {
            "png": self.tr("PNG masks"),
            "folders": self.tr("ImageFolder (one folder per verdict)"),
            "verdicts": self.tr("Table of verdicts (CSV)"),
        }
        return titles.get(name, EXPORT_FORMATS[name].title)


def _loss_text(kind: str) -> str:
    return QCoreApplication.translate("label_losses", _LOSSES[kind]) if kind in _LOSSES else translate_message(kind)
