"""Edit steps of the current image, newest first; a click restores the state after a step."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import (
    QT_TRANSLATE_NOOP,
    QAbstractListModel,
    QCoreApplication,
    QDateTime,
    QLocale,
    QModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel, QListView, QScrollArea, QStyle, QStyledItemDelegate, QWidget

from workbench.core.project.history import Patch
from workbench.session.session import Session
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.text.formatting import capitalized, plain
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.item_views import draw_row_background
from workbench.ui.widgets.text_labels import CollapsibleSection
from workbench.ui.widgets.theme import ThemeManager

HEIGHT = 26  # px
MAX_VISIBLE = 8  # rows without scrolling
MAX_LISTED = 500  # steps: the list is rebuilt after every stroke
TimeRole, StateRole, IconRole = (Qt.ItemDataRole.UserRole + i for i in range(3))
# Step -> its name and icon. The steps of other tools have the name of the tool in the tool registry.
STEPS = {
    "": (QT_TRANSLATE_NOOP("history", "Initial state"), "image"),
    "paint": (QT_TRANSLATE_NOOP("history", "Brush"), "brush"),
    "erase": (QT_TRANSLATE_NOOP("history", "Eraser"), "eraser"),
    "edit outline": (QT_TRANSLATE_NOOP("history", "Outline edited"), "polygon"),
    "copy labels": (QT_TRANSLATE_NOOP("history", "Labels copied"), "copy"),
    "mend label": (QT_TRANSLATE_NOOP("history", "Label corrected"), "label-error"),
    "label is right": (QT_TRANSLATE_NOOP("history", "Label confirmed"), "brush"),
    "accept proposal": (QT_TRANSLATE_NOOP("history", "Suggestion accepted"), "suggestions"),
    "reject proposal": (QT_TRANSLATE_NOOP("history", "Suggestion rejected"), "close"),
    "bring back proposals": (QT_TRANSLATE_NOOP("history", "Suggestions restored"), "refresh"),
    "remove specks": (QT_TRANSLATE_NOOP("history", "Tiny regions erased"), "eraser"),
    "fill holes": (QT_TRANSLATE_NOOP("history", "Holes filled"), "holes"),
    "fill tiny holes": (QT_TRANSLATE_NOOP("history", "Holes filled"), "holes"),
    "remove images": (QT_TRANSLATE_NOOP("history", "Images removed"), "brush"),
    "remove source": (QT_TRANSLATE_NOOP("history", "Image folder removed"), "brush"),
    "remove labels": (QT_TRANSLATE_NOOP("history", "Label files removed"), "brush"),
    "restore": (QT_TRANSLATE_NOOP("history", "Step restored"), "undo"),
    "recover strokes": (QT_TRANSLATE_NOOP("history", "Strokes recovered"), "refresh"),
    "label only what is painted": (QT_TRANSLATE_NOOP("history", "Unpainted areas: unlabeled"), "layers"),
    "unpainted is background": (QT_TRANSLATE_NOOP("history", "Unpainted areas: background"), "layers"),
}


def step_text(what: str) -> str:
    """Return a step's name in the chosen language."""
    if what in STEPS:
        return QCoreApplication.translate("history", STEPS[what][0])
    return plain(TOOLS[what].translated(TOOLS[what].title)) if what in TOOLS else capitalized(what)


def step_icon(what: str) -> str:
    """Return the name of a step's icon."""
    return STEPS[what][1] if what in STEPS else what if what in TOOLS else "brush"


def time_text(seconds: float) -> str:
    """Return a moment as text: the time if today, else the date."""
    moment, locale = QDateTime.fromSecsSinceEpoch(int(seconds)), QLocale()
    today = moment.date() == QDateTime.currentDateTime().date()
    return moment.toString("HH:mm") if today else locale.toString(moment.date(), QLocale.FormatType.ShortFormat)


class StepListModel(QAbstractListModel):
    """Steps from the last undone one down to the opened state. StateRole: "undone", "current" or "done"."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Patch | None] = []
        self._undone = 0

    def show(self, done: list[Patch], undone: list[Patch]) -> None:
        self.beginResetModel()
        listed = done[-MAX_LISTED:]
        initial = [None] if (done or undone) and len(listed) == len(done) else []
        self.steps = [*reversed(undone), *reversed(listed), *initial]
        self._undone = len(undone)
        self.endResetModel()

    @property
    def current_row(self) -> int:
        """Row of the current state."""
        return self._undone

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.steps)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        step = self.steps[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return step_text("" if step is None else step.what)
        if role == TimeRole:
            return "" if step is None else time_text(step.when)
        if role == IconRole:
            return step_icon("" if step is None else step.what)
        if role == StateRole:
            return "undone" if index.row() < self._undone else "current" if index.row() == self._undone else "done"
        if role == Qt.ItemDataRole.ToolTipRole:
            return QCoreApplication.translate("history", "Click to restore the image to this step. This can be undone.")
        return None


class StepDelegate(QStyledItemDelegate):
    """Delegate that draws an icon, the step and its time."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect, state = self._style.theme, option.rect, index.data(StateRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focus = bool(option.state & QStyle.StateFlag.State_HasFocus)
        fill = "selection" if state == "current" else "hover" if hovered else ""
        draw_row_background(painter, rect, theme, fill=fill, line="accent" if focus else "")
        role = "disabled" if state == "undone" else "text" if state == "current" else "muted"
        icon_rect = QRect(rect.x() + 8, rect.y() + (rect.height() - 16) // 2, 16, 16)
        self._style.icon(index.data(IconRole), role).paint(painter, icon_rect)
        time = index.data(TimeRole)
        width = option.fontMetrics.horizontalAdvance(time) + 8 if time else 0
        painter.setPen(theme.color("disabled" if state == "undone" else "muted"))
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(rect.adjusted(0, 0, -8, 0), side, time)
        painter.setPen(theme.color("disabled" if state == "undone" else "text"))
        box = rect.adjusted(32, 0, -8 - width, 0)
        text = option.fontMetrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class HistoryPanel(QWidget):
    """History panel; follows the current image while visible."""

    def __init__(self, session: Session, style: ThemeManager) -> None:
        super().__init__()
        self._session = session
        self.model = StepListModel()
        self.view = QListView(objectName="history", accessibleName=self.tr("History"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(StepDelegate(style))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.clicked.connect(self._clicked)
        self.view.activated.connect(self._clicked)
        self.hint = QLabel(self.tr("Editing steps of the current image. Click a step to return to it."), wordWrap=True)
        self.hint.setObjectName("muted")
        self.hint.setContentsMargins(6, 0, 6, 4)
        in_column(self.hint, self.view, owner=self, margins=0)
        for signal in (session.history_changed, session.current.opened, session.current.failed, session.project_closed):
            signal.connect(self.refresh)
        style.changed.connect(self.view.viewport().update)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Update the list; does nothing while folded."""
        if not self.isVisible():
            return
        self.model.show(*self._session.steps())
        count = self.model.rowCount()
        self.hint.setVisible(not count)
        self.view.setVisible(bool(count))
        self.view.setFixedHeight(min(max(count, 1), MAX_VISIBLE) * HEIGHT + 2)
        self.view.setEnabled(self._session.writable)
        if count:
            current = self.model.index(self.model.current_row)
            self.view.setCurrentIndex(current)
            self.view.scrollTo(current)

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self.refresh()

    def reveal(self) -> None:
        """Unfold the list, scroll to it and give it the focus."""
        widget = self.parentWidget()
        while widget is not None:
            if isinstance(widget, CollapsibleSection):
                widget.heading.setChecked(True)
            if isinstance(widget, QScrollArea):
                widget.show()
                # The layout must be complete before scrolling.
                QTimer.singleShot(0, self, partial(widget.ensureWidgetVisible, self))
            widget = widget.parentWidget()
        self.view.setFocus()

    def _clicked(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() != self.model.current_row:
            self._session.restore(self.model.steps[index.row()])
