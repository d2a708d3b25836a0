"""Base class of the plots: pyqtgraph without its menus, in the colors of the theme."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QPen
from PySide6.QtWidgets import QLabel, QVBoxLayout

from workbench.ui.widgets.theme import Theme


class WideAxis(pg.AxisItem):
    """Axis whose first and last labels extend beyond it; pyqtgraph omits them where a grid is shown."""

    def boundingRect(self) -> QRectF:
        extra = QFontMetrics(QGuiApplication.font()).height() if self.grid is not False else 0
        across, along = (extra, 0) if self.orientation in ("top", "bottom") else (0, extra)
        return super().boundingRect().adjusted(-across, -along, across, along)


class ThemedPlot(pg.PlotWidget):
    """Plot that subclasses draw in, with axes that stay unless they enable the mouse.

    A hint replaces the curves while there are none.

    Subclasses set their pens, made by `pen`, in `restyle`. It is called again on a screen of another scale.
    """

    def __init__(self, axes: dict[str, pg.AxisItem] | None = None) -> None:
        super().__init__(axisItems=axes or {side: WideAxis(side) for side in ("left", "bottom")}, enableMenu=False)
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
            axis.setPen(self.pen(theme.color("grid")))
            axis.setTextPen(theme.color("muted"))

    def fit_percentages(self) -> None:
        """Leave space for the label "100" of the horizontal axis."""
        half = self.fontMetrics().horizontalAdvance("100") // 2
        self.item.layout.setContentsMargins(0, 4, half, 6)

    def restyle(self) -> None:
        """Set colors and pens."""

    def pen(self, color: QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        """Return a pen. width: logical pixels, whereas the widths of pyqtgraph are in pixels of the screen."""
        return pg.mkPen(color, width=width * self.devicePixelRatioF(), style=style)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.restyle()
        return super().event(event)

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
