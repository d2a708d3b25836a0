"""Texts of evaluation metrics: one number if enough was counted, else only the interval."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from workbench.core.evaluation.evaluation_summary import Proportion, RatePerImage, SizeSummary
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.ui.text import formatting

NOTHING = "–"


def share(found: Proportion) -> str:
    """Return a share as "36 %", or as "25–50 %" if the counts are too small for one number."""
    if found.value is None or found.interval is None:
        return NOTHING
    return formatting.percent(found.value) if found.digit else between(found.interval)


def between(interval: list[float]) -> str:
    """Return the interval of a share, such as "25–50 %"."""
    low, high = (formatting.number(100 * edge) for edge in interval)
    return QCoreApplication.translate("review", "{low}–{high}%").format(low=low, high=high)


def counted(found: Proportion) -> str:
    """Return counts and interval, such as "20 of 55; 95 % sure of 25–50 %"."""
    if found.interval is None:
        return QCoreApplication.translate("review", "No defects labeled")
    text = QCoreApplication.translate("review", "{hits} of {total}").format(
        hits=formatting.number(found.hits), total=formatting.number(found.total)
    )
    if not found.digit:
        few = QCoreApplication.translate("review", "too few for a single value; 95% CI {range}")
        return f"{text}; {few.format(range=between(found.interval))}"
    sure = QCoreApplication.translate("review", "95% CI {range}")
    return f"{text}; {sure.format(range=between(found.interval))}"


def rate(false: RatePerImage | None) -> str:
    """Return the false alarms per image."""
    return NOTHING if false is None or false.value is None else _digits(false.value)


def rate_range(false: RatePerImage) -> str:
    """Return the interval of a rate, such as "0.5–2.4"."""
    if false.interval is None:
        return NOTHING
    return QCoreApplication.translate("review", "{low}–{high}").format(
        low=_digits(false.interval[0]), high=_digits(false.interval[1])
    )


def rate_counted(false: RatePerImage) -> str:
    text = QCoreApplication.translate("review", "{count} on {pictures} images").format(
        count=formatting.number(false.count), pictures=formatting.number(false.images)
    )
    if false.interval is None:
        return text
    sure = QCoreApplication.translate("review", "95% CI {range}")
    return f"{text}; {sure.format(range=rate_range(false))}"


def score(value: float | None) -> str:
    """Return Dice or IoU with two digits."""
    return NOTHING if value is None else formatting.number(value, 2)


def size(of: SizeSummary, um_per_pixel: float | None) -> str:
    """Return a range of areas, such as "120 to 900 px²", or in µm² if the scale is known."""
    factor = 1.0 if um_per_pixel is None else um_per_pixel**2
    pixels, micrometres = QCoreApplication.translate("review", "px²"), QCoreApplication.translate("review", "µm²")
    unit = pixels if um_per_pixel is None else micrometres
    low, high = _area(of.least * factor), None if of.below is None else _area(of.below * factor)
    if high is None:
        return QCoreApplication.translate("review", "{low} {unit} and more").format(low=low, unit=unit)
    if not of.least:
        return QCoreApplication.translate("review", "below {high} {unit}").format(high=high, unit=unit)
    return QCoreApplication.translate("review", "{low} to {high} {unit}").format(low=low, high=high, unit=unit)


def threshold(point: OperatingPoint, which: list[int]) -> str:
    """Return the threshold of the given classes: "0.50", or "0.50–0.98" if they differ."""
    values = [point.thresholds[at] for at in which]
    low, high = formatting.number(min(values), 2), formatting.number(max(values), 2)
    return low if low == high else f"{low}–{high}"


def least_area(point: OperatingPoint, which: list[int], um_per_pixel: float | None) -> str:
    values = [point.min_area[at] for at in which]
    if min(values) == max(values):
        return formatting.area(values[0], um_per_pixel).rpartition("  ·  ")[2] if values[0] else NOTHING
    return QCoreApplication.translate("review", "{low}–{high} px²").format(
        low=formatting.number(min(values)), high=formatting.number(max(values))
    )


def _digits(value: float) -> str:
    return formatting.number(value, 0 if value >= 10 else 1 if value >= 1 else 2)


def _area(value: float) -> str:
    return formatting.number(float(f"{value:.3g}"), 0 if value >= 10 else 2)
