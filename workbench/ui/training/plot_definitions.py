"""Table of plots: title, values and axis of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication

from workbench.core.runs.run_series import RunSeries
from workbench.ui.text import formatting
from workbench.ui.widgets.text_labels import line_height, text_scale
from workbench.ui.widgets.theme import Theme

_TITLE_POINTS = 8  # size of the titles at texts of the usual size
COMPARED_COLORS = ("curve_4", "curve_2", "muted")  # color roles of compared runs
COMPARED_LINES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)  # besides the color
GPU_ROLES = ("curve_2", "curve_4", "curve_1", "curve_3")  # of the first GPU, the second ...
GPU_LINES = (Qt.PenStyle.SolidLine, *COMPARED_LINES)
_LINE_NAMES = (
    QT_TRANSLATE_NOOP("plots", "solid"),
    QT_TRANSLATE_NOOP("plots", "dashed"),
    QT_TRANSLATE_NOOP("plots", "dotted"),
    QT_TRANSLATE_NOOP("plots", "dash-dotted"),
)


@dataclass(frozen=True)
class PlotDefinition:
    """Plot description.

    id: key of the stored choice.
    values: names in a RunSeries; with `per_gpu` one set per GPU.
    legend: value shown in the legend.
    low, high: fixed ends of the axis.
    log: logarithmic axis.
    factor: display factor of the values.
    shown: initially visible.
    """

    id: str
    title: str
    values: tuple[str, ...]
    role: str = "curve_1"
    legend: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    factor: float = 1.0
    unit: str = ""
    per_gpu: bool = False
    shown: bool = False

    @property
    def compared(self) -> bool:
        """True if the plot is drawn for several runs, as those of the computer are not."""
        return not self.per_gpu and self.id not in ("cpu", "ram")


PLOTS: tuple[PlotDefinition, ...] = (
    PlotDefinition("loss", QT_TRANSLATE_NOOP("plots", "Loss"), ("loss",), legend="smoothed", shown=True),
    PlotDefinition("score", QT_TRANSLATE_NOOP("plots", "Dice, any defect"), ("score",), "curve_3", low=0, shown=True),
    PlotDefinition("rate", QT_TRANSLATE_NOOP("plots", "Learning rate"), ("rate",), low=0),
    PlotDefinition("grad_norm", QT_TRANSLATE_NOOP("plots", "Gradient norm"), ("grad_norm",), log=True),
    PlotDefinition("loss_scale", QT_TRANSLATE_NOOP("plots", "Loss scale"), ("loss_scale",), log=True),
    PlotDefinition("images_per_second", QT_TRANSLATE_NOOP("plots", "Patches/s"), ("images_per_second",), low=0),
    PlotDefinition(
        "data_wait", QT_TRANSLATE_NOOP("plots", "Data wait"), ("data_wait",), low=0, high=100, factor=100, unit="%"
    ),
    PlotDefinition(
        "gpu_load",
        QT_TRANSLATE_NOOP("plots", "GPU load"),
        ("load",),
        "curve_2",
        low=0,
        high=100,
        unit="%",
        per_gpu=True,
        shown=True,
    ),
    PlotDefinition(
        "gpu_memory",
        QT_TRANSLATE_NOOP("plots", "GPU memory"),
        ("used", "reserved", "total"),
        "curve_4",
        low=0,
        unit="GB",
        per_gpu=True,
        shown=True,
    ),
    PlotDefinition(
        "temperature", QT_TRANSLATE_NOOP("plots", "Temperature"), ("temperature",), "curve_2", unit="°C", per_gpu=True
    ),
    PlotDefinition("power", QT_TRANSLATE_NOOP("plots", "Power"), ("power",), "curve_2", low=0, unit="W", per_gpu=True),
    PlotDefinition(
        "clock", QT_TRANSLATE_NOOP("plots", "Clock"), ("clock",), "curve_2", low=0, unit="MHz", per_gpu=True
    ),
    PlotDefinition(
        "cpu", QT_TRANSLATE_NOOP("plots", "CPU load"), ("cpu",), "curve_2", low=0, high=100, unit="%", shown=True
    ),
    PlotDefinition(
        "ram", QT_TRANSLATE_NOOP("plots", "Memory"), ("ram", "ram_total"), "curve_4", low=0, unit="GB", shown=True
    ),
)


def title(definition: PlotDefinition, series: RunSeries) -> str:
    """Return the plot's title; the verdict metric has a title of its own."""
    if definition.id == "score" and series.started is not None and series.started.model == "resnet":
        return QCoreApplication.translate("plots", "F1, mean of verdicts")
    return QCoreApplication.translate("plots", definition.title)


def names(definition: PlotDefinition, series: RunSeries) -> list[str]:
    """Return the drawn values: the smoothed loss last, several GPUs one after another."""
    if definition.id == "score":
        return [series.metric]
    if definition.per_gpu:
        return [f"{value} {gpu}" for gpu in shown_gpus(series) for value in definition.values]
    return list(definition.values)


def shown_value(definition: PlotDefinition, series: RunSeries, time: float) -> str:
    """Return the legend text of a moment: several GPUs one after another."""
    if definition.per_gpu:
        values = [series.at(f"{definition.values[0]} {gpu}", time) for gpu in shown_gpus(series)]
    else:
        values = [series.at(definition.legend or names(definition, series)[0], time)]
    digits = {"%": 0, "GB": 1, "°C": 0, "W": 0, "MHz": 0}.get(definition.unit)
    known = [number(value * definition.factor, digits) for value in values if value == value]
    space = "" if definition.unit == "%" else " "
    return f"{' · '.join(known)}{space}{definition.unit}".strip() if known else "–"


def metric_tip(series: RunSeries) -> str:
    """Return the explanation of the metric and of the star in its plot."""
    if series.started is not None and series.started.model == "resnet":
        return QCoreApplication.translate(
            "plots",
            "Mean F1 score of the verdicts on the validation images. The star marks the model that is kept: the newest "
            "one that is not worse than the highest point by more than the standard error of the difference, measured "
            "part by part on the same images.",
        )
    return QCoreApplication.translate(
        "plots",
        "Dice of any defect on the validation images. The star marks the model that is kept, by the mean of this Dice "
        "and of the mean of classes: the newest one that is not worse than the highest point by more than the standard "
        "error of the difference, measured part by part on the same images.",
    )


def shown_gpus(series: RunSeries) -> list[int]:
    """Return the numbers of the GPUs whose curves are shown: those that train, as far as known."""
    return [number for number, name in enumerate(series.gpu_names) if name]


def gpu_names(series: RunSeries) -> str:
    """Return the names of the GPUs whose curves are shown, one per line; of several GPUs with the kind of line."""
    lines = [QCoreApplication.translate("plots", name) for name in _LINE_NAMES]
    shown = shown_gpus(series)
    return "\n".join(
        f"GPU {gpu}: {series.gpu_names[gpu]}" + (f" ({lines[place % len(lines)]})" if len(shown) > 1 else "")
        for place, gpu in enumerate(shown)
    )


def number(value: float, digits: int | None = None) -> str:
    """Format with `digits` decimal places; None: about three significant digits."""
    magnitude = abs(value)
    if digits is not None:
        return formatting.number(value, digits)
    if magnitude >= 1e6 or (0 < magnitude < 1e-3):
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")
    return formatting.number(value, 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 0.1 else 4)


def missing(definition: PlotDefinition, series: RunSeries, *, live: bool) -> str:
    """Return the reason, a sentence, if a plot has no data; "" if it has or may get some."""
    translate: Callable[[str], str] = formatting.translate_message
    begun = series.started
    if definition.per_gpu and not series.gpu_names and series.no_gpu_reason:
        reason = translate(series.no_gpu_reason)
        return reason[:1].upper() + reason[1:]
    if begun is None:
        return ""
    if definition.id == "loss_scale" and begun.precision != "fp16" and not series.has("loss_scale"):
        reason = QCoreApplication.translate("plots", "Only fp16 training uses a loss scale. This run uses {name}.")
        return " ".join(filter(None, (reason.format(name=begun.precision), translate(begun.precision_reason))))
    if definition.id == "score" and not begun.pictures.get("val", 1):
        return QCoreApplication.translate("plots", "No validation images, so there is no metric.")
    if not live and series.steps.count and not any(series.has(name) for name in names(definition, series)):
        return QCoreApplication.translate("plots", "This run has no data for this curve.")
    return ""


def title_points() -> float:
    """Return the size of the titles of plots in points."""
    return _TITLE_POINTS * text_scale()


def title_height() -> float:
    """Return the height of the titles in px, which is the same for all plots in a language."""
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(title_points())
    return line_height(title(PLOTS[0], RunSeries()), font) + 3


def line_color(theme: Theme, role: str, main: bool) -> QColor:
    """Return the color of a line, faint unless it is a main one; opaque, as others take long to draw."""
    color, ground = theme.color(role), theme.color("panel")
    parts = zip(color.getRgb()[:3], ground.getRgb()[:3], strict=True)
    return color if main else QColor(*(round(0.4 * front + 0.6 * back) for front, back in parts))
