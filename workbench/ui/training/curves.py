"""Plots of a run over a common time axis: one plot, and the grid of plots, zoomed together and drawn in turn."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from workbench.core.runs.run_series import MOST, RunSeries
from workbench.ui.training.curve_legend import (
    COMPARED_COLORS,
    COMPARED_LINES,
    GPU_LINES,
    GPU_ROLES,
    PLOTS,
    PlotDefinition,
    line_color,
    names,
    number,
    shown_gpus,
    title,
    title_height,
    title_points,
)
from workbench.ui.widgets.theme import Theme
from workbench.ui.widgets.themed_plot import ThemedPlot, WideAxis

_MAX_TICKS = 5  # intervals of a value axis
_LINE = 1.5  # logical pixels
_SMOOTH_POINTS = 200  # drawing more points of a wide line without steps takes long
AXIS_WIDTH = 48  # pixels of the value axis: equal in all plots, so that their time axes align


class _TimeAxis(pg.AxisItem):
    """Time axis: minutes and seconds, or hours and minutes. No two ticks have the same text."""

    def tickSpacing(self, minVal, maxVal, size):
        least = 60.0 if self.range[1] >= 2 * 3600 else 1.0
        return [(max(least, spacing), offset) for spacing, offset in super().tickSpacing(minVal, maxVal, size)]

    def tickStrings(self, values, scale, spacing) -> list[str]:
        return [clock(v, long=self.range[1] >= 2 * 3600) for v in values]


class ValueAxis(WideAxis):
    """Value axis with few digits; a logarithmic axis shows the number, not its logarithm."""

    log = False

    def tickSpacing(self, low, high, size):
        """Return the smallest spacing of few ticks whose texts do not touch."""
        texts = size / (1.3 * QFontMetrics(self.style["tickFont"] or QGuiApplication.font()).height())
        least = (high - low) / max(1.0, min(texts, _MAX_TICKS))
        power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
        return [(next((f * power for f in (1, 2, 5) if f * power >= least), 10 * power), 0)]

    def tickValues(self, low, high, size):
        if not self.log:
            return super().tickValues(low, high, size)
        factors = (1,) if high - low > 3 else (1, 3) if high - low > 1.5 else (1, 2, 5)
        powers = range(math.floor(low), math.ceil(high) + 1)
        return [(1.0, [tick for p in powers for factor in factors if low <= (tick := p + math.log10(factor)) <= high])]

    def tickStrings(self, values, scale, spacing) -> list[str]:
        if self.log:
            return [f"{10**v:.3g}" if v < 4 else number(10**v) for v in values]
        digits = max(0, -math.floor(math.log10(spacing) + 1e-9)) if spacing > 0 else 0
        return [number(v, digits if digits <= 3 else None) if v else "0" for v in values]


def _axis_limits(definition: PlotDefinition, low: float, high: float) -> tuple[float, float]:
    """Return the limits of the value axis for values from `low` to `high`, without margins."""
    low = definition.low if definition.low is not None else low
    high = definition.high if definition.high is not None else high
    if definition.id == "score":
        high = min(1.0, high * 1.15)
    if high - low <= 1e-6 * abs(high):  # one value: the labels of the ticks must differ
        margin = 0.3 if definition.log else 0.05 * abs(high) or 1.0
        low, high = low - margin * (definition.low is None), high + margin
    return low, high


class CurvePlot(ThemedPlot):
    """Plot drawn on demand; the owner sets the shown time span and the pointer line."""

    hovered = Signal(object)  # seconds, or None
    span_requested = Signal(object)  # (first, last) seconds, or None for all

    def __init__(self, definition: PlotDefinition, theme: Theme) -> None:
        axes = {"bottom": _TimeAxis("bottom"), "left": ValueAxis("left")}
        super().__init__(axes)
        self.definition = definition
        view = self.item.getViewBox()  # the wheel zooms and a drag moves the time
        view.setMouseEnabled(x=True, y=False)
        view.setLimits(xMin=0, minXRange=MIN_SPAN)
        view.sigRangeChangedManually.connect(lambda: self.span_requested.emit(tuple(view.viewRange()[0])))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.item.layout.setContentsMargins(0, 0, 8, 2)
        axes["left"].log = definition.log
        axes["left"].setWidth(AXIS_WIDTH)
        for axis in axes.values():
            axis.setStyle(hideOverlappingLabels=True)  # low plots have no space for the labels at the ends
        self.lines: dict[str, pg.PlotCurveItem] = {}
        self._dots = pg.ScatterPlotItem(size=5, pen=None) if definition.id == "score" else None
        self._best_point = pg.ScatterPlotItem(symbol="star", size=13) if definition.id == "score" else None
        self._skips = pg.ScatterPlotItem(symbol="t", size=7, pen=None) if definition.id == "loss_scale" else None
        for item in filter(None, (self._dots, self._best_point, self._skips)):
            item.setZValue(5)
            self.addItem(item)
        self._cursor = pg.InfiniteLine(angle=90)
        self._cursor.setZValue(9)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self._range: tuple[float, float] = (0.0, 1.0)
        self._span: tuple[float, float] = (0.0, 10.0)
        self._gpus: list[int] = []  # numbers of those whose curves are drawn
        self._title = ""
        self._drag_time: float | None = None
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.restyle()

    def restyle(self) -> None:
        theme = self._theme
        self.set_colors(theme)
        self.item.showGrid(y=True, alpha=0.16)
        self._cursor.setPen(self.pen(theme.color("muted")))
        if self._dots is not None:
            self._dots.setBrush(theme.color(self.definition.role))
            self._best_point.setBrush(theme.color("warning"))
            self._best_point.setPen(self.pen(QColor(0, 0, 0, 120)))
        if self._skips is not None:
            self._skips.setBrush(theme.color("danger"))
        for name, line in self.lines.items():
            line.setPen(self._pen(name))
        self._title = ""

    def show_times(self, shown: bool) -> None:
        """Show or hide the time labels: only the lowest plot of a column has them. Others have space for a "0"."""
        self.item.getAxis("bottom").setStyle(showValues=shown)
        self.item.layout.setContentsMargins(0, 0, 8, 2 if shown else self.fontMetrics().height() // 2)

    def show_cursor(self, time: float | None) -> None:
        """Set the vertical line at which values are read."""
        self._cursor.setVisible(time is not None)
        if time is not None:
            self._cursor.setValue(time)

    # --- drawing ---------------------------------------------------------------------------------

    def draw(
        self, series: RunSeries, span: tuple[float, float], others: tuple[RunSeries, ...] = (), *, end: float
    ) -> None:
        """Draw a time span of the run and of the compared runs. end: of the longest of them, in seconds."""
        self._span = span
        self.item.getViewBox().setLimits(xMax=end)
        self.item.setXRange(*span, padding=0)
        self._show_title(series)
        limit = min(MOST, max(200, round(2 * self.width() * self.devicePixelRatioF())))  # two per pixel show all peaks
        lines = {name: series.points(name, *span, limit) for name in names(self.definition, series)}
        if self.definition.id == "loss":
            lines["smoothed"] = series.smoothed(*span, limit // 2)
        if self.definition.compared:
            for index, other in enumerate(others):
                name = names(self.definition, other)[0]
                points = other.smoothed(*span, limit) if name == "loss" else other.points(name, *span, limit)
                lines[f"other {index}"] = points
        for name in self.lines.keys() - lines.keys():
            self.removeItem(self.lines.pop(name))
        if self._gpus != shown_gpus(series):
            self._gpus = shown_gpus(series)
            for name, line in self.lines.items():
                line.setPen(self._pen(name))
        lows, highs = [], []
        for name, (times, values) in lines.items():
            values = self._to_axis(values)
            self._line(name).setData(times, values, connect="finite", antialias=len(times) <= _SMOOTH_POINTS)
            known = values[np.isfinite(values)]
            if len(known):
                lows.append(known.min())
                # A single spike must not flatten the curve.
                highs.append(np.quantile(known, 0.995) if name == "loss" else known.max())
        if self._dots is not None:
            times, values = lines[series.metric]
            self._dots.setData(times, values)
            self._best_point.setData(*([[v] for v in series.best] if series.best else ([], [])))
        if self._skips is not None and lows:
            self._skips.setData(series.skips, [min(lows)] * len(series.skips))
        if lows:
            self._fit(float(min(lows)), float(max(highs)))

    def drawn(self, name: str) -> int:
        """Return the number of drawn points of a line."""
        line = self.lines.get(name)
        points = None if line is None else line.getData()[0]
        return 0 if points is None else len(points)

    def _line(self, name: str) -> pg.PlotCurveItem:
        line = self.lines.get(name)
        if line is None:
            line = self.lines[name] = pg.PlotCurveItem(pen=self._pen(name))
            line.setZValue({"smoothed": 3, "loss": 1}.get(name, 0 if name.startswith("other") else 2))
            self.addItem(line)
        return line

    def _pen(self, name: str) -> QPen:
        theme, definition = self._theme, self.definition
        kind, _, index = name.partition(" ")
        if kind == "other":
            place = int(index) % len(COMPARED_COLORS)
            return self.pen(theme.color(COMPARED_COLORS[place]), _LINE, COMPARED_LINES[place])
        if definition.id == "loss":
            return self.pen(line_color(theme, definition.role, name == "smoothed"), 2 if name == "smoothed" else 1)
        if definition.per_gpu:
            roles = (definition.role, *(role for role in GPU_ROLES if role != definition.role))
            place = self._gpus.index(int(index)) % len(roles)
            return self.pen(line_color(theme, roles[place], kind == definition.values[0]), _LINE, GPU_LINES[place])
        return self.pen(line_color(theme, definition.role, name in (definition.values[0], "dice")), _LINE)

    def _to_axis(self, values: np.ndarray) -> np.ndarray:
        if self.definition.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log10(np.where(values > 0, values, np.nan))
        return values * self.definition.factor if self.definition.factor != 1 else values

    def _fit(self, low: float, high: float) -> None:
        """Set the value axis, unchanged as long as the curve fills it well."""
        definition = self.definition
        low, high = _axis_limits(definition, low, high)
        extent = max(high - low, 1e-9 * max(1.0, abs(high))) or 1.0
        shown_low, shown_high = self._range
        if shown_low <= low and high <= shown_high and extent > 0.7 * (shown_high - shown_low):
            return
        if definition.high is None:
            high += 0.08 * extent
        if definition.low is None:
            low -= 0.08 * extent
        if high <= low:
            high = low + 1
        self._range = (low, high)
        self.item.setYRange(low, high, padding=0.02)

    def _show_title(self, series: RunSeries) -> None:
        text = title(self.definition, series) + (f"  {self.definition.unit}" if self.definition.unit else "")
        if text != self._title:
            self._title = text
            self.item.setTitle(text, color=self._theme.color("muted"), size=f"{title_points():g}pt", justify="left")
            self.item.titleLabel.setMaximumHeight(title_height())
            self.item.layout.setRowFixedHeight(0, title_height())

    # --- user input ------------------------------------------------------------------------------

    def time_at(self, position: QPointF) -> float:
        return float(self.to_plot(position).x())

    def mouseMoveEvent(self, event) -> None:
        super().mouseMoveEvent(event)
        time = self.time_at(event.position())
        self.hovered.emit(time if self._span[0] <= time <= self._span[1] else None)

    def mouseDoubleClickEvent(self, event) -> None:
        self.span_requested.emit(None)

    def leaveEvent(self, event) -> None:
        self.hovered.emit(None)
        super().leaveEvent(event)


def clock(seconds: float, *, long: bool = False) -> str:
    """Format a moment of a run: "2:31", or "3h05" for long runs."""
    whole = max(0, int(seconds))
    return f"{whole // 3600}h{whole // 60 % 60:02d}" if long else f"{whole // 60}:{whole % 60:02d}"


REDRAW_INTERVAL = 200  # ms between two drawings of a plot; five times a second is enough for a curve
MIN_WIDTH, MIN_HEIGHT = 230, 66  # pixels: minimum size of a plot; plots that do not fit are scrolled
ASPECT = 3.2  # ratio of width to height at which a curve over time is easy to read
CREATE_INTERVAL = 40  # ms between the creation of two plots; each takes about 10 ms of the GUI thread
MIN_SPAN = 2.0  # seconds: shortest zoom

Span = tuple[float, float]


class Curves(QScrollArea):
    """Plots of a run. `show_series` sets the run; `refresh` announces new data.

    Stale plots are redrawn in turn, so that the GUI thread is blocked for one plot at most.
    """

    hovered = Signal(object)  # seconds under the pointer, or None
    zoomed = Signal(bool)  # True if a part of the run is shown

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._body = QWidget(objectName="plots")
        self._grid = QGridLayout(self._body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(2)
        self.setWidget(self._body)
        self._theme = theme
        self.plots: dict[str, CurvePlot] = {}  # shown plots
        self._created: dict[str, CurvePlot] = {}  # all plots created so far: creation takes as long as many drawings
        self._chosen: list[str] = []
        self._create_timer = QTimer(self, interval=CREATE_INTERVAL, timeout=self._create_next)
        self._definitions = {definition.id: definition for definition in PLOTS}
        self._series, self._others = RunSeries(), ()
        self.live = False  # the run is in progress: its time axis ends at the expected end
        self._span: Span | None = None  # None: the whole run
        self._drawn_span: Span = (0.0, 10.0)
        self._stale: list[str] = []
        self.draw_timer = QTimer(self, timeout=self._draw_next)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setStyleSheet(f"QScrollArea, QWidget#plots {{ background: {theme.color('panel').name()}; }}")
        for plot in self._created.values():
            plot.set_theme(theme)
        self.refresh()

    # --- content ---------------------------------------------------------------------------------

    def show_series(self, series: RunSeries, others: tuple[RunSeries, ...] = ()) -> None:
        """Show the curves of a run together with those of other runs."""
        if series is not self._series:
            self._span = None
            self.zoomed.emit(False)
        self._series, self._others = series, others
        self.refresh()

    def choose(self, ids: list[str]) -> None:
        """Set the shown plots, in the order of the table. Missing plots are created one after another, when visible."""
        chosen = [id for id in self._definitions if id in ids]
        if chosen != self._chosen:
            self._chosen = chosen
            if self.isVisible():
                self._create_next()

    def _create_next(self) -> None:
        """Create the next missing plot and lay out the existing ones."""
        missing = [id for id in self._chosen if id not in self._created]
        if missing:
            self._created[missing[0]] = self._create(missing[0])
        for id in self.plots.keys() - set(self._chosen):
            self._grid.removeWidget(self.plots[id])
            self.plots[id].hide()
        self.plots = {id: self._created[id] for id in self._chosen if id in self._created}
        self._arrange()
        self.refresh()
        if len(missing) > 1:
            self._create_timer.start()
        else:
            self._create_timer.stop()

    def _create(self, id: str) -> CurvePlot:
        plot = CurvePlot(self._definitions[id], self._theme)
        plot.hovered.connect(self._plot_hovered)
        plot.span_requested.connect(self.zoom)
        return plot

    def _arrange(self) -> None:
        count, size = len(self._chosen), self.viewport().size()
        columns = columns_for(count, size.width(), size.height())
        rows = -(-count // columns) if count else 0
        for id, plot in self.plots.items():
            index = self._chosen.index(id)
            row, column = divmod(index, columns)
            self._grid.addWidget(plot, row, column)
            plot.setMinimumHeight(MIN_HEIGHT)
            plot.show_times(index + columns >= count)
            plot.show()
        self._body.setMinimumHeight(rows * (MIN_HEIGHT + self._grid.spacing()))
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 1 if row < rows else 0)
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._arrange()
        self.refresh()

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._create_next()

    # --- drawing ---------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Schedule a redraw of every plot."""
        self._stale += [id for id in self.plots if id not in self._stale]
        if self._stale and not self.draw_timer.isActive():
            self.draw_timer.start(max(1, REDRAW_INTERVAL // max(1, len(self.plots))))

    def redraw(self) -> None:
        """Draw stale plots at once."""
        while self._stale and self.isVisible():
            self._draw_next()

    def _draw_next(self) -> None:
        if not self._stale or not self.isVisible():
            self.draw_timer.stop()
            return
        plot = self.plots.get(self._stale.pop(0))
        span = self.span
        if span != self._drawn_span:
            self._drawn_span = span
            self._stale = [*self._stale, *(id for id in self.plots if id not in self._stale)]
        if plot is not None:
            plot.draw(self._series, span, self._others, end=max(span[1], self._end))

    @property
    def _end(self) -> float:
        """Seconds of the longest of the shown runs."""
        return max([10.0, self._series.last, *(other.last for other in self._others)])

    @property
    def span(self) -> Span:
        """Shown seconds. The end of a run in progress grows in steps, since a constant axis is cheap to draw."""
        if self._span is not None:
            return self._span
        last = self._end
        if not self.live:
            return 0.0, last
        end = 10.0 * 1.25 ** math.ceil(math.log(last / 10.0, 1.25) - 1e-9)
        begun = self._series.started
        planned = begun.seconds_planned if begun is not None else None
        return 0.0, max(last, min(end, planned)) if planned else end

    def zoom(self, span: Span | None) -> None:
        """Show a part of the time in every plot; None shows all."""
        if span is not None and span[1] - span[0] >= self._end:
            span = None
        if span != self._span:
            self._span = span
            self.zoomed.emit(span is not None)
            self.refresh()
            self.redraw()

    def _plot_hovered(self, time: float | None) -> None:
        for plot in self.plots.values():
            plot.show_cursor(time)
        self.hovered.emit(time)


def columns_for(count: int, width: int, height: int) -> int:
    """Return the number of columns of plots: without scrolling if possible, in a readable aspect ratio, with few empty
    places.
    """

    def badness(columns: int) -> tuple[bool, float]:
        rows = max(1, -(-count // columns))
        aspect = max(width, 1) / columns / max(height / rows, MIN_HEIGHT)
        return rows * MIN_HEIGHT > height, abs(math.log(aspect / ASPECT)) + math.log(rows * columns / max(count, 1))

    return min(range(1, max(1, min(count, width // MIN_WIDTH)) + 1), key=badness)
