"""ROC curve of the images by their anomaly score, with the verdict rule under evaluation."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize

from workbench.core.evaluation.image_ranking import RocCurve
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot


class RocPlot(ThemedPlot):
    """Plot of rejected defective images over rejected good images, in percent."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.setFixedHeight(190)
        self.setAccessibleName(self.tr("ROC curve"))
        self.item.setRange(xRange=(-4, 104), yRange=(-6, 106), padding=0)
        self.item.layout.setContentsMargins(0, 4, 8, 6)
        for side, text in (
            ("bottom", self.tr("Good rejected, %")),
            ("left", self.tr("Defective rejected, %")),
        ):
            axis = self.item.getAxis(side)
            axis.setTickSpacing(25, 25)
            axis.setLabel(text)
        self._chance, self._line = pg.PlotCurveItem([0, 100], [0, 100]), pg.PlotCurveItem(antialias=True)
        self._point = pg.ScatterPlotItem(size=11, antialias=True)
        for item in (self._chance, self._line, self._point):
            self.addItem(item)
        style.changed.connect(self._restyle)
        self._restyle()

    def sizeHint(self) -> QSize:
        return QSize(270, 190)

    def show_curve(self, curve: RocCurve | None, current: tuple[float, float] | None) -> None:
        """Show a curve; None: a hint instead. current: share of rejected good and defective images by the rule."""
        self.show_hint("" if curve is not None else self.tr("The curve needs good and defective images."))
        for item in (self._chance, self._line, self._point):
            item.setVisible(curve is not None)
        if curve is not None:
            self._line.setData(100 * np.array([0.0, *curve.false]), 100 * np.array([0.0, *curve.recall]))
            self._point.setData(*([[100 * value] for value in current] if current is not None else ([], [])))

    def wheelEvent(self, event) -> None:
        event.ignore()  # the panel scrolls

    def _restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.showGrid(x=True, y=True, alpha=0.25)
        self._chance.setPen(pg.mkPen(theme.color("grid"), width=1))
        self._line.setPen(pg.mkPen(theme.color("curve_1"), width=1.6))
        self._point.setBrush(theme.color("curve_2"))
        self._point.setPen(pg.mkPen(theme.color("curve_2", 80), width=4))
