"""Table of the findings of one kind, and their repairs, which can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.session.label_queue import LabelRepair
from workbench.session.session import Session
from workbench.ui.labels.class_merge_card import ClassMergeDialog
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.text.formatting import capitalized, translate_message

if TYPE_CHECKING:
    from workbench.core.check.project_check import Finding, Kind

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
