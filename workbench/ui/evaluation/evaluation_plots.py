"""Curves of an evaluation: precision against recall, ROC, and reliability diagram of verdicts: predicted probability
against the share of correct ones. pyqtgraph is loaded after the start.
"""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolTip

from workbench.core.evaluation.intervals import limits
from workbench.core.evaluation.operating_point import PrecisionRecallCurve
from workbench.core.evaluation.verdict_evaluation import CalibrationBin
from workbench.core.evaluation.verdict_rules import RocCurve
from workbench.core.text_patterns import fill
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot

_REACH = 26  # px, distance within which a point of the curve is hit
_STEPS = {Qt.Key.Key_Right: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Left: 1, Qt.Key.Key_Up: 1}  # in threshold steps


class _PercentPlot(ThemedPlot):
    """Plot with both axes in percent: a line, further items and the operating point, in this order."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._line = pg.PlotCurveItem(antialias=True)
        self._point = pg.ScatterPlotItem(size=11, antialias=True)

    def _set_up(self, name: str, labels: tuple[str, str], below: pg.GraphicsObject) -> None:
        """Name the plot and its axes. below: item between the line and the point."""
        self.setAccessibleName(name)
        for side, text in zip(("bottom", "left"), labels):
            axis = self.item.getAxis(side)
            axis.setTickSpacing(25, 25)
            axis.setLabel(text)
        for item in (self._line, below, self._point):
            self.addItem(item)
        self._style.changed.connect(self.restyle)
        self.restyle()

    def _show_point(self, shares: tuple[float, float] | None) -> None:
        self._point.setData(*([[100 * value] for value in shares] if shares is not None else ([], [])))

    def wheelEvent(self, event) -> None:
        event.ignore()  # the panel scrolls

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.fit_percentages()
        self.item.showGrid(x=True, y=True, alpha=0.25)
        self._line.setPen(self.pen(theme.color("curve_1"), width=1.6))
        self._point.setBrush(theme.color("curve_2"))
        self._point.setPen(self.pen(theme.color("curve_2", 80), width=4))


class PrecisionRecallPlot(_PercentPlot):
    """Plot of the curve in percent. Clicks, drags and arrow keys move the operating point along the curve."""

    threshold_chosen = Signal(float)

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(style)
        ids, text = ("recall", "region_precision"), self.tr("{metric}, %")
        recall, precision = (text.format(metric=evaluation_texts.column(id)).replace("\n", "<br>") for id in ids)
        self._dots = pg.ScatterPlotItem(size=6, antialias=True)
        self._set_up(self.tr("Precision-recall curve"), (recall, precision), self._dots)
        self._dragged = False
        self._curve: PrecisionRecallCurve | None = None
        self._steps: list[int] = []  # thresholds at which precision and recall are defined
        self._threshold: float | None = None
        self.setMinimumSize(QSize(230, 150))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.item.setRange(xRange=(-5, 105), yRange=(-8, 108), padding=0)

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def show_curve(self, curve: PrecisionRecallCurve, current: tuple[float, float], threshold: float) -> None:
        """Show a curve. current: recall and precision, NaN if undefined, of the operating point at `threshold`."""
        self._curve, self._threshold = curve, threshold
        self._steps = np.flatnonzero(np.isfinite(curve.precision) & np.isfinite(curve.recall)).tolist()
        self.show_hint("")
        x, y = 100 * curve.recall[self._steps], 100 * curve.precision[self._steps]
        self._dots.setData(x, y)
        known = all(math.isfinite(value) for value in current)
        if known:  # the line passes through the operating point, which may lie between two thresholds of the curve
            place = int(np.searchsorted(curve.thresholds[self._steps], threshold))
            x, y = np.insert(x, place, 100 * current[0]), np.insert(y, place, 100 * current[1])
        self._line.setData(x, y)
        self._show_point(current if known else None)

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
        text = self.tr(
            "Threshold {threshold}: recall {recall}, precision {precision}, {false} false "
            "{false:alarm|alarms} per image"
        )
        return fill(
            text,
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
        self.restyle()

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        self.restyle()

    def restyle(self) -> None:
        super().restyle()
        theme = self._style.theme
        self._dots.setPen(self.pen(theme.color("curve_1"), width=1.5))
        self._dots.setBrush(theme.color("panel"))
        if self.hasFocus():
            self._point.setPen(self.pen(theme.color("text"), width=4))


class RocPlot(_PercentPlot):
    """Plot of rejected defective images over rejected good images, in percent."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(style)
        labels = self.tr("Good rejected, %"), self.tr("Defective rejected, %")
        self._chance = pg.PlotCurveItem([0, 100], [0, 100], antialias=True)
        self._set_up(self.tr("ROC curve"), labels, self._chance)
        self.setFixedHeight(190)
        self.item.setRange(xRange=(-4, 104), yRange=(-6, 106), padding=0)

    def sizeHint(self) -> QSize:
        return QSize(270, 190)

    def show_curve(self, curve: RocCurve | None, current: tuple[float, float] | None) -> None:
        """Show a curve; None: a hint instead. current: share of rejected good and defective images by the rule."""
        self.show_hint("" if curve is not None else self.tr("The curve needs good and defective images."))
        for item in (self._chance, self._line, self._point):
            item.setVisible(curve is not None)
        if curve is not None:
            self._line.setData(100 * np.array([0.0, *curve.false]), 100 * np.array([0.0, *curve.recall]))
            self._show_point(current)

    def restyle(self) -> None:
        super().restyle()
        self._chance.setPen(self.pen(self._style.theme.color("muted"), style=Qt.PenStyle.DashLine))


# --- reliability of verdicts ----------------------------------------------------------------------


class ReliabilityPlot(ThemedPlot):
    """Plot in percent with one point per bin, sized by its number of images, and the confidence interval."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._low = 0.0  # start of both axes
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(210, 150))
        self.setMaximumSize(QSize(560, 340))
        self.setAccessibleName(self.tr("Reliability diagram: predicted probability and share of correct verdicts"))
        for side, text in (("bottom", self.tr("Probability, %")), ("left", self.tr("Correct, %"))):
            self.item.getAxis(side).setLabel(text)
        self._diagonal = pg.PlotCurveItem([0, 100], [0, 100], antialias=True)
        self._rejected = pg.LinearRegionItem(movable=False)
        self._intervals = pg.ErrorBarItem(x=np.zeros(0), y=np.zeros(0), top=np.zeros(0), bottom=np.zeros(0))
        self._points = pg.ScatterPlotItem(pen=None, antialias=True, hoverable=True, hoverPen=pg.mkPen("w"), tip=None)
        for item in (self._rejected, self._diagonal, self._intervals, self._points):
            self.addItem(item, ignoreBounds=True)
        self._rejected.hide()
        style.changed.connect(self.restyle)
        self.restyle()

    def sizeHint(self) -> QSize:
        return QSize(280, 210)

    def wheelEvent(self, event) -> None:
        event.ignore()

    def show_bins(self, bins: list[CalibrationBin], verdicts: int) -> None:
        """Show bins. verdicts: number of verdicts.

        With two, the top probability is never below 0.5, so the axes start there.
        """
        self._low = 50.0 if verdicts == 2 else 0.0
        margin = 0.05 * (100 - self._low)
        span = (self._low - margin, 100 + margin)
        self.item.setRange(xRange=span, yRange=span, padding=0)
        for side in ("left", "bottom"):
            spacing = 10 if self._low else 20
            self.item.getAxis(side).setTickSpacing(spacing, spacing)
        x, y = ([100 * getattr(entry, name) for entry in bins] for name in ("mean_probability", "share"))
        known = [(entry, edges) for entry in bins if (edges := limits(entry.interval)) is not None]
        shares = np.array([entry.share for entry, _ in known])
        low, high = np.array([edges for _, edges in known]).reshape(-1, 2).T
        self._intervals.setData(
            x=100 * np.array([entry.mean_probability for entry, _ in known]),
            y=100 * shares,
            top=100 * (high - shares),
            bottom=100 * (shares - low),
            beam=0.0,
        )
        largest = max((entry.images for entry in bins), default=1)
        sizes = [5 + 9 * (entry.images / largest) ** 0.5 for entry in bins]
        self._points.setData(x, y, size=sizes, data=bins)
        self._points.opts["tip"] = lambda x, y, data: self.tip(data)

    def tip(self, entry: CalibrationBin) -> str:
        """Return the values of a bin."""
        text = self.tr("Mean probability {probability}: {right} of {n} {n:image|images} correct ({share})")
        return fill(
            text,
            probability=formatting.percent(entry.mean_probability),
            right=entry.correct,
            n=entry.images,
            share=formatting.percent(entry.share),
        )

    def show_minimum(self, minimum: float) -> None:
        """Show the reject probability, below which no verdict is given."""
        self._rejected.setRegion((-100, 100 * minimum))
        self._rejected.setVisible(100 * minimum > self._low)

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.fit_percentages()
        self.item.showGrid(x=True, y=True, alpha=0.25)
        self._diagonal.setPen(self.pen(theme.color("muted"), style=Qt.PenStyle.DashLine))
        self._rejected.setBrush(theme.color("warning", 40))
        for line in self._rejected.lines:
            line.setPen(self.pen(theme.color("warning"), width=1.5))
        self._intervals.setData(pen=self.pen(theme.color("curve_1", 150), width=2))
        self._points.setBrush(theme.color("curve_1"))
