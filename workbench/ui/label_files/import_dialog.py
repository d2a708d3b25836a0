"""Dialog for importing labels: choice of the files, preview, progress and result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QLabel, QProgressBar, QPushButton, QStackedWidget, QWidget

from workbench.core.problems import Problem
from workbench.core.project.formats.yolo import need_dataset_trust
from workbench.core.project.import_account import ImportReport, ImportRequest
from workbench.core.project.import_plan import ImportPlan
from workbench.core.project.sources import Source
from workbench.session.session import Session
from workbench.ui.label_files.import_preview import ImportPreview
from workbench.ui.label_files.import_report import ImportResult
from workbench.ui.label_files.path_choices import LabelPathField
from workbench.ui.text.formatting import duration, number, problem_text
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import ask_trust
from workbench.ui.widgets.file_drop import is_label_file
from workbench.ui.widgets.text_labels import resize_for_text
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
        if not plan.report.labeled and plan.report.missing < len(plan.report.skipped):
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
        if not report.skipped and not report.all_notes:
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
        self.preview.setEnabled(not job.running and (self.plan is not None or bool(job.found)))
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
