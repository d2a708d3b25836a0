"""Reliability diagram of verdicts: predicted probability against the share of correct ones."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy

from workbench.core.evaluation.intervals import limits
from workbench.core.evaluation.verdict_evaluation import CalibrationBin
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot


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
