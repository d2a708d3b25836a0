"""Plots: lines as wide as the scale of the screen demands, and all labels of the percentages."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QRectF

from workbench.core.evaluation.verdict_rules import RocCurve
from workbench.core.runs.run_series import RunSeries
from workbench.ui.evaluation.evaluation_plots import PrecisionRecallPlot, ReliabilityPlot, RocPlot
from workbench.ui.training.curve_legend import PLOTS
from workbench.ui.training.curves import CurvePlot
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot


@pytest.fixture
def style(qapp, monkeypatch, load_theme):
    monkeypatch.setattr(ThemeManager, "_set_style_sheet", lambda self: None)
    return ThemeManager(qapp)


def loss_plot(style: ThemeManager) -> CurvePlot:
    plot = CurvePlot(PLOTS[0], style.theme)
    for name in ("loss", "smoothed", "other 0"):
        plot._line(name)
    return plot


def widths(plot: ThemedPlot) -> dict[str, float]:
    """Return the widths of the lines of a plot in pixels of the screen."""
    pens = {side: plot.item.getAxis(side).pen() for side in ("left", "bottom")}
    for name in ("_line", "_chance", "_diagonal"):
        if hasattr(getattr(plot, name, None), "opts"):
            pens[name] = getattr(plot, name).opts["pen"]
    if isinstance(plot, CurvePlot):
        pens |= {name: line.opts["pen"] for name, line in plot.lines.items()} | {"cursor": plot._cursor.pen}
    return {name: pen.widthF() for name, pen in pens.items()}


@pytest.mark.parametrize("make", [loss_plot, PrecisionRecallPlot, RocPlot, ReliabilityPlot])
def test_lines_get_wider_with_the_scale_of_the_screen(style, qtbot, monkeypatch, make):
    plot = make(style)
    qtbot.addWidget(plot)
    logical = widths(plot)
    assert min(logical.values()) >= 1 and max(logical.values()) <= 2
    monkeypatch.setattr(ThemedPlot, "devicePixelRatioF", lambda self: 2.0)
    QCoreApplication.sendEvent(plot, QEvent(QEvent.Type.DevicePixelRatioChange))
    assert widths(plot) == {name: 2 * width for name, width in logical.items()}


def roc_plot(style: ThemeManager, qtbot) -> RocPlot:
    plot = RocPlot(style)
    qtbot.addWidget(plot)
    plot.show_curve(RocCurve(np.array([0.7, 0.1]), np.array([0.2, 1.0]), np.array([0.8, 1.0])), None)
    plot.resize(260, 190)
    return plot


def drawn_labels(plot: ThemedPlot, side: str, monkeypatch) -> dict[str, QRectF]:
    """Draw a plot. Return the places in it of the labels of an axis."""
    axis, drawn = plot.item.getAxis(side), []
    draw = axis.drawPicture
    monkeypatch.setattr(axis, "drawPicture", lambda p, a, ticks, texts: (drawn.extend(texts), draw(p, a, ticks, texts)))
    plot.grab()
    return {text: axis.mapRectToScene(place) for place, _, text in drawn}


def test_horizontal_axis_of_the_roc_curve_ends_with_its_label(style, qtbot, monkeypatch):
    plot = roc_plot(style, qtbot)
    assert drawn_labels(plot, "bottom", monkeypatch)["100"].right() <= plot.width()


def test_vertical_axis_of_the_roc_curve_has_all_labels_with_large_texts(style, qtbot, monkeypatch):
    style.set_text_size(150)
    try:
        labels = drawn_labels(roc_plot(style, qtbot), "left", monkeypatch)
    finally:
        style.set_text_size(100)
    assert {"0", "25", "50", "75", "100"} == labels.keys()
    assert labels["100"].top() >= 0


@pytest.mark.parametrize("text_size", [100, 150])
def test_value_axis_of_a_low_curve_ends_with_its_labels(style, qtbot, monkeypatch, text_size):
    style.set_text_size(text_size)
    try:
        plot = CurvePlot(next(plot for plot in PLOTS if plot.id == "score"), style.theme)
        qtbot.addWidget(plot)
        plot.show_times(False)
        plot._show_title(RunSeries())
        plot._fit(0.0, 1.0)
        plot.resize(360, 100)
        labels = drawn_labels(plot, "left", monkeypatch)
    finally:
        style.set_text_size(100)
    assert {"0", "1.0"} <= labels.keys()
    assert labels["1.0"].top() >= 0 and labels["0"].bottom() <= plot.height()
