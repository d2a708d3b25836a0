"""Plots of a run over a common time axis: arranged by the available space, zoomed together, drawn one at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QScrollArea, QWidget

from workbench.core.project.storage import write_bytes
from workbench.core.runs.run_series import RunSeries
from workbench.core.runs.series_table import table
from workbench.session.tasks import TaskRunner
from workbench.session.training.run_list import RunList
from workbench.session.training.run_monitor import RunMonitor
from workbench.ui.training.curve_plot import CurvePlot
from workbench.ui.training.plot_definitions import PLOTS
from workbench.ui.widgets.theme import Theme

REDRAW = 200  # ms between two drawings of a plot; five times a second is enough for a curve
WIDE, HIGH = 230, 66  # pixels: minimum size of a plot; plots that do not fit are scrolled
SHAPE = 3.2  # ratio of width to height at which a curve over time is read best
MAKE = 40  # ms between the creation of two plots; each takes about 10 ms of the GUI thread
SHORTEST = 2.0  # seconds: shortest zoom

Span = tuple[float, float]


class Curves(QScrollArea):
    """Plots of a run. `show_track` sets the run; `refresh` announces new data. Stale plots are redrawn in turn, so that
    the GUI thread is blocked for one plot at most.
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
        self._made: dict[str, CurvePlot] = {}  # all plots created so far: creation takes as long as many drawings
        self._wanted: list[str] = []
        self._make_next = QTimer(self, interval=MAKE, timeout=self._fill)
        self._rows = {row.id: row for row in PLOTS}
        self._track, self._others = RunSeries(), ()
        self.live = False  # the run is in progress: its time axis ends at the expected end
        self._span: Span | None = None  # None: the whole run
        self._drawn: Span = (0.0, 10.0)
        self._stale: list[str] = []
        self._turn = QTimer(self, timeout=self._draw_next)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setStyleSheet(f"QScrollArea, QWidget#plots {{ background: {theme.color('panel').name()}; }}")
        for plot in self._made.values():
            plot.set_theme(theme)
        self.refresh()

    # --- content ---------------------------------------------------------------------------------

    def show_track(self, track: RunSeries, others: tuple[RunSeries, ...] = ()) -> None:
        """Show the curves of a run together with those of other runs."""
        if track is not self._track:
            self._span = None
            self.zoomed.emit(False)
        self._track, self._others = track, others
        self.refresh()

    def choose(self, ids: list[str]) -> None:
        """Set the shown plots, in the order of the table. Missing plots are created one after another."""
        wanted = [id for id in self._rows if id in ids]
        if wanted != self._wanted:
            self._wanted = wanted
            self._fill()

    def _fill(self) -> None:
        """Create the next missing plot and lay out the existing ones."""
        missing = [id for id in self._wanted if id not in self._made]
        if missing:
            self._made[missing[0]] = self._make(missing[0])
        for id in self.plots.keys() - set(self._wanted):
            self._grid.removeWidget(self.plots[id])
            self.plots[id].hide()
        self.plots = {id: self._made[id] for id in self._wanted if id in self._made}
        self._arrange()
        self.refresh()
        if len(missing) > 1:
            self._make_next.start()
        else:
            self._make_next.stop()

    def _make(self, id: str) -> CurvePlot:
        plot = CurvePlot(self._rows[id], self._theme)
        plot.hovered.connect(self._hovered)
        plot.span_wanted.connect(self.zoom)
        return plot

    def _arrange(self) -> None:
        count, room = len(self._wanted), self.viewport().size()
        columns = columns_for(count, room.width(), room.height())
        rows = -(-count // columns) if count else 0
        for id, plot in self.plots.items():
            number = self._wanted.index(id)
            row, column = divmod(number, columns)
            self._grid.addWidget(plot, row, column)
            plot.setMinimumHeight(HIGH)
            plot.show_times(number + columns >= count)
            plot.show()
        self._body.setMinimumHeight(rows * (HIGH + self._grid.spacing()))
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
        if self._stale and not self._turn.isActive():
            self._turn.start(max(1, REDRAW // max(1, len(self.plots))))

    def redraw(self) -> None:
        """Draw stale plots at once."""
        while self._stale and self.isVisible():
            self._draw_next()

    def _draw_next(self) -> None:
        if not self._stale or not self.isVisible():
            self._turn.stop()
            return
        plot = self.plots.get(self._stale.pop(0))
        span = self.span
        if span != self._drawn:
            self._drawn = span
            self._stale = [*self._stale, *(id for id in self.plots if id not in self._stale)]
        if plot is not None:
            plot.draw(self._track, span, self._others)

    @property
    def span(self) -> Span:
        """Shown seconds. The end of a run in progress grows in steps, since a constant axis is cheap to draw."""
        if self._span is not None:
            return self._span
        last = max([10.0, self._track.last, *(other.last for other in self._others)])
        if not self.live:
            return 0.0, last
        end = 10.0 * 1.25 ** math.ceil(math.log(last / 10.0, 1.25) - 1e-9)
        begun = self._track.begun
        planned = begun.seconds_planned if begun is not None else None
        return 0.0, max(last, min(end, planned)) if planned else end

    def zoom(self, span: Span | None) -> None:
        """Show a part of the time in every plot; None shows all."""
        end = max([10.0, self._track.last, *(other.last for other in self._others)])
        if span is not None:
            length = min(max(span[1] - span[0], SHORTEST), end)
            first = min(max(0.0, span[0]), end - length)
            span = None if length >= end else (first, first + length)
        if span != self._span:
            self._span = span
            self.zoomed.emit(span is not None)
            self.refresh()
            self.redraw()

    def _hovered(self, time: float | None) -> None:
        for plot in self.plots.values():
            plot.point_at(time)
        self.hovered.emit(time)


def columns_for(count: int, width: int, height: int) -> int:
    """Return the number of columns of plots: without scrolling if possible, in a readable aspect ratio."""

    def unfit(columns: int) -> tuple[bool, float]:
        rows = max(1, -(-count // columns))
        return rows * HIGH > height, abs(math.log(max(width, 1) / columns / max(height / rows, HIGH) / SHAPE))

    return min(range(1, max(1, min(count, width // WIDE)) + 1), key=unfit)


SHARP = 2  # file pixels per screen pixel


class CurveExport(QObject):
    """Export of curves. `view` is the widget to be rendered."""

    saved = Signal(object)  # Path
    failed = Signal(object)  # Problem

    def __init__(self, view: QWidget, story: RunMonitor, shelf: RunList) -> None:
        super().__init__(view)
        self._view, self._story, self._shelf = view, story, shelf
        self._tasks = TaskRunner(parent=self)

    def save_image(self) -> None:
        self._ask(self.tr("Save the curves as a picture"), "png", self.write_image)

    def save_table(self) -> None:
        self._ask(self.tr("Save the curves as a table"), "csv", self.write_table)

    def _ask(self, title: str, ending: str, write) -> None:
        run = self._story.run
        if run is None:
            return
        first = run.root.parent.parent / f"{run.name}.{ending}"
        name, _ = QFileDialog.getSaveFileName(self._view.window(), title, str(first), f"{ending.upper()} (*.{ending})")
        if name:
            path = Path(name)
            write(path if path.suffix else path.with_suffix(f".{ending}"))

    def write_image(self, path: Path) -> None:
        """Write the view as an image at twice the resolution."""
        view = self._view
        pixmap = QPixmap(view.size() * SHARP)
        pixmap.setDevicePixelRatio(SHARP)
        pixmap.fill(view.palette().window().color())
        view.render(pixmap)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        pixmap.save(buffer, "PNG")
        data = bytes(buffer.data().data())
        self._submit(lambda: write_bytes(path, data), path)

    def write_table(self, path: Path) -> None:
        """Write all values of the run and of the compared runs."""
        run = self._story.run
        if run is None:
            return
        runs = [(run.name, self._story.track), *((other.run.name, other.track) for other in self._shelf.compared)]
        self._submit(lambda: write_bytes(path, table(runs)), path)

    def _submit(self, write: Callable[[], None], path: Path) -> None:
        self._tasks.submit(lambda _: write(), lambda _: self.saved.emit(path), self.failed.emit)
