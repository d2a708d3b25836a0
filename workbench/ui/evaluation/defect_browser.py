"""Missed defects, false alarms and all images of an evaluation, as cards or as a table.

A card has the labeled and the predicted outline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication, QModelIndex, QRect, QRectF, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.defect_crops import CropFrame
from workbench.core.evaluation.split_evaluation import EvaluatedImages, ImageConfusion
from workbench.core.evaluation.stored_predictions import ANY, LabeledDefect, StoredPrediction
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.evaluation.confusion_table import ConfusionTable, cell_text
from workbench.ui.evaluation.evaluation_tables import ImageTableView
from workbench.ui.text import evaluation_texts, formatting
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
        self.verticalScrollBar().setSingleStep(CELL.height() // 3)  # a turn of the wheel is one row
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


# --- browser --------------------------------------------------------------------------------------


_TABS = ("missed", "false", "classes", "cell", "images", "table")
_STORED_TAB = "evaluation/tab"  # key in QSettings


class DefectBrowser(QWidget):
    """Tabs over a gallery of cards and a table. `region_chosen` carries an image key and the region to show."""

    region_chosen = Signal(str, object)  # key, Rect

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._class_id: int | None = None
        self._confusion: ImageConfusion | None = None
        self._cell: tuple[bool, str] | None = None  # of the confusion of images
        self._shown: tuple[object, str] | None = None  # run and split whose first result was shown
        self.gallery, self.table = CardGalleryView(evaluation, style), ImageTableView()
        self.matrix = ConfusionTable(style)
        self._cards = QWidget()
        cards = QVBoxLayout(self._cards)
        cards.setContentsMargins(0, 0, 0, 0)
        cards.addWidget(self.matrix)
        cards.addWidget(self.gallery, 1)
        self.empty = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self._tabs = QButtonGroup(self)
        self.tabs: dict[str, QPushButton] = {}
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 12, 0)
        row.setSpacing(6)
        for name in _TABS:
            button = QPushButton(checkable=True, objectName="tab")
            self._tabs.addButton(button)
            self.tabs[name] = button
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(outline_legend())
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 4, 0)
        column.setSpacing(4)
        column.addLayout(row)
        self.pages = QStackedWidget()
        for widget in (self._cards, self.table, self.empty):
            self.pages.addWidget(widget)
        column.addWidget(self.pages, 1)
        stored = QSettings().value(_STORED_TAB, "missed")
        self.tabs[stored if stored in _TABS and stored != "cell" else "missed"].setChecked(True)
        self._tabs.buttonClicked.connect(self._tab_changed)
        self.gallery.region_chosen.connect(self.region_chosen)
        self.matrix.cell_chosen.connect(self.refresh)
        self.table.region_chosen.connect(self.region_chosen)
        self._show_counts(0, 0, 0)
        self.tabs["cell"].hide()

    @property
    def tab(self) -> str:
        return next(name for name, button in self.tabs.items() if button.isChecked())

    def show_class(self, class_id: int | None) -> None:
        """Restrict missed defects and false alarms to a class; None: all classes. Show the present result."""
        self._class_id = class_id
        self.refresh()

    def show_confusion(self, confusion: ImageConfusion) -> None:
        """Show the images of the chosen cell in another confusion."""
        self._confusion = confusion
        if self._cell is not None:
            self.refresh()

    def show_cell(self, defective: bool, verdict: str) -> None:
        """Show the images of a cell of the confusion of images, on a tab of their own."""
        self._cell = defective, verdict
        self.tabs["cell"].setChecked(True)
        self.refresh()
        self.gallery.setFocus()

    def refresh(self, *_: object) -> None:
        """Show the present result of the evaluation."""
        result = self._evaluation.result
        if result is None:
            return
        shown = ANY if self._class_id is None else self._class_id
        missed = defect_cards(self._evaluation, result, shown, ANY, self._missed_text)
        false = alarm_cards(self._evaluation, result, shown, self._probability_text)
        self._show_counts(len(missed), len(false), len(result.evaluations))
        self.tabs["classes"].setVisible(len(result.figures.classes) > 1)
        source = (self._evaluation.run, self._evaluation.split)
        if source != self._shown:
            self._shown = source
            self._cell = None
            if self.tab == "cell":
                self.tabs["missed"].setChecked(True)
            self._leave_empty_tab({"missed": len(missed), "false": len(false)})
        in_cell = self._cell_images(result)
        if self.tab == "table":
            self.table.show_result(self._evaluation, result)
            self.pages.setCurrentWidget(self.table)
            return
        cards = {"missed": missed, "false": false, "cell": in_cell}.get(self.tab)
        self.matrix.setVisible(self.tab == "classes")
        if self.tab == "classes":
            self.matrix.show_regions(result.figures, [name for name, _ in self._evaluation.classes.values()])
            cards = self._cell_cards(result)
        elif cards is None:
            cards = image_cards(result)
        self.gallery.show_cards(cards)
        self.empty.setText(
            self.tr("No missed defects at this operating point")
            if self.tab == "missed"
            else self.tr("No false alarms at this operating point")
            if self.tab == "false"
            else self.tr("No such images at this operating point")
        )
        self.pages.setCurrentWidget(self._cards if cards or self.tab == "classes" else self.empty)

    def _cell_images(self, result: EvaluatedImages) -> list[DefectCard]:
        """Return the images of the chosen cell of the confusion of images, worst first, and name their tab."""
        tab = self.tabs["cell"]
        tab.setVisible(self._cell is not None)
        if self._cell is None or self._confusion is None:
            return []
        keys = {result.predictions[number].key for number in self._confusion.cells.get(self._cell, ())}
        tab.setText(cell_text(*self._cell, len(keys)))
        return [card for card in image_cards(result) if card.prediction.key in keys]

    def _cell_cards(self, result: EvaluatedImages) -> list[DefectCard]:
        """Return the regions of the selected cell of the confusion matrix; [] without one."""
        if self.matrix.index is None:
            return []
        ids = [*result.figures.classes, ANY]
        label, predicted = (ids[number] for number in self.matrix.index)
        if label == ANY:
            return alarm_cards(self._evaluation, result, predicted, self._probability_text) if predicted != ANY else []
        detail = self.tr("predicted as {name}").format(name=self._evaluation.classes.get(predicted, [""])[0])
        describe = self._missed_text if predicted == ANY else lambda defect: detail
        return defect_cards(self._evaluation, result, label, predicted, describe)

    def _leave_empty_tab(self, counts: dict[str, int]) -> None:
        """Select the first tab with entries if a run or split is shown for the first time and its tab is empty."""
        if counts.get(self.tab, 1) == 0:
            self.tabs[next((name for name, count in counts.items() if count), "images")].setChecked(True)

    def _tab_changed(self) -> None:
        QSettings().setValue(_STORED_TAB, self.tab)
        self.refresh()

    # --- texts ------------------------------------------------------------------------------------

    def _show_counts(self, missed: int, false: int, images: int) -> None:
        for name, text, count in (
            ("missed", self.tr("Missed defects  {n}"), missed),
            ("false", self.tr("False alarms  {n}"), false),
            ("classes", self.tr("Classes"), 0),
            ("images", self.tr("Images  {n}"), images),
            ("cell", "", 0),
            ("table", self.tr("Table"), 0),
        ):
            self.tabs[name].setText(text.format(n=formatting.number(count)))

    def _missed_text(self, defect: LabeledDefect) -> str:
        """Return why a defect was missed: the threshold is not reached, or only in a small part of it."""
        point = self._evaluation.point
        if point is not None and defect.peak >= min(point.thresholds):
            return self.tr("Less than 10% covered")
        return self.tr("Max. probability {probability}").format(probability=formatting.number(defect.peak, 2))

    def _probability_text(self, peak: float) -> str:
        return self.tr("Probability {probability}").format(probability=formatting.number(peak, 2))


def outline_legend() -> QWidget:
    """Return a legend of the outlines of label and prediction."""
    legend = QWidget()
    row = QHBoxLayout(legend)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(_legend(LABEL_COLOR.name(), "━━", QCoreApplication.translate("DefectBrowser", "Label")))
    row.addWidget(_legend(PREDICTION_COLOR.name(), "╍╍", QCoreApplication.translate("DefectBrowser", "Prediction")))
    return legend


def _legend(color: str, line: str, text: str) -> QLabel:
    label = QLabel(f'<span style="color:{color}">{line}</span>&nbsp;{text}', objectName="muted")
    label.setContentsMargins(6, 0, 0, 0)
    return label
