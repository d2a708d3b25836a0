"""Dialog with the image folders of a project, and the images that were removed from it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.core.project import trash
from workbench.core.project.source_locations import SourceReport, source_reports
from workbench.core.project.trash import Removal
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.ui.text.formatting import number
from workbench.ui.widgets.screen_fit import resize_for_text

Reports = tuple[list[SourceReport], list[Removal]]


_NUMBERS = 2  # column of the numbers of images
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class SourcesDialog(QDialog):
    """Image folders with their state, and removals that can be restored."""

    add_requested = Signal()
    locate_requested = Signal(str)  # name of the source
    removal_requested = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._tasks = TaskRunner(parent=self)
        self._sources: list[SourceReport] = []
        self._removals: list[Removal] = []
        self.setWindowTitle(self.tr("Image folders"))
        resize_for_text(self, 820, 480)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(10)
        self.table = _table([self.tr("Name"), self.tr("Folder"), self.tr("Images")], self.tr("Image folders"))
        self.table.itemSelectionChanged.connect(self._update_buttons)
        column.addWidget(self.table, 3)
        self.add, self.locate, self.remove = (
            QPushButton(text) for text in (self.tr("Add folder…"), self.tr("Locate folder…"), self.tr("Remove…"))
        )
        self.add.clicked.connect(self.add_requested)
        self.locate.clicked.connect(lambda: self.locate_requested.emit(self._selected().name))
        self.remove.clicked.connect(lambda: self.removal_requested.emit(self._selected().name))
        column.addLayout(_row(self.add, self.locate, self.remove))
        column.addSpacing(6)
        column.addWidget(QLabel(self.tr("Removed from the project"), objectName="heading"))
        hint = self.tr("Removed images and folders can be restored with their labels.")
        column.addWidget(QLabel(hint, objectName="muted", wordWrap=True))
        self.trash = _table([self.tr("Removed on"), self.tr("Content"), self.tr("Images")], self.tr("Removed images"))
        self.trash.itemSelectionChanged.connect(self._update_buttons)
        column.addWidget(self.trash, 2)
        self.restore, self.delete = QPushButton(self.tr("Restore")), QPushButton(self.tr("Delete permanently"))
        self.restore.clicked.connect(lambda: session.removal.restore(self._removals[self.trash.currentRow()]))
        self.delete.clicked.connect(self._delete)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        row = _row(self.restore, self.delete)
        row.addWidget(close)
        close.setAutoDefault(False)
        column.addLayout(row)
        for signal in (session.sources_changed, session.images_listed, session.removal.state_changed):
            signal.connect(self._load)
        session.project_closed.connect(self.reject)
        self._load()

    def done(self, result: int) -> None:
        self._tasks.stop()
        super().done(result)

    # --- data ------------------------------------------------------------------------------------

    def _load(self, *_: object) -> None:
        """List the folders in a thread: they may be on slow drives."""
        project = self._session.project
        if project is None or self._session.removal.running:
            return

        def work(_: Task) -> Reports:
            return source_reports(project), trash.removals(project)

        self._tasks.submit(work, self._show, ignore_failure, key="list")

    def _show(self, reports: Reports) -> None:
        self._sources, self._removals = reports
        rows = []
        for report in self._sources:
            name = report.name or self.tr("Project")
            count = self.tr("Not available") if report.missing else number(report.images)
            rows.append((name, str(report.path), count))
        _fill(self.table, rows)
        rows = []
        for plan in self._removals:
            content = self.tr("Label files")
            if plan.source is not None:
                content = self.tr("Image folder “{name}”").format(name=plan.source.name)
            elif plan.keys:
                content = plan.keys[0] if len(plan.keys) == 1 else self.tr("{name}, …").format(name=plan.keys[0])
            rows.append((plan.when.replace("T", " "), content, number(len(plan.keys))))
        _fill(self.trash, rows)
        self._update_buttons()

    def _selected(self) -> SourceReport | None:
        row = self.table.currentRow()
        chosen = self.table.selectionModel().hasSelection() and 0 <= row < len(self._sources)
        return self._sources[row] if chosen else None

    def _update_buttons(self) -> None:
        source, writable = self._selected(), self._session.writable
        self.add.setEnabled(writable)
        for button in (self.locate, self.remove):
            button.setEnabled(writable and source is not None and bool(source.name))
        for button in (self.restore, self.delete):
            button.setEnabled(writable and self.trash.selectionModel().hasSelection())

    def _delete(self) -> None:
        project, plan = self._session.project, self._removals[self.trash.currentRow()]
        self.delete.setEnabled(False)

        def work(_: Task) -> None:
            trash.delete_permanently(project, plan.name)

        self._tasks.submit(work, lambda _: self._deleted(plan), self._session.problem_met.emit)

    def _deleted(self, plan: Removal) -> None:
        self._session.removal.forget(plan)
        self._load()


def _table(titles: list[str], name: str) -> QTableWidget:
    table = QTableWidget(0, len(titles), objectName="rows")
    table.setHorizontalHeaderLabels(titles)
    table.setAccessibleName(name)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(26)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    table.horizontalHeaderItem(_NUMBERS).setTextAlignment(_RIGHT)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    header.resizeSection(0, 170)
    header.resizeSection(2, 120)
    return table


def _fill(table: QTableWidget, rows: list[tuple[str, ...]]) -> None:
    selected = table.currentRow()
    table.clearSelection()
    table.setRowCount(len(rows))
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column == _NUMBERS:
                item.setTextAlignment(_RIGHT)
            table.setItem(row, column, item)
    if 0 <= selected < len(rows):
        table.selectRow(selected)


def _row(*buttons: QPushButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for button in buttons:
        button.setAutoDefault(False)
        row.addWidget(button)
    row.addStretch(1)
    return row
