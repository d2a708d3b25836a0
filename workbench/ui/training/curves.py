"""Plots of a run over a common time axis: arranged by the available space, zoomed together, drawn one at a time."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from workbench.core.runs.run_series import RunSeries
from workbench.ui.training.curve_plot import CurvePlot
from workbench.ui.training.plot_definitions import PLOTS
from workbench.ui.widgets.theme import Theme

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
        """Set the shown plots, in the order of the table. Missing plots are created one after another."""
        chosen = [id for id in self._definitions if id in ids]
        if chosen != self._chosen:
            self._chosen = chosen
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
        self.refresh()

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
            plot.draw(self._series, span, self._others)

    @property
    def span(self) -> Span:
        """Shown seconds. The end of a run in progress grows in steps, since a constant axis is cheap to draw."""
        if self._span is not None:
            return self._span
        last = max([10.0, self._series.last, *(other.last for other in self._others)])
        if not self.live:
            return 0.0, last
        end = 10.0 * 1.25 ** math.ceil(math.log(last / 10.0, 1.25) - 1e-9)
        begun = self._series.started
        planned = begun.seconds_planned if begun is not None else None
        return 0.0, max(last, min(end, planned)) if planned else end

    def zoom(self, span: Span | None) -> None:
        """Show a part of the time in every plot; None shows all."""
        end = max([10.0, self._series.last, *(other.last for other in self._others)])
        if span is not None:
            length = min(max(span[1] - span[0], MIN_SPAN), end)
            first = min(max(0.0, span[0]), end - length)
            span = None if length >= end else (first, first + length)
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
