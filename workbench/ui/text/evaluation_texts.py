"""Texts of evaluation metrics: one number if enough was counted, else only the interval."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from workbench.core.evaluation.evaluation_summary import Proportion, RatePerImage, SizeSummary
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting

NOTHING = "–"


def share(proportion: Proportion) -> str:
    """Return a share as "36%", or as "25–50%" if the counts are too small for one number."""
    if proportion.value is None or proportion.interval is None:
        return NOTHING
    return formatting.percent(proportion.value) if proportion.digit else between(proportion.interval)


def between(interval: list[float]) -> str:
    """Return the interval of a share, such as "25–50%"."""
    low, high = (formatting.number(100 * edge) for edge in interval)
    return QCoreApplication.translate("review", "{low}–{high}%").format(low=low, high=high)


def counted(proportion: Proportion) -> str:
    """Return counts and interval, such as "20 of 55; 95% CI 25–50%"."""
    if proportion.interval is None:
        return QCoreApplication.translate("review", "No defects labeled")
    text = QCoreApplication.translate("review", "{hits} of {total}").format(
        hits=formatting.number(proportion.hits), total=formatting.number(proportion.total)
    )
    if not proportion.digit:
        few = QCoreApplication.translate("review", "too few for a single value; 95% CI {range}")
        return formatting.clauses(text, few.format(range=between(proportion.interval)))
    interval_text = QCoreApplication.translate("review", "95% CI {range}")
    return formatting.clauses(text, interval_text.format(range=between(proportion.interval)))


def images(proportion: Proportion) -> str:
    """Return counts of images and interval, such as "20 of 55 (95% CI 25–50%)"."""
    text = QCoreApplication.translate("review", "{hits} of {total}").format(
        hits=formatting.number(proportion.hits), total=formatting.number(proportion.total)
    )
    if proportion.interval is None:
        return text
    interval_text = QCoreApplication.translate("review", "95% CI {range}").format(range=between(proportion.interval))
    return f"{text} ({interval_text})"


def rate(rate_per_image: RatePerImage | None) -> str:
    """Return the false alarms per image."""
    return NOTHING if rate_per_image is None or rate_per_image.value is None else _digits(rate_per_image.value)


def rate_range(rate_per_image: RatePerImage) -> str:
    """Return the interval of a rate, such as "0.5–2.4"."""
    if rate_per_image.interval is None:
        return NOTHING
    return QCoreApplication.translate("review", "{low}–{high}").format(
        low=_digits(rate_per_image.interval[0]), high=_digits(rate_per_image.interval[1])
    )


def rate_counted(rate_per_image: RatePerImage) -> str:
    text = fill(
        QCoreApplication.translate("review", "{count} on {pictures} {pictures:image|images}"),
        count=formatting.number(rate_per_image.count),
        pictures=formatting.number(rate_per_image.images),
    )
    if rate_per_image.interval is None:
        few = QCoreApplication.translate("review", "too few parts for a 95% CI")
        return formatting.clauses(text, few) if rate_per_image.images else text
    interval_text = QCoreApplication.translate("review", "95% CI {range}")
    return formatting.clauses(text, interval_text.format(range=rate_range(rate_per_image)))


def score(value: float | None) -> str:
    """Return Dice or IoU with two digits."""
    return NOTHING if value is None else formatting.number(value, 2)


def size(size_class: SizeSummary, um_per_pixel: float | None) -> str:
    """Return a range of areas, such as "120 to 900 px²", or in µm² or mm² if the scale is known."""
    limits = (size_class.least, size_class.below)
    if um_per_pixel is None:
        unit = QCoreApplication.translate("review", "px²")
        low, high = (None if limit is None else formatting.number(float(f"{limit:.3g}")) for limit in limits)
    else:
        pixel = um_per_pixel**2
        unit, factor = formatting.metric_unit(max(filter(None, limits), default=0) * pixel, 2)
        low, high = (None if limit is None else formatting.significant(limit * pixel / factor) for limit in limits)
    if high is None:
        return QCoreApplication.translate("review", "{low} {unit} and more").format(low=low, unit=unit)
    if not size_class.least:
        return QCoreApplication.translate("review", "below {high} {unit}").format(high=high, unit=unit)
    return QCoreApplication.translate("review", "{low} to {high} {unit}").format(low=low, high=high, unit=unit)


def threshold(point: OperatingPoint, channels: list[int]) -> str:
    """Return the threshold of the given classes: "0.50", or "0.50–0.98" if they differ."""
    values = [point.thresholds[channel] for channel in channels]
    low, high = formatting.number(min(values), 2), formatting.number(max(values), 2)
    return low if low == high else f"{low}–{high}"


def least_area(point: OperatingPoint, channels: list[int], um_per_pixel: float | None) -> str:
    values = [point.min_area[channel] for channel in channels]
    if min(values) == max(values):
        return formatting.area(values[0], um_per_pixel).rpartition("  ·  ")[2] if values[0] else NOTHING
    return QCoreApplication.translate("review", "{low}–{high} px²").format(
        low=formatting.number(min(values)), high=formatting.number(max(values))
    )


def _digits(value: float) -> str:
    return formatting.number(value, 0 if value >= 10 else 1 if value >= 1 else 2)
