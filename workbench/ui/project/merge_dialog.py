"""Dialog for merging another project: preview of the effect, rule for conflicts, progress."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.core.project.label_merge import MergeReport
from workbench.session.project_merge_job import ProjectMergeJob
from workbench.session.session import Session
from workbench.ui.project.job_dialog import JobDialog, PathField
from workbench.ui.text.formatting import listed, number
from workbench.ui.text.message_translation import translate_message

_DELAY = 400  # ms without input until the preview is computed
_NAMED = 5  # conflicts that are named


class MergeDialog(JobDialog):
    """Dialog for merging a project, such as a copy that a colleague has labeled, into the open one."""

    def __init__(self, session: Session, job: ProjectMergeJob, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
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
        return self.tr("Comparing: {done} of {total} images").format(done=done, total=total)

    def _changed(self, *_: object) -> None:
        self._preview = None
        path = self.folder.path
        if path is not None and (path / "project.json").is_file():
            self._timer.start()
            self.status.setText("")
        else:
            self._timer.stop()
            self.status.setText(
                self.tr(
                    "Takes over labels and new images of another project, for example of a copy that a colleague has "
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
            self.status.setText(self._text(report, self.tr("Labels to take over: {n}")))
        self.refresh()

    def _show_end(self, report: MergeReport) -> None:
        self._preview = None
        text = self._text(report, self.tr("Labels taken over: {n}"))
        if not report.complete:
            text = self.tr("Canceled. Labels merged so far are kept.") + "\n" + text
        self.status.setText(text)
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
