"""Reliability diagram of verdicts: predicted probability against the share of correct verdicts."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.evaluation.verdict_evaluation import CalibrationBin
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_SIDES = (46, 8, 10, 36)  # px: left, top, right, bottom margin


class ReliabilityPlot(QWidget):
    """Plot with one point per bin, sized by its number of images, with the confidence interval of the share."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._bins: list[CalibrationBin] = []
        self._low = 0.0
        self._least = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(210, 150))
        self.setMaximumSize(QSize(560, 340))
        self.setAccessibleName(self.tr("Reliability: how probable a verdict was, and how often it was right"))
        style.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(280, 210)

    def show_bins(self, bins: list[CalibrationBin], verdicts: int) -> None:
        """Show bins. verdicts: number of verdicts.

        With two, the top probability is never below 0.5, so the axes start there.
        """
        self._bins = bins
        self._low = 0.5 if verdicts == 2 else 0.0
        self.update()

    def show_least(self, least: float) -> None:
        """Show the reject probability, below which no verdict is given."""
        self._least = least
        self.update()

    def paintEvent(self, event) -> None:
        theme = self._style.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, top, right, bottom = _SIDES
        box = QRectF(left, top, self.width() - left - right, self.height() - top - bottom)
        painter.fillRect(box, theme.color("base"))
        self._draw_axes(painter, box)
        if self._least > self._low:
            painter.fillRect(
                QRectF(box.topLeft(), QPointF(self._x(box, self._least), box.bottom())), theme.color("warning", 40)
            )
            x = self._x(box, self._least)
            painter.setPen(QPen(theme.color("warning"), 1.5))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        painter.setPen(QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(self._point(box, self._low, self._low), self._point(box, 1, 1))
        most = max((one.images for one in self._bins), default=1)
        for one in self._bins:
            middle = self._point(box, one.sure, one.share)
            painter.setPen(QPen(theme.color("curve_1", 150), 1.5))
            painter.drawLine(
                self._point(box, one.sure, max(self._low, one.interval[0])), self._point(box, one.sure, one.interval[1])
            )
            radius = 2.5 + 4.5 * (one.images / most) ** 0.5
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("curve_1"))
            painter.drawEllipse(middle, radius, radius)
        painter.end()

    def _draw_axes(self, painter: QPainter, box: QRectF) -> None:
        theme = self._style.theme
        for step in range(5):
            value = self._low + (1 - self._low) * step / 4
            x, y = self._x(box, value), self._y(box, value)
            painter.setPen(QPen(theme.color("grid"), 1))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            if step % 2 == 0:
                painter.setPen(theme.color("muted"))
                text = formatting.percent(value)
                end = Qt.AlignmentFlag.AlignRight if step == 4 else Qt.AlignmentFlag.AlignHCenter
                place = QRectF(x - 40, box.bottom() + 3, 40 if step == 4 else 80, 15)
                painter.drawText(place, end, text)
                beside = QRectF(0, y - 8, box.left() - 4, 16)
                painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(theme.color("muted"))
        under = QRectF(0, box.bottom() + 18, self.width(), 17)
        painter.drawText(under, Qt.AlignmentFlag.AlignCenter, self.tr("how sure it is → how often right ↑"))

    def _x(self, box: QRectF, value: float) -> float:
        return box.left() + box.width() * (value - self._low) / (1 - self._low)

    def _y(self, box: QRectF, value: float) -> float:
        return box.bottom() - box.height() * (max(value, self._low) - self._low) / (1 - self._low)

    def _point(self, box: QRectF, x: float, y: float) -> QPointF:
        return QPointF(self._x(box, x), self._y(box, y))
