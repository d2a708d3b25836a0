"""Units in which lengths and areas are stated."""

from __future__ import annotations


def metric_unit(largest: float, power: int) -> tuple[str, float]:
    """Return the unit in which values up to `largest` are stated: its name, and its size in µm or µm².

    power: 1 for lengths in µm, 2 for areas in µm². Values stated together have one unit.
    """
    small, large = ("µm", "mm") if power == 1 else ("µm²", "mm²")
    return (small, 1.0) if largest < 1000**power else (large, 1000.0**power)
