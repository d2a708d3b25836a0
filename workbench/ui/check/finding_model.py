"""Table of the findings of one kind."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.core.check.findings import Finding
from workbench.ui.text.message_translation import translate_message

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
            return detail[:1].upper() + detail[1:]
        return None
