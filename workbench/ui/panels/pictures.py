"""The pictures of the project: search, filter, walk through, and add by dropping."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.index import Row
from workbench.core.picture_table import SORTS
from workbench.session.queue import Guide
from workbench.session.session import Session
from workbench.ui.panels.contact_sheet import ContactSheet
from workbench.ui.panels.picture_list import FILTERS, PictureList
from workbench.ui.panels.picture_pages import NoMatch, NoPictures, NothingQueued
from workbench.ui.panels.picture_row import PictureRow
from workbench.ui.panels.queue import QueueHead
from workbench.ui.panels.search_field import SearchField, wrong_words
from workbench.ui.panels.thumbnails import Thumbnails
from workbench.ui.theme import Style
from workbench.ui.words import number


class PicturesPanel(QWidget):
    """The list. It orders the session to open what is chosen, and follows what is open."""

    wants_files = Signal()
    wants_folder = Signal()
    sheet_wanted = Signal(bool)  # the contact sheet in the centre, or the open picture

    def __init__(self, session: Session, style: Style, guide: Guide, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._style, self._guide = style, guide
        self._wanted: str | None = None  # the picture last asked for
        self.thumbnails = Thumbnails(self)
        self.model = PictureList(session, guide)
        self.browsing = False  # the contact sheet is what is seen
        self.sheet = ContactSheet(session, self.model, self.thumbnails, style)
        self.sheet.chosen.connect(self.open)
        self.sheet.sort_wanted.connect(lambda name, down: self.sort_by(name, descending=down))
        self._build(style)
        self._late = QTimer(self, singleShot=True, interval=250)
        self._late.timeout.connect(self._refilter)
        self.thumbnails.arrived.connect(self.model.row_changed)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.pictures_listed.connect(self._relist)
        session.rows_changed.connect(self._rows_changed)
        session.note_changed.connect(self._note_changed)
        session.classes_changed.connect(self._classes_changed)
        session.picture_opened.connect(self._follow)
        session.picture_failed.connect(self._follow)
        guide.changed.connect(self._guided)
        guide.state_changed.connect(self._guided)
        style.changed.connect(self._restyle)
        self._wanted = session.key
        self._opened()
        self._guided()
        self._restyle()

    def _build(self, style: Style) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(6)
        self.search = SearchField(self._session, self.model)
        self.search.textChanged.connect(self._filter_changed)
        self._search_sign = self.search.addAction(
            style.theme.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self.filter = QComboBox()
        self.filter.setAccessibleName(self.tr("Which pictures are listed"))
        self.filter.setToolTip(self.tr("Which pictures are listed"))
        for name, text in zip(FILTERS, self._filter_texts(), strict=True):
            self.filter.addItem(text, name)
        self.filter.currentIndexChanged.connect(self._filter_changed)
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.setSpacing(6)
        top.addWidget(self.search)
        self.head = QueueHead(self._guide, style)
        self.choice = QWidget()
        choice = QVBoxLayout(self.choice)
        choice.setContentsMargins(0, 0, 0, 0)
        choice.setSpacing(6)
        choice.addWidget(self.filter)
        self.sort = QComboBox()
        self.sort.setAccessibleName(self.tr("What the pictures are sorted by"))
        self.sort.setToolTip(self.tr("What the pictures are sorted by"))
        for name, text in zip(SORTS, self._sort_texts(), strict=True):
            self.sort.addItem(text, name)
        self.sort.currentIndexChanged.connect(self._filter_changed)
        self.turn = QToolButton(checkable=True)
        self.turn.setAccessibleName(self.tr("Greatest first"))
        self.turn.setToolTip(self.tr("Greatest first"))
        self.turn.toggled.connect(self._filter_changed)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.sort, 1)
        row.addWidget(self.turn)
        self.lead = QToolButton()
        self.lead.setAccessibleName(self.tr("What to label next"))
        self.lead.setToolTip(self.tr("What to label next: pictures from which the model would learn most"))
        self.lead.clicked.connect(lambda: self._guide.lead("next"))
        row.addWidget(self.lead)
        choice.addLayout(row)
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
        self.view.setItemDelegate(PictureRow(self._session, self.thumbnails, style))
        self.view.setUniformItemSizes(True)
        self.view.setLayoutMode(QListView.LayoutMode.Batched)
        self.view.setBatchSize(200)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setMouseTracking(True)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self._empty = NoPictures()
        self._empty.files.clicked.connect(self.wants_files)
        self._empty.folder.clicked.connect(self.wants_folder)
        self._none = NoMatch()
        self._none.clear.clicked.connect(self.clear_filters)
        self._pages = QStackedWidget()
        self._quiet = NothingQueued()
        self._quiet.all.clicked.connect(lambda: self._guide.lead(""))
        for page in (self.view, self._empty, self._none, self._quiet):
            self._pages.addWidget(page)
        column.addWidget(self._pages, 1)
        self.count = QLabel(objectName="muted")
        self.count.setContentsMargins(12, 4, 12, 7)
        column.addWidget(self.count)

    def _filter_texts(self) -> tuple[str, ...]:
        return (
            self.tr("All pictures"), self.tr("Not done yet"), self.tr("Started"), self.tr("Done"),
            self.tr("With defects"), self.tr("Done, without defects"), self.tr("Cannot be read"),
        )  # fmt: skip

    def _sort_texts(self) -> tuple[str, ...]:
        return (
            self.tr("By name"), self.tr("By status"), self.tr("By verdict"), self.tr("By number of classes"),
            self.tr("By number of regions"), self.tr("By painted area"), self.tr("By model score"), self.tr("By date"),
        )  # fmt: skip

    # --- orders ----------------------------------------------------------------------------------

    def go(self, step: int) -> None:
        """Open the next picture of the list, or with -1 the one before."""
        place, count = self.model.place(self._wanted), self.model.rowCount()
        target = place.row() + step if place.isValid() else (0 if step > 0 else count - 1)
        if 0 <= target < count:
            self.open(self.model.key_at(target))

    def go_to(self, state: str, step: int) -> None:
        """Open the nearest listed picture of a state ("unlabelled", "open", "broken", …), around the end."""
        key = self.model.next_where(state, self._wanted, step)
        if key is not None:
            self.open(key)

    def open(self, key: str) -> None:
        """Open a picture; the next step counts from it."""
        self._wanted = key  # the next step counts from here, even while the picture is still being read
        if self.browsing:
            self.toggle_sheet()
        self._session.open_picture(key)

    def toggle_sheet(self) -> None:
        """Show all listed pictures in the centre, or the open one again."""
        self.browsing = not self.browsing
        self.sheet_wanted.emit(self.browsing)

    def can_judge(self, number: int) -> bool:
        session = self._session
        there = session.project is not None and number < len(session.project.file.verdicts)
        return there and session.writable and (self.browsing or session.note is not None)

    def judge(self, number: int) -> None:
        """Give the verdict of this place to the selected pictures of the sheet, or to the open one, and go on."""
        if not self.can_judge(number):
            return
        verdict = self._session.project.file.verdicts[number]
        if self.browsing:
            self.sheet.judge(verdict)
        else:
            self._session.judging.give([self._session.key], verdict)
            self.go(1)

    def find(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def clear_filters(self) -> None:
        self.search.clear()
        self.filter.setCurrentIndex(0)

    def sort_by(self, name: str, *, descending: bool) -> None:
        self.turn.setChecked(descending)
        self.sort.setCurrentIndex(SORTS.index(name))

    def position(self) -> tuple[int, int]:
        """The open picture's number in the list, from 1 (0: not listed), and how many there are."""
        place = self.model.place(self._session.key)
        return (place.row() + 1 if place.isValid() else 0), self.model.rowCount()

    def end(self) -> None:
        self.thumbnails.end()

    # --- facts -----------------------------------------------------------------------------------

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

    def _rows_changed(self, rows: list[Row]) -> None:
        self.model.rows_changed(rows)
        if self.model.narrowed:
            self._late.start()
        self._count()

    def _note_changed(self, key: str) -> None:
        self.model.row_changed(key)
        self._count()

    def _guided(self) -> None:
        """Another queue leads, or none, or its pictures are others."""
        self.choice.setVisible(not self._guide.mode)
        self._refilter()
        self.view.scheduleDelayedItemsLayout()  # rows with reasons are higher

    def _follow(self, key: str, _: object = None) -> None:
        self._wanted = key
        place = self.model.place(key)
        if not place.isValid() and key in self._session.rows and not self.model.text:
            self._refilter()  # opened from elsewhere: list it, whatever its status
            place = self.model.place(key)
        if place.isValid() and place != self.view.currentIndex():
            self.view.selectionModel().setCurrentIndex(place, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(place)

    def _chosen(self, current: QModelIndex, _: QModelIndex) -> None:
        key = current.data() if current.isValid() else None
        if key is not None and key != self._wanted:
            self.open(key)

    def _filter_changed(self) -> None:
        model = self.model
        model.text, model.wanted = self.search.text(), self.filter.currentData()
        model.sort_by, model.descending = self.sort.currentData(), self.turn.isChecked()
        self._sign()
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

    def _sign(self) -> None:
        self.turn.setIcon(self._style.theme.icon("chevron-down" if self.turn.isChecked() else "chevron-up", "muted"))

    def _restyle(self) -> None:
        self._sign()
        self.wrong.setStyleSheet(f"color: {self._style.theme.colors['warning']}")
        self.lead.setIcon(self._style.theme.icon("queue", "text"))
        self._search_sign.setIcon(self._style.theme.icon("search", "muted"))
        self._empty.sign.setPixmap(self._style.theme.pixmap("picture-add", 40, "muted", self.devicePixelRatioF()))
