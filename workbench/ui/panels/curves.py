"""Live curves over one time axis: loss and score above, the machine's load and memory below."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.ui.theme import Theme

MOST = 2000  # points of a drawn curve


class Series:
    """Values over time in arrays that grow by doubling."""

    def __init__(self) -> None:
        self._times, self._values = np.empty(256), np.empty(256)
        self.count = 0

    def add(self, time: float, value: float) -> None:
        if self.count == len(self._times):
            self._times, self._values = (np.concatenate((a, np.empty_like(a))) for a in (self._times, self._values))
        self._times[self.count], self._values[self.count] = time, value
        self.count += 1

    def clear(self) -> None:
        self.count = 0

    @property
    def times(self) -> np.ndarray:
        return self._times[: self.count]

    @property
    def values(self) -> np.ndarray:
        return self._values[: self.count]

    def smoothed(self) -> np.ndarray:
        """A running mean over the last 2 % of the points (5 at least), which looks back only."""
        values = np.where(np.isfinite(self.values), self.values, 0.0)
        weights = np.isfinite(self.values).astype(float)
        reach = max(5, self.count // 50)
        sums, counts = np.cumsum(values), np.cumsum(weights)
        sums[reach:] -= sums[:-reach].copy()
        counts[reach:] -= counts[:-reach].copy()
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def thinned(times: np.ndarray, values: np.ndarray, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` points that keep every peak: the least and the greatest value of each stretch, in order."""
    if len(times) <= most:
        return times, values
    stretch = -(-len(times) // (most // 2))
    whole = len(times) // stretch * stretch
    blocks = np.nan_to_num(values[:whole], nan=0.0).reshape(-1, stretch)
    starts = np.arange(0, whole, stretch)
    at = np.sort(np.stack((starts + blocks.argmin(1), starts + blocks.argmax(1)), 1), axis=1).ravel()
    at = np.concatenate((at, np.arange(whole, len(times))[-1:]))
    return times[at], values[at]


class _TimeAxis(pg.AxisItem):
    """Seconds as minutes and seconds, or hours and minutes."""

    def tickStrings(self, values, scale, spacing) -> list[str]:
        if self.range[1] >= 2 * 3600:
            return [f"{int(v) // 3600}h{int(v) // 60 % 60:02d}" for v in values]
        return [f"{int(v) // 60}:{int(v) % 60:02d}" for v in values]


class Curves(pg.GraphicsLayoutWidget):
    """Four small plots. Data come by `series`; `redraw` shows what is new."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.series = {name: Series() for name in ("loss", "score", "load", "memory")}
        self.best: tuple[float, float] | None = None
        self.score_name = self.tr("Score")
        self.load_name, self.memory_name = self.tr("CPU %"), self.tr("RAM GB")
        self._plots: dict[str, pg.PlotItem] = {}
        self._lines: dict[str, pg.PlotDataItem] = {}
        for name, place in {"loss": (0, 0), "score": (0, 1), "load": (1, 0), "memory": (1, 1)}.items():
            plot = self.addPlot(*place, axisItems={"bottom": _TimeAxis("bottom")})
            plot.setMenuEnabled(False)
            plot.hideButtons()
            plot.setMouseEnabled(x=False, y=False)
            plot.getAxis("left").setWidth(44)
            plot.getAxis("bottom").enableAutoSIPrefix(False)
            plot.getAxis("left").enableAutoSIPrefix(False)
            self._plots[name] = plot
            if name != "loss":
                plot.setXLink(self._plots["loss"])
        self._lines["raw"] = self._plots["loss"].plot()
        for name, plot in self._plots.items():
            self._lines[name] = plot.plot()
        self._star = pg.ScatterPlotItem(symbol="star", size=13)
        self._plots["score"].addItem(self._star)
        self._plots["load"].setYRange(0, 100, padding=0.04)
        self._plots["score"].setYRange(0, 1, padding=0.06)
        self.set_theme(theme)
        self._place_axes()

    def forget(self) -> None:
        """Another run begins."""
        for series in self.series.values():
            series.clear()
        self.best = None
        self.redraw()

    def set_theme(self, theme: Theme) -> None:
        self.setBackground(theme.color("panel"))
        for plot in self._plots.values():
            for side in ("left", "bottom"):
                axis = plot.getAxis(side)
                axis.setPen(pg.mkPen(theme.color("grid")))
                axis.setTextPen(pg.mkPen(theme.color("muted")))
                axis.setStyle(tickLength=-4)
            plot.showGrid(y=True, alpha=0.18)
        colors = {"loss": "curve_1", "score": "curve_3", "load": "curve_2", "memory": "curve_4"}
        for name, role in colors.items():
            # Wide pens are slow to draw; the smoothed loss has few enough points.
            self._lines[name].setPen(pg.mkPen(theme.color(role), width=2 if name == "loss" else 1))
        self._lines["raw"].setPen(pg.mkPen(theme.color("curve_1", 90), width=1))
        self._lines["score"].setSymbol("o")
        self._lines["score"].setSymbolSize(5)
        self._lines["score"].setSymbolPen(None)
        self._lines["score"].setSymbolBrush(pg.mkBrush(theme.color("curve_3")))
        self._star.setBrush(pg.mkBrush(theme.color("warning")))
        self._star.setPen(pg.mkPen(QColor(0, 0, 0, 120)))
        self._muted = theme.color("muted").name()
        self._title()

    def _title(self) -> None:
        names = {"loss": self.tr("Loss"), "score": self.score_name, "load": self.load_name, "memory": self.memory_name}
        for name, text in names.items():
            self._plots[name].setTitle(text, color=self._muted, size="8pt", justify="left")
            self._plots[name].titleLabel.setMaximumHeight(18)
            self._plots[name].layout.setRowFixedHeight(0, 18)

    def name_axes(self, *, score: str = "", load: str = "", memory: str = "") -> None:
        """Say what the curves are: another model has another score, a GPU other numbers."""
        names = (score or self.score_name, load or self.load_name, memory or self.memory_name)
        if names != (self.score_name, self.load_name, self.memory_name):
            self.score_name, self.load_name, self.memory_name = names
            self._title()

    def redraw(self) -> None:
        for name, series in self.series.items():
            self._lines[name].setData(*thinned(series.times, series.values))
        loss = self.series["loss"]
        if loss.count:
            self._lines["raw"].setData(*thinned(loss.times, loss.values))
            self._lines["loss"].setData(*thinned(loss.times, loss.smoothed()))
        else:
            self._lines["raw"].setData([], [])
        self._star.setData(*([[v] for v in self.best] if self.best else ([], [])))
        self._place_axes()

    def _place_axes(self) -> None:
        """The lower plots are there once the machine has been heard; the time axis is under the lowest."""
        machine = self.series["load"].count > 1
        latest = max((series.times[-1] for series in self.series.values() if series.count), default=0.0)
        self._plots["loss"].setXRange(0, max(latest, 10.0), padding=0.01)
        top = float(np.nanmax(self.series["memory"].values)) if self.series["memory"].count else 1.0
        self._plots["memory"].setYRange(0, max(top * 1.15, 1.0), padding=0)
        for name in ("load", "memory"):
            self._plots[name].setVisible(machine)
            self._plots[name].setMaximumHeight(10_000 if machine else 0)
        for name in ("loss", "score"):
            self._plots[name].getAxis("bottom").setStyle(showValues=not machine)
