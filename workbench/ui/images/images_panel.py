"""Image panel of the project: search, filter, navigate, and add by drag and drop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QListView,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.core.project.image_index import ImageRow
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session
from workbench.ui.images.empty_states import EmptyProjectPage, EmptyQueuePage, NoMatchPage
from workbench.ui.images.image_delegate import ImageDelegate
from workbench.ui.images.image_filters import ImageFilters
from workbench.ui.images.image_model import ImageListModel
from workbench.ui.images.label_queue_header import LabelQueueHeader
from workbench.ui.images.search_field import SearchField, wrong_words
from workbench.ui.images.thumbnail_provider import ThumbnailProvider
from workbench.ui.images.thumbnail_view import ThumbnailView
from workbench.ui.text.formatting import number
from workbench.ui.widgets.theme import ThemeManager


class ImagesPanel(QWidget):
    """Image list. Opens the chosen image in the session and follows the open one."""

    wants_files = Signal()
    wants_folder = Signal()
    sheet_wanted = Signal(bool)  # True: contact sheet in the center, False: open image

    def __init__(self, session: Session, style: ThemeManager, guide: LabelQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._style, self._guide = style, guide
        self._wanted: str | None = None  # image last requested
        self.thumbnails = ThumbnailProvider(self)
        self.model = ImageListModel(session, guide)
        self.browsing = False  # the contact sheet is visible
        self.sheet = ThumbnailView(session, self.model, self.thumbnails, style)
        self.sheet.chosen.connect(self.open)
        self.sheet.sort_wanted.connect(lambda name, down: self.choice.sort_by(name, descending=down))
        self._build(style)
        self._late = QTimer(self, singleShot=True, interval=250)
        self._late.timeout.connect(self._refilter)
        self.thumbnails.arrived.connect(self.model.row_changed)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.images_listed.connect(self._relist)
        session.rows_changed.connect(self._rows_changed)
        session.note_changed.connect(self._note_changed)
        session.classes_changed.connect(self._classes_changed)
        session.image_opened.connect(self._follow)
        session.image_failed.connect(self._follow)
        guide.changed.connect(self._guided)
        guide.state_changed.connect(self._guided)
        style.changed.connect(self._restyle)
        self._wanted = session.key
        self._opened()
        self._guided()
        self._restyle()

    def _build(self, style: ThemeManager) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(6)
        self.search = SearchField(self._session, self.model)
        self.search.textChanged.connect(self._filter_changed)
        self._search_sign = self.search.addAction(
            style.theme.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.setSpacing(6)
        top.addWidget(self.search)
        self.head = LabelQueueHeader(self._guide, style)
        self.choice = ImageFilters()
        self.choice.changed.connect(self._filter_changed)
        self.choice.queue_wanted.connect(lambda: self._guide.activate("next"))
        top.addWidget(self.choice)
        self.wrong = QLabel(objectName="wrong", wordWrap=True)
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.hide()
        top.addWidget(self.wrong)
        column.addWidget(self.head)
        column.addLayout(top)
        self.view = QListView()
        self.view.setAccessibleName(self.tr("Pictures"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(ImageDelegate(self._session, self.thumbnails, style))
        self.view.setUniformItemSizes(True)
        self.view.setLayoutMode(QListView.LayoutMode.Batched)
        self.view.setBatchSize(200)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setMouseTracking(True)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self._empty = EmptyProjectPage()
        self._empty.files.clicked.connect(self.wants_files)
        self._empty.folder.clicked.connect(self.wants_folder)
        self._none = NoMatchPage()
        self._none.clear.clicked.connect(self.clear_filters)
        self._pages = QStackedWidget()
        self._quiet = EmptyQueuePage()
        self._quiet.all.clicked.connect(lambda: self._guide.activate(""))
        for page in (self.view, self._empty, self._none, self._quiet):
            self._pages.addWidget(page)
        column.addWidget(self._pages, 1)
        self.count = QLabel(objectName="muted")
        self.count.setContentsMargins(12, 4, 12, 7)
        column.addWidget(self.count)

    # --- actions ---------------------------------------------------------------------------------

    def go(self, step: int) -> None:
        """Open the next image of the list, or the previous one with -1."""
        place, count = self.model.place(self._wanted), self.model.rowCount()
        target = place.row() + step if place.isValid() else (0 if step > 0 else count - 1)
        if 0 <= target < count:
            self.open(self.model.key_at(target))

    def go_to(self, state: str, step: int) -> None:
        """Open the nearest listed image of a state ("unlabelled", "open", "broken", …), wrapping around."""
        key = self.model.next_where(state, self._wanted, step)
        if key is not None:
            self.open(key)

    def open(self, key: str) -> None:
        """Open an image; later steps start from it."""
        self._wanted = key  # later steps start here, even while the image is being read
        if self.browsing:
            self.toggle_sheet()
        self._session.open_image(key)

    def toggle_sheet(self) -> None:
        """Switch between the contact sheet and the open image."""
        self.browsing = not self.browsing
        self.sheet_wanted.emit(self.browsing)

    def can_judge(self, number: int) -> bool:
        session = self._session
        there = session.project is not None and number < len(session.project.file.verdicts)
        return there and session.writable and (self.browsing or session.note is not None)

    def judge(self, number: int) -> None:
        """Give the verdict with this number to the selected images of the sheet, or to the open image, and go on."""
        if not self.can_judge(number):
            return
        verdict = self._session.project.file.verdicts[number]
        if self.browsing:
            self.sheet.judge(verdict)
        else:
            self._session.judging.set_verdicts([self._session.key], verdict)
            self.go(1)

    def find(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def clear_filters(self) -> None:
        self.search.clear()
        self.choice.filter.setCurrentIndex(0)

    def position(self) -> tuple[int, int]:
        """Number of the open image in the list, from 1 (0: not listed), and the count."""
        place = self.model.place(self._session.key)
        return (place.row() + 1 if place.isValid() else 0), self.model.rowCount()

    def end(self) -> None:
        self.thumbnails.end()

    # --- updates ---------------------------------------------------------------------------------

    def _opened(self) -> None:
        self.thumbnails.set_project(self._session.project)
        self.clear_filters()
        self._relist()

    def _classes_changed(self) -> None:
        if "class:" in self.model.text:
            self._late.start()
        self.view.viewport().update()

    def _closed(self) -> None:
        self._wanted = None
        if self.browsing:
            self.toggle_sheet()
        self.thumbnails.set_project(None)
        self._relist()

    def _rows_changed(self, rows: list[ImageRow]) -> None:
        self.model.rows_changed(rows)
        if self.model.narrowed:
            self._late.start()
        self._count()

    def _note_changed(self, key: str) -> None:
        self.model.row_changed(key)
        self._count()

    def _guided(self) -> None:
        """Update after a change of the active queue or its images."""
        self.choice.setVisible(not self._guide.mode)
        self._refilter()
        self.view.scheduleDelayedItemsLayout()  # rows with reasons are higher

    def _follow(self, key: str, _: object = None) -> None:
        self._wanted = key
        place = self.model.place(key)
        if not place.isValid() and key in self._session.rows and not self.model.text:
            self._refilter()  # an image opened elsewhere is listed whatever its status
            place = self.model.place(key)
        if place.isValid() and place != self.view.currentIndex():
            self.view.selectionModel().setCurrentIndex(place, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(place)

    def _chosen(self, current: QModelIndex, _: QModelIndex) -> None:
        key = current.data() if current.isValid() else None
        if key is not None and key != self._wanted:
            self.open(key)

    def _filter_changed(self) -> None:
        self.model.text = self.search.text()
        self.choice.put_into(self.model)
        self.choice.restyle(self._style.theme)
        self.sheet.follow_sort()
        self._refilter()

    def _relist(self, _: object = None) -> None:
        self._show(self.model.relist)

    def _refilter(self, _: object = None) -> None:
        self._show(self.model.refilter)

    def _show(self, change: Callable[[], None]) -> None:
        before = self.model.order
        blocked = self.view.selectionModel().blockSignals(True)
        change()
        place = self.model.place(self._session.key)
        if place.isValid():
            self.view.setCurrentIndex(place)
        self.view.selectionModel().blockSignals(blocked)
        if place.isValid() and self.model.order is not before:
            self.view.scrollTo(place)
        if self.model.rowCount():
            self._pages.setCurrentWidget(self.view)
        else:
            none = self._quiet if self.model.guided and not self.model.text else self._none
            self._pages.setCurrentWidget(none if self._session.keys else self._empty)
            self._quiet.say(running=self._guide.running)
        self._empty.setEnabled(self._session.writable)
        self.wrong.setText("\n".join(map(wrong_words, self.model.wrong)))
        self.wrong.setVisible(bool(self.model.wrong))
        self._count()

    def _count(self) -> None:
        total, done = len(self._session.keys), self._session.done_count
        shown = self.model.rowCount()
        text = self.tr("{n} pictures").format(n=number(total)) if total != 1 else self.tr("1 picture")
        if shown != total:
            text = self.tr("{shown} of {total} pictures").format(shown=number(shown), total=number(total))
        text = self.tr("{pictures} · {done} done").format(pictures=text, done=number(done))
        self.count.setText(text if total else "")

    def _restyle(self) -> None:
        self.choice.restyle(self._style.theme)
        self.wrong.setStyleSheet(f"color: {self._style.theme.colors['warning']}")
        self._search_sign.setIcon(self._style.theme.icon("search", "muted"))
        self._empty.sign.setPixmap(self._style.theme.pixmap("picture-add", 40, "muted", self.devicePixelRatioF()))
