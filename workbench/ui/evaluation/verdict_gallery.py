"""Gallery of images with labeled verdict, predicted verdict and probability."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate

from workbench.core.evaluation.verdict_evaluation import PredictedVerdict
from workbench.ui.images.thumbnail_provider import ThumbnailProvider
from workbench.ui.text import formatting
from workbench.ui.widgets.delegate_painting import draw_background, fit_rect, state_color
from workbench.ui.widgets.theme import ThemeManager

_EDGE = 104  # px, side of a thumbnail
CELL = QSize(_EDGE + 44, _EDGE + 46)
JudgedRole = Qt.ItemDataRole.UserRole


class _GalleryModel(QAbstractListModel):
    def __init__(self, gallery: VerdictGallery) -> None:
        super().__init__(gallery)
        self._gallery = gallery
        self.images: list[PredictedVerdict] = []
        self.names: tuple[str, ...] = ()

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.images)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole):
        if not index.isValid():
            return None
        one = self.images[index.row()]
        if role == JudgedRole:
            return one
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{one.key}: {self.says(one)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            shares = sorted(zip(one.probabilities, self.names), reverse=True)
            return "\n".join([one.key, *(f"{name}  {formatting.percent(share, 1)}" for share, name in shares)])
        return None

    def says(self, one: PredictedVerdict) -> str:
        return f"{self.names[one.said]} {formatting.percent(one.sure)}"

    def show(self, names: tuple[str, ...], images: list[PredictedVerdict]) -> None:
        self.beginResetModel()
        self.names, self.images = names, images
        self.endResetModel()


class _VerdictDelegate(QStyledItemDelegate):
    def __init__(self, gallery: VerdictGallery, style: ThemeManager) -> None:
        super().__init__(gallery)
        self._gallery, self._style = gallery, style

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        one: PredictedVerdict = index.data(JudgedRole)
        theme, rect, metrics = self._style.theme, option.rect.adjusted(3, 3, -3, -3), option.fontMetrics
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        line = "accent" if option.state & QStyle.StateFlag.State_Selected else ""
        draw_background(painter, rect, theme, fill=state_color(option, "raised"), line=line, width=1.5)
        box = QRect(rect.x() + 5, rect.y() + 5, rect.width() - 10, _EDGE - 6)
        pixmap = self._gallery.thumbnails.get(one.key)
        painter.fillRect(box, theme.color("canvas"))
        if pixmap is not None and not pixmap.isNull():
            painter.drawPixmap(fit_rect(pixmap.size(), box), pixmap)
        right = self._gallery.model_of.names[one.said] == one.truth
        lines = QRect(box.x() + 2, box.bottom() + 3, box.width() - 4, metrics.height())
        share = formatting.percent(one.sure)
        room = lines.width() - metrics.horizontalAdvance(share) - 6
        said = metrics.elidedText(self._gallery.model_of.names[one.said], Qt.TextElideMode.ElideRight, room)
        painter.setPen(theme.color("success" if right else "danger"))
        painter.drawText(lines, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, said)
        painter.setPen(theme.color("text"))
        painter.drawText(lines, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, share)
        painter.setPen(theme.color("muted"))
        name = one.key.rpartition("/")[2]
        text = name if right else self.tr("label: {name}").format(name=one.truth)
        text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, lines.width())
        painter.drawText(lines.translated(0, metrics.height() + 1), Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class VerdictGallery(QListView):
    """Thumbnails in the given order. `wanted` is emitted with the key of an image on a click or Enter."""

    wanted = Signal(str)

    def __init__(self, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__()
        self.thumbnails = thumbnails
        self.model_of = _GalleryModel(self)
        self.setModel(self.model_of)
        self.setItemDelegate(_VerdictDelegate(self, style))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setGridSize(CELL)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setMinimumHeight(CELL.height() + 4)
        self.setAccessibleName(self.tr("Pictures of the chosen cell"))
        self.clicked.connect(self._tell)
        self.activated.connect(self._tell)
        thumbnails.arrived.connect(lambda _: self.viewport().update())
        style.changed.connect(self.viewport().update)

    def show_images(self, names: tuple[str, ...], images: list[PredictedVerdict]) -> None:
        self.model_of.show(names, images)

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.model_of.images]

    def _tell(self, index: QModelIndex) -> None:
        one = index.data(JudgedRole)
        if one is not None:
            self.wanted.emit(one.key)
