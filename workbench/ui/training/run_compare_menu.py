"""Selector of the compared runs: a checkable list under a button."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from workbench.core.runs.run import Run
from workbench.session.training.run_list import MOST, RunList
from workbench.ui.text.run_texts import run_line_text

_RUN = Qt.ItemDataRole.UserRole


class RunCompareMenu(QFrame):
    """Popup under a button; checks take effect at once."""

    chosen = Signal(list)  # Run

    def __init__(self, shelf: RunList, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._shelf = shelf
        self.setObjectName("card")
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(6)
        column.addWidget(QLabel(self.tr("Put beside the shown run"), objectName="heading"))
        self.hint = QLabel(wordWrap=True, objectName="muted")
        column.addWidget(self.hint)
        self.view = QListWidget()
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setUniformItemSizes(True)
        self.view.setAccessibleName(self.tr("Runs to compare"))
        self.view.itemChanged.connect(self._ticked)
        column.addWidget(self.view)

    def open_at(self, button: QWidget, shown: Run) -> None:
        """Open under a button and list the other existing runs."""
        mine = next((line for line in self._shelf.lines if line.run.name == shown.name), None)
        ticked = {other.run.name for other in self._shelf.compared}
        self.view.blockSignals(True)
        self.view.clear()
        foreign = False
        for line in self._shelf.lines:
            if line.run.name == shown.name:
                continue
            same = mine is not None and (line.model, line.held_out) == (mine.model, mine.held_out)
            foreign = foreign or not same
            text = run_line_text(line, score=same)
            item = QListWidgetItem(text if same else self.tr("{run}  ·  checked on other pictures").format(run=text))
            item.setData(_RUN, line.run)
            item.setCheckState(Qt.CheckState.Checked if line.run.name in ticked else Qt.CheckState.Unchecked)
            self.view.addItem(item)
        self.view.blockSignals(False)
        told = [self.tr("Up to {n} runs.").format(n=MOST)]
        if foreign:
            told.append(self.tr("Runs with different validation images cannot be compared; their metrics are hidden."))
        if not self.view.count():
            told = [self.tr("There is no other run yet.")]
        self.hint.setText(" ".join(told))
        high = max(1, min(12, self.view.count())) * max(22, self.view.sizeHintForRow(0)) + 6
        self.view.setFixedSize(430, high)
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(button.width(), 0))
        self.move(corner.x() - self.width(), corner.y() - self.height() - 4)
        self.show()
        self.view.setFocus()

    def _ticked(self, item: QListWidgetItem) -> None:
        ticked = [
            entry
            for entry in (self.view.item(row) for row in range(self.view.count()))
            if entry.checkState() == Qt.CheckState.Checked
        ]
        if len(ticked) > MOST:
            self.view.blockSignals(True)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.view.blockSignals(False)
            return
        self.chosen.emit([entry.data(_RUN) for entry in ticked])
