"""The pictures of the project: search, filter, walk through, and add by dropping."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.core.index import Row
from workbench.session.session import Session
from workbench.ui.panels.picture_list import FILTERS, PictureList
from workbench.ui.panels.picture_row import PictureRow
from workbench.ui.panels.thumbnails import Thumbnails
from workbench.ui.theme import Style
from workbench.ui.typing_keys import TypingKeys


class PicturesPanel(QWidget):
    """The list. It orders the session to open what is chosen, and follows what is open."""

    wants_files = Signal()
    wants_folder = Signal()

    def __init__(self, session: Session, style: Style, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._wanted: str | None = None  # the picture last asked for
        self.thumbnails = Thumbnails(self)
        self.model = PictureList(session)
        self._build(style)
        self._late = QTimer(self, singleShot=True, interval=250)
        self._late.timeout.connect(self._refilter)
        self.thumbnails.arrived.connect(self.model.row_changed)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.pictures_listed.connect(self._refilter)
        session.rows_changed.connect(self._rows_changed)
        session.note_changed.connect(self._note_changed)
        session.classes_changed.connect(self._redraw)
        session.picture_opened.connect(self._follow)
        session.picture_failed.connect(self._follow)
        style.changed.connect(self._restyle)
        self._style = style
        self._wanted = session.key
        self._opened()
        self._restyle()

    def _build(self, style: Style) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(6)
        self.search = QLineEdit(placeholderText=self.tr("Search by name"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search by name"))
        TypingKeys(self.search)
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
        top.addWidget(self.filter)
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
        self._empty = _Empty()
        self._empty.files.clicked.connect(self.wants_files)
        self._empty.folder.clicked.connect(self.wants_folder)
        self._none = _NoMatch()
        self._none.clear.clicked.connect(self.clear_filters)
        self._pages = QStackedWidget()
        for page in (self.view, self._empty, self._none):
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

    # --- orders ----------------------------------------------------------------------------------

    def go(self, step: int) -> None:
        """Open the next picture of the list, or with -1 the one before."""
        place = self.model.place(self._wanted)
        target = place.row() + step if place.isValid() else (0 if step > 0 else len(self.model.keys) - 1)
        if 0 <= target < len(self.model.keys):
            self._open(self.model.keys[target])

    def _open(self, key: str) -> None:
        self._wanted = key  # the next step counts from here, even while the picture is still being read
        self._session.open_picture(key)

    def find(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def clear_filters(self) -> None:
        self.search.clear()
        self.filter.setCurrentIndex(0)

    def position(self) -> tuple[int, int]:
        """The open picture's number in the list, from 1 (0: not listed), and how many there are."""
        place = self.model.place(self._session.key)
        return (place.row() + 1 if place.isValid() else 0), len(self.model.keys)

    def end(self) -> None:
        self.thumbnails.end()

    # --- facts -----------------------------------------------------------------------------------

    def _opened(self) -> None:
        self.thumbnails.set_project(self._session.project)
        self.clear_filters()
        self._refilter()

    def _redraw(self) -> None:
        self.view.viewport().update()

    def _closed(self) -> None:
        self._wanted = None
        self.thumbnails.set_project(None)
        self._refilter()

    def _rows_changed(self, rows: list[Row]) -> None:
        self.model.rows_changed(rows)
        if self.model.wanted != "all":
            self._late.start()
        self._count()

    def _note_changed(self, key: str) -> None:
        self.model.row_changed(key)
        self._count()

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
            self._open(key)

    def _filter_changed(self) -> None:
        self.model.text, self.model.wanted = self.search.text(), self.filter.currentData()
        self._refilter()

    def _refilter(self, _: object = None) -> None:
        blocked = self.view.selectionModel().blockSignals(True)
        self.model.refilter()
        place = self.model.place(self._session.key)
        if place.isValid():
            self.view.setCurrentIndex(place)
        self.view.selectionModel().blockSignals(blocked)
        if place.isValid():
            self.view.scrollTo(place)
        if self.model.keys:
            self._pages.setCurrentWidget(self.view)
        else:
            self._pages.setCurrentWidget(self._none if self._session.keys else self._empty)
        self._empty.setEnabled(self._session.writable)
        self._count()

    def _count(self) -> None:
        rows, total = self._session.rows, len(self._session.keys)
        done = sum(row.status == "done" for row in rows.values())
        shown = len(self.model.keys)
        text = self.tr("{n} pictures").format(n=total) if total != 1 else self.tr("1 picture")
        if shown != total:
            text = self.tr("{shown} of {total} pictures").format(shown=shown, total=total)
        self.count.setText(self.tr("{pictures} · {done} done").format(pictures=text, done=done) if total else "")

    def _restyle(self) -> None:
        self._search_sign.setIcon(self._style.theme.icon("search", "muted"))
        self._empty.sign.setPixmap(self._style.theme.pixmap("picture-add", 40, "muted", self.devicePixelRatioF()))


class _Empty(QWidget):
    """What is said where there are no pictures yet."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 12)
        column.setSpacing(8)
        column.addStretch(1)
        self.sign = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        text = QLabel(self.tr("Drop pictures or folders here"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        more = QLabel(
            self.tr("They are copied into the project; the originals stay as they are."),
            alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True,
        )  # fmt: skip
        more.setObjectName("muted")
        self.files = QPushButton(self.tr("Add pictures…"), objectName="primary")
        self.folder = QPushButton(self.tr("Add a folder…"))
        for widget in (self.sign, text, more):
            column.addWidget(widget)
        column.addSpacing(6)
        column.addWidget(self.files)
        column.addWidget(self.folder)
        column.addStretch(2)

    def sizeHint(self) -> QSize:
        return QSize(200, 300)


class _NoMatch(QWidget):
    """What is said where the filters hide everything."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 12)
        column.addStretch(1)
        text = QLabel(self.tr("No picture matches"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        self.clear = QPushButton(self.tr("Show all pictures"))
        column.addWidget(text)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(2)
