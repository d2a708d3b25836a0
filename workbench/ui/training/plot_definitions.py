"""Table of plots: title, values and axis of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.runs.run_series import RunSeries
from workbench.ui.text import formatting

GPU_ROLES = ("curve_2", "curve_4", "curve_1", "curve_3")  # of the first GPU, the second ...


@dataclass(frozen=True)
class PlotDefinition:
    """Plot description. id: key of the stored choice. values: names in a Track; with `per_card` one set per GPU.

    told: value shown in the legend. low, high: fixed ends of the axis. log: logarithmic axis. factor: display factor of
    the values. compared: drawn for several runs. shown: initially visible.
    """

    id: str
    title: str
    values: tuple[str, ...]
    role: str = "curve_1"
    told: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    factor: float = 1.0
    unit: str = ""
    compared: bool = True
    per_card: bool = False
    shown: bool = False


PLOTS: tuple[PlotDefinition, ...] = (
    PlotDefinition("loss", QT_TRANSLATE_NOOP("plots", "Loss"), ("loss",), told="smoothed", shown=True),
    PlotDefinition("score", QT_TRANSLATE_NOOP("plots", "Score"), ("score",), "curve_3", low=0, shown=True),
    PlotDefinition("rate", QT_TRANSLATE_NOOP("plots", "Learning rate"), ("rate",), low=0),
    PlotDefinition("grad_norm", QT_TRANSLATE_NOOP("plots", "Gradient norm"), ("grad_norm",), log=True),
    PlotDefinition("loss_scale", QT_TRANSLATE_NOOP("plots", "Loss scale"), ("loss_scale",), log=True),
    PlotDefinition("images_per_second", QT_TRANSLATE_NOOP("plots", "Pictures/s"), ("images_per_second",), low=0),
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
        compared=False,
        per_card=True,
        shown=True,
    ),
    PlotDefinition(
        "gpu_memory",
        QT_TRANSLATE_NOOP("plots", "GPU memory"),
        ("used", "reserved", "total"),
        "curve_4",
        low=0,
        unit="GB",
        compared=False,
        per_card=True,
        shown=True,
    ),
    PlotDefinition(
        "temperature",
        QT_TRANSLATE_NOOP("plots", "Temperature"),
        ("temperature",),
        "curve_2",
        unit="°C",
        compared=False,
        per_card=True,
    ),
    PlotDefinition(
        "power",
        QT_TRANSLATE_NOOP("plots", "Power"),
        ("power",),
        "curve_2",
        low=0,
        unit="W",
        compared=False,
        per_card=True,
    ),
    PlotDefinition(
        "clock",
        QT_TRANSLATE_NOOP("plots", "Clock"),
        ("clock",),
        "curve_2",
        low=0,
        unit="MHz",
        compared=False,
        per_card=True,
    ),
    PlotDefinition(
        "cpu",
        QT_TRANSLATE_NOOP("plots", "Processor load"),
        ("cpu",),
        "curve_2",
        low=0,
        high=100,
        unit="%",
        compared=False,
        shown=True,
    ),
    PlotDefinition(
        "ram",
        QT_TRANSLATE_NOOP("plots", "Memory"),
        ("ram", "ram_total"),
        "curve_4",
        low=0,
        unit="GB",
        compared=False,
        shown=True,
    ),
)


def title(row: PlotDefinition, track: RunSeries) -> str:
    """Return the plot's title; the verdict metric has a title of its own."""
    if row.id == "score" and track.begun is not None and track.begun.model == "resnet":
        return "Macro F1"
    return QCoreApplication.translate("plots", row.title)


def names(row: PlotDefinition, track: RunSeries) -> list[str]:
    """Return the drawn values: the smoothed loss last, several GPUs one after another."""
    if row.per_card:
        return [f"{value} {card}" for card in range(len(track.cards)) for value in row.values]
    return list(row.values)


def shown_value(row: PlotDefinition, track: RunSeries, time: float) -> str:
    """Return the legend text of a moment: several GPUs one after another."""
    if row.per_card:
        values = [track.at(f"{row.values[0]} {card}", time) for card in range(len(track.cards))]
    else:
        values = [track.at(row.told or row.values[0], time)]
    digits = {"%": 0, "GB": 1, "°C": 0, "W": 0, "MHz": 0}.get(row.unit)
    known = [number(value * row.factor, digits) for value in values if value == value]
    return f"{' · '.join(known)} {row.unit}".strip() if known else "–"


def number(value: float, digits: int | None = None) -> str:
    """Format with `digits` decimal places; None: about three significant digits."""
    size = abs(value)
    if digits is not None:
        return formatting.number(value, digits)
    if size >= 1e6 or (0 < size < 1e-3):
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")
    return formatting.number(value, 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 4)


def missing(row: PlotDefinition, track: RunSeries, *, live: bool) -> str:
    """Return the reason, a sentence, if a plot has no data; "" if it has or may get some."""
    told: Callable[[str], str] = formatting.translate_message
    begun = track.begun
    if row.per_card and not track.cards and track.no_cards:
        return told(track.no_cards)
    if begun is None:
        return ""
    if row.id == "loss_scale" and begun.precision != "fp16" and not track.has("loss_scale"):
        reason = QCoreApplication.translate(
            "plots", "Only 16-bit floats (fp16) need a loss scale; this run uses {name}."
        )
        return " ".join(filter(None, (reason.format(name=begun.precision), told(begun.precision_reason))))
    if row.id == "score" and not begun.pictures.get("val", 1):
        return QCoreApplication.translate("plots", "No picture is held out, so there is no score.")
    if not live and track.steps.count and not any(track.has(name) for name in names(row, track)):
        return QCoreApplication.translate("plots", "This run has no data for this curve.")
    return ""
