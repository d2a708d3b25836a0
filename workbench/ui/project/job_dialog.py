"""Dialog for one long task: fields, a status line with progress, and a button that starts and cancels it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
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

from workbench.session.tasks import Job
from workbench.ui.text.formatting import number, problem_text


class PathField(QWidget):
    """Line for a path with a Browse button. mode: "folder", "open" or "save" (a zip file)."""

    def __init__(self, title: str, mode: str, path: Path | None = None) -> None:
        super().__init__()
        self._title, self._mode = title, mode
        self.line = QLineEdit("" if path is None else str(path))
        self.line.setAccessibleName(title)
        button = QPushButton(self.tr("Browse…"))
        button.setAutoDefault(False)
        button.setToolTip(title)
        button.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.line, 1)
        row.addWidget(button)

    @property
    def path(self) -> Path | None:
        text = self.line.text().strip()
        return Path(text).expanduser() if text else None

    def _browse(self) -> None:
        current, kinds = self.line.text().strip() or str(Path.home()), self.tr("Zip files (*.zip)")
        if self._mode == "folder":
            chosen = QFileDialog.getExistingDirectory(self, self._title, current)
        elif self._mode == "open":
            chosen, _ = QFileDialog.getOpenFileName(self, self._title, current, kinds)
        else:
            chosen, _ = QFileDialog.getSaveFileName(self, self._title, current, kinds)
        if chosen:
            self.line.setText(chosen)


class JobDialog(QDialog):
    """Base class. Subclasses set `action`, fill `form`, and implement `begin`, `complete` and `progress_text`.

    action: text of the button that starts the job.
    """

    def __init__(self, job: Job, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(620)
        self.job, self.action = job, ""
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 16)
        column.setSpacing(12)
        self.fields = QWidget()
        self.form = QFormLayout(self.fields)
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(9)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        column.addWidget(self.fields)
        column.addWidget(self.status)
        column.addWidget(self.bar)
        column.addStretch(1)
        row = self.buttons = QHBoxLayout()
        row.addStretch(1)
        self.close_button = QPushButton(self.tr("Close"))
        self.close_button.setAutoDefault(False)
        self.close_button.clicked.connect(self.reject)
        self.start_button = QPushButton(objectName="primary")
        self.start_button.setDefault(True)
        self.start_button.clicked.connect(self._start)
        row.addWidget(self.close_button)
        row.addWidget(self.start_button)
        column.addLayout(row)
        job.state_changed.connect(self.refresh)
        job.failed.connect(self.show_failure)
        job.progressed.connect(self._progressed)

    def showEvent(self, event: QShowEvent) -> None:
        """Order the buttons after the fields, which subclasses add later."""
        each, last = self.nextInFocusChain(), None
        while each is not self:
            if self.fields.isAncestorOf(each) and each.focusPolicy() != Qt.FocusPolicy.NoFocus:
                last = each
            each = each.nextInFocusChain()
        if last is not None:
            self.setTabOrder(last, self.close_button)
            self.setTabOrder(self.close_button, self.start_button)
        super().showEvent(event)

    # --- for subclasses --------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the job."""
        raise NotImplementedError

    def complete(self) -> bool:
        """Return True if the job can be started with the present fields."""
        raise NotImplementedError

    def progress_text(self, done: str, total: str) -> str:
        """Return the text of the status line while the job runs."""
        raise NotImplementedError

    def add_field(self, name: str, field: QWidget) -> None:
        label = QLabel(name)
        target = field.line if isinstance(field, PathField) else field
        label.setBuddy(target)
        label.setMinimumHeight(target.sizeHint().height())  # centers the label vertically beside its field
        if isinstance(target, QLineEdit):
            target.textChanged.connect(self.refresh)
        self.form.addRow(label, field)

    # --- events ----------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        running = self.job.running
        self.fields.setEnabled(not running)
        self.close_button.setEnabled(not running)
        self.bar.setVisible(running)
        self.start_button.setText(self.tr("Cancel") if running else self.action)
        self.start_button.setEnabled(running or self.complete())

    def show_failure(self, problem: Exception) -> None:
        self.status.setText(" ".join(filter(None, problem_text(problem))))

    def done(self, result: int) -> None:
        """Close the dialog; a running job is canceled by its button first."""
        if not self.job.running:
            super().done(result)

    def _start(self) -> None:
        if self.job.running:
            self.job.cancel()
            self.start_button.setEnabled(False)
        else:
            self.status.setText("")
            self.bar.setRange(0, 0)
            self.begin()

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.status.setText(self.progress_text(number(done), number(total)))
