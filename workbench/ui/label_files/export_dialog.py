"""Dialog for exporting labels: format, folder, options, progress, and a report of what the format cannot hold."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QWidget

from workbench.core.project.exporting import EXPORT_FORMATS, ExportNames, LabelExportReport
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.text_patterns import fill, free_path
from workbench.session.project_jobs import LabelExportJob, LabelExportRequest
from workbench.session.session import Session
from workbench.ui.label_files.import_report import SkippedList
from workbench.ui.text.formatting import number, translate_message
from workbench.ui.widgets.dialogs import JobDialog, PathField, open_path
from workbench.ui.widgets.text_labels import resize_on_screen

# Content that a format cannot hold, as counted by the writers.
_LOSSES = {
    "verdicts": QT_TRANSLATE_NOOP("label_losses", "the verdict is not exported"),
    "masks": QT_TRANSLATE_NOOP("label_losses", "the mask is not exported"),
    "masks with ignored areas": QT_TRANSLATE_NOOP("label_losses", "ignored areas become background"),
    "masks with unlabeled areas": QT_TRANSLATE_NOOP("label_losses", "unlabeled areas are not distinguished"),
    "empty masks beside a verdict": QT_TRANSLATE_NOOP("label_losses", "the verdict replaces the empty mask"),
    "classes in one mask": QT_TRANSLATE_NOOP("label_losses", "several classes become one"),
    "images without a mask": QT_TRANSLATE_NOOP("label_losses", "there is no mask to export"),
    "images without a verdict": QT_TRANSLATE_NOOP("label_losses", "there is no verdict to export"),
    "objects": QT_TRANSLATE_NOOP("label_losses", "too many regions for this format"),
    "outlines of regions": QT_TRANSLATE_NOOP("label_losses", "outlines become bounding boxes"),
}

_REPORT_SIZE = QSize(680, 460)  # px, at least, with a list of what was left out


class LabelExportDialog(JobDialog):
    """Dialog for one export after another. Activating a row of the report opens the image."""

    while_running = "stop"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(LabelExportJob(session), parent)
        self.job.setParent(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export labels"))
        self._session = session
        self._out: Path | None = None
        self.action = self.tr("Export")
        self.format, self.shapes = QComboBox(), QComboBox()
        for format in EXPORT_FORMATS.values():
            self.format.addItem(self._title(format.name), format.name)
        self.folder = PathField(self.tr("Folder for the labels"), "folder", placeholder=self.tr("New or empty folder"))
        self.images = QCheckBox(self.tr("Copy the &images"))
        self.done_only = QCheckBox(self.tr("Only images marked as &done"), checked=True)
        self.split = QCheckBox(self.tr("Include the data s&plit"), checked=True)
        self.add_field(self.tr("&Format"), self.format)
        self._shapes_label = self.add_field(self.tr("&Regions"), self.shapes)
        self.add_field(self.tr("F&older"), self.folder)
        self.add_options(self.images, self.done_only, self.split)
        self.names = QLabel(objectName="muted", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.body.addWidget(self.names)
        self.report = SkippedList(unfolded=True)
        self.body.addWidget(self.report, 1)
        self.folder_button = self.add_button(self.tr("Open folder"), lambda: open_path(self._out), link=True)
        self.folder_button.hide()
        self.format.currentIndexChanged.connect(self._format_chosen)
        self.done_only.toggled.connect(self._show_names)
        self.report.activated.connect(self._open_image)
        self.job.ended.connect(self._show_report)
        session.project_closed.connect(self.close)
        self._format_chosen()

    def complete(self) -> bool:
        return self.folder.path is not None

    def progress_text(self, done: str, total: str) -> str:
        return fill(self.tr("{done} of {total} {total:image|images}"), done=done, total=total)

    # --- commands -------------------------------------------------------------------------------------

    def _format_chosen(self) -> None:
        format = EXPORT_FORMATS[self.format.currentData()]
        self.shapes.clear()
        names = {"polygon": self.tr("Polygons"), "mask": self.tr("Masks (exact)")}
        if format.name == "labelme":  # X-AnyLabeling and PaddleX read polygons only
            names["mask"] = self.tr("Masks (exact, for labelme only)")
        for shape in format.shapes:
            self.shapes.addItem(names.get(shape, shape), shape)
        for widget in (self.shapes, self._shapes_label):  # the dialog keeps its height, and the button its place
            widget.setEnabled(bool(format.shapes))
        self.images.setEnabled(not format.always_images)
        if format.always_images:
            self.images.setChecked(True)
        line = self.folder.line
        if self._session.project is not None and (not line.text() or not line.isModified()):
            folder = self._session.project.root.parent
            line.setText(str(free_path(folder, f"{self._session.project.root.name}-{format.name}")))
        self._show_names()
        self.refresh()

    def _show_names(self) -> None:
        """Show which names differ in the export, since the format cannot hold them."""
        project, format = self._session.project, EXPORT_FORMATS[self.format.currentData()]
        sentences = [] if project is None else ExportNames.of(project, format, self._keys()).sentences()
        self.names.setText("\n".join(map(translate_message, sentences)))
        self.names.setVisible(bool(sentences))

    def _keys(self) -> list[str]:
        session, done_only = self._session, self.done_only.isChecked()
        done = {key for key in session.keys if key in session.rows and session.rows[key].status == "done"}
        return [key for key in session.keys if not done_only or key in done]

    def begin(self) -> None:
        keys = self._keys() if self.done_only.isChecked() else None
        options = LabelExportOptions(
            images=self.images.isChecked(), shapes=self.shapes.currentData(), split=self.split.isChecked()
        )
        self._out = self.folder.path
        self.report.show_entries([])
        self.folder_button.hide()
        if not self.job.start(LabelExportRequest(self.format.currentData(), self._out, keys, options)):
            self.show_status(self.tr("Unsaved labels could not be saved, so nothing was exported."))

    def _open_image(self, key: str) -> None:
        if key in self._session.rows:
            self._session.open_image(key)

    # --- events ---------------------------------------------------------------------------------------

    def _show_report(self, report: LabelExportReport) -> None:
        if report.cancelled:
            text = self.tr("Export canceled after {n} {n:label|labels}. The files written until then remain in {path}.")
        else:
            text = self.tr("{n} {n:label|labels} exported to {path}.")
        lines = [fill(text, n=number(report.labels), path=report.path)]
        if report.losses:
            lines.append(self.tr("This format cannot hold everything. Press Enter on a row to open the image."))
        self.show_status("\n".join(lines))
        rows = list(report.skipped)
        for key, kinds in report.losses.items():
            rows += [(key, QCoreApplication.translate("label_losses", _LOSSES[kind])) for kind in kinds]
        self.report.show_entries(report.skipped, losses=rows[len(report.skipped) :])
        if rows:
            resize_on_screen(self, max(self.width(), _REPORT_SIZE.width()), max(self.height(), _REPORT_SIZE.height()))
        self.folder_button.show()

    def _title(self, name: str) -> str:
        titles = {
            "png": self.tr("PNG masks"),
            "folders": self.tr("ImageFolder (one folder per verdict)"),
            "verdicts": self.tr("Table of verdicts (CSV)"),
        }
        return titles.get(name, EXPORT_FORMATS[name].title)
