"""Precision-recall curve, counted in defects, with the present operating point."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from workbench.core.evaluation.operating_point_sweep import PrecisionRecallCurve
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_NEAR = 26  # px, distance within which a point of the curve is hit


class PrecisionRecallPlot(QWidget):
    """Plot of the curve. `chosen` carries the threshold of the clicked point."""

    chosen = Signal(float)

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._curve: PrecisionRecallCurve | None = None
        self._now: tuple[float, float] | None = None
        self._hint = ""
        self.setMinimumSize(QSize(230, 150))
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Precision over recall"))
        style.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def show_curve(self, curve: PrecisionRecallCurve | None, now: tuple[float, float] | None) -> None:
        """Show a curve. now: recall and precision of the present operating point."""
        self._curve, self._now = curve, now
        self.update()

    def wait(self, hint: str) -> None:
        self._curve, self._hint = None, hint
        self.update()

    # --- mouse ------------------------------------------------------------------------------------

    def mousePressEvent(self, event) -> None:
        step = self._nearest(event.position())
        if step is not None and self._curve is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(float(self._curve.thresholds[step]))

    def mouseMoveEvent(self, event) -> None:
        near = self._nearest(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if near else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            step = self._nearest(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), self._tip(step) if step is not None else "", self)
            return True
        return super().event(event)

    def _tip(self, step: int) -> str:
        curve = self._curve
        assert curve is not None
        text = self.tr("Threshold {threshold}: recall {recall}, precision {precision}, {false} false alarms per image")
        return text.format(
            threshold=formatting.number(curve.thresholds[step], 2),
            recall=formatting.percent(curve.recall[step]),
            precision=formatting.percent(curve.precision[step]),
            false=formatting.number(curve.false[step], 2),
        )

    def _nearest(self, position: QPointF) -> int | None:
        if self._curve is None:
            return None
        best, found = _NEAR, None
        for step in np.flatnonzero(np.isfinite(self._curve.precision) & np.isfinite(self._curve.recall)).tolist():
            at = self._at(self._curve.recall[step], self._curve.precision[step])
            away = math.hypot(at.x() - position.x(), at.y() - position.y())
            if away < best:
                best, found = away, step
        return found

    # --- drawing ----------------------------------------------------------------------------------

    def _box(self) -> QRectF:
        return QRectF(44, 10, max(10, self.width() - 58), max(10, self.height() - 48))

    def _at(self, recall: float, precision: float) -> QPointF:
        box = self._box()
        return QPointF(box.left() + recall * box.width(), box.bottom() - precision * box.height())

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_axes(painter)
            if self._curve is None:
                painter.setPen(self._style.theme.color("muted"))
                painter.drawText(self._box(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._hint)
            else:
                self._draw_curve(painter, self._curve)
        finally:
            painter.end()

    def _draw_axes(self, painter: QPainter) -> None:
        theme, box = self._style.theme, self._box()
        painter.setFont(self.font())
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            painter.setPen(QPen(theme.color("grid"), 1))
            at = self._at(share, share)
            painter.drawLine(QPointF(box.left(), at.y()), QPointF(box.right(), at.y()))
            painter.drawLine(QPointF(at.x(), box.top()), QPointF(at.x(), box.bottom()))
            painter.setPen(theme.color("muted"))
            text = formatting.number(100 * share)
            painter.drawText(QRectF(0, at.y() - 9, box.left() - 6, 18), _RIGHT, text)
            painter.drawText(QRectF(at.x() - 20, box.bottom() + 3, 40, 16), Qt.AlignmentFlag.AlignCenter, text)
        below = QRectF(box.left(), box.bottom() + 19, box.width(), 18)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.tr("Recall, %"))
        painter.save()
        painter.translate(9, box.center().y())
        painter.rotate(-90)
        painter.drawText(
            QRectF(-box.height() / 2, -9, box.height(), 18), Qt.AlignmentFlag.AlignCenter, self.tr("Precision, %")
        )
        painter.restore()

    def _draw_curve(self, painter: QPainter, curve: PrecisionRecallCurve) -> None:
        theme = self._style.theme
        known = np.flatnonzero(np.isfinite(curve.precision) & np.isfinite(curve.recall)).tolist()
        line = QPolygonF([self._at(curve.recall[step], curve.precision[step]) for step in known])
        painter.setPen(QPen(theme.color("curve_1"), 1.6))
        painter.drawPolyline(line)
        painter.setBrush(theme.color("panel"))
        for step in range(line.count()):
            painter.drawEllipse(line.at(step), 2.6, 2.6)
        if self._now is not None and all(math.isfinite(value) for value in self._now):
            halo = QColor(theme.color("curve_2"))
            halo.setAlpha(70)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(halo)
            painter.drawEllipse(self._at(*self._now), 9, 9)
            painter.setBrush(theme.color("curve_2"))
            painter.drawEllipse(self._at(*self._now), 4.5, 4.5)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
