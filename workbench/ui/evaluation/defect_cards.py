"""Cards for missed defects, false alarms and whole images, with the labeled and the predicted outline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate

from workbench.core.evaluation.defect_crops import CropFrame
from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.core.evaluation.stored_predictions import LabeledDefect, StoredPrediction
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import evaluation_texts
from workbench.ui.widgets.item_views import ItemRole, ListModel, draw_background
from workbench.ui.widgets.theme import ThemeManager

IMAGE = QSize(160, 116)  # size of a crop, logical px
CELL = QSize(IMAGE.width() + 20, IMAGE.height() + 56)
LABEL_COLOR, PREDICTION_COLOR = QColor("#2f9bff"), QColor("#ff8c1a")  # distinguishable with color blindness


@dataclass(frozen=True)
class DefectCard:
    """One card. box: empty for the whole image. color: of its class, or "". missed: a labeled region."""

    prediction: StoredPrediction
    box: Rect
    title: str
    detail: str
    color: str = ""
    missed: bool = False


def defect_cards(
    evaluation: RunEvaluation,
    result: EvaluatedImages,
    label: int,
    predicted: int,
    describe: Callable[[LabeledDefect], str],
) -> list[DefectCard]:
    """Return cards of labeled regions, as of `EvaluatedImages.defects`."""
    return [
        DefectCard(prediction, defect.box, name, describe(defect), color, missed=True)
        for prediction, defect in result.defects(label, predicted)
        for name, color in [evaluation.classes[defect.class_id]]
    ]


def alarm_cards(
    evaluation: RunEvaluation, result: EvaluatedImages, class_id: int, describe: Callable[[float], str]
) -> list[DefectCard]:
    """Return cards of the false alarms. describe: text for the greatest probability."""
    return [
        DefectCard(prediction, alarm.box, name, describe(alarm.peak), color)
        for prediction, alarm in result.alarms(class_id)
        for name, color in [evaluation.classes[alarm.class_id]]
    ]


def image_cards(result: EvaluatedImages) -> list[DefectCard]:
    """Return cards of all images, worst first."""
    return [
        DefectCard(prediction, NOTHING, prediction.key.rpartition("/")[2], evaluation_texts.errors(image.counts))
        for prediction, image in result.worst_first()
    ]


class CardGalleryView(QListView):
    """List of cards. `region_chosen` carries an image key and the region to show."""

    region_chosen = Signal(str, object)  # key, Rect

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._pixmaps: dict[tuple[str, Rect], QPixmap] = {}
        self._requested: set[tuple[str, Rect]] = set()  # rendered or requested for the current operating point
        self._cards: ListModel[DefectCard] = ListModel(
            {
                Qt.ItemDataRole.DisplayRole: _card_text,
                Qt.ItemDataRole.AccessibleTextRole: _card_text,
                Qt.ItemDataRole.ToolTipRole: lambda card: f"{card.prediction.key}\n{card.title}: {card.detail}",
            },
            self,
        )
        self.setModel(self._cards)
        self.setItemDelegate(_CardDelegate(self, style))
        self.setObjectName("cards")
        self.setAccessibleName(self.tr("Errors"))
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
        return list(self._cards.items)

    def show_cards(self, cards: list[DefectCard]) -> None:
        """Show other cards. Crops of the previous operating point stay until the new ones are rendered."""
        self._evaluation.crops.cancel()
        self._requested.clear()
        shown = {(card.prediction.key, card.box) for card in cards}
        self._pixmaps = {region: pixmap for region, pixmap in self._pixmaps.items() if region in shown}
        position = self.verticalScrollBar().value()
        self._cards.set_items(cards)
        self.verticalScrollBar().setValue(position)

    def clear(self) -> None:
        """Remove all cards and crops."""
        self._pixmaps.clear()
        self.show_cards([])

    def pixmap(self, card: DefectCard) -> QPixmap | None:
        """Return the cached crop and request a new one if the crop is outdated."""
        region = (card.prediction.key, card.box)
        point, settings = self._evaluation.point, self._evaluation.settings
        if region not in self._requested and point is not None and settings is not None:
            self._requested.add(region)
            ratio = self.devicePixelRatioF()
            frame = CropFrame(
                card.box,
                round(IMAGE.width() * ratio),
                round(IMAGE.height() * ratio),
                LABEL_COLOR.getRgb()[:3],
                PREDICTION_COLOR.getRgb()[:3],
                max(1, round(1.2 * ratio)),
                card.missed,
            )
            self._evaluation.crops.request(
                card.prediction, point.on(settings), frame, lambda pixels: self._add_crop(region, pixels)
            )
        return self._pixmaps.get(region)

    def _add_crop(self, region: tuple[str, Rect], pixels: np.ndarray | None) -> None:
        if pixels is not None:
            height, width = pixels.shape[:2]
            data = np.ascontiguousarray(pixels)
            image = QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888)
            pixmap = QPixmap.fromImage(image.copy())
            pixmap.setDevicePixelRatio(self.devicePixelRatioF())
            self._pixmaps[region] = pixmap
            self.viewport().update()

    def _choose(self, index: QModelIndex) -> None:
        card = index.data(ItemRole)
        if card is not None:
            self.region_chosen.emit(card.prediction.key, card.box)

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)


def _card_text(card: DefectCard) -> str:
    return f"{card.title}, {card.prediction.key}, {card.detail}"


class _CardDelegate(QStyledItemDelegate):
    def __init__(self, gallery: CardGalleryView, style: ThemeManager) -> None:
        super().__init__(gallery)
        self._gallery, self._style = gallery, style

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        card: DefectCard = index.data(ItemRole)
        theme, rect = self._style.theme, QRectF(option.rect).adjusted(3, 3, -3, -3)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = "hover" if option.state & QStyle.StateFlag.State_MouseOver else "raised"
        line, width = ("accent", 1.5) if option.state & QStyle.StateFlag.State_Selected else ("border", 1)
        draw_background(painter, rect, theme, fill=fill, line=line, radius=7, width=width)
        box = QRect(int(rect.x()) + 7, int(rect.y()) + 7, IMAGE.width(), IMAGE.height())
        painter.fillRect(box, theme.color("canvas"))
        pixmap = self._gallery.pixmap(card)
        if pixmap is not None:
            size = pixmap.deviceIndependentSize().toSize()
            left, top = box.x() + (box.width() - size.width()) // 2, box.y() + (box.height() - size.height()) // 2
            painter.drawPixmap(left, top, pixmap)
        self._draw_text(painter, QRect(box.x(), box.bottom() + 3, box.width(), 38), card, option.fontMetrics)
        painter.restore()

    def _draw_text(self, painter: QPainter, box: QRect, card: DefectCard, metrics) -> None:
        theme, left = self._style.theme, box.x()
        first = QRect(box.x(), box.y(), box.width(), 20)
        if card.color:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(card.color))
            painter.drawEllipse(QRectF(left, first.center().y() - 4, 9, 9))
            first.setLeft(left + 15)
        painter.setPen(theme.color("text"))
        text = metrics.elidedText(card.title, Qt.TextElideMode.ElideMiddle, first.width())
        painter.drawText(first, Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(theme.color("muted"))
        second = QRect(left, box.y() + 18, box.width(), 20)
        text = metrics.elidedText(card.detail, Qt.TextElideMode.ElideRight, second.width())
        painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, text)
