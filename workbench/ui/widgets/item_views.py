"""Common parts of lists, tables and thumbnail views: drawing by their delegates, and a read-only model of any items
with one function per role.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionViewItem, QTableView

from workbench.ui.widgets.theme import Theme

ItemRole = Qt.ItemDataRole.UserRole  # the item itself
Item = TypeVar("Item")
_Index = QModelIndex | QPersistentModelIndex


def show_as_rows(table: QTableView, name: str, *, stretch: int | None = None) -> None:
    """Show a table as a list of read-only rows, which are selected as a whole.

    name: of the table, for screen readers. stretch: number of the column that gets the remaining width.
    """
    _show_plain(table, "rows", name)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setWordWrap(False)
    if stretch is not None:
        table.horizontalHeader().setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)


def show_as_metrics(table: QTableView, name: str, *, row_height: int) -> None:
    """Show a table as read-only numbers without a selection. name: as of `show_as_rows`. row_height: px."""
    _show_plain(table, "metrics", name)
    table.setSelectionMode(QTableView.SelectionMode.NoSelection)
    table.verticalHeader().setDefaultSectionSize(row_height)


def _show_plain(table: QTableView, style: str, name: str) -> None:
    table.setObjectName(style)
    table.setAccessibleName(name)
    table.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setCornerButtonEnabled(False)
    table.verticalHeader().hide()
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def state_color(option: QStyleOptionViewItem, idle: str = "") -> str:
    """Return the theme color of an item's background: selected, hovered or `idle`."""
    if option.state & QStyle.StateFlag.State_Selected:
        return "selection"
    return "hover" if option.state & QStyle.StateFlag.State_MouseOver else idle


def draw_background(
    painter: QPainter,
    rect: QRect | QRectF,
    theme: Theme,
    *,
    fill: str = "",
    line: str = "",
    radius: float = 6,
    width: float = 1,
) -> None:
    """Draw a rounded background. fill, line: names of theme colors; empty for none. width: of the line in px."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    if fill:
        painter.fillPath(path, theme.color(fill))
    if line:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color(line), width))
        painter.drawPath(path)


def draw_row_background(
    painter: QPainter, row: QRect, theme: Theme, *, fill: str = "", line: str = "", margin: int = 0
) -> None:
    """Draw the background of a list row. fill, line: as for `draw_background`. margin: left and right, in px."""
    draw_background(painter, row.adjusted(margin, 1, -margin, -1), theme, fill=fill, line=line, radius=5)


def draw_badge(painter: QPainter, rect: QRectF, text: str, theme: Theme) -> None:
    """Draw a short text in a rounded frame, such as a verdict."""
    painter.setPen(QPen(theme.color("border"), 1))
    painter.setBrush(theme.color("raised"))
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(theme.color("text"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def draw_class(painter: QPainter, rect: QRectF, color: str, sign: str) -> None:
    """Draw a square in the color of a class, with its key or first letter, as colors may be indistinguishable."""
    fill = QColor(color)
    painter.save()
    painter.setPen(QPen(QColor(0, 0, 0, 90), 1))
    painter.setBrush(fill)
    painter.drawRoundedRect(rect, 3, 3)
    font = painter.font()
    font.setPixelSize(max(8, round(rect.height()) - 4))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(readable_on(fill))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, sign)
    painter.restore()


def readable_on(fill: QColor) -> QColor:
    """Return black or white, whichever has the higher contrast to a color by WCAG 2.2; it is at least 4.5."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in fill.getRgbF()[:3]]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return QColor("black" if luminance > 0.179 else "white")


def fit_rect(size: QSize, box: QRect) -> QRect:
    """Return the largest rectangle with the aspect ratio of `size`, centered in `box`, at least 1 px wide and high."""
    target = QRect(0, 0, 1, 1)
    target.setSize(size.scaled(box.size(), Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1)))
    target.moveCenter(box.center())
    return target


class ListModel(QAbstractListModel, Generic[Item]):
    """List model of `items`. roles: function of an item for each role besides `ItemRole`."""

    def __init__(self, roles: Mapping[int, Callable[[Item], object]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: Sequence[Item] = ()
        self._roles = {ItemRole: lambda item: item, **roles}

    def set_items(self, items: Sequence[Item]) -> None:
        self.beginResetModel()
        self.items = items
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        function = self._roles.get(role)
        return function(self.items[index.row()]) if function is not None and index.isValid() else None
