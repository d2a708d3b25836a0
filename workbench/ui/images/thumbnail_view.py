"""All listed images as thumbnails or as a table, with status, verdict and data split of several images at once.

Buttons and menu for the status, the data split and the verdict of several images at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QStackedWidget,
    QTableView,
    QToolButton,
    QWidget,
)

from workbench.core.project.annotation import Split, Status
from workbench.session.session import Session
from workbench.ui.images.image_delegate import CELL, ThumbnailDelegate
from workbench.ui.images.image_model import ImageListModel, ThumbnailProvider
from workbench.ui.images.separation import ImagePreview, SeparationBar
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.theme import ThemeManager

_MAX_VERDICTS = 6  # verdicts with a button


class SplitMenu(QMenu):
    """Menu that calls `choose` with a data split, None for automatic assignment."""

    def __init__(self, choose: Callable[[Split | None], None], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data split"), parent)
        splits: tuple[tuple[Split | None, str], ...] = (
            (None, self.tr("Automatic")),
            ("train", self.tr("Training set")),
            ("val", self.tr("Validation set")),
            ("test", self.tr("Test set")),
        )
        for split, text in splits:
            self.addAction(text, partial(choose, split))


class BulkActions(QWidget):
    """Row of buttons, or two. Each click changes all images that `selected` returns, as one undo step."""

    def __init__(self, session: Session, selected: Callable[[], list[str]]) -> None:
        super().__init__()
        self._session, self._selected = session, selected
        self.done_button, self.not_done_button = QPushButton(self.tr("Done")), QPushButton(self.tr("Not done"))
        self.done_button.setToolTip(self.tr("Mark the selected images as done"))
        self.not_done_button.setToolTip(self.tr("Mark the selected images as not done"))
        self.done_button.clicked.connect(lambda: self.set_status("done"))
        self.not_done_button.clicked.connect(lambda: self.set_status("started"))
        self.split_button = QPushButton(self.tr("Data split"))
        self.split_button.setToolTip(self.tr("Data split of the selected images and of their groups"))
        self.split_button.setMenu(SplitMenu(self.set_split, self))
        self.verdict_buttons: dict[str, QPushButton] = {}  # by verdict, "" for none
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._status_row, self._verdict_row = QHBoxLayout(), QHBoxLayout()
        for layout in (self._rows, self._status_row, self._verdict_row):
            layout.setSpacing(6)
        for row in (self._status_row, self._verdict_row):
            self._rows.addLayout(row)
            self._rows.setAlignment(row, Qt.AlignmentFlag.AlignLeft)
        for button in (self.done_button, self.not_done_button, self.split_button):
            self._status_row.addWidget(button)
        for signal in (session.project_opened, session.project_closed, session.classes.changed):
            signal.connect(self._list_verdicts)
        self._list_verdicts()

    def row_width(self) -> int:
        """Return the width of all buttons in one row."""
        return self._status_row.sizeHint().width() + self._rows.spacing() + self._verdict_row.sizeHint().width()

    def fit(self, width: int) -> None:
        """Place the verdicts below the other buttons if one row is wider than `width` in pixels."""
        directions = QBoxLayout.Direction
        direction = directions.LeftToRight if self.row_width() <= width else directions.TopToBottom
        if direction != self._rows.direction():
            self._rows.setDirection(direction)

    def set_status(self, status: Status) -> None:
        self._session.verdict_steps.set_statuses(self._selected(), status)

    def set_split(self, split: Split | None) -> None:
        self._session.verdict_steps.set_pins(self._selected(), split)

    def set_verdict(self, verdict: str | None) -> None:
        """Set or remove the verdict."""
        self._session.verdict_steps.set_verdicts(self._selected(), verdict)

    def _list_verdicts(self) -> None:
        project = self._session.project
        names = list(project.file.verdicts)[:_MAX_VERDICTS] if project else []
        entries = [*names, ""] if names else []
        if list(self.verdict_buttons) == entries:
            return
        for button in self.verdict_buttons.values():
            self._verdict_row.removeWidget(button)
            button.deleteLater()
        self.verdict_buttons = {}
        for i, name in enumerate(entries):
            button = QPushButton(name.replace("&", "&&") or self.tr("No verdict"))
            if name:
                tip = self.tr("Set the verdict of the selected images: {name}").format(name=name)
                set_key_tip(button, tip, f"verdict_next_{i + 1}")
            else:
                button.setToolTip(self.tr("Remove the verdicts of the selected images"))
            button.clicked.connect(partial(self.set_verdict, name or None))
            self.verdict_buttons[name] = button
            self._verdict_row.addWidget(button)


_ROW = 26  # px, least height of a row of the table
_SHARE = 0.6  # of the width that the thumbnails take beside the large view
_PREPARED = 12  # thumbnails behind the current one that are read ahead


class ThumbnailView(QWidget):
    """Thumbnails in the order of the image list, with a large view of one, and the separation of good images.

    Enter or a double-click opens an image, Esc shows the current one.
    """

    chosen = Signal(object)  # key of the image to open
    closed = Signal()
    sort_requested = Signal(str, bool)  # sort order, descending

    def __init__(
        self, session: Session, model: ImageListModel, thumbnails: ThumbnailProvider, style: ThemeManager
    ) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._style, self._thumbnails = session, style, thumbnails
        self._selected_keys: list[str] = []
        self._current_key: str | None = None
        self.model = model
        self.list_view = QListView(accessibleName=self.tr("Thumbnails"))
        self.list_view.setModel(self.model)
        self.list_view.setItemDelegate(ThumbnailDelegate(session, thumbnails, style))
        self.list_view.setViewMode(QListView.ViewMode.IconMode)
        self.list_view.setResizeMode(QListView.ResizeMode.Adjust)
        self.list_view.setMovement(QListView.Movement.Static)
        self.list_view.setGridSize(CELL)
        self.list_view.setUniformItemSizes(True)
        self.list_view.setLayoutMode(QListView.LayoutMode.Batched)
        self.list_view.setBatchSize(500)
        self.list_view.setMouseTracking(True)
        self.table_view = QTableView(objectName="imageTable", accessibleName=self.tr("Image table"))
        self.table_view.setModel(self.model)
        self.table_view.setSelectionModel(self.list_view.selectionModel())
        self.table_view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table_view.setShowGrid(False)
        self.table_view.setWordWrap(False)
        self.table_view.verticalHeader().hide()
        self.table_view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.table_view.horizontalHeader()
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setSortIndicatorShown(True)
        header.setStretchLastSection(True)
        for section, column in enumerate(model.columns):
            header.resizeSection(section, column.width)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionClicked.connect(self._sort)
        for view in (self.list_view, self.table_view):
            view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
            view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
            view.doubleClicked.connect(self._open)
            view.installEventFilter(self)
        self.list_view.verticalScrollBar().setSingleStep(CELL.height() // 3)  # a turn of the wheel is one row
        self.preview = ImagePreview(session, thumbnails, style)
        self._wall = QWidget()
        self._wall.setFocusProxy(self.list_view)
        in_row(self.list_view, (self.preview, 1), owner=self._wall, margins=0, spacing=0)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._wall)
        self._pages.addWidget(self.table_view)
        self.separation = SeparationBar(
            session, style, shown=self._is_shown, chosen=self.selected, advance=self._select_next
        )
        self.bulk = BulkActions(session, self.selected)
        self._bar = self._make_bar()
        in_column(self._bar, (self._pages, 1), self.separation, owner=self, margins=0, spacing=0)
        self.list_view.selectionModel().selectionChanged.connect(self._update_bar)
        self.list_view.selectionModel().currentChanged.connect(self._show_large)
        self.model.modelAboutToBeReset.connect(self._save_selection)
        self.model.modelReset.connect(self._restore_selection)
        for signal in (session.project_opened, session.project_closed):
            signal.connect(self._update_bar)
            signal.connect(self._project_changed)
        session.classes.changed.connect(self.list_view.viewport().update)
        self._update_bar()

    def _make_bar(self) -> QGridLayout:
        bar = QGridLayout()
        bar.setContentsMargins(10, 7, 10, 7)
        bar.setSpacing(6)
        self.thumbnail_button = QPushButton(self.tr("Thumbnails"), objectName="left", checkable=True, checked=True)
        self.table_button = QPushButton(self.tr("Table"), objectName="right", checkable=True)
        self.thumbnail_button.clicked.connect(lambda: self.show_table(False))
        self.table_button.clicked.connect(lambda: self.show_table(True))
        self.selection_label = QLabel(objectName="muted")
        self.all_button = QPushButton(self.tr("Select all"), clicked=self.select_all)
        row = QHBoxLayout(spacing=0)
        row.addWidget(self.thumbnail_button)
        row.addWidget(self.table_button)
        row.addSpacing(6)
        row.addWidget(self.all_button)
        row.addSpacing(6)
        row.addWidget(self.selection_label, 1)
        bar.addLayout(row, 0, 0)
        bar.setColumnStretch(0, 1)
        bar.addWidget(self.bulk, 0, 1)
        self.close_button = close = QToolButton(icon=self._style.icon("close"))
        close.setAccessibleName(self.tr("Back to the image"))
        set_key_tip(close, close.accessibleName(), "cancel")
        close.clicked.connect(self.closed)
        bar.addWidget(close, 0, 2)
        return bar

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._place_bulk()
        columns = max(1, round(_SHARE * self.width() / CELL.width()))
        bar = self.list_view.verticalScrollBar().sizeHint().width() + 2 * self.list_view.frameWidth()
        self.list_view.setFixedWidth(columns * CELL.width() + bar + 1)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place_bulk()  # other verdicts or texts
        return super().event(event)

    def _place_bulk(self) -> None:
        """Place the buttons for several images beside the others, or below them if the view is too narrow for that."""
        bar, margins = self._bar, self._bar.contentsMargins()
        first = bar.itemAtPosition(0, 0).sizeHint().width() + self.close_button.sizeHint().width()
        room = self.width() - margins.left() - margins.right()
        row = 0 if first + self.bulk.row_width() + 2 * bar.spacing() <= room else 1
        self.bulk.fit(room)
        if bar.getItemPosition(bar.indexOf(self.bulk))[0] != row:
            bar.removeWidget(self.bulk)
            if row:
                bar.addWidget(self.bulk, 1, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
            else:
                bar.addWidget(self.bulk, 0, 1)

    # --- actions ---------------------------------------------------------------------------------

    def show_table(self, on: bool) -> None:
        self.thumbnail_button.setChecked(not on)
        self.table_button.setChecked(on)
        self._pages.setCurrentWidget(self.table_view if on else self._wall)
        header = self.table_view.horizontalHeader()
        for section in range(header.count()):  # the size of its text is known once the style is applied
            header.resizeSection(section, max(header.sectionSize(section), header.sectionSizeHint(section)))
        self.table_view.verticalHeader().setDefaultSectionSize(max(_ROW, self.table_view.fontMetrics().height() + 8))

    def select_all(self) -> None:
        if self.model.rowCount():
            last = self.model.index(self.model.rowCount() - 1, 0)
            self._select(QItemSelection(self.model.index(0, 0), last))

    def selected(self) -> list[str]:
        """Return the keys of the selected images."""
        rows: set[int] = set()
        for selection_range in self.list_view.selectionModel().selection():
            rows.update(range(selection_range.top(), selection_range.bottom() + 1))
        return [self.model.key_at(row) for row in sorted(rows)]

    def set_verdict(self, verdict: str | None) -> None:
        """Set or remove the verdict of all selected images in one step."""
        self.bulk.set_verdict(verdict)

    def show_current(self) -> None:
        """Select the current image and scroll to it."""
        self._go_to(self.model.index_of(self._session.key), QAbstractItemView.ScrollHint.PositionAtCenter)
        self._pages.currentWidget().setFocus()

    def show_undecided(self) -> None:
        """Select the first image that is neither a good nor a defective one, and scroll to it."""
        self.show_table(False)
        key = self.model.next_where("status:new", None, 1)
        self._go_to(self.model.index_of(key or self._session.key), QAbstractItemView.ScrollHint.PositionAtCenter)
        self.list_view.setFocus()

    def _project_changed(self) -> None:
        self.preview.large.set_project(self._session.project)

    def end(self) -> None:
        self.preview.large.end()

    def _go_to(self, index: QModelIndex, hint: QAbstractItemView.ScrollHint) -> None:
        if index.isValid():
            flag = QItemSelectionModel.SelectionFlag
            self.list_view.selectionModel().setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
            for view in (self.list_view, self.table_view):
                view.scrollTo(index, hint)

    def _select_next(self) -> None:
        """Select the image behind the last selected one; the last image stays selected."""
        last = max((ranges.bottom() for ranges in self.list_view.selectionModel().selection()), default=-1)
        self._go_to(
            self.model.index(min(last + 1, self.model.rowCount() - 1), 0), QAbstractItemView.ScrollHint.EnsureVisible
        )

    def _show_large(self, index: QModelIndex, _: object = None) -> None:
        """Show the current image in the large view; prepare those that follow it, and their thumbnails."""
        if not index.isValid():
            self.preview.show_image(None, [])
            return
        last = min(index.row() + _PREPARED, self.model.rowCount() - 1)
        following = [self.model.key_at(row) for row in range(index.row() + 1, last + 1)]
        for key in following[::-1]:
            self._thumbnails.get(key)
        self.preview.show_image(self.model.key_at(index.row()), following)

    def _is_shown(self, key: str) -> bool:
        if self._pages.currentWidget() is self._wall:
            return self.preview.painted == key
        return True  # a row of the table has no image

    # --- updates ---------------------------------------------------------------------------------

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.list_view:  # rows have other places
            QTimer.singleShot(0, self.list_view, lambda: self.list_view.scrollTo(self.list_view.currentIndex()))
        if event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self._open(watched.currentIndex())
                return True
            if self.separation.press(event):
                event.accept()
                return True
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self.closed.emit()
                return True
            pages = event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
            if pages and event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.model.key_at(index.row()))

    def _sort(self, section: int) -> None:
        sort = self.model.columns[section].sort
        self.sort_requested.emit(sort, self.model.sort_by == sort and not self.model.descending)

    def _save_selection(self) -> None:
        self._selected_keys = self.selected()
        current = self.list_view.currentIndex()
        self._current_key = self.model.key_at(current.row()) if current.isValid() else None

    def show_sort_order(self) -> None:
        """Show the list's sort order in the header."""
        order = Qt.SortOrder.DescendingOrder if self.model.descending else Qt.SortOrder.AscendingOrder
        self.table_view.horizontalHeader().setSortIndicator(self.model.column_of(self.model.sort_by), order)

    def _restore_selection(self) -> None:
        """Restore the selection as far as the images are still listed."""
        selection = QItemSelection()
        rows = sorted(index.row() for key in self._selected_keys if (index := self.model.index_of(key)).isValid())
        start = 0
        for i in range(len(rows)):
            if i + 1 == len(rows) or rows[i + 1] != rows[i] + 1:
                selection.append(QItemSelection(self.model.index(rows[start], 0), self.model.index(rows[i], 0))[0])
                start = i + 1
        current = self.model.index_of(self._current_key)
        if current.isValid():
            self.list_view.selectionModel().setCurrentIndex(current, QItemSelectionModel.SelectionFlag.NoUpdate)
        self._select(selection)

    def _select(self, selection: QItemSelection) -> None:
        flag = QItemSelectionModel.SelectionFlag
        self.list_view.selectionModel().select(selection, flag.ClearAndSelect | flag.Rows)
        self._update_bar()

    def _update_bar(self, *_: object) -> None:
        count = sum(selection_range.height() for selection_range in self.list_view.selectionModel().selection())
        self.selection_label.setText(self.tr("{n} selected").format(n=number(count)) if count else "")
        self.bulk.setEnabled(bool(count) and self._session.writable)
        self._place_bulk()
