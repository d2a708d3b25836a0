"""Gallery of images with labeled verdict, predicted verdict and probability, and the choice of what it shows."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QButtonGroup, QLabel, QListView, QPushButton, QStyle, QStyledItemDelegate, QWidget

from workbench.core.evaluation.split_evaluation import ImageConfusion
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.ui.evaluation.confusion_table import cell_text
from workbench.ui.images.image_model import ThumbnailProvider
from workbench.ui.text import formatting
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.item_views import ItemRole, ListModel, draw_background, fit_rect, state_color
from workbench.ui.widgets.theme import ThemeManager

_EDGE = 104  # px, side of a thumbnail
CELL = QSize(_EDGE + 44, _EDGE + 46)


class VerdictGallery(QListView):
    """Thumbnails in the given order. `image_chosen` is emitted with the key of an image on a click or Enter."""

    image_chosen = Signal(str)

    def __init__(self, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__()
        self.thumbnails = thumbnails
        self.names: tuple[str, ...] = ()  # verdicts of the model
        self._images: ListModel[PredictedVerdict] = ListModel(
            {
                Qt.ItemDataRole.DisplayRole: self._text,
                Qt.ItemDataRole.AccessibleTextRole: self._text,
                Qt.ItemDataRole.ToolTipRole: self._tip,
            },
            self,
        )
        self.setModel(self._images)
        self.setItemDelegate(_VerdictDelegate(self, style))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setGridSize(CELL)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setMinimumHeight(CELL.height() + 4)
        self.setAccessibleName(self.tr("Images"))
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        thumbnails.arrived.connect(lambda _: self.viewport().update())
        style.changed.connect(self.viewport().update)

    def show_images(self, names: tuple[str, ...], images: list[PredictedVerdict]) -> None:
        """Show images. names: verdicts of the model."""
        self.names = names
        self._images.set_items(images)

    @property
    def keys(self) -> list[str]:
        return [image.key for image in self._images.items]

    def _text(self, image: PredictedVerdict) -> str:
        verdict = self.names[image.predicted]
        text = f"{image.key}: {verdict} {formatting.percent(image.probability)}"
        if verdict == image.truth:
            return text
        return formatting.clauses(text, self.tr("Label: {name}").format(name=image.truth))

    def _tip(self, image: PredictedVerdict) -> str:
        shares = sorted(zip(image.probabilities, self.names), reverse=True)
        return "\n".join([image.key, *(f"{name}  {formatting.percent(share, 1)}" for share, name in shares)])

    def _choose(self, index: QModelIndex) -> None:
        image = index.data(ItemRole)
        if image is not None:
            self.image_chosen.emit(image.key)


class _VerdictDelegate(QStyledItemDelegate):
    def __init__(self, gallery: VerdictGallery, style: ThemeManager) -> None:
        super().__init__(gallery)
        self._gallery, self._style = gallery, style

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        image: PredictedVerdict = index.data(ItemRole)
        theme, rect, metrics = self._style.theme, option.rect.adjusted(3, 3, -3, -3), option.fontMetrics
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        line = "accent" if option.state & QStyle.StateFlag.State_Selected else ""
        draw_background(painter, rect, theme, fill=state_color(option, "raised"), line=line, width=1.5)
        box = QRect(rect.x() + 5, rect.y() + 5, rect.width() - 10, _EDGE - 6)
        pixmap = self._gallery.thumbnails.get(image.key)
        painter.fillRect(box, theme.color("canvas"))
        if pixmap is not None and not pixmap.isNull():
            painter.drawPixmap(fit_rect(pixmap.size(), box), pixmap)
        verdict = self._gallery.names[image.predicted]
        correct = verdict == image.truth
        line = QRect(box.x() + 2, box.bottom() + 3, box.width() - 4, metrics.height())
        share = formatting.percent(image.probability)
        width = line.width() - metrics.horizontalAdvance(share) - 6
        painter.setPen(theme.color("success" if correct else "danger"))
        text = metrics.elidedText(f"{'✓' if correct else '✗'} {verdict}", Qt.TextElideMode.ElideRight, width)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(theme.color("text"))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, share)
        painter.setPen(theme.color("muted"))
        text = image.key.rpartition("/")[2] if correct else self.tr("Label: {name}").format(name=image.truth)
        text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line.translated(0, metrics.height() + 1), Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class VerdictBrowser(QWidget):
    """Gallery of the errors, of the unsure images, or of one cell of the confusion matrix."""

    image_chosen = Signal(str)
    list_chosen = Signal()  # the user chose the errors or the unsure images

    def __init__(self, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation: VerdictEvaluation | None = None
        self._minimum = 0.0
        self._confusion: ImageConfusion | None = None
        self._cell: tuple[str, str] | tuple[bool, str] | None = None  # of the matrix, or of OK and NG
        self.heading = QLabel(objectName="heading")
        self.errors = QPushButton(self.tr("Errors"), objectName="left", checkable=True, checked=True)
        self.errors.setToolTip(self.tr("Wrong verdicts, highest probability first"))
        self.unsure = QPushButton(self.tr("Unsure"), objectName="right", checkable=True)
        self.unsure.setToolTip(self.tr("Images below the minimum probability, lowest probability first"))
        self._lists = QButtonGroup(self)
        self.gallery = VerdictGallery(thumbnails, style)
        for button in (self.errors, self.unsure):
            self._lists.addButton(button)
            button.clicked.connect(self._choose_list)
        row = in_row((self.heading, 1), self.errors, self.unsure, spacing=0)
        in_column(row, (self.gallery, 1), owner=self, margins=0, spacing=8)
        self.gallery.image_chosen.connect(self.image_chosen)

    def show_evaluation(self, evaluation: VerdictEvaluation | None, minimum: float) -> None:
        """Show images of an evaluation. minimum: reject probability."""
        self._evaluation, self._minimum = evaluation, minimum
        self._refresh()

    def set_minimum(self, minimum: float) -> None:
        self._minimum = minimum
        if self.unsure.isChecked():
            self._refresh()

    def show_confusion(self, confusion: ImageConfusion | None) -> None:
        """Show the images of the chosen cell in another confusion of OK and NG."""
        self._confusion = confusion
        if self._cell is not None:
            self._refresh()

    def show_cell(self, label: str | bool, predicted: str) -> None:
        """Show the images of a cell of the confusion matrix, or of the confusion of OK and NG."""
        self._cell = label, predicted
        self._lists.setExclusive(False)
        for button in (self.errors, self.unsure):
            button.setChecked(False)
        self._lists.setExclusive(True)
        self._refresh()

    def _choose_list(self) -> None:
        self._cell = None
        self.list_chosen.emit()
        self._refresh()

    def _refresh(self) -> None:
        evaluation = self._evaluation
        if evaluation is None:
            self.heading.clear()
            self.gallery.show_images((), [])
            return
        if self._cell is not None and isinstance(self._cell[0], bool):
            numbers = self._confusion.cells.get(self._cell, ()) if self._confusion is not None else ()
            images = sorted((evaluation.images[number] for number in numbers), key=lambda image: -image.probability)
            text = cell_text(*self._cell, len(images))
        elif self._cell is not None:
            truth, predicted = self._cell
            images = evaluation.cell(truth, predicted)
            text = self.tr("Labeled {label}, predicted {predicted}: {n}").format(
                label=truth, predicted=predicted, n=len(images)
            )
        elif self.unsure.isChecked():
            images = evaluation.unsure(self._minimum)
            text = self.tr("Below {minimum}, lowest probability first: {n}").format(
                minimum=formatting.percent(self._minimum, 1), n=len(images)
            )
        else:
            images = evaluation.mistakes()
            text = self.tr("Errors, highest probability first: {n}").format(n=len(images))
        self.heading.setText(text)
        self.gallery.show_images(evaluation.names, images)
