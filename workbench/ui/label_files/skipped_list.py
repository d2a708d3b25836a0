"""Foldable table of files that were skipped, with the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.core.messages import Message
from workbench.ui.text.formatting import capitalized, listed, number
from workbench.ui.text.message_translation import translate_message

_MAX_ROWS = 1000


def place_text(place: str) -> str:
    """Return the name of a file, with that of an entry in it if the place is one of an entry."""
    if isinstance(place, Message):
        file = PurePath(place.fields["file"]).name
        return translate_message(Message(place.id, file=file, entry=place.fields["entry"]))
    return PurePath(place).name


class SkippedList(QWidget):
    """Link with the number of skipped files; unfolded, it shows file and reason of each, then remarks."""

    activated = Signal(str)  # first column of an activated row

    def __init__(self, parent: QWidget | None = None, *, unfolded: bool = False) -> None:
        super().__init__(parent)
        self.link = QPushButton(objectName="link", checkable=True)
        self.link.setAutoDefault(False)
        self.table = QTableWidget(0, 2, objectName="rows")
        self.table.setHorizontalHeaderLabels([self.tr("File"), self.tr("Reason")])
        self.table.setAccessibleName(self.tr("Skipped files"))
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(0, 240)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.link)
        column.addWidget(self.table, 1)
        self.table.setMinimumHeight(120)
        self.link.toggled.connect(self._fold)
        self.table.itemActivated.connect(lambda item: self.activated.emit(self._path(item.row())))
        self._text = ""
        self.link.setChecked(unfolded)
        self._fold(unfolded)
        self.hide()

    def show_entries(
        self,
        skipped: Sequence[tuple[str, str]],
        notes: Sequence[str] = (),
        losses: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show (file, reason) of skipped files, remarks, and (file, lost content); hidden if there are none."""
        rows = [*skipped, *losses, *(("", note) for note in notes)][:_MAX_ROWS]
        self.table.setRowCount(len(rows))
        for place, (path, why) in enumerate(rows):
            text = capitalized(translate_message(why)).rstrip(".。")  # some are sentences, others are not
            name, reason = QTableWidgetItem(place_text(path)), QTableWidgetItem(text)
            name.setToolTip(path)
            reason.setToolTip(reason.text())
            self.table.setItem(place, 0, name)
            self.table.setItem(place, 1, reason)
        skips = self.tr("{n} skipped").format(n=number(len(skipped))) if skipped else ""
        count = len(notes) + len(losses)
        remarks = self.tr("{n} remarks") if count > 1 else self.tr("{n} remark") if count else ""
        remarks = remarks.format(n=number(count))
        self._text = listed(filter(None, (skips, remarks)))
        self.setVisible(bool(rows))
        self._fold(self.link.isChecked())

    def _path(self, row: int) -> str:
        return self.table.item(row, 0).toolTip()

    def _fold(self, unfolded: bool) -> None:
        self.table.setVisible(unfolded)
        pattern = self.tr("{what}: hide") if unfolded else self.tr("{what}: show")
        self.link.setText(pattern.format(what=self._text))
