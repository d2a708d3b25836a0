"""Precision-recall curve, counted in defects, with the current operating point."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QToolTip

from workbench.core.evaluation.operating_point_sweep import PrecisionRecallCurve
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot

_REACH = 26  # px, distance within which a point of the curve is hit
_STEPS = {Qt.Key.Key_Right: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Left: 1, Qt.Key.Key_Up: 1}  # in threshold steps


class PrecisionRecallPlot(ThemedPlot):
    """Plot of the curve in percent. Clicks, drags and arrow keys move the operating point along the curve."""

    threshold_chosen = Signal(float)

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._curve: PrecisionRecallCurve | None = None
        self._steps: list[int] = []  # thresholds at which precision and recall are defined
        self._threshold: float | None = None
        self._dragged = False
        self.setMinimumSize(QSize(230, 150))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Precision-recall curve"))
        self.item.setRange(xRange=(-5, 105), yRange=(-8, 108), padding=0)
        self.item.layout.setContentsMargins(0, 4, 8, 6)
        for side, text in (("bottom", self.tr("Recall, %")), ("left", self.tr("Precision, %"))):
            axis = self.item.getAxis(side)
            axis.setTickSpacing(25, 25)
            axis.setLabel(text)
        self._line = pg.PlotCurveItem(antialias=True)
        self._dots = pg.ScatterPlotItem(size=6, antialias=True)
        self._point = pg.ScatterPlotItem(size=11, antialias=True)
        for item in (self._line, self._dots, self._point):
            self.addItem(item)
        style.changed.connect(self._restyle)
        self._restyle()

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def show_curve(self, curve: PrecisionRecallCurve, current: tuple[float, float], threshold: float) -> None:
        """Show a curve. current: recall and precision, NaN if undefined, of the operating point at `threshold`."""
        self._curve, self._threshold = curve, threshold
        self._steps = np.flatnonzero(np.isfinite(curve.precision) & np.isfinite(curve.recall)).tolist()
        self.show_hint("")
        x, y = 100 * curve.recall[self._steps], 100 * curve.precision[self._steps]
        self._line.setData(x, y)
        self._dots.setData(x, y)
        known = all(math.isfinite(value) for value in current)
        self._point.setData(*([[100 * value] for value in current] if known else ([], [])))

    def show_waiting(self, hint: str) -> None:
        """Remove the curve and show a hint."""
        self._curve, self._threshold, self._steps = None, None, []
        for item in (self._line, self._dots, self._point):
            item.setData([], [])
        self.show_hint(hint)

    def position_of(self, step: int) -> QPointF:
        """Return the position in the widget of a point of the curve."""
        return self.to_widget(100 * self._curve.recall[step], 100 * self._curve.precision[step])

    # --- user input -------------------------------------------------------------------------------

    def mousePressEvent(self, event) -> None:
        step = self._nearest(event.position())
        self._dragged = step is not None and event.button() == Qt.MouseButton.LeftButton
        if self._dragged:
            self._choose(step)
        event.accept()

    def mouseMoveEvent(self, event) -> None:
        if self._dragged:
            self._choose(self._nearest(event.position(), math.inf))
            return
        near = self._nearest(event.position()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if near else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event) -> None:
        self._dragged = False
        event.accept()

    def wheelEvent(self, event) -> None:
        event.ignore()

    def keyPressEvent(self, event) -> None:
        offset = _STEPS.get(Qt.Key(event.key()))
        if offset is None or not self._steps:
            event.ignore()
            return
        index = int(np.argmin(np.abs(self._curve.thresholds[self._steps] - self._threshold))) + offset
        self._choose(self._steps[min(max(index, 0), len(self._steps) - 1)])

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip:
            return super().viewportEvent(event)
        step = self._nearest(QPointF(event.pos()))
        QToolTip.showText(event.globalPos(), self.tip(step) if step is not None else "", self)
        return True

    def tip(self, step: int) -> str:
        """Return the values at a point of the curve."""
        curve = self._curve
        text = self.tr("Threshold {threshold}: recall {recall}, precision {precision}, {false} false alarms per image")
        return text.format(
            threshold=formatting.number(curve.thresholds[step], 2),
            recall=formatting.percent(curve.recall[step]),
            precision=formatting.percent(curve.precision[step]),
            false=formatting.number(curve.false[step], 2),
        )

    def _choose(self, step: int | None) -> None:
        if step is None or self._curve is None:
            return
        threshold = float(self._curve.thresholds[step])
        if threshold != self._threshold:
            self._threshold = threshold
            self.threshold_chosen.emit(threshold)

    def _nearest(self, position: QPointF, reach: float = _REACH) -> int | None:
        """Return the nearest point of the curve within `reach` pixels."""
        distances = [
            (math.hypot(*(self.position_of(step) - position).toTuple()), -index, step)
            for index, step in enumerate(self._steps)
        ]
        distance, _, step = min(distances, default=(math.inf, 0, 0))
        return step if distance < reach else None

    # --- colors -----------------------------------------------------------------------------------

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        self._restyle()

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        self._restyle()

    def _restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.showGrid(x=True, y=True, alpha=0.25)
        self._line.setPen(pg.mkPen(theme.color("curve_1"), width=1.6))
        self._dots.setPen(pg.mkPen(theme.color("curve_1"), width=1.4))
        self._dots.setBrush(theme.color("panel"))
        self._point.setBrush(theme.color("curve_2"))
        self._point.setPen(
            pg.mkPen(theme.color("text" if self.hasFocus() else "curve_2", 255 if self.hasFocus() else 80), width=4)
        )
