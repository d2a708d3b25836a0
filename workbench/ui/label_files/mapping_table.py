"""Table that assigns the classes and verdicts of imported labels to those of the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from workbench.core.project.import_plan import PlannedClass, PlannedVerdict
from workbench.ui.text.formatting import number
from workbench.ui.widgets.screen_fit import text_scale

Entry = PlannedClass | PlannedVerdict
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class _Row:
    entry: Entry
    target: QComboBox
    state: QTableWidgetItem
    names: Sequence[str]  # of the project


class MappingTable(QTableWidget):
    """One row per class and verdict in the labels, with a field for the name in the project.

    The name can be typed: a name that the project does not have becomes a new class or verdict.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 5, parent)
        self.setObjectName("rows")
        self._rows: list[_Row] = []
        self.setHorizontalHeaderLabels(
            [self.tr("Name in the labels"), self.tr("Images"), self.tr("Regions"), self.tr("Import as"), ""]
        )
        for column in (1, 2):
            self.horizontalHeaderItem(column).setTextAlignment(_RIGHT)
        self.setAccessibleName(self.tr("Classes and verdicts"))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(round(34 * text_scale()))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(3, round(180 * text_scale()))
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Fixed)
        states = (self.tr("ignored"), self.tr("existing"), self.tr("new"))
        header.resizeSection(4, max(map(self.fontMetrics().horizontalAdvance, states)) + 20)

    def show_entries(
        self,
        classes: Sequence[PlannedClass],
        verdicts: Sequence[PlannedVerdict],
        known_classes: Sequence[str],
        known_verdicts: Sequence[str],
    ) -> None:
        """Show the classes and verdicts of a preview. known_classes, known_verdicts: names of the project."""
        self._rows.clear()
        self.setRowCount(0)
        self.setRowCount(len(classes) + len(verdicts))
        for entry in classes:
            regions = number(entry.regions + entry.boxes)
            self._add(entry, entry.source, regions, known_classes)
        for entry in verdicts:
            self._add(entry, self.tr("Verdict: {name}").format(name=entry.source), "", known_verdicts)

    def targets(self, kind: type[Entry]) -> dict[str, str | None]:
        """Return, for the classes or the verdicts, name in the labels -> name in the project, None if ignored."""
        return {row.entry.source: _target(row.target) for row in self._rows if isinstance(row.entry, kind)}

    def leave_out(self, name: str) -> None:
        """Do not import a class of the labels."""
        for row in self._rows:
            if isinstance(row.entry, PlannedClass) and row.entry.source == name:
                row.target.setCurrentIndex(row.target.count() - 1)

    def _add(self, entry: Entry, title: str, regions: str, names: Sequence[str]) -> None:
        place = len(self._rows)
        target = QComboBox(editable=True)
        target.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        target.setAccessibleName(self.tr("Import {name} as").format(name=entry.source))
        for name in dict.fromkeys([*([entry.target] if entry.target else []), *names, entry.source.strip()]):
            target.addItem(name, name)
        target.addItem(self.tr("Do not import"))
        target.setCurrentIndex(0 if entry.target else target.count() - 1)
        target.lineEdit().setCursorPosition(0)
        for column, text in ((0, title), (1, number(entry.images)), (2, regions)):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column:
                item.setTextAlignment(_RIGHT)
            self.setItem(place, column, item)
        state = QTableWidgetItem()
        self.setItem(place, 4, state)
        self.setCellWidget(place, 3, target)
        row = _Row(entry, target, state, list(names))
        self._rows.append(row)
        target.currentTextChanged.connect(lambda _: self._edited(row))
        self._show_state(row)

    def _edited(self, row: _Row) -> None:
        self._show_state(row)
        self.changed.emit()

    def _show_state(self, row: _Row) -> None:
        target = _target(row.target)
        if target is None:
            text = self.tr("ignored")
        elif target in row.names:
            text = self.tr("existing")
        else:
            text = self.tr("new")
        row.state.setText(text)


def _target(field: QComboBox) -> str | None:
    """Return the chosen name; None for the last entry, "Do not import", or an empty field."""
    text = field.currentText().strip()
    return None if not text or text == field.itemText(field.count() - 1) else text
