"""Merging and deleting of a class: preview of the changes, progress, and undo."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFrame, QLabel, QProgressBar, QPushButton, QWidget

from workbench.core.project.class_merge import ClassMergePlan
from workbench.core.project.file_transaction import MOST_BYTES, MOST_CHANGES, FilePass
from workbench.core.project.project import BACKGROUND, ClassInfo
from workbench.core.text_patterns import fill
from workbench.session.session import Session
from workbench.session.transaction_job import ClassMergeJob
from workbench.ui.text.formatting import duration, listed, number, size
from workbench.ui.widgets.box_layouts import in_column, in_row

_MB = 1 << 20


class ClassMergeDialog(QDialog):
    """Dialog that asks for the target class and shows the resulting changes."""

    def __init__(self, session: Session, info: ClassInfo, *, merge: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session, self._info = session, info
        title = self.tr("Merge “{name}” into another class") if merge else self.tr("Delete the class “{name}”")
        self.setWindowTitle(title.format(name=info.name))
        heading = QLabel(title.format(name=info.name), objectName="heading", textFormat=Qt.TextFormat.PlainText)
        column = in_column(heading, owner=self, margins=(20, 18, 20, 16), spacing=10)
        self.target = QComboBox(accessibleName=self.tr("Target class"))
        if merge:
            for other in session.project.classes:
                if other.id != info.id:
                    self.target.addItem(other.name, other.id)
            self.target.currentIndexChanged.connect(self._update)
            column.addWidget(self.target)
        else:
            self.target.addItem("", BACKGROUND)
        self.effect, self.backup = QLabel(wordWrap=True), QLabel(wordWrap=True, objectName="muted")
        for label in (self.effect, self.backup):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setMinimumWidth(400)
            column.addWidget(label)
        cancel = QPushButton(self.tr("Cancel"), autoDefault=False, clicked=self.reject)
        self.confirm = QPushButton(self.tr("Merge") if merge else self.tr("Delete"))
        self.confirm.setObjectName("primary" if merge else "danger")
        self.confirm.setDefault(True)
        self.confirm.clicked.connect(self._start)
        row = in_row(1, cancel, self.confirm)
        column.addSpacing(4)
        column.addLayout(row)
        session.project_closed.connect(self.reject)
        self._extent = session.image_list.extent({info.id})
        self._update()

    def _update(self, _: int = 0) -> None:
        extent, target = self._extent, self.target.currentData()
        if target == BACKGROUND:
            pattern = self.tr(
                "{regions} {regions:region|regions} ({pixels} {pixels:pixel|pixels}) in {images} "
                "{images:image|images} {regions:becomes|become} background."
            )
        else:
            pattern = self.tr(
                "{regions} {regions:region|regions} ({pixels} {pixels:pixel|pixels}) in {images} "
                "{images:image|images} {regions:becomes|become} “{target}”."
            )
        unused = self.tr("The class is not used in any image. No masks change.")
        text = fill(
            pattern,
            pixels=number(extent.pixels),
            regions=number(extent.regions),
            images=number(extent.images),
            target=self.target.currentText(),
        )
        self.effect.setText(text if extent.images else unused)
        backup = self.tr(
            "You can undo this. A backup of the current masks takes about {size}; those of the last {n} imports and "
            "merges are kept, up to {limit}."
        )
        backup = backup.format(size=size(max(1, extent.nbytes / _MB)), n=MOST_CHANGES, limit=size(MOST_BYTES / _MB))
        self.backup.setText(backup)

    def _start(self) -> None:
        if self._session.class_merge.start([self._info.id], self.target.currentData()):
            self.accept()


class ClassMergeCard(QFrame):
    """Card with progress and Cancel while masks are rewritten; finish or undo if interrupted; undo afterwards."""

    def __init__(self, job: ClassMergeJob) -> None:
        super().__init__(objectName="card")
        self._job, self._started = job, 0.0  # monotonic time in s
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False, accessibleName=self.tr("Progress of the class change"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.finish = QPushButton(self.tr("Finish"), objectName="primary")
        self.undo = QPushButton(self.tr("Undo"))
        self.close_button = QPushButton(self.tr("Close"))
        self.cancel.clicked.connect(self._cancel)
        self.finish.clicked.connect(job.resume)
        self.undo.clicked.connect(job.undo_merge)
        self.close_button.clicked.connect(self.hide)
        row = in_row(spacing=6)
        for button in (self.finish, self.undo, self.close_button, self.cancel):
            row.addWidget(button)
        in_column(self.text, self.bar, row, owner=self, margins=(10, 8, 10, 8), spacing=6)
        job.changed.connect(self._changed)
        job.progressed.connect(self._progressed)
        job.ended.connect(self._ended)
        self._changed()

    def _changed(self) -> None:
        job = self._job
        self.bar.setVisible(job.running)
        self.cancel.setVisible(job.running)
        self.cancel.setEnabled(True)
        self.finish.setVisible(job.unfinished and job.can_undo_merge)
        self.undo.setVisible(job.can_undo_merge)
        self.close_button.setVisible(not job.running and not job.unfinished)
        if job.running:
            self._started = time.monotonic()
            self.bar.setRange(0, 0)
            self.text.setText(self._operation_text(job.plan))
        elif job.unfinished:
            text = self.tr("Interrupted: {what}")
            self.text.setText(text.format(what=self._operation_text(job.plan)))
        self.setVisible(job.running or job.unfinished)

    def _operation_text(self, plan: ClassMergePlan) -> str:
        names = listed(f"“{name}”" for name in plan.names)
        if plan.state == "undoing":
            return self.tr("{names} – undoing").format(names=names)
        if plan.into == BACKGROUND:
            return self.tr("{names} – deleting").format(names=names)
        return self.tr("{names} – merging into “{target}”").format(names=names, target=plan.target)

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        remaining = (time.monotonic() - self._started) / max(1, done) * (total - done)
        text = self.tr("{what}: {done} of {total} {total:mask|masks}, {time} left")
        self.text.setText(
            fill(
                text,
                what=self._operation_text(self._job.plan),
                done=number(done),
                total=number(total),
                time=duration(remaining),
            )
        )

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self._job.cancel()

    def _ended(self, plan: ClassMergePlan, done: FilePass) -> None:
        names = listed(f"“{name}”" for name in plan.names)
        if plan.state != "done":
            self.setVisible(self._job.unfinished)
            return
        backup = size(max(1, done.nbytes / _MB))
        if plan.into == BACKGROUND:
            text = self.tr("{names} deleted from {n} {n:mask|masks}. The backup takes up to {size}.")
        else:
            text = self.tr("{names} merged into “{target}” in {n} {n:mask|masks}. The backup takes up to {size}.")
        self.text.setText(fill(text, names=names, target=plan.target, n=number(done.images), size=backup))
        self.setVisible(True)
