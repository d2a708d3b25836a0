"""Dialogs for packing a project into a zip file, and for unpacking one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from workbench.core.problems import NotPacked
from workbench.core.project.packing import PackReport, packed_name
from workbench.session.packing_job import PackingJob
from workbench.session.session import Session
from workbench.ui.project.job_dialog import JobDialog, PathField
from workbench.ui.text.formatting import listed, number, problem_text, size


class PackDialog(JobDialog):
    """Dialog for packing the open project. path: proposed zip file."""

    def __init__(self, session: Session, job: PackingJob, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self._session = session
        self.setWindowTitle(self.tr("Pack project"))
        self.action = self.tr("Pack")
        self.file = PathField(self.tr("Zip file to write"), "save", path)
        self.runs = QCheckBox(self.tr("Include &trained models"), checked=True)
        self.add_field(self.tr("&File"), self.file)
        self.form.addRow("", self.runs)
        self.status.setText(
            self.tr(
                "Writes the project with the images of all its folders to one file. It can be unpacked and opened on "
                "another computer. Exports and the history for undo are left out."
            )
        )
        self.open_button = QPushButton(self.tr("Open folder"), objectName="link")
        self.open_button.setAutoDefault(False)
        self.open_button.clicked.connect(self._open_folder)
        self.open_button.hide()
        self.buttons.insertWidget(0, self.open_button)
        job.packed.connect(self._show_end)
        self.refresh()

    def begin(self) -> None:
        if self._session.flush():
            path = self.file.path
            self._written = path if path.suffix else path.with_suffix(".zip")
            self.job.pack(self._session.project, self._written, runs=self.runs.isChecked())

    def complete(self) -> bool:
        return self.file.path is not None

    def progress_text(self, done: str, total: str) -> str:
        return self.tr("Packing: {done} of {total} files").format(done=done, total=total)

    def _show_end(self, report: PackReport | None) -> None:
        if report is None:
            self.status.setText(self.tr("Canceled. No file was written."))
            return
        text = self.tr("{n} images packed into {path} ({size}).")
        text = text.format(n=number(report.images), path=report.path, size=size(max(1, report.nbytes / (1 << 20))))
        if report.missing:
            missing = self.tr("Left out, because their folders are not available: {names}")
            text += " " + missing.format(names=listed(report.missing))
        self.status.setText(text)
        self.open_button.show()

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._written.parent)))


class UnpackDialog(JobDialog):
    """Dialog for unpacking a project. path: zip file, None if it is still to be chosen."""

    unpacked = Signal(object)  # path of the project

    def __init__(self, job: PackingJob, path: Path | None, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setWindowTitle(self.tr("Unpack project"))
        self.action = self.tr("Unpack and open")
        self.file = PathField(self.tr("Packed project"), "open", path)
        self.folder = PathField(self.tr("Folder for the new project folder"), "folder", folder)
        self.add_field(self.tr("&File"), self.file)
        self.add_field(self.tr("Unpack &to"), self.folder)
        self.file.line.textChanged.connect(self._describe)
        job.unpacked.connect(self._show_end)
        self._describe()
        self.refresh()

    def begin(self) -> None:
        self.job.unpack(self.file.path, self.folder.path)

    def complete(self) -> bool:
        return self.file.path is not None and self.file.path.is_file() and self.folder.path is not None

    def progress_text(self, done: str, total: str) -> str:
        return self.tr("Unpacking: {done} of {total} files").format(done=done, total=total)

    def _describe(self) -> None:
        path = self.file.path
        if path is None or not path.is_file():
            self.status.setText(self.tr("Choose a .zip file that was written with “Pack project…”."))
            return
        try:
            self.status.setText(self.tr("Project: {name}").format(name=packed_name(path)))
        except NotPacked as problem:
            self.status.setText(" ".join(problem_text(problem)))

    def _show_end(self, root: Path | None) -> None:
        if root is None:
            self.status.setText(self.tr("Canceled. Nothing was unpacked."))
            return
        self.accept()
        self.unpacked.emit(root)
