"""Dialogs for importing and exporting labels.

Import: choice of the files, preview, progress and result. Export: format, folder, options, progress, and a report of
what the format cannot hold.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QLabel, QProgressBar, QPushButton, QStackedWidget, QWidget

from workbench.core.problems import Problem
from workbench.core.project.exporting import EXPORT_FORMATS, ExportNames, LabelExportReport
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.formats.yolo import need_dataset_trust
from workbench.core.project.import_account import ImportReport, ImportRequest
from workbench.core.project.import_plan import ImportPlan
from workbench.core.project.sources import Source
from workbench.core.text_patterns import fill, free_path
from workbench.session.project_jobs import LabelExportJob, LabelExportRequest
from workbench.session.session import Session
from workbench.ui.label_files.import_preview import ImportPreview
from workbench.ui.label_files.import_report import ImportResult, SkippedList
from workbench.ui.label_files.path_choices import LabelPathField
from workbench.ui.text.formatting import duration, number, problem_text, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import JobDialog, PathField, ask_trust, open_path
from workbench.ui.widgets.file_drop import is_label_file
from workbench.ui.widgets.text_labels import resize_for_text, resize_on_screen
from workbench.ui.widgets.theme import ThemeManager

_RESULT_SIZE = QSize(620, 260)


class ImportDialog(QDialog):
    """Dialog for one import. images_only: offer to add the images of the folder without labels."""

    images_only_chosen = Signal(list)  # of Path

    def __init__(
        self,
        session: Session,
        style: ThemeManager,
        paths: Sequence[Path] = (),
        *,
        images_only: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Import labels"))
        resize_for_text(self, 940, 620)
        self._session, self._job = session, session.label_import
        self._offers_images = images_only
        self._paths: tuple[Path, ...] = ()
        self.plan: ImportPlan | None = None
        self._started = 0.0  # monotonic time in s
        self._first_labels = False  # no image had a label before the import
        self._create_widgets(style)
        self._lay_out()
        self._connect()
        self._show_state()
        if paths:
            self.show_paths(paths)

    def _create_widgets(self, style: ThemeManager) -> None:
        self.files = LabelPathField()
        self.preview = ImportPreview(style)
        self.result = ImportResult(style)
        self.bar = QProgressBar(textVisible=False)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.images_only = QPushButton(self.tr("Add images only"), autoDefault=False)
        self.undo_button = QPushButton(self.tr("Undo import"), autoDefault=False)
        self.close_button = QPushButton(self.tr("Cancel"), autoDefault=False)
        self.import_button = QPushButton(self.tr("Import"), objectName="primary", default=True)

    def _lay_out(self) -> None:
        self._pages = QStackedWidget()
        self._pages.addWidget(self.preview)
        self._pages.addWidget(self.result)
        buttons = in_row(self.images_only, self.undo_button, 1, self.close_button, self.import_button, spacing=8)
        parts = (self.files, (self._pages, 1), self.bar, self.status, buttons)
        in_column(*parts, owner=self, margins=(22, 18, 22, 16), spacing=10)

    def _connect(self) -> None:
        job = self._job
        self.files.chosen.connect(self.show_paths)
        self.files.edited.connect(self._discard_plan)
        self.files.not_found.connect(lambda: self.status.setText(self.tr("The labels do not exist.")))
        self.preview.options.format_chosen.connect(self._read_labels)
        self.preview.missing.located.connect(self._locate_images)
        self.preview.missing.not_found.connect(self._forget_sources)
        self.import_button.clicked.connect(self._import)
        self.close_button.clicked.connect(self.reject)
        self.undo_button.clicked.connect(self._undo)
        self.images_only.clicked.connect(self._add_images_only)
        job.progressed.connect(self._show_progress)
        job.planned.connect(self._show_plan)
        job.imported.connect(self._show_imported)
        job.failed.connect(self._show_failure)
        job.state_changed.connect(self._show_state)
        self._session.project_closed.connect(self._abandon)

    # --- files and preview --------------------------------------------------------------------------

    def show_paths(self, paths: Sequence[Path]) -> None:
        """Read the labels of a folder, an archive, or files and folders that were chosen together."""
        self._paths = tuple(paths)
        self.files.show_paths(paths)
        self.preview.options.forget_files()
        self._job.release()  # the files may have changed since they were read
        self._read_labels()

    def _discard_plan(self) -> None:
        self._job.release()  # a preview of the former files that is still being read must not appear
        self.plan = None
        self._show_state()

    def _locate_images(self, folder: Path) -> None:
        """Use the images of a folder, and read the labels again."""
        before = len(self._session.project.file.sources)
        if self._session.add_source(folder):
            self._added_sources: list[Source] = self._session.project.file.sources[before:]
            self._read_labels()

    def _forget_sources(self) -> None:
        for source in self._added_sources:
            self._session.forget_source(source.name)

    def _read_labels(self) -> None:
        if not self._paths:
            return
        self.plan = None
        self.status.clear()
        ask_trust(lambda: need_dataset_trust(self._paths), self._start_reading, self)
        self._show_state()

    def _start_reading(self) -> None:
        self._started = time.monotonic()
        self._job.preview(self._paths, replace(ImportRequest(), **self.preview.options.reading_choices()))
        self._show_state()

    def _show_plan(self, plan: ImportPlan) -> None:
        self.plan = plan
        self.preview.options.set_formats(self._job.found, plan.report.format)
        self.preview.show_plan(plan, self._session.project, self._paths[0])
        self.status.clear()
        self._show_state()
        if not (plan.report.labeled or plan.questions) and plan.report.missing < len(plan.report.skipped):
            self.status.setText(self.tr("None of these labels can be imported. The reasons are listed above."))
        self.import_button.setFocus()

    # --- import -------------------------------------------------------------------------------------

    def _import(self) -> None:
        if self.plan is None:
            return
        request = replace(self.plan.choices(), **self.preview.choices())
        self._started = time.monotonic()
        self._first_labels = not any(row.status == "done" or row.counts for row in self._session.rows.values())
        self.status.clear()
        if not self._job.start(self._paths, request):
            self.status.setText(self.tr("Unsaved labels could not be saved, so the import was not started."))

    def _show_imported(self, report: ImportReport) -> None:
        if report.cancelled:
            self.status.setText(self.tr("Import canceled. Nothing was changed."))
            self._show_state()
            return
        self.result.show_report(report)
        self._pages.setCurrentWidget(self.result)
        if not (report.skipped or report.image_notes):
            self.resize(_RESULT_SIZE)
        self.status.clear()
        self._show_state()
        self.close_button.setDefault(True)
        self.close_button.setFocus()

    def _show_failure(self, problem: Problem) -> None:
        self.preview.options.set_formats(self._job.found)
        self.preview.clear(keep_labels=self.plan is not None)
        self.status.setText(" ".join(filter(None, problem_text(problem))))
        self._show_state()

    def _show_progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        if self._job.activity == "reading":
            text = self.tr("Reading labels: {done} of {total}")
        else:
            text = self.tr("Importing: {done} of {total}, about {time} left")
        left = (time.monotonic() - self._started) / max(1, done) * (total - done)
        self.status.setText(text.format(done=number(done), total=number(total), time=duration(left)))

    def _show_state(self) -> None:
        job, imported = self._job, self._pages.currentWidget() is self.result
        importing = job.activity == "importing"
        self.files.setVisible(not imported)
        self.files.setEnabled(not importing)
        self.preview.setEnabled(not job.running)
        self.preview.options.setVisible(self.plan is not None)
        self.bar.setVisible(job.running)
        if not job.running:
            self.bar.setRange(0, 0)
        self.import_button.setVisible(not imported)
        self.import_button.setEnabled(not job.running and self.plan is not None and self.plan.report.labeled > 0)
        self.images_only.setEnabled(not importing)
        self.images_only.setVisible(self._offers_images and not imported)
        self.undo_button.setVisible(imported and self.result.undoable)
        self.close_button.setText(self.tr("Close") if imported else self.tr("Cancel"))

    def _undo(self) -> None:
        self._first_labels = False
        self.accept()
        self._session.undo()

    def _add_images_only(self) -> None:
        self.images_only_chosen.emit([path for path in self._paths if not is_label_file(path)])
        self.accept()

    def _abandon(self) -> None:
        """Close because the project was closed."""
        self.plan = None
        super().reject()

    def reject(self) -> None:
        """Cancel a running import, or close."""
        if self._job.activity == "importing":
            self.status.setText(self.tr("Canceling…"))
            self._job.cancel()
        else:
            super().reject()

    def _open_labeled(self) -> None:
        """Open the first labeled image, if the open image has no label and no image had one before the import."""
        session = self._session
        rows = [session.rows[key] for key in session.keys if key in session.rows]  # others are not indexed yet
        labeled = [row.key for row in rows if row.status == "done" or row.counts]
        if self._first_labels and labeled and session.key not in labeled:
            session.open_image(labeled[0])

    def done(self, result: int) -> None:
        """Release the files of the preview however the dialog is closed."""
        if self._pages.currentWidget() is self.result:
            self._open_labeled()
        if self._job.activity in ("", "reading"):
            self._job.release()
        super().done(result)


# --- export ---------------------------------------------------------------------------------------


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
