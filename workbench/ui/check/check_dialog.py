"""Check dialog: findings of the project check by kind, with repairs and a table for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.core.check.findings import KINDS, Finding, Kind, findings_csv, kind_texts
from workbench.core.problems import Problem
from workbench.core.project.storage import write_bytes
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.ui.check.finding_repairs import FindingModel, FindingRepairs
from workbench.ui.text.formatting import number, problem_text
from workbench.ui.text.message_translation import translate_message

_KindRole = Qt.ItemDataRole.UserRole


class CheckDialog(QDialog):
    """Non-modal dialog with the result of the last check. Closing it keeps the result and a running check."""

    shown = Signal(str, object)  # key of an image to open, and the place (x, y) in it, or None

    def __init__(
        self, session: Session, job: ReportJob[list[Finding]], repairs: FindingRepairs, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session, self._job, self._repairs = session, job, repairs
        repairs.setParent(self)
        self.setWindowTitle(self.tr("Check labels"))
        self.resize(940, 560)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(12)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress of the check"))
        column.addWidget(self.status)
        column.addWidget(self.bar)
        column.addWidget(self._make_lists(), 1)
        column.addLayout(self._make_buttons())
        job.progressed.connect(self._progressed)
        job.changed.connect(self._update)
        job.state_changed.connect(self._update)
        job.failed.connect(self._failed)
        session.project_closed.connect(self.close)
        self._update()

    def _make_lists(self) -> QSplitter:
        self.kinds = QListWidget(objectName="rows")
        self.kinds.setAccessibleName(self.tr("Kinds of findings"))
        self.kinds.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.kinds.currentItemChanged.connect(self._show_kind)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(12, 0, 0, 0)
        column.setSpacing(8)
        self.advice = QLabel(wordWrap=True)
        self.model = FindingModel(self)
        self.table = QTableView(objectName="rows", showGrid=False, cornerButtonEnabled=False)
        self.table.setAccessibleName(self.tr("Findings"))
        self.table.setModel(self.model)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(26)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(0, 220)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(lambda index, _: self._open(index))
        self.table.selectionModel().selectionChanged.connect(self._update_repairs)
        self.repair_row = QHBoxLayout()
        self.repair_row.setSpacing(8)
        self.scope = QLabel(objectName="muted")
        column.addWidget(self.advice)
        column.addWidget(self.table, 1)
        column.addLayout(self.repair_row)
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self.kinds)
        splitter.addWidget(right)
        splitter.setSizes([320, 560])
        self.repair_buttons: list[QPushButton] = []
        return splitter

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.save = QPushButton(self.tr("Save as CSV…"))
        self.save.setAutoDefault(False)
        self.save.clicked.connect(self._save)
        close = QPushButton(self.tr("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.start_button = QPushButton(objectName="primary")
        self.start_button.setAutoDefault(False)
        self.start_button.clicked.connect(self.start)
        row.addWidget(self.save)
        row.addStretch(1)
        row.addWidget(close)
        row.addWidget(self.start_button)
        return row

    # --- commands --------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the check, or cancel the running one."""
        if self._job.running:
            self._job.cancel()
            self.start_button.setEnabled(False)
        else:
            self.bar.setRange(0, 0)
            self._job.start()

    def selected(self) -> list[Finding]:
        """Return the selected findings; all of the shown kind if none is selected."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.findings[row] for row in rows] or list(self.model.findings)

    def _save(self) -> None:
        folder = self._session.project.root if self._session.project is not None else Path.home()
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save findings"), str(folder / "findings.csv"), self.tr("CSV files (*.csv)")
        )
        if name:
            try:
                write_bytes(Path(name), findings_csv(self._job.result or (), translate_message))
            except Problem as problem:
                self._failed(problem)

    def _open(self, index: QModelIndex) -> None:
        """Show the image of a finding, at the place of the finding."""
        if index.isValid():
            finding = self.model.findings[index.row()]
            if finding.image:
                self.shown.emit(finding.image, finding.place)

    # --- updates ---------------------------------------------------------------------------------

    def _update(self) -> None:
        running, result = self._job.running, self._job.result
        self.bar.setVisible(running)
        self.start_button.setText(self.tr("Cancel") if running else self.tr("Check"))
        self.start_button.setEnabled(True)
        self.save.setEnabled(bool(result))
        if not running:
            self.status.setText(self._status_text(result))
        self._list_kinds(result or ())

    def _status_text(self, result: Sequence[Finding] | None) -> str:
        if result is None:
            return self.tr("Find label errors, data leakage and damaged files. The check changes nothing.")
        if not result:
            text = self.tr("No problems found.")
        else:
            text = self.tr("Findings: {n}.").format(n=number(len(result)))
        if self._job.outdated:
            return " ".join((text, self.tr("The project has changed since the check. Check again to update the list.")))
        return text

    def _list_kinds(self, findings: Sequence[Finding]) -> None:
        kind = self._kind()
        counts = {kind: sum(finding.kind == kind for finding in findings) for kind in KINDS}
        blocked = self.kinds.blockSignals(True)
        self.kinds.clear()
        for name, count in counts.items():
            if count:
                title = translate_message(kind_texts()[name][0])
                item = QListWidgetItem(self.tr("{title} ({n})").format(title=title, n=number(count)))
                item.setData(_KindRole, name)
                self.kinds.addItem(item)
                if name == kind:
                    self.kinds.setCurrentItem(item)
        if self.kinds.currentItem() is None:
            self.kinds.setCurrentRow(0)
        self.kinds.blockSignals(blocked)
        self._show_kind()

    def _kind(self) -> Kind | None:
        item = self.kinds.currentItem()
        return None if item is None else item.data(_KindRole)

    def _show_kind(self, *_: object) -> None:
        kind = self._kind()
        findings = [finding for finding in self._job.result or () if finding.kind == kind]
        if findings != list(self.model.findings):
            self.model.set_findings(findings)
        self.advice.setText(translate_message(kind_texts()[kind][1]) if kind is not None else "")
        for button in self.repair_buttons:
            button.deleteLater()
        while self.repair_row.count():
            self.repair_row.takeAt(0)
        self.repair_buttons = []
        for repair in self._repairs.buttons.get(kind, ()) if kind is not None else ():
            button = QPushButton(repair.text)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, repair=repair: repair.apply(self.selected()))
            self.repair_row.addWidget(button)
            self.repair_buttons.append(button)
        self.repair_row.addWidget(self.scope, 1)
        self._update_repairs()

    def _update_repairs(self, *_: object) -> None:
        for button in self.repair_buttons:
            button.setEnabled(self._session.writable and not self._job.running and bool(self.model.findings))
        n = len(self.selected()) if self.repair_buttons else 0
        chosen = bool(self.table.selectionModel().hasSelection())
        pattern = self.tr("Selected findings: {n}") if chosen else self.tr("All findings of this kind: {n}")
        self.scope.setText(pattern.format(n=number(n)) if n else "")

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        if done < total:
            text = self.tr("Checking images: {done} of {total}").format(done=number(done), total=number(total))
        else:
            text = self.tr("Comparing images…")
        self.status.setText(text)

    def _failed(self, problem: Exception) -> None:
        self.status.setText(" ".join(filter(None, problem_text(problem))))
