"""Contact sheet of all listed images, as thumbnails or as a table, with verdicts for many at once."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QListView,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.core.image_list.image_table import SORTS
from workbench.session.session import Session
from workbench.ui.images.image_delegate import CELL, ThumbnailDelegate
from workbench.ui.images.image_model import ImageListModel
from workbench.ui.images.thumbnail_provider import ThumbnailProvider
from workbench.ui.text.formatting import number
from workbench.ui.widgets.theme import ThemeManager

_OFFERED = 6  # number of verdicts with a button


class ThumbnailView(QWidget):
    """Contact sheet in the order of the image list. Enter or a double click opens an image."""

    chosen = Signal(str)  # key of the image to open
    sort_wanted = Signal(str, bool)  # sort key, descending

    def __init__(
        self, session: Session, model: ImageListModel, thumbnails: ThumbnailProvider, style: ThemeManager
    ) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._chosen_keys: list[str] = []
        self.model = model
        self.sheet = QListView()
        self.sheet.setAccessibleName(self.tr("Contact sheet"))
        self.sheet.setModel(self.model)
        self.sheet.setItemDelegate(ThumbnailDelegate(session, thumbnails, style))
        self.sheet.setViewMode(QListView.ViewMode.IconMode)
        self.sheet.setResizeMode(QListView.ResizeMode.Adjust)
        self.sheet.setMovement(QListView.Movement.Static)
        self.sheet.setGridSize(CELL)
        self.sheet.setUniformItemSizes(True)
        self.sheet.setLayoutMode(QListView.LayoutMode.Batched)
        self.sheet.setBatchSize(500)
        self.sheet.setMouseTracking(True)
        self.table = QTableView(objectName="pictures")
        self.table.setAccessibleName(self.tr("Table of pictures"))
        self.table.setModel(self.model)
        self.table.setSelectionModel(self.sheet.selectionModel())
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.verticalHeader().setDefaultSectionSize(26)
        header = self.table.horizontalHeader()
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setSortIndicatorShown(True)
        header.setStretchLastSection(True)
        for section, width in enumerate((260, 100, 90, 170, 80, 120, 100, 130)):
            header.resizeSection(section, width)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionClicked.connect(self._sort)
        for view in (self.sheet, self.table):
            view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
            view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
            view.doubleClicked.connect(self._open)
            view.installEventFilter(self)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.sheet)
        self._pages.addWidget(self.table)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._bar())
        column.addWidget(self._pages, 1)
        self.sheet.selectionModel().selectionChanged.connect(self._say)
        self.model.modelAboutToBeReset.connect(self._remember)
        self.model.modelReset.connect(self._recall)
        for signal in (session.project_opened, session.project_closed, session.classes_changed):
            signal.connect(self._list_verdicts)
        session.classes_changed.connect(self.sheet.viewport().update)
        self._list_verdicts()

    def _bar(self) -> QHBoxLayout:
        bar = QHBoxLayout()
        bar.setContentsMargins(10, 7, 10, 7)
        bar.setSpacing(6)
        self.as_sheet = QPushButton(self.tr("Sheet"), objectName="left", checkable=True, checked=True)
        self.as_table = QPushButton(self.tr("Table"), objectName="right", checkable=True)
        self.as_sheet.clicked.connect(lambda: self.show_table(False))
        self.as_table.clicked.connect(lambda: self.show_table(True))
        self.says = QLabel(objectName="muted")
        self.all_button = QPushButton(self.tr("Select all"))
        self.all_button.clicked.connect(self.select_all)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.as_sheet)
        row.addWidget(self.as_table)
        bar.addLayout(row)
        bar.addWidget(self.all_button)
        bar.addWidget(self.says, 1)
        self._verdicts = QHBoxLayout()
        self._verdicts.setSpacing(6)
        bar.addLayout(self._verdicts)
        self.buttons: dict[str, QPushButton] = {}
        return bar

    # --- actions ---------------------------------------------------------------------------------

    def show_table(self, on: bool) -> None:
        self.as_sheet.setChecked(not on)
        self.as_table.setChecked(on)
        self._pages.setCurrentWidget(self.table if on else self.sheet)

    def select_all(self) -> None:
        if self.model.rowCount():
            last = self.model.index(self.model.rowCount() - 1, 0)
            self._select(QItemSelection(self.model.index(0, 0), last))

    def selected(self) -> list[str]:
        """Return the keys of the selected images."""
        lines: set[int] = set()
        for piece in self.sheet.selectionModel().selection():
            lines.update(range(piece.top(), piece.bottom() + 1))
        return [self.model.key_at(line) for line in sorted(lines)]

    def judge(self, verdict: str | None) -> None:
        """Give all selected images a verdict in one step."""
        self._session.judging.set_verdicts(self.selected(), verdict)

    def find_open(self) -> None:
        """Scroll to the open image."""
        place = self.model.place(self._session.key)
        if place.isValid():
            self.sheet.selectionModel().setCurrentIndex(place, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            for view in (self.sheet, self.table):
                view.scrollTo(place, QAbstractItemView.ScrollHint.PositionAtCenter)
        self._pages.currentWidget().setFocus()

    # --- updates ---------------------------------------------------------------------------------

    def eventFilter(self, watched, event) -> bool:
        if event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self._open(watched.currentIndex())
                return True
            walks = event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
            if walks and event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.model.key_at(index.row()))

    def _sort(self, section: int) -> None:
        name = SORTS[section]
        self.sort_wanted.emit(name, self.model.sort_by == name and not self.model.descending)

    def _remember(self) -> None:
        self._chosen_keys = self.selected()

    def follow_sort(self) -> None:
        """Show the list's sort order in the header."""
        order = Qt.SortOrder.DescendingOrder if self.model.descending else Qt.SortOrder.AscendingOrder
        self.table.horizontalHeader().setSortIndicator(SORTS.index(self.model.sort_by), order)

    def _recall(self) -> None:
        """Restore the selection as far as the images are still listed."""
        chosen = QItemSelection()
        lines = sorted(place.row() for key in self._chosen_keys if (place := self.model.place(key)).isValid())
        start = 0
        for i in range(len(lines)):
            if i + 1 == len(lines) or lines[i + 1] != lines[i] + 1:
                chosen.append(QItemSelection(self.model.index(lines[start], 0), self.model.index(lines[i], 0))[0])
                start = i + 1
        self._select(chosen)

    def _select(self, chosen: QItemSelection) -> None:
        flag = QItemSelectionModel.SelectionFlag
        self.sheet.selectionModel().select(chosen, flag.ClearAndSelect | flag.Rows)
        self._say()

    def _say(self, *_: object) -> None:
        count = sum(piece.height() for piece in self.sheet.selectionModel().selection())
        self.says.setText(self.tr("{n} selected").format(n=number(count)) if count else "")
        for button in self.buttons.values():
            button.setEnabled(bool(count) and self._session.writable)

    def _list_verdicts(self) -> None:
        project = self._session.project
        names = list(project.file.verdicts)[:_OFFERED] if project else []
        wanted = [*names, ""] if names else []
        if list(self.buttons) != wanted:
            for button in self.buttons.values():
                self._verdicts.removeWidget(button)
                button.deleteLater()
            self.buttons = {}
            for i, name in enumerate(wanted):
                button = QPushButton(name.replace("&", "&&") or self.tr("No verdict"))
                key = f" (Shift+{i + 1})" if name else ""
                tip = self.tr("All selected pictures are: {name}{key}") if name else self.tr("Take the verdicts back")
                button.setToolTip(tip.format(name=name, key=key))
                button.clicked.connect(partial(self.judge, name or None))
                self.buttons[name] = button
                self._verdicts.addWidget(button)
        self._say()
