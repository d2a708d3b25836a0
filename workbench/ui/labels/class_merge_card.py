"""Merging and deleting of a class: preview of the changes, progress, and undo."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.project.class_merge import ClassMergePlan, ClassMergeResult
from workbench.core.project.project import BACKGROUND, ClassInfo
from workbench.session.class_merge_job import ClassMergeJob
from workbench.session.session import Session
from workbench.ui.text.formatting import duration, listed, number, size

_MB = 1 << 20


class ClassMergeDialog(QDialog):
    """Dialog that asks for the target class and shows the resulting changes."""

    def __init__(self, session: Session, info: ClassInfo, *, merge: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session, self._info = session, info
        title = self.tr("Merge “{name}” into another class") if merge else self.tr("Delete the class “{name}”")
        self.setWindowTitle(title.format(name=info.name))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        heading = QLabel(title.format(name=info.name), objectName="heading")
        heading.setTextFormat(Qt.TextFormat.PlainText)
        column.addWidget(heading)
        self.target = QComboBox()
        self.target.setAccessibleName(self.tr("The class it becomes"))
        if merge:
            for other in session.project.classes:
                if other.id != info.id:
                    self.target.addItem(other.name, other.id)
            self.target.currentIndexChanged.connect(self._say)
            column.addWidget(self.target)
        else:
            self.target.addItem("", BACKGROUND)
        self.what, self.cost = QLabel(wordWrap=True), QLabel(wordWrap=True, objectName="muted")
        for label in (self.what, self.cost):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setMinimumWidth(400)
            column.addWidget(label)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(self.tr("Cancel"))
        self.go = QPushButton(self.tr("Merge") if merge else self.tr("Delete"))
        self.go.setObjectName("primary" if merge else "danger")
        self.buttons.addButton(self.go, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self._start)
        self.buttons.rejected.connect(self.reject)
        column.addSpacing(4)
        column.addWidget(self.buttons)
        session.project_closed.connect(self.reject)
        self._extent = session.class_work.extent({info.id})
        self._say()

    def _say(self, _: int = 0) -> None:
        found, into = self._extent, self.target.currentData()
        if into == BACKGROUND:
            pattern = self.tr("{pixels} painted pixels, {regions} regions in {pictures} pictures, become background.")
        else:
            pattern = self.tr("{pixels} painted pixels, {regions} regions in {pictures} pictures, become “{target}”.")
        nothing = self.tr("No picture holds it, so no mask changes.")
        text = pattern.format(
            pixels=number(found.pixels),
            regions=number(found.regions),
            pictures=number(found.images),
            target=self.target.currentText(),
        )
        self.what.setText(text if found.images else nothing)
        cost = self.tr(
            "You can undo this once. A backup of the current masks (about {size}) is kept until the next class change."
        )
        self.cost.setText(cost.format(size=size(max(1, found.nbytes / _MB))))

    def _start(self) -> None:
        if self._session.class_work.start([self._info.id], self.target.currentData()):
            self.accept()


class ClassMergeCard(QFrame):
    """Card with progress and Cancel while masks are rewritten; finish or undo if interrupted; undo afterwards."""

    def __init__(self, work: ClassMergeJob) -> None:
        super().__init__(objectName="card")
        self._work, self._began, self._seen = work, 0.0, False
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        self.text = QLabel(wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress of the change of classes"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.finish = QPushButton(self.tr("Finish"), objectName="primary")
        self.back = QPushButton(self.tr("Take back"))
        self.close_button = QPushButton(self.tr("Close"))
        self.cancel.clicked.connect(self._cancel)
        self.finish.clicked.connect(work.resume)
        self.back.clicked.connect(work.undo_merge)
        self.close_button.clicked.connect(self.hide)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in (self.finish, self.back, self.close_button, self.cancel):
            row.addWidget(button)
        column.addWidget(self.text)
        column.addWidget(self.bar)
        column.addLayout(row)
        work.changed.connect(self._changed)
        work.progressed.connect(self._progressed)
        work.ended.connect(self._ended)
        self._changed()

    def _changed(self) -> None:
        work = self._work
        self.bar.setVisible(work.running)
        self.cancel.setVisible(work.running)
        self.cancel.setEnabled(True)
        self.finish.setVisible(work.unfinished and work.can_undo_merge)
        self.back.setVisible(work.can_undo_merge)
        self.close_button.setVisible(not work.running and not work.unfinished)
        if work.running:
            self._began = time.monotonic()
            self.bar.setRange(0, 0)
            self.text.setText(self._named(work.plan))
        elif work.unfinished:
            says = self.tr("Interrupted: {what}")
            self.text.setText(says.format(what=self._named(work.plan)))
        self.setVisible(work.running or work.unfinished)

    def _named(self, plan: ClassMergePlan) -> str:
        names = listed(f"“{name}”" for name in plan.names)
        if plan.state == "undoing":
            return self.tr("{names} – taking back").format(names=names)
        if plan.into == BACKGROUND:
            return self.tr("{names} – deleting").format(names=names)
        return self.tr("{names} – merging into “{target}”").format(names=names, target=plan.target)

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        left = (time.monotonic() - self._began) / max(1, done) * (total - done)
        text = self.tr("{what}: {done} of {total} masks, {time} left")
        self.text.setText(
            text.format(what=self._named(self._work.plan), done=number(done), total=number(total), time=duration(left))
        )

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self._work.cancel()

    def _ended(self, plan: ClassMergePlan, done: ClassMergeResult) -> None:
        names = listed(f"“{name}”" for name in plan.names)
        if plan.state == "undoing":
            self.setVisible(False)
            return
        kept = size(max(1, done.nbytes / _MB))
        if plan.into == BACKGROUND:
            text = self.tr("{names} deleted from {n} masks. The masks before take up to {size}.")
        else:
            text = self.tr("{names} merged into “{target}” in {n} masks. The masks before take up to {size}.")
        self.text.setText(text.format(names=names, target=plan.target, n=number(done.masks), size=kept))
        self.setVisible(True)
