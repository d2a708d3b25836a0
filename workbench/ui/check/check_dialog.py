"""Check dialog: findings of the project check by kind, with repairs and a table for spreadsheets.

Dialog with a report on the labels of the project, which is computed again on request and saved as CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTableView,
    QWidget,
)

from workbench.core.check.project_check import KINDS, Finding, Kind, findings_csv, kind_texts
from workbench.core.problems import Problem
from workbench.core.project.storage import write_bytes
from workbench.core.text_patterns import fill
from workbench.inference.text_safety import SUFFIX
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.ui.check.finding_repairs import FindingModel, FindingRepairs
from workbench.ui.text.formatting import number, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import JobDialog
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text


class ReportDialog(JobDialog):
    """Base of the check and the statistics. Not modal; closing it keeps the report and a running computation."""

    while_running = "continue"

    def __init__(self, session: Session, job: ReportJob, parent: QWidget) -> None:
        super().__init__(job, parent)
        self.session, self.report = session, job
        self.start_button.setAutoDefault(False)
        self.start_button.setDefault(False)
        job.changed.connect(self.refresh)
        session.project_closed.connect(self.close)

    def begin(self) -> None:
        self.report.start()

    def save_csv(
        self, title: str, name: str, content: bytes, definitions: Callable[[str, bytes], bytes] | None = None
    ) -> None:
        """Write a table to a file that the user chooses.

        name: proposed file name. definitions: returns the content of a file beside the table, from its name and it.
        """
        folder = self.session.project.root if self.session.project is not None else Path.home()
        path, _ = QFileDialog.getSaveFileName(self, title, str(folder / name), self.tr("CSV files (*.csv)"))
        if path:
            try:
                write_bytes(Path(path), content)
                if definitions is not None:
                    write_bytes(Path(path + SUFFIX), definitions(Path(path).name, content))
            except Problem as problem:
                self.show_failure(problem)


_KindRole = Qt.ItemDataRole.UserRole


class CheckDialog(ReportDialog):
    """Result of the last check."""

    shown = Signal(object, object)  # key of an image to open, and the place (x, y) in it, or None

    def __init__(
        self, session: Session, job: ReportJob[list[Finding]], repairs: FindingRepairs, parent: QWidget
    ) -> None:
        super().__init__(session, job, parent)
        self._repairs = repairs
        repairs.setParent(self)
        self.setWindowTitle(self.tr("Check labels"))
        resize_for_text(self, 940, 560)
        self.action = self.tr("Check")
        self.body.addWidget(self._make_lists(), 1)
        self.save = self.add_button(self.tr("Save as CSV…"), self._save)
        self.refresh()

    def _make_lists(self) -> QSplitter:
        self.kinds = QListWidget(objectName="rows", accessibleName=self.tr("Kinds of findings"))
        self.kinds.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.kinds.currentItemChanged.connect(self._show_kind)
        right = QWidget()
        self.advice = QLabel(wordWrap=True)
        self.model = FindingModel(self)
        self.table = QTableView()
        self.table.setModel(self.model)
        show_as_rows(self.table, self.tr("Findings"), stretch=1)
        self.table.verticalHeader().setDefaultSectionSize(26)
        self.table.horizontalHeader().resizeSection(0, 220)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(lambda index, _: self._open(index))
        self.table.selectionModel().selectionChanged.connect(self._update_repairs)
        self.repair_row = in_row(spacing=8)
        self.scope = QLabel(objectName="muted")
        in_column(self.advice, (self.table, 1), self.repair_row, owner=right, margins=(12, 0, 0, 0), spacing=8)
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self.kinds)
        splitter.addWidget(right)
        splitter.setSizes([270, 610])
        self.repair_buttons: list[QPushButton] = []
        return splitter

    # --- commands --------------------------------------------------------------------------------

    def selected(self) -> list[Finding]:
        """Return the selected findings; all of the shown kind if none is selected."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.findings[row] for row in rows] or list(self.model.findings)

    def _save(self) -> None:
        table = findings_csv(self.report.result or (), translate_message)
        self.save_csv(self.tr("Save findings"), "findings.csv", table)

    def _open(self, index: QModelIndex) -> None:
        """Show the image of a finding, at the place of the finding."""
        if index.isValid():
            finding = self.model.findings[index.row()]
            if finding.image:
                self.shown.emit(finding.image, finding.place)

    # --- updates ---------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        super().refresh()
        result = self.report.result
        self.save.setEnabled(bool(result))
        if not self.report.running:
            self.show_status(self._status_text(result))
        self._list_kinds(result or ())

    def _status_text(self, result: Sequence[Finding] | None) -> str:
        if result is None:
            return self.tr("Find label errors, data leakage and damaged files. The check changes nothing.")
        if not result:
            text = self.tr("No problems found.")
        else:
            text = fill(self.tr("{n} {n:problem|problems} found."), n=number(len(result)))
        if self.report.outdated:
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
        findings = [finding for finding in self.report.result or () if finding.kind == kind]
        if findings != list(self.model.findings):
            self.model.set_findings(findings)
        self.advice.setText(translate_message(kind_texts()[kind][1]) if kind is not None else "")
        for button in self.repair_buttons:
            button.deleteLater()
        while self.repair_row.count():
            self.repair_row.takeAt(0)
        self.repair_buttons = []
        for repair in self._repairs.buttons.get(kind, ()) if kind is not None else ():
            button = QPushButton(repair.text, autoDefault=False)
            button.clicked.connect(lambda _=False, repair=repair: repair.apply(self.selected()))
            self.repair_row.addWidget(button)
            self.repair_buttons.append(button)
        self.repair_row.addWidget(self.scope, 1)
        self._update_repairs()

    def _update_repairs(self, *_: object) -> None:
        for button in self.repair_buttons:
            button.setEnabled(self.session.writable and not self.report.running and bool(self.model.findings))
        n = len(self.selected()) if self.repair_buttons else 0
        chosen = bool(self.table.selectionModel().hasSelection())
        pattern = self.tr("Selected findings: {n}") if chosen else self.tr("All findings of this kind: {n}")
        self.scope.setText(pattern.format(n=number(n)) if n else "")

    def progress_text(self, done: str, total: str) -> str:
        if done == total:
            return self.tr("Comparing images…")
        return self.tr("Checking images: {done} of {total}").format(done=done, total=total)
