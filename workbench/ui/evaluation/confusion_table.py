"""Confusion matrix of verdicts with selectable cells, and the recall of each verdict."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.core.evaluation.confidence import digits_supported
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_ROW, _HEAD = 32, 26  # px
_LEAST, _MOST = 46, 92  # px, width of a cell
_NAMES = 150  # px, greatest width of the column of names
_FOUND = 132


class ConfusionTable(QWidget):
    """Confusion matrix: one row per labeled verdict, one column per predicted one.

    Selected by mouse, or by arrow keys.
    """

    chosen = Signal(str, str)  # labeled, predicted

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._names: tuple[str, ...] = ()
        self._rows: list[list[int]] = []
        self._recall: list[dict[str, Any]] = []
        self._at: tuple[int, int] | None = None  # row and column of the selected cell
        self._hovered: tuple[int, int] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Confusion matrix"))
        style.changed.connect(self.update)

    @property
    def at(self) -> tuple[str, str] | None:
        return (self._names[self._at[0]], self._names[self._at[1]]) if self._at is not None else None

    def show_report(self, report: dict[str, Any]) -> None:
        """Show a report as returned by `VerdictReview.report`."""
        names = tuple(report["confusion"]["names"])
        if names != self._names:
            self._at = None
        self._names, self._rows = names, report["confusion"]["rows"]
        self._recall = [report["per_class"][name] for name in names]
        self.updateGeometry()
        self.update()

    def choose(self, truth: str | None, said: str = "") -> None:
        """Select a cell, or none, without emitting `chosen`."""
        known = truth in self._names and said in self._names
        self._at = (self._names.index(truth), self._names.index(said)) if known else None
        self.update()

    def cell_rect(self, truth: str, said: str) -> QRect:
        return self._rect(self._names.index(truth), self._names.index(said))

    # --- geometry --------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        count = max(2, len(self._names))
        return QSize(self._left() + count * 60 + _FOUND, 2 * _HEAD + count * _ROW + 2)

    def minimumSizeHint(self) -> QSize:
        count = max(2, len(self._names))
        return QSize(self._left() + count * _LEAST + _FOUND, 2 * _HEAD + count * _ROW + 2)

    @property
    def widest(self) -> int:
        """Return the width beyond which space would stay empty."""
        return self._left() + max(2, len(self._names)) * _MOST + _FOUND

    def _left(self) -> int:
        metrics = QFontMetrics(self.font())
        return min(_NAMES, max((metrics.horizontalAdvance(name) for name in self._names), default=60)) + 14

    def _cell(self) -> int:
        return min(_MOST, max(_LEAST, (self.width() - self._left() - _FOUND) // max(1, len(self._names))))

    def _rect(self, row: int, column: int) -> QRect:
        wide = self._cell()
        return QRect(self._left() + column * wide, 2 * _HEAD + row * _ROW, wide, _ROW)

    def _cell_at(self, point: QPoint) -> tuple[int, int] | None:
        column, row = (point.x() - self._left()) // self._cell(), (point.y() - 2 * _HEAD) // _ROW
        count = len(self._names)
        return (row, column) if 0 <= row < count and 0 <= column < count else None

    # --- mouse and keys --------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._cell_at(event.position().toPoint())
        if at is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._cell_at(event.position().toPoint())
        if at != self._hovered:
            self._hovered = at
            self.setCursor(Qt.CursorShape.PointingHandCursor if at else Qt.CursorShape.ArrowCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, count = Qt.Key(event.key()), len(self._names)
        steps = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        if key not in steps or not count:
            super().keyPressEvent(event)
            return
        row, column = self._at or (0, 0)
        down, across = steps[key]
        moved = (min(max(row + down, 0), count - 1), min(max(column + across, 0), count - 1))
        self._choose(moved if self._at is not None else (0, 0))

    def event(self, event) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            at = self._cell_at(event.pos())
            if at is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self._tip(*at), self)
            return True
        return super().event(event)

    def _tip(self, row: int, column: int) -> str:
        n, label, said = self._rows[row][column], self._names[row], self._names[column]
        if row == column:
            return self.tr("{n} pictures of {label} are judged right").format(n=n, label=label)
        return self.tr("{n} pictures are labelled {label} and judged {said}").format(n=n, label=label, said=said)

    def _choose(self, at: tuple[int, int]) -> None:
        self._at = at
        self.update()
        self.chosen.emit(self._names[at[0]], self._names[at[1]])

    # --- drawing ---------------------------------------------------------------------------------

    def paintEvent(self, event) -> None:
        if not self._names:
            return
        theme, metrics = self._style.theme, self.fontMetrics()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, wide, count = self._left(), self._cell(), len(self._names)
        end = left + count * wide
        painter.setPen(theme.color("muted"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRect(0, _HEAD, left - 10, _HEAD), middle, self.tr("Labelled"))
        painter.drawText(QRect(left, 0, max(count * wide, 80), _HEAD), middle, self.tr("The model says"))
        painter.drawText(QRect(end + 14, _HEAD, _FOUND - 14, _HEAD), middle, self.tr("Right"))
        for number, name in enumerate(self._names):
            over = QRect(left + number * wide, _HEAD, wide, _HEAD)
            painter.setPen(theme.color("text"))
            short = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide - 6)
            painter.drawText(over, Qt.AlignmentFlag.AlignCenter, short)
            beside = QRect(0, 2 * _HEAD + number * _ROW, left - 10, _ROW)
            short = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, beside.width())
            painter.drawText(beside, middle, short)
            self._draw_row(painter, number)
            self._draw_recall(painter, QRect(end + 14, beside.y(), _FOUND - 14, _ROW), self._recall[number])
        painter.end()

    def _draw_row(self, painter: QPainter, row: int) -> None:
        theme, counts = self._style.theme, self._rows[row]
        whole = max(1, sum(counts))
        for column, count in enumerate(counts):
            rect = QRectF(self._rect(row, column)).adjusted(1.5, 1.5, -1.5, -1.5)
            # Errors are rare and must be visible, so their color grows with the square root of the share.
            share = count / whole if row == column else (count / whole) ** 0.5
            role = "success" if row == column else "danger"
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("base"))
            painter.drawRoundedRect(rect, 4, 4)
            if count:
                painter.setBrush(theme.color(role, round(40 + 120 * share)))
                painter.drawRoundedRect(rect, 4, 4)
            if (row, column) in (self._at, self._hovered):
                chosen = (row, column) == self._at
                painter.setPen(QPen(theme.color("accent" if chosen else "muted"), 2 if chosen else 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(rect, 4, 4)
            painter.setPen(theme.color("text" if count else "disabled"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, str(count) if count else "·")

    def _draw_recall(self, painter: QPainter, rect: QRect, scores: dict[str, Any]) -> None:
        theme = self._style.theme
        painter.setPen(theme.color("muted"))
        if scores["recall"] is None:
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self.tr("none held out"))
            return
        low, high = scores["recall_interval"]
        between = interval(low, high)
        if digits_supported(scores["pictures"]):
            painter.setPen(theme.color("text"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, formatting.percent(scores["recall"]))
            painter.setPen(theme.color("muted"))
            rect = rect.adjusted(48, 0, 0, 0)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, between)


def interval(low: float, high: float, digits: int = 0) -> str:
    """Return an interval as text, such as "94–99 %"."""
    return f"{formatting.number(100 * low, digits)}–{formatting.percent(high, digits)}"
