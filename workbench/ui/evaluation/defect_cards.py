"""Cards for missed defects, false alarms and whole images, with the labeled and the predicted outline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QWidget

from workbench.core.evaluation.defect_crops import CropFrame
from workbench.core.evaluation.stored_predictions import StoredPrediction
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.session.evaluation_result import EvaluatedImages
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.widgets.theme import ThemeManager

IMAGE = QSize(160, 116)  # size of a crop, logical px
CELL = QSize(IMAGE.width() + 24, IMAGE.height() + 66)
TRUTH, SAID = QColor("#2f9bff"), QColor("#ff8c1a")  # distinguishable with color blindness
_CardRole = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class DefectCard:
    """One card. box: empty for the whole image. color: of its class, or "". missed: a labeled region."""

    evidence: StoredPrediction
    box: Rect
    title: str
    detail: str
    color: str = ""
    missed: bool = False


def missed_cards(
    room: RunEvaluation, reviewed: EvaluatedImages, class_id: int | None, say: Callable[[float], str]
) -> list[DefectCard]:
    """Return cards of the missed defects, largest first. say: text for the greatest score on the defect."""
    found = []
    for evidence, judged in zip(room.looked.evidence, reviewed.judgements):
        for labeled, defect in zip(evidence.defects, judged.facts.defects):
            if not defect.found and class_id in (None, labeled.class_id):
                name, color = room.classes[labeled.class_id]
                found.append(
                    (labeled.area, DefectCard(evidence, labeled.box, name, say(labeled.peak), color, missed=True))
                )
    return [card for _, card in sorted(found, key=lambda entry: -entry[0])]


def alarm_cards(
    room: RunEvaluation, reviewed: EvaluatedImages, class_id: int | None, say: Callable[[float], str]
) -> list[DefectCard]:
    """Return cards of the false alarms, highest score first."""
    found = []
    for evidence, judged in zip(room.looked.evidence, reviewed.judgements):
        for alarm in judged.alarms:
            if class_id in (None, alarm.class_id):
                name, color = room.classes[alarm.class_id]
                found.append(((alarm.peak, alarm.area), DefectCard(evidence, alarm.box, name, say(alarm.peak), color)))
    return [card for _, card in sorted(found, key=lambda entry: (-entry[0][0], -entry[0][1]))]


def image_cards(room: RunEvaluation, reviewed: EvaluatedImages, say: Callable[[int, int], str]) -> list[DefectCard]:
    """Return cards of all images, worst first: most missed defects, then most false alarms, then most defects."""
    order = sorted(
        zip(room.looked.evidence, reviewed.judgements),
        key=lambda pair: (-pair[1].facts.missed, -pair[1].facts.false, -len(pair[1].facts.defects), pair[0].key),
    )
    return [
        DefectCard(evidence, NOTHING, evidence.key.rpartition("/")[2], say(judged.facts.missed, judged.facts.false))
        for evidence, judged in order
    ]


class _Cards(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.cards: list[DefectCard] = []

    def show(self, cards: list[DefectCard]) -> None:
        self.beginResetModel()
        self.cards = cards
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.cards)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole):
        card = self.cards[index.row()]
        if role == _CardRole:
            return card
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{card.evidence.key}\n{card.title}: {card.detail}"
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{card.title}, {card.evidence.key}, {card.detail}"
        return None


class CardGalleryView(QListView):
    """List of cards. `chosen` carries an image key and the region to show."""

    chosen = Signal(str, object)  # key, Rect

    def __init__(self, room: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._room, self._style = room, style
        self._pixmaps: dict[tuple[str, Rect], QPixmap] = {}
        self._fresh: set[tuple[str, Rect]] = set()  # rendered or requested for the present operating point
        self._model = _Cards(self)
        self.setModel(self._model)
        self.setItemDelegate(_CardDelegate(self, style))
        self.setObjectName("cards")
        self.setAccessibleName(self.tr("What is wrong"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setSpacing(2)
        self.setMouseTracking(True)
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)

    @property
    def cards(self) -> list[DefectCard]:
        return self._model.cards

    def show_cards(self, cards: list[DefectCard]) -> None:
        """Show other cards. Crops of the former operating point stay until the new ones are rendered."""
        self._room.cancel_crops()
        self._fresh.clear()
        wanted = {(card.evidence.key, card.box) for card in cards}
        self._pixmaps = {at: pixmap for at, pixmap in self._pixmaps.items() if at in wanted}
        place = self.verticalScrollBar().value()
        self._model.show(cards)
        self.verticalScrollBar().setValue(place)

    def forget(self) -> None:
        self._pixmaps.clear()
        self.show_cards([])

    def pixmap(self, card: DefectCard) -> QPixmap | None:
        """Return the cached crop and request a new one if the crop is outdated."""
        at = (card.evidence.key, card.box)
        if at not in self._fresh:
            self._fresh.add(at)
            ratio = self.devicePixelRatioF()
            frame = CropFrame(
                card.box,
                round(IMAGE.width() * ratio),
                round(IMAGE.height() * ratio),
                TRUTH.getRgb()[:3],
                SAID.getRgb()[:3],
                max(1, round(1.2 * ratio)),
                card.missed,
            )
            self._room.crop(card.evidence, frame, lambda found: self._take(at, found))
        return self._pixmaps.get(at)

    def _take(self, at: tuple[str, Rect], found: np.ndarray | None) -> None:
        if found is not None:
            height, width = found.shape[:2]
            data = np.ascontiguousarray(found)
            image = QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888)
            pixmap = QPixmap.fromImage(image.copy())
            pixmap.setDevicePixelRatio(self.devicePixelRatioF())
            self._pixmaps[at] = pixmap
            self.viewport().update()

    def _choose(self, index: QModelIndex) -> None:
        card = index.data(_CardRole)
        if card is not None:
            self.chosen.emit(card.evidence.key, card.box)

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)


class _CardDelegate(QStyledItemDelegate):
    def __init__(self, gallery: CardGalleryView, style: ThemeManager) -> None:
        super().__init__(gallery)
        self._gallery, self._style = gallery, style

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        card: DefectCard = index.data(_CardRole)
        theme, rect = self._style.theme, QRectF(option.rect).adjusted(4, 4, -4, -4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillPath(path, theme.color("hover" if hovered else "raised"))
        painter.setPen(QPen(theme.color("accent" if chosen else "border"), 1.5 if chosen else 1))
        painter.drawPath(path)
        box = QRect(int(rect.x()) + 8, int(rect.y()) + 8, IMAGE.width(), IMAGE.height())
        painter.fillRect(box, theme.color("canvas"))
        pixmap = self._gallery.pixmap(card)
        if pixmap is not None:
            size = pixmap.deviceIndependentSize().toSize()
            left, top = box.x() + (box.width() - size.width()) // 2, box.y() + (box.height() - size.height()) // 2
            painter.drawPixmap(left, top, pixmap)
        self._write(painter, QRect(box.x(), box.bottom() + 6, box.width(), 42), card, option.fontMetrics)
        painter.restore()

    def _write(self, painter: QPainter, box: QRect, card: DefectCard, metrics) -> None:
        theme, left = self._style.theme, box.x()
        first = QRect(box.x(), box.y(), box.width(), 20)
        if card.color:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(card.color))
            painter.drawEllipse(QRectF(left, first.center().y() - 4, 9, 9))
            first.setLeft(left + 15)
        painter.setPen(theme.color("text"))
        elided = metrics.elidedText(card.title, Qt.TextElideMode.ElideMiddle, first.width())
        painter.drawText(first, Qt.AlignmentFlag.AlignVCenter, elided)
        painter.setPen(theme.color("muted"))
        second = QRect(left, box.y() + 21, box.width(), 20)
        elided = metrics.elidedText(card.detail, Qt.TextElideMode.ElideRight, second.width())
        painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, elided)
