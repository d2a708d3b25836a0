"""List row of an image: thumbnail, name, status, painted classes, verdict; in a queue also the reason."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.core.project.image_row import ImageRow
from workbench.session.session import Session
from workbench.ui.images.image_model import EDGE, ReasonRole, RowRole, ThumbnailProvider
from workbench.ui.widgets.item_views import (
    draw_background,
    draw_badge,
    draw_class,
    draw_row_background,
    fit_rect,
    state_color,
)
from workbench.ui.widgets.theme import ThemeManager

HEIGHT, WITH_REASON = 54, 70  # px, at least
_THUMB = 42  # px
_WRAPPED = QTextOption()
_WRAPPED.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)


class ImageDelegate(QStyledItemDelegate):
    """Delegate that draws a row. All rows have the same height, so that long lists need no measuring."""

    def __init__(self, session: Session, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__()
        self._session, self._thumbnails, self._style = session, thumbnails, style

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        line = option.fontMetrics.height()
        if index.data(ReasonRole):
            return QSize(160, max(WITH_REASON, 3 * line + 20))
        return QSize(160, max(HEIGHT, 2 * line + 20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index) -> None:
        row: ImageRow = index.data(RowRole)
        rect: QRect = option.rect
        theme = self._style.theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus
        line = "accent" if option.state & current == current else ""
        draw_row_background(painter, rect, theme, fill=state_color(option), line=line, margin=4)
        top = rect.y() + (rect.height() - _THUMB) // 2
        self._draw_thumbnail(painter, QRect(rect.x() + 10, top, _THUMB, _THUMB), row)
        self._draw_texts(painter, rect.adjusted(10 + _THUMB + 10, 0, -12, 0), row, option, index.data(ReasonRole) or "")
        painter.restore()

    def _draw_thumbnail(self, painter: QPainter, box: QRect, row: ImageRow) -> None:
        theme = self._style.theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("canvas"))
        painter.drawRoundedRect(box, 4, 4)
        pixmap = thumbnail_or_icon(painter, box, row, self._thumbnails, self._style, icon_size=20)
        if pixmap is None:
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        clip = QPainterPath()
        clip.addRoundedRect(QRectF(box), 4, 4)
        painter.save()
        painter.setClipPath(clip)
        painter.drawPixmap(fit_rect(pixmap.size(), box), pixmap)
        painter.restore()

    def _draw_texts(
        self, painter: QPainter, box: QRect, row: ImageRow, option: QStyleOptionViewItem, reason: str
    ) -> None:
        theme, metrics = self._style.theme, option.fontMetrics
        name = row.key.rpartition("/")[2]
        top = QRect(box.x(), box.y() + 8, box.width() - 20, metrics.height())
        painter.setPen(theme.color("text"))
        painter.drawText(
            top, Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, top.width())
        )
        draw_status(painter, QPointF(box.right() - 7, top.center().y() + 1), row, self._style)
        below = QRect(box.x(), top.bottom() + 4, box.width(), metrics.height())
        if reason:
            painter.setPen(theme.color("muted"))
            for n, line in enumerate(two_lines(reason, option.font, box.width())):
                painter.drawText(below.x(), below.y() - 1 + metrics.ascent() + n * metrics.lineSpacing(), line)
            return
        right = self._draw_tags(painter, below, row, option)
        if row.broken:
            painter.setPen(theme.color("danger"))
            text = self.tr("Unreadable")
        else:
            painter.setPen(theme.color("muted"))
            text = shown_folder(row.key) or (f"{row.width} × {row.height}" if row.width else "")
        width = max(0, right - below.x() - 6)
        painter.drawText(
            below.x(), below.y() + metrics.ascent(), metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)
        )

    def _draw_tags(self, painter: QPainter, box: QRect, row: ImageRow, option: QStyleOptionViewItem) -> int:
        """Draw verdict and classes from the right. Return their left end."""
        theme, metrics, x = self._style.theme, option.fontMetrics, box.right() + 1
        if row.verdict:
            text = metrics.elidedText(row.verdict, Qt.TextElideMode.ElideRight, 70)
            width = metrics.horizontalAdvance(text) + 10
            draw_badge(painter, QRectF(x - width, box.y() - 1, width, box.height() + 2), text, theme)
            x -= width + 6
        project = self._session.project
        classes = {info.id: info for info in project.classes} if project else {}
        painted = [id for id, _ in row.counts if id in classes]
        for id in painted[:6][::-1]:
            info, size = classes[id], metrics.height() - 2
            draw_class(painter, QRectF(x - size, box.y() + 1, size, size), info.color, info.key or info.name[:1])
            x -= size + 3
        return x


def two_lines(text: str, font: QFont, width: int) -> list[str]:
    """Return the first reason, wrapped if too wide, and the second one if a line is left."""
    first, _, second = text.partition("\n")
    layout = QTextLayout(first, font)
    layout.setTextOption(_WRAPPED)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(width)
    cut = line.textLength()
    layout.endLayout()
    rest = first[cut:].strip() or second
    return [first[:cut].rstrip(), QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, width)]


def thumbnail_or_icon(
    painter: QPainter, box: QRect, row: ImageRow, thumbnails: ThumbnailProvider, style: ThemeManager, *, icon_size: int
) -> QPixmap | None:
    """Return the thumbnail of an image. If there is none, draw an icon in its place and return None."""
    pixmap = None if row.broken and not row.width else thumbnails.get(row.key)
    if pixmap is not None and not pixmap.isNull():
        return pixmap
    icon = style.icon("warning", "danger") if row.broken else style.icon("image", "disabled")
    place = QRect(0, 0, icon_size, icon_size)
    place.moveCenter(box.center())
    icon.paint(painter, place)
    return None


def draw_status(painter: QPainter, center: QPointF, row: ImageRow, style: ThemeManager) -> None:
    """Draw the status as three shapes, not only colors: empty ring, half disk, disk with a tick."""
    if row.broken:
        style.icon("warning", "danger").paint(painter, QRectF(center.x() - 8, center.y() - 8, 16, 16).toRect())
        return
    theme = style.theme
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if row.status == "done":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("success"))
        painter.drawEllipse(center, 6, 6)
        painter.setPen(QPen(theme.color("panel"), 1.6))
        painter.drawPolyline([center + QPointF(-2.8, 0.2), center + QPointF(-0.8, 2.3), center + QPointF(2.9, -2.2)])
    elif row.status == "started":
        painter.setPen(QPen(theme.color("warning"), 1.4))
        painter.drawEllipse(center, 5.3, 5.3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("warning"))
        painter.drawPie(QRectF(center.x() - 5, center.y() - 5, 10, 10), 90 * 16, 180 * 16)
    else:
        painter.setPen(QPen(theme.color("disabled"), 1.4))
        painter.drawEllipse(center, 5.3, 5.3)


CELL = QSize(EDGE + 16, EDGE + 40)
_LABEL_OPACITY = 170  # 0..255


class ThumbnailDelegate(QStyledItemDelegate):
    """Delegate of the thumbnail view. All cells have the same size, so that long views need no measuring."""

    def __init__(self, session: Session, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__()
        self._session, self._thumbnails, self._style = session, thumbnails, style
        self._colors: tuple[list, list[int]] = ([], [])

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        row: ImageRow = index.data(RowRole)
        theme, rect = self._style.theme, option.rect.adjusted(3, 3, -3, -3)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = "accent" if option.state & QStyle.StateFlag.State_Selected else ""
        draw_background(painter, rect, theme, fill=state_color(option, "panel"), line=line, width=1.5)
        box = QRect(rect.x() + 5, rect.y() + 5, rect.width() - 10, rect.height() - 36)
        self._draw_image(painter, box, row)
        if row.verdict:
            self._draw_verdict(painter, box, row.verdict, option.fontMetrics)
        line = QRect(rect.x() + 8, box.bottom() + 4, rect.width() - 34, 24)
        painter.setPen(theme.color("text"))
        width = line.width() - (34 if row.score is not None else 0)
        name = option.fontMetrics.elidedText(row.key.rpartition("/")[2], Qt.TextElideMode.ElideMiddle, width)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, name)
        if row.score is not None:
            painter.setPen(theme.color("muted"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{row.score:.2f}")
        draw_status(painter, QPointF(rect.right() - 13, line.center().y() + 1), row, self._style)
        painter.restore()

    def _draw_image(self, painter: QPainter, box: QRect, row: ImageRow) -> None:
        theme = self._style.theme
        painter.fillRect(box, theme.color("canvas"))
        pixmap = thumbnail_or_icon(painter, box, row, self._thumbnails, self._style, icon_size=32)
        if pixmap is None:
            return
        target = fit_rect(pixmap.size(), box)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(target, pixmap)
        labels = self._thumbnails.labels(row)
        if labels is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            labels.setColorTable(self._table())
            painter.drawImage(target, labels)

    def _table(self) -> list[int]:
        """Return the ARGB of each id; hidden classes are transparent."""
        project, hidden = self._session.project, self._session.classes.hidden
        visible = [(info.id, info.color) for info in project.classes if info.id not in hidden] if project else []
        if self._colors[0] != visible:
            table = [0] * 256
            for id, name in visible:
                color = QColor(name)
                color.setAlpha(_LABEL_OPACITY)
                table[id] = color.rgba()
            self._colors = (visible, table)
        return self._colors[1]

    def _draw_verdict(self, painter: QPainter, box: QRect, verdict: str, metrics) -> None:
        text = metrics.elidedText(verdict, Qt.TextElideMode.ElideRight, box.width() - 24)
        tag = QRectF(box.x() + 5, box.y() + 5, metrics.horizontalAdvance(text) + 12, metrics.height() + 4)
        draw_badge(painter, tag, text, self._style.theme)


def shown_folder(key: str) -> str:
    """Return the folder of an image, without the mark of a source folder in its key."""
    return key.rpartition("/")[0].removeprefix("@")
