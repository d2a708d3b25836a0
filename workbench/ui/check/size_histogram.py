"""Histogram of region sizes on a logarithmic axis."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize

from workbench.ui.text.formatting import number
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot

_BINS = 24


class SizeHistogram(ThemedPlot):
    """Number of regions by size. The size axis is logarithmic, since sizes differ by orders of magnitude."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._values = np.zeros(0)
        self._color = "#888888"
        self.setMinimumSize(QSize(240, 150))
        self.setAccessibleName(self.tr("Histogram of region sizes"))
        self.item.layout.setContentsMargins(4, 6, 10, 6)
        self.item.setLabel("left", self.tr("Regions"))
        style.changed.connect(self.restyle)
        self.restyle()

    def show_sizes(self, values: np.ndarray, label: str, color: str) -> None:
        """Show the distribution of some sizes, > 0. label: name and unit of the axis."""
        self._values, self._color = np.asarray(values, np.float64), color
        self.item.setLabel("bottom", label)
        self.restyle()

    @property
    def counts(self) -> list[int]:
        """Heights of the bars."""
        return self._histogram()[0].tolist()

    def _histogram(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._values.size:
            return np.zeros(0, int), np.zeros(1)
        logs = np.log10(self._values)
        low, high = logs.min(), logs.max()
        margin = 0.15 if high - low < 0.3 else 0.0
        return np.histogram(logs, _BINS, (low - margin, high + margin + 1e-9))

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.clear()
        counts, edges = self._histogram()
        self.show_hint("" if counts.size else self.tr("No regions"))
        for side in ("left", "bottom"):
            self.item.showAxis(side, bool(counts.size))
            self.item.getAxis(side).labelStyle = {"color": theme.color("muted").name()}
            self.item.getAxis(side).setLabel(self.item.getAxis(side).labelText)
        if not counts.size:
            return
        bars = pg.BarGraphItem(
            x0=edges[:-1],
            x1=edges[1:],
            height=counts,
            y0=0,
            brush=pg.mkBrush(self._color),
            pen=self.pen(theme.color("panel")),
        )
        self.item.addItem(bars)
        top = int(counts.max())
        self.item.setRange(xRange=(edges[0], edges[-1]), yRange=(0, top * 1.08), padding=0)
        step = max(1, math.ceil(top / 4))
        self.item.getAxis("left").setTicks([[(n, number(n)) for n in range(0, top + 1, step)]])
        self.item.getAxis("bottom").setTicks([_ticks(edges[0], edges[-1])])


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return positions on a logarithmic axis, and their texts: 1, 2, 5, 10, …; powers of ten on long axes."""
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    values = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    shown = [value for value in values if low <= math.log10(value) <= high]
    return [(math.log10(value), _text(value)) for value in shown or [10 ** ((low + high) / 2)]]


def _text(value: float) -> str:
    digits = max(0, -math.floor(math.log10(value))) if value < 1 else 0
    return number(value, digits)
