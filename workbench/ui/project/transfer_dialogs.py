"""Dialogs for packing a project into a zip file, unpacking one, and merging another project."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from workbench.core.problems import NotPacked
from workbench.core.project.label_merge import MergeReport
from workbench.core.project.packing import PackReport, packed_name
from workbench.core.text_patterns import fill
from workbench.session.project_jobs import PackingJob, ProjectMergeJob
from workbench.session.session import Session
from workbench.ui.text.formatting import listed, number, problem_text, size
from workbench.ui.text.translation import translate_message
from workbench.ui.widgets.job_dialog import JobDialog, PathField, open_path

_NAMED = 5  # files


class PackDialog(JobDialog):
    """Dialog for packing the open project. path: proposed zip file."""

    def __init__(self, session: Session, job: PackingJob, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self.setWindowTitle(self.tr("Pack project"))
        self.action = self.tr("Pack")
        self.file = PathField(self.tr("Zip file to write"), "save", path)
        self.runs = QCheckBox(self.tr("Include &trained models"), checked=True)
        self.add_field(self.tr("&File"), self.file)
        self.form.addRow("", self.runs)
        self.show_status(
            self.tr(
                "Writes the project with the images of all its folders to one file. It can be unpacked and opened on "
                "another computer. Exports and the history for undo are left out."
            )
        )
        self.open_button = self.add_button(self.tr("Open folder"), lambda: open_path(self._written.parent), link=True)
        self.open_button.hide()
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
        return fill(self.tr("Packing: {done} of {total} {total:file|files}"), done=done, total=total)

    def _show_end(self, report: PackReport | None) -> None:
        if report is None:
            self.show_status(self.tr("Canceled. No file was written."))
            return
        text = self.tr("{n} {n:image|images} packed into {path} ({size}).")
        text = fill(text, n=number(report.images), path=report.path, size=size(max(1, report.nbytes / (1 << 20))))
        if report.missing:
            missing = self.tr("Left out, because their folders are not available: {names}")
            text += " " + missing.format(names=listed(report.missing))
        if report.skipped:
            skipped = self.tr(
                "{n} {n:file|files} left out, removed meanwhile or with a name that is not UTF-8: {names}"
            )
            text += " " + fill(skipped, n=number(len(report.skipped)), names=listed(report.skipped[:_NAMED]))
        self.show_status(text)
        self.open_button.show()


class UnpackDialog(JobDialog):
    """Dialog for unpacking a project. path: zip file, None if it is still to be chosen."""

    unpacked = Signal(object)  # path of the project

    def __init__(self, job: PackingJob, path: Path | None, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
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
        return fill(self.tr("Unpacking: {done} of {total} {total:file|files}"), done=done, total=total)

    def _describe(self) -> None:
        path = self.file.path
        if path is None or not path.is_file():
            self.show_status(self.tr("Choose a .zip file that was written with “Pack project…”."))
            return
        try:
            self.show_status(self.tr("Project: {name}").format(name=packed_name(path)))
        except NotPacked as problem:
            self.show_status(" ".join(problem_text(problem)))

    def _show_end(self, root: Path | None) -> None:
        if root is None:
            self.show_status(self.tr("Canceled. Nothing was unpacked."))
            return
        self.accept()
        self.unpacked.emit(root)


_DELAY = 400  # ms without input until the preview is computed
_NAMED = 5  # conflicts that are named


class MergeDialog(JobDialog):
    """Dialog for merging a project, such as a copy that a colleague has labeled, into the open one."""

    def __init__(self, session: Session, job: ProjectMergeJob, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Merge project"))
        self.action = self.tr("Merge")
        self._session = session
        self._preview: MergeReport | None = None
        self.folder = PathField(self.tr("Project folder to merge"), "folder")
        self.keep = QComboBox()
        for name, text in (
            ("newer", self.tr("Keep the newer label")),
            ("mine", self.tr("Keep the label of this project")),
            ("theirs", self.tr("Take the label of the other project")),
        ):
            self.keep.addItem(text, name)
        self.add_field(self.tr("&Project"), self.folder)
        self.add_field(self.tr("If &both differ"), self.keep)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY, timeout=self._compute_preview)
        self.folder.line.textChanged.connect(self._changed)
        self.keep.currentIndexChanged.connect(self._changed)
        job.previewed.connect(self._show_preview)
        job.merged.connect(self._show_end)
        self._changed()

    def begin(self) -> None:
        self.job.merge(self.folder.path, self.keep.currentData())

    def complete(self) -> bool:
        report = self._preview
        return self._session.writable and report is not None and bool(report.taken or report.copied or report.conflicts)

    def progress_text(self, done: str, total: str) -> str:
        return fill(self.tr("Comparing: {done} of {total} {total:image|images}"), done=done, total=total)

    def _changed(self, *_: object) -> None:
        self._preview = None
        path = self.folder.path
        if path is not None and (path / "project.json").is_file():
            self._timer.start()
            self.show_status("")
        else:
            self._timer.stop()
            self.show_status(
                self.tr(
                    "Adds the labels and new images of another project, for example of a copy that a colleague has "
                    "labeled. Images are matched by content, classes by name. The other project is not changed."
                )
            )
        self.refresh()

    def _compute_preview(self) -> None:
        if self.folder.path is not None:
            self.job.preview(Path(self.folder.path), self.keep.currentData())

    def _show_preview(self, report: MergeReport) -> None:
        self._preview = report if report.complete else None
        if report.complete:
            self.show_status(self._text(report, self.tr("Labels to merge: {n}")))
        self.refresh()

    def _show_end(self, report: MergeReport) -> None:
        self._preview = None
        text = self._text(report, self.tr("Labels merged: {n}"))
        if not report.complete:
            text = self.tr("Canceled. Nothing was merged.") + "\n" + text
        self.show_status(text)
        self.refresh()

    def _text(self, report: MergeReport, taken: str) -> str:
        lines = [
            self.tr("Images: {n}, of which {copied} are new").format(
                n=number(report.pictures), copied=number(report.copied)
            ),
            taken.format(n=number(report.taken)),
            self.tr("Labels kept: {kept}; equal labels: {equal}").format(
                kept=number(report.kept), equal=number(report.equal)
            ),
        ]
        if report.added_classes:
            lines.append(self.tr("New classes: {names}").format(names=listed(report.added_classes)))
        if report.conflicts:
            names = [key for key, _ in report.conflicts[:_NAMED]] + ["…"] * (len(report.conflicts) > _NAMED)
            text = self.tr("Labels that differ: {n} ({names})")
            lines.append(text.format(n=number(len(report.conflicts)), names=listed(names)))
        if report.skipped:
            text = self.tr("Skipped: {n} ({why})")
            why = translate_message(report.skipped[0][1])
            lines.append(text.format(n=number(len(report.skipped)), why=why))
        return "\n".join(lines)
