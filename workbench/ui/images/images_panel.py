"""Image panel of the project: search, filter, navigate, and add by drag and drop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from workbench.core.project.image_row import ImageRow
from workbench.core.text_patterns import fill
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session
from workbench.ui.images.image_delegate import ImageDelegate
from workbench.ui.images.image_filters import (
    EmptyProjectPage,
    EmptyQueuePage,
    ImageFilters,
    NoMatchPage,
    SearchErrors,
    SearchField,
)
from workbench.ui.images.image_model import ImageListModel, ThumbnailProvider
from workbench.ui.images.thumbnail_view import ThumbnailView
from workbench.ui.text import formatting, image_texts
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.text_labels import set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

_LEAST_WIDTH = 220  # px
_BESIDE_NAME = 112  # px of a row that its thumbnail, status and scroll bar take
_NAME = "n" * 15  # of the length of a name that is not elided


class ImageListView(QListView):
    """List of rows of equal height.

    All rows are laid out at once, which takes 10 ms for 100,000 of them. A layout in batches shows no rows until it is
    complete, so that the list would flicker with each resize.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)

    def minimumSizeHint(self) -> QSize:
        """Return a width at which names of images can be distinguished, which depends on the size of texts."""
        width = max(_LEAST_WIDTH, _BESIDE_NAME + self.fontMetrics().horizontalAdvance(_NAME))
        return QSize(width, super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            QTimer.singleShot(0, self, lambda: self.scrollTo(self.currentIndex()))  # rows have another height

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current row visible, for example when the panel below unfolds."""
        current = self.currentIndex()
        before = QRect(0, 0, self.viewport().width(), event.oldSize().height())
        followed = current.isValid() and before.contains(self.visualRect(current).center())
        super().resizeEvent(event)
        if followed and not self._visible(current):
            self.scrollTo(current)

    def _visible(self, index: QModelIndex) -> bool:
        row = self.visualRect(index)
        return row.top() >= 0 and row.bottom() < self.viewport().height()


class LabelQueueHeader(QWidget):
    """Header of the queue; hidden without an active queue."""

    def __init__(self, queue: LabelQueue, style: ThemeManager) -> None:
        super().__init__()
        self._queue = queue
        self.next = QPushButton(self.tr("Label next"), objectName="left", checkable=True)
        self.next.setToolTip(self.tr("Images that would improve the model most, with the reason for each"))
        self.errors = QPushButton(self.tr("Label errors"), objectName="right", checkable=True)
        self.errors.setToolTip(self.tr("Labels that a confident model contradicts"))
        self.leave = QToolButton(icon=style.icon("close", "muted"), toolTip=self.tr("Back to all images"))
        self.leave.setAccessibleName(self.tr("Back to all images"))
        self.text = QLabel(objectName="muted", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.stop = QPushButton(self.tr("Cancel"))
        self.more = QPushButton(self.tr("Analyze more images"), objectName="link")
        self.again = QPushButton(self.tr("Analyze again"), objectName="link")
        self._place()
        self.next.clicked.connect(lambda: self._activate("next"))
        self.errors.clicked.connect(lambda: self._activate("errors"))
        self.leave.clicked.connect(lambda: queue.activate(""))
        self.stop.clicked.connect(queue.cancel)
        self.more.clicked.connect(lambda: queue.refresh(more=True))
        self.again.clicked.connect(lambda: queue.refresh())
        queue.changed.connect(self.refresh)
        queue.state_changed.connect(self.refresh)
        queue.progressed.connect(self._progress)
        self.refresh()

    def _place(self) -> None:
        top = in_row((self.next, 1), (self.errors, 1), Gap(4), self.leave, spacing=0)
        progress = in_row((self.bar, 1), self.stop)
        links = in_row(self.more, self.again, 1, spacing=4)
        in_column(top, self.text, progress, links, owner=self, margins=(8, 0, 8, 0), spacing=6)

    def refresh(self) -> None:
        queue, result = self._queue, self._queue.result
        self.setVisible(bool(queue.mode))
        self.next.setChecked(queue.mode == "next")
        self.errors.setChecked(queue.mode == "errors")
        possible = queue.possible("errors") or queue.mode == "errors"
        set_disabled_reason(self.errors, "" if possible else self.tr("Train a model first"))
        for widget in (self.bar, self.stop):
            widget.setVisible(queue.running)
        complete = result is not None and result.analyzed + result.skipped >= result.total
        self.more.setVisible(not queue.running and result is not None and not complete)
        self.again.setVisible(not queue.running)
        if queue.running:
            self.bar.setRange(0, 0)
            self.text.setText(self.tr("Analyzing images…"))
        elif queue.mode == "errors" and queue.issue_list is not None:
            self.text.setText(image_texts.label_issues_text(queue.issue_list, len(queue.keys)))
        elif queue.mode == "next" and queue.ranking is not None:
            self.text.setText(image_texts.label_next_text(queue.ranking))
        else:
            self.text.setText(self.tr("No images have been analyzed yet."))

    def _activate(self, mode: str) -> None:
        self._queue.activate(mode)
        self.refresh()  # a click on the active button must not uncheck it

    def _progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        text = self.tr("Analyzing images: {done} of {total}")
        self.text.setText(text.format(done=formatting.number(done), total=formatting.number(total)))


_MARGIN = 8  # px, beside the fields


class ImagesPanel(QWidget):
    """Image list. Opens the selected image in the session and selects the current one."""

    files_requested = Signal()
    folder_requested = Signal()
    menu_requested = Signal(object, QPoint)  # keys of the images, position on the screen
    order_changed = Signal()  # other images are listed, or in another order
    stopped = Signal(str, int)  # why no image can be opened, number of images that the list hides
    thumbnails_toggled = Signal(bool)  # True: thumbnail view in the center, False: current image

    def __init__(self, session: Session, style: ThemeManager, queue: LabelQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._style, self._queue = session, style, queue
        self._requested: str | None = None  # key of the image requested last
        self._first: str | None = None  # key of the image that was opened with the project, until another one is
        self.thumbnails = ThumbnailProvider(self)
        self.model = ImageListModel(session, queue)
        self.browsing = False  # the thumbnail view is visible
        self.thumbnail_view = ThumbnailView(session, self.model, self.thumbnails, style)
        self.thumbnail_view.chosen.connect(self.open)
        self.thumbnail_view.closed.connect(self.toggle_thumbnails)
        self.thumbnail_view.sort_requested.connect(lambda name, down: self.filters.sort_by(name, descending=down))
        self._build(style)
        self._filter_timer = QTimer(self, singleShot=True, interval=250, timeout=self._refilter)
        self.thumbnails.arrived.connect(self.model.row_changed)
        session.project_opened.connect(self._opened)
        session.project_closed.connect(self._closed)
        session.image_list.listed.connect(self._relist)
        session.image_list.rows_changed.connect(self._rows_changed)
        session.note_changed.connect(self._note_changed)
        session.classes.changed.connect(self._classes_changed)
        for signal in (session.current.opened, session.current.failed):
            signal.connect(self._select_current)
        for signal in (queue.changed, queue.state_changed):
            signal.connect(self._queue_changed)
        style.changed.connect(self._restyle)
        self._requested = session.key
        self._opened()
        self._queue_changed()
        self._restyle()

    def _build(self, style: ThemeManager) -> None:
        self.search = SearchField(self._session, self.model, style)
        self.search.textChanged.connect(self._filter_changed)
        self.queue_header = LabelQueueHeader(self._queue, style)
        self.filters = ImageFilters(self.model, style)
        self.filters.changed.connect(self._filter_changed)
        self.filters.thumbnails_requested.connect(self.toggle_thumbnails)
        self.thumbnails_toggled.connect(self.filters.thumbnails.setChecked)
        self.filters.queue_requested.connect(lambda: self._queue.activate("next"))
        self.search_errors = SearchErrors()
        top = in_column(self.search, self.filters, self.search_errors, margins=(_MARGIN, 0, _MARGIN, 0), spacing=6)
        self.view = ImageListView()
        self.view.setAccessibleName(self.tr("Images"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(ImageDelegate(self._session, self.thumbnails, style))
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.view.viewport().installEventFilter(self)
        for view in (self.view, self.thumbnail_view.list_view, self.thumbnail_view.table_view):
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            view.customContextMenuRequested.connect(partial(self._request_menu, view))
        self.empty_page = EmptyProjectPage(style)
        self.empty_page.files.clicked.connect(self.files_requested)
        self.empty_page.folder.clicked.connect(self.folder_requested)
        self.no_match_page = NoMatchPage()
        self.no_match_page.clear.clicked.connect(self.clear_filters)
        self.pages = QStackedWidget()
        self.empty_queue_page = EmptyQueuePage()
        self.empty_queue_page.all.clicked.connect(lambda: self._queue.activate(""))
        for page in (self.view, self.empty_page, self.no_match_page, self.empty_queue_page):
            self.pages.addWidget(page)
        self.count = QLabel(objectName="muted")
        self.count.setContentsMargins(12, 4, 12, 7)
        in_column(self.queue_header, top, (self.pages, 1), self.count, owner=self, margins=(0, 8, 0, 0), spacing=6)

    def minimumSizeHint(self) -> QSize:
        """As wide as the filters while a queue hides them: the canvas does not move."""
        return super().minimumSizeHint().expandedTo(QSize(self.filters.minimumSizeHint().width() + 2 * _MARGIN, 0))

    # --- actions ---------------------------------------------------------------------------------

    def go(self, step: int) -> bool:
        """Open the next image of the list, or the previous one with -1. Return whether there is one."""
        index, count = self.model.index_of(self._requested), self.model.rowCount()
        target = index.row() + step if index.isValid() else (0 if step > 0 else count - 1)
        if found := 0 <= target < count:
            self.open(self.model.key_at(target))
        return found

    def go_to(self, state: str, step: int, *, quiet: bool = False) -> None:
        """Open the nearest listed image of a state ("unlabeled", "open" or "broken"), wrapping around.

        quiet: say nothing if there is none. Otherwise all images are listed once those of `paint_defective` are done.
        """
        first, self._first = self._first, None
        own = step > 0 and (first is not None or self.browsing) and not quiet  # nobody works on this image yet
        key = self.model.next_where(f"status:{state}", self._requested, step, own=own)
        if key is None and (state, self.filters.filter.currentData()) == ("open", "started") and not quiet:
            self._show_all("all")
            key = self.model.next_where(f"status:{state}", self._requested, step)
        if key is not None and key == first and not self.browsing:
            self.stopped.emit(self.tr("This is the first image. Enter marks it as done and opens the next one."), 0)
        elif key is not None:
            self.open(key)
        if key is not None or quiet:
            return
        reason = {
            "open": self.tr("No listed image is left to mark as done."),
            "unlabeled": self.tr("No listed image is left to label."),
            "broken": self.tr("No listed image is unreadable."),
        }.get(state, self.tr("No such image is listed."))
        self.stopped.emit(reason, self.model.count_where(state))

    def open(self, key: str) -> None:
        """Open an image; later steps start from it."""
        self._requested = key  # later steps start here, even while the image is being read
        if self.browsing:
            self.toggle_thumbnails()
        self._session.open_image(key)

    def separate(self) -> None:
        """Show all images as thumbnails, at the first one that is neither a good nor a defective image."""
        self._show_all("all")
        if not self.browsing:
            self.toggle_thumbnails()
        self.thumbnail_view.show_undecided()

    def paint_defective(self) -> None:
        """List the images in progress, and open the next one without painted defects."""
        self._show_all("started")
        if key := self.model.next_where("status:started class:none", None if self.browsing else self._requested, 1):
            self.open(key)

    def _show_all(self, filter: str) -> None:
        self._queue.activate("")
        self.search.clear()
        self.filters.filter.setCurrentIndex(self.filters.filter.findData(filter))

    def toggle_thumbnails(self) -> None:
        """Switch between the thumbnail view and the current image."""
        self.browsing = not self.browsing
        self.thumbnails_toggled.emit(self.browsing)

    def can_set_verdict(self, number: int) -> bool:
        """Return whether `set_verdict` is possible with this number."""
        session = self._session
        exists = session.project is not None and number < len(session.project.file.verdicts)
        return exists and session.writable and (self.browsing or session.note is not None)

    def set_verdict(self, number: int) -> None:
        """Set the verdict with this number for the selected thumbnails, or for the current image, and open the next."""
        if not self.can_set_verdict(number):
            return
        verdict = self._session.project.file.verdicts[number]
        if self.browsing:
            self.thumbnail_view.set_verdict(verdict)
        else:
            self._session.verdict_steps.set_verdicts([self._session.key], verdict)
            self.go(1)

    def chosen(self) -> list[str]:
        """Return the selected thumbnails, or the current image while it is shown."""
        if self.browsing:
            return self.thumbnail_view.selected()
        return [self._session.key] if self._session.key else []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let a right click in the list open the menu of an image without opening the image."""
        presses = QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick
        return event.type() in presses and event.button() == Qt.MouseButton.RightButton

    def _request_menu(self, view: QAbstractItemView, position: QPoint) -> None:
        """Request the menu of the image under the pointer, or of all selected thumbnails if it is one of them."""
        index = view.indexAt(position)
        if not index.isValid():
            return
        key = self.model.key_at(index.row())
        selected = [] if view is self.view else self.thumbnail_view.selected()
        self.menu_requested.emit(selected if key in selected else [key], view.viewport().mapToGlobal(position))

    def find(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def clear_filters(self) -> None:
        self.search.clear()
        self.filters.filter.setCurrentIndex(0)

    def show_all(self) -> None:
        """List all images: without search and filter, and not those of Label next."""
        self.clear_filters()
        self._queue.activate("")
        self._refilter()

    def position(self) -> tuple[int, int]:
        """Return the number of the current image in the list, from 1 (0: not listed), and the count."""
        index = self.model.index_of(self._session.key)
        return (index.row() + 1 if index.isValid() else 0), self.model.rowCount()

    def end(self) -> None:
        self.thumbnails.end()
        self.thumbnail_view.end()

    # --- updates ---------------------------------------------------------------------------------

    def _opened(self) -> None:
        self.thumbnails.set_project(self._session.project)
        self.clear_filters()
        self._relist()

    def _classes_changed(self) -> None:
        if "class:" in self.model.text:
            self._filter_timer.start()
        self.view.viewport().update()

    def _closed(self) -> None:
        self._requested = self._first = None
        if self.browsing:
            self.toggle_thumbnails()
        self.thumbnails.set_project(None)
        self._relist()

    def _rows_changed(self, rows: list[ImageRow]) -> None:
        self.model.rows_changed(rows)
        if self.model.narrowed:
            self._filter_timer.start()
        self._update_count()

    def _note_changed(self, key: str) -> None:
        self.model.row_changed(key)
        self._update_count()

    def _queue_changed(self) -> None:
        """Update after a change of the active queue or its images."""
        self.filters.setVisible(not self.model.queued)
        self._refilter()
        self.view.scheduleDelayedItemsLayout()  # rows with reasons are higher

    def _select_current(self, key: str, _: object = None) -> None:
        self._first = key if self._requested is None else None
        self._requested = key
        index = self.model.index_of(key)
        if not index.isValid() and key in self._session.rows and not self.model.text:
            self._refilter()  # an image opened elsewhere is listed regardless of its status
            index = self.model.index_of(key)
        if index.isValid() and index != self.view.currentIndex():
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(index)

    def _current_changed(self, current: QModelIndex, _: QModelIndex) -> None:
        key = self.model.key_at(current.row()) if current.isValid() else None
        if key is not None and key != self._requested:
            self.open(key)

    def _filter_changed(self) -> None:
        self.model.text = self.search.text()
        self.filters.apply()
        self.thumbnail_view.show_sort_order()
        self._refilter()

    def _relist(self, _: object = None) -> None:
        self._show(self.model.relist)

    def _refilter(self, _: object = None) -> None:
        self._show(self.model.refilter)

    def _show(self, change: Callable[[], None]) -> None:
        before = self.model.order
        blocked = self.view.selectionModel().blockSignals(True)
        change()
        index = self.model.index_of(self._session.key)
        if index.isValid():
            self.view.setCurrentIndex(index)
        self.view.selectionModel().blockSignals(blocked)
        if index.isValid() and self.model.order is not before:
            self.view.scrollTo(index)
        if self.model.rowCount():
            self.pages.setCurrentWidget(self.view)
        else:
            page = self.empty_queue_page if self.model.queued and not self.model.text else self.no_match_page
            self.pages.setCurrentWidget(page if self._session.keys else self.empty_page)
        self.empty_page.setEnabled(self._session.writable)
        self.search_errors.show_errors(self.model.search_errors)
        self._update_count()
        self.order_changed.emit()

    def _update_count(self) -> None:
        total, done = len(self._session.keys), self._session.image_list.done
        shown = self.model.rowCount()
        text = self.tr("{n} images").format(n=number(total)) if total != 1 else self.tr("1 image")
        if shown != total:
            text = fill(self.tr("{shown} of {total} {total:image|images}"), shown=number(shown), total=number(total))
        if len(self._session.rows) >= total:  # all are read
            text = self.tr("{images} · {done} done").format(images=text, done=number(done))
        self.count.setText(text if total else "")

    def _restyle(self) -> None:
        self.search_errors.setStyleSheet(f"color: {self._style.theme.colors['warning']}")
