"""Base class of the plots: pyqtgraph without its mouse zoom and menus, in the colors of the theme."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout

from workbench.ui.widgets.theme import Theme


class ThemedPlot(pg.PlotWidget):
    """Plot with fixed axes that subclasses draw in. A hint replaces the curves while there are none."""

    def __init__(self, axes: dict[str, pg.AxisItem] | None = None) -> None:
        super().__init__(axisItems=axes or {}, enableMenu=False)
        self.setFrameShape(self.Shape.NoFrame)
        self.item: pg.PlotItem = self.getPlotItem()
        # Never shown; it would outlive the plot, and without its flags it would cover the plot.
        menu = self.item.ctrlMenu
        menu.setParent(self, menu.windowFlags())
        self.item.hideButtons()
        self.item.setMouseEnabled(x=False, y=False)
        self.item.getViewBox().setDefaultPadding(0)
        for side in ("left", "bottom"):
            self.item.getAxis(side).enableAutoSIPrefix(False)
            self.item.getAxis(side).setStyle(tickLength=-4, hideOverlappingLabels=False)
        self._hint = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._hint.hide()
        QVBoxLayout(self.viewport()).addWidget(self._hint)
        self.setMouseTracking(True)

    def set_colors(self, theme: Theme) -> None:
        """Color the background and the axes."""
        self.setBackground(theme.color("panel"))
        for side in ("left", "bottom"):
            axis = self.item.getAxis(side)
            axis.setPen(pg.mkPen(theme.color("grid")))
            axis.setTextPen(pg.mkPen(theme.color("muted")))

    def show_hint(self, text: str) -> None:
        """Show a text in the middle of the plot; "" hides it."""
        self._hint.setText(text)
        self._hint.setVisible(bool(text))

    def to_plot(self, position: QPointF) -> QPointF:
        """Convert a position in the widget to plot coordinates."""
        return self.item.getViewBox().mapSceneToView(self.mapToScene(position.toPoint()))

    def to_widget(self, x: float, y: float) -> QPointF:
        """Convert plot coordinates to a position in the widget."""
        return QPointF(self.mapFromScene(self.item.getViewBox().mapViewToScene(QPointF(x, y))))
