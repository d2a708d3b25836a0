"""Suggestions of the open image, most certain first, and the progress over all images."""

from __future__ import annotations

import time

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from workbench.core.suggestions.suggestions import Suggestion
from workbench.session.session import Session
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.text import formatting
from workbench.ui.widgets.row_background import draw_plate
from workbench.ui.widgets.theme import ThemeManager

HEIGHT, MOST_SHOWN = 26, 8
ColorRole, ScoreRole, ChangedRole = (Qt.ItemDataRole.UserRole + i for i in range(3))


class SuggestionListModel(QAbstractListModel):
    """List model of suggestions with names and colors of their classes."""

    def __init__(self) -> None:
        super().__init__()
        self.suggestions: list[Suggestion] = []
        self._names: dict[int, tuple[str, str]] = {}

    def show(self, suggestions: list[Suggestion], names: dict[int, tuple[str, str]]) -> None:
        """Set the suggestions. names: (name, "#rrggbb") by class id."""
        self.beginResetModel()
        self.suggestions, self._names = suggestions, names
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.suggestions)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        one = self.suggestions[index.row()]
        name, color = self._names.get(one.class_id, ("", "#808080"))
        score = formatting.percent(one.score)
        return {
            Qt.ItemDataRole.DisplayRole: name,
            Qt.ItemDataRole.AccessibleTextRole: f"{name} {score}",
            ColorRole: color,
            ScoreRole: score,
            ChangedRole: one.edited,
        }.get(role)


class SuggestionDelegate(QStyledItemDelegate):
    """Delegate that draws a dashed swatch, the class and the certainty of the model."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect = self._style.theme, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        over = bool(option.state & QStyle.StateFlag.State_MouseOver)
        draw_plate(painter, rect, theme, fill="selection" if selected else "hover" if over else "")
        color = QColor(index.data(ColorRole))
        swatch = QRectF(rect.x() + 8, rect.y() + (rect.height() - 12) / 2, 17, 12)
        inside = QColor(color)
        inside.setAlpha(60)
        pen = QPen(color, 1.6)
        pen.setDashPattern([2.4, 1.8])
        painter.setPen(pen)
        painter.setBrush(inside)
        painter.drawRoundedRect(swatch, 3, 3)
        score = index.data(ScoreRole)
        room = option.fontMetrics.horizontalAdvance(score) + 8
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setPen(theme.color("muted"))
        painter.drawText(rect.adjusted(0, 0, -8, 0), right, score)
        painter.setPen(theme.color("text"))
        box: QRect = rect.adjusted(33, 0, -8 - room, 0)
        name = index.data() + (" *" if index.data(ChangedRole) else "")
        text = option.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class _View(QListView):
    """List view with the keys of the canvas: Space accepts, Delete rejects."""

    def __init__(self, proposing: SuggestionsController, model: SuggestionListModel) -> None:
        super().__init__(objectName="history")
        self._proposing, self._list = proposing, model
        self.setModel(model)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        hand, index = self._proposing.hand, self.currentIndex()
        one = self._list.suggestions[index.row()] if index.isValid() else None
        if one is not None and event.key() == Qt.Key.Key_Space:
            hand.accepted.emit([one])
        elif one is None or not hand.key(event, one):
            super().keyPressEvent(event)


class SuggestionsPanel(QWidget):
    """Suggestion panel; follows the open image."""

    def __init__(
        self, session: Session, proposing: SuggestionsController, style: ThemeManager, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._proposing = session, proposing
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.model = SuggestionListModel()
        self.view = _View(proposing, self.model)
        self.view.setAccessibleName(self.tr("Proposals"))
        self.view.setItemDelegate(SuggestionDelegate(style))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.clicked.connect(self._chosen)
        self.hint = QLabel(wordWrap=True, objectName="muted")
        self.hint.setContentsMargins(6, 0, 6, 4)
        column.addWidget(self.hint)
        column.addWidget(self.view)
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(6)
        self.accept_all, self.reject_all = QPushButton(self.tr("Accept all")), QPushButton(self.tr("Reject all"))
        self.accept_all.setToolTip(self.tr("All that is proposed in this picture becomes labels (Ctrl+Shift+A)"))
        self.reject_all.setToolTip(self.tr("This model will not suggest these regions again. Can be undone."))
        self.accept_all.clicked.connect(proposing.accept_all)
        self.reject_all.clicked.connect(proposing.reject_all)
        for button in (self.accept_all, self.reject_all):
            # The buttons shrink in a narrow panel instead of widening it.
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.addWidget(button, 1)
        column.addLayout(row)
        self.back = QPushButton(objectName="link")
        self.back.clicked.connect(proposing.suggestions.restore_rejected)
        column.addWidget(self.back)
        self.round = SuggestAllCard(proposing)
        column.addWidget(self.round)
        for signal in (proposing.changed, session.note_changed, session.image_opened, session.project_closed):
            signal.connect(self.refresh)
        style.changed.connect(self.view.viewport().update)
        self.refresh()

    def refresh(self, *_: object) -> None:
        proposing, project = self._proposing, self._session.project
        suggestions = proposing.hand.suggestions
        if suggestions != self.model.suggestions:
            row = self.view.currentIndex().row()
            names = {info.id: (info.name, info.color) for info in project.classes} if project is not None else {}
            self.model.show(suggestions, names)
            if self.view.hasFocus() and suggestions:
                self.view.setCurrentIndex(self.model.index(min(max(row, 0), len(suggestions) - 1)))
        count, left_out, rejected = len(suggestions), proposing.suggestions.left_out, proposing.suggestions.rejected
        self.view.setVisible(bool(count))
        self.view.setFixedHeight(min(max(count, 1), MOST_SHOWN) * HEIGHT + 2)
        self.hint.setText(self._hint(count, left_out))
        self.hint.setVisible(bool(self.hint.text()))
        for button in (self.accept_all, self.reject_all):
            button.setVisible(bool(count))
            button.setEnabled(proposing.any())
        self.back.setText(self.tr("Bring back {n} rejected").format(n=formatting.number(rejected)))
        self.back.setVisible(rejected > 0 and self._session.writable)

    def _hint(self, count: int, left_out: int) -> str:
        if not self._proposing.visible:
            return self.tr("Proposals are hidden (Alt+Right shows them).")
        if left_out:
            return self.tr("{n} more regions are too many or too large to be shown.").format(
                n=formatting.number(left_out)
            )
        return (
            ""
            if count
            else self.tr("Model predictions that differ from your labels appear here. Accept or reject each one.")
        )

    def _chosen(self, index: QModelIndex, *_: object) -> None:
        if index.isValid():
            self._proposing.hand.go_to(self.model.suggestions[index.row()])


class SuggestAllCard(QFrame):
    """Card with the progress over all images and a stop button."""

    def __init__(self, proposing: SuggestionsController) -> None:
        super().__init__(objectName="card")
        self._work, self._began, self._total = proposing.everywhere, 0.0, 0
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress of looking at all pictures"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.clicked.connect(self._cancel)
        for widget in (self.text, self.bar, self.cancel):
            column.addWidget(widget)
        self._work.began.connect(self._start)
        self._work.predicted.connect(self._looked)
        self._work.state_changed.connect(lambda: self.setVisible(self._work.running))
        self.setVisible(False)

    def _start(self, total: int) -> None:
        self._began, self._total = time.monotonic(), total
        self.bar.setRange(0, total)
        self.bar.setValue(0)
        self.cancel.setEnabled(True)
        self.text.setText(self.tr("The model looks at {n} pictures…").format(n=formatting.number(total)))

    def _looked(self, number: int, key: str, count: int, why: str) -> None:
        self.bar.setValue(number)
        left = (time.monotonic() - self._began) / number * (self._total - number)
        text = self.tr("{done} of {total} pictures, {time} left")
        self.text.setText(
            text.format(
                done=formatting.number(number), total=formatting.number(self._total), time=formatting.duration(left)
            )
        )

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self._work.cancel()
