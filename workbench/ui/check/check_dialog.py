"""Check dialog: findings of the project check by kind, with repairs and a table for spreadsheets.

Dialog with a report on the labels of the project, which is computed again on request and saved as CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
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

from workbench.core.problems import Problem
from workbench.core.project.storage import write_bytes
from workbench.core.project_check import KINDS, Finding, Kind, findings_csv, kind_texts
from workbench.core.text_patterns import fill
from workbench.inference.text_safety import SUFFIX
from workbench.session.label_queue import LabelRepair
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.ui.labels.class_merge_card import ClassMergeDialog
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.text.formatting import capitalized, number, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import JobDialog
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text

if TYPE_CHECKING:
    from workbench.core.project_check import Finding, Kind


_Index = QModelIndex | QPersistentModelIndex


class FindingModel(QAbstractTableModel):
    """Table model with one row per finding: image, class, file or source, and the detail."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.findings: Sequence[Finding] = ()

    def set_findings(self, findings: Sequence[Finding]) -> None:
        self.beginResetModel()
        self.findings = findings
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.findings)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Name"), self.tr("Finding"))[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            finding = self.findings[index.row()]
            if index.column() == 0:
                return finding.key
            detail = translate_message(finding.detail)
            return capitalized(detail)
        return None


Findings = Sequence["Finding"]


@dataclass(frozen=True)
class RepairButton:
    """Repair of one kind of finding. single: it takes one finding, the first of the selected ones."""

    text: str
    apply: Callable[[Findings], None]
    single: bool = False


class FindingRepairs(QObject):
    """Table of repairs by kind of finding."""

    def __init__(self, session: Session, repair: LabelRepair, sources: SourceCommands, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._repair, self._sources = session, repair, sources
        remove = RepairButton(self.tr("Remove from project…"), self._remove_images)
        group = RepairButton(self.tr("Put into one group"), self._group)
        discard_mask = RepairButton(self.tr("Move mask to trash"), lambda found: self._discard("masks", ".png", found))
        stray = RepairButton(self.tr("Move to trash"), self._discard_strays)
        self.buttons: dict[Kind, tuple[RepairButton, ...]] = {
            "missing_source": (
                RepairButton(self.tr("Locate folder…"), lambda found: sources.locate(found[0].key), single=True),
            ),
            "broken_picture": (remove,),
            "broken_mask": (discard_mask,),
            "wrong_size": (discard_mask,),
            "unknown_ids": (discard_mask,),
            "broken_note": (
                RepairButton(self.tr("Move note to trash"), lambda found: self._discard("notes", ".json", found)),
            ),
            "stray_mask": (stray,),
            "stray_note": (stray,),
            "folder_name": (RepairButton(self.tr("Set verdict to folder name"), self._set_verdicts),),
            "island": (
                RepairButton(self.tr("Erase tiny regions"), lambda found: self._repair_masks("remove specks", found)),
            ),
            "hole": (RepairButton(self.tr("Fill holes"), lambda found: self._repair_masks("fill tiny holes", found)),),
            "unused_class": (RepairButton(self.tr("Delete classes"), self._delete_classes),),
            "similar_classes": (RepairButton(self.tr("Merge…"), self._merge_class, single=True),),
            "duplicate": (group, remove),
            "leak": (group,),
        }

    def _remove_images(self, found: Findings) -> None:
        self._sources.remove_images([finding.key for finding in found])

    def _discard(self, folder: str, suffix: str, found: Findings) -> None:
        self._session.removal.remove_labels([f"{folder}/{finding.key}{suffix}" for finding in found])

    def _discard_strays(self, found: Findings) -> None:
        self._session.removal.remove_labels([finding.key for finding in found])

    def _set_verdicts(self, found: Findings) -> None:
        for name in dict.fromkeys(finding.name for finding in found):
            self._session.verdict_steps.set_verdicts([finding.key for finding in found if finding.name == name], name)

    def _group(self, found: Findings) -> None:
        """Put each pair into the group of one of its images, named after the other image if there is none yet."""
        groups: dict[str, str] = {}
        rows = self._session.rows

        def group_of(key: str) -> str:
            return groups.get(key) or (rows[key].group if key in rows else "")

        for finding in found:
            name = group_of(finding.other) or group_of(finding.key) or finding.other
            groups[finding.other] = groups[finding.key] = name
        self._session.verdict_steps.set_groups(groups)

    def _repair_masks(self, repair, found: Findings) -> None:
        self._repair.start(repair, [finding.key for finding in found])

    def _delete_classes(self, found: Findings) -> None:
        names = {finding.name for finding in found}
        self._session.class_merge.start([info.id for info in self._session.project.classes if info.name in names])

    def _merge_class(self, found: Findings) -> None:
        classes = {info.name: info for info in self._session.project.classes}
        info, other = classes.get(found[0].name), classes.get(found[0].other)
        if info is None or other is None:
            return
        dialog = ClassMergeDialog(self._session, info, merge=True, parent=self.parent())
        dialog.target.setCurrentIndex(dialog.target.findData(other.id))
        dialog.open()


# --- dialog ---------------------------------------------------------------------------------------


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
