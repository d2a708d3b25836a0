"""Checks of the settings of a model: types, ranges, and values that depend on each other."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from numbers import Real
from pathlib import PurePosixPath
from typing import Any

FORMAT = 1
UNSURE = "unsure"  # verdict if the greatest probability is below `ModelSettings.unsure`

# Mirrored evaluations (test-time augmentation): the axes of (N,C,H,W) that are flipped.
MIRRORED: dict[str, tuple[int, ...]] = {"left_right": (3,), "upside_down": (2,), "both": (2, 3)}


class SettingsError(Exception):
    """Invalid settings; the text is a sentence."""


def require(condition: object, sentence: str) -> None:
    """Raise SettingsError with a sentence, without its full stop, if a condition is not met."""
    if not condition:
        raise SettingsError(f"{sentence}.")


def _check_integer(value: Any, low: int, high: int, name: str) -> None:
    valid = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    require(valid, f"{name} must be a whole number from {low} to {high}, not {value!r}")


def _check_number(value: Any, name: str) -> None:
    valid = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    require(valid, f"{name} must be a number, not {value!r}")


def _check_positive(value: Any, name: str) -> None:
    _check_number(value, name)
    require(value > 0, f"{name} must be above 0, not {value!r}")


def _check_sequence(values: Any, length: int, name: str) -> None:
    valid = isinstance(values, tuple) and len(values) == length
    require(valid, f"{name} must be a list of {length}, not {values!r}")


def check_settings(settings: Any) -> None:
    """Raise SettingsError for the first setting that is invalid or does not fit the others. settings: ModelSettings."""
    require(settings.format == FORMAT, f"format must be {FORMAT}, not {settings.format!r}")
    require(isinstance(settings.name, str) and isinstance(settings.run, str), "name and run must be text")
    require(settings.task in ("segmentation", "classification"), f"the task {settings.task!r} is not known")
    _check_values(settings)
    _check_names(settings)
    if settings.task == "segmentation":
        _check_tiles(settings)
    else:
        _check_integer(settings.input_size, 1, 16384, "input_size")
        _check_positive(settings.temperature, "temperature")
        _check_number(settings.unsure, "unsure")
        require(0 <= settings.unsure < 1, f"unsure must be at least 0 and below 1, not {settings.unsure!r}")
        reserved = settings.unsure and UNSURE in settings.verdicts
        require(not reserved, f"a verdict is named {UNSURE!r} itself, so nothing else can be called that")
    valid = isinstance(settings.mirrored, tuple) and all(
        isinstance(n, str) and n in MIRRORED for n in settings.mirrored
    )
    require(valid and _is_unique(settings.mirrored), f"mirrored must name some of {', '.join(MIRRORED)}, each once")
    if settings.um_per_pixel is not None:
        _check_positive(settings.um_per_pixel, "um_per_pixel")
    _check_integer(settings.batch, 1, 4096, "batch")
    _check_integer(settings.threads, 0, 4096, "threads")
    _check_files(settings.files)
    order = settings.order
    valid_order = isinstance(order, tuple) and all(isinstance(name, str) and name in settings.files for name in order)
    require(valid_order, "order must name engines that files names too")


def _check_values(settings: Any) -> None:
    require(settings.channels in (1, 3), f"channels must be 1 or 3, not {settings.channels!r}")
    _check_positive(settings.full_scale, "full_scale")
    _check_number(settings.low, "low")
    _check_number(settings.high, "high")
    require(settings.high > settings.low, "high must be above low")
    _check_sequence(settings.mean, settings.channels, "mean")
    _check_sequence(settings.std, settings.channels, "std")
    for value in settings.mean:
        _check_number(value, "mean")
    for value in settings.std:
        _check_positive(value, "std")


def _check_names(settings: Any) -> None:
    _check_integer(settings.verdict_border, 0, 16384, "verdict_border")
    _check_integer(settings.anomaly_exponent, 1, 64, "anomaly_exponent")
    _check_integer(settings.border_exponent, 0, 16, "border_exponent")
    if settings.task == "classification":
        require(settings.verdict_rule is None, "only a segmentation has a verdict_rule")
        require(settings.verdict_border == 0, "only a segmentation has a verdict_border")
        require(settings.anomaly_exponent == 1, "only a segmentation has an anomaly_exponent")
        require(settings.border_exponent == 0, "only a segmentation has a border_exponent")
        require(isinstance(settings.verdicts, tuple) and settings.verdicts, "a classification needs verdicts")
        require(all(isinstance(name, str) and name for name in settings.verdicts), "verdicts must be names")
        require(_is_unique(settings.verdicts), "two verdicts have the same name")
        return
    require(settings.classes, "a segmentation needs at least one class")
    for entry in settings.classes:
        _check_integer(entry.id, 1, 253, "a class id")
        require(isinstance(entry.name, str) and entry.name, "a class needs a name")
        valid = isinstance(entry.color, str) and re.fullmatch("#[0-9a-fA-F]{6}", entry.color)
        require(valid, f'the colour of a class must be "#rrggbb", not {entry.color!r}')
    require(_is_unique([entry.id for entry in settings.classes]), "two classes have the same id")
    require(_is_unique([entry.name for entry in settings.classes]), "two classes have the same name")
    _check_sequence(settings.thresholds, len(settings.classes), "thresholds")
    _check_sequence(settings.min_area, len(settings.classes), "min_area")
    for value in settings.thresholds:
        _check_number(value, "a threshold")
        require(0 < value <= 1, f"a threshold must be above 0 and at most 1, not {value!r}")
    for value in settings.min_area:
        _check_integer(value, 0, 2**53, "min_area")
    limits = settings.verdict_rule.limits if settings.verdict_rule is not None else ()
    known = {entry.id for entry in settings.classes}
    require(all(limit.class_id in known for limit in limits), "verdict_rule has a limit of an unknown class")


def _check_tiles(settings: Any) -> None:
    _check_positive(settings.scale, "scale")
    require(settings.scale <= 16, f"scale must be at most 16, not {settings.scale!r}")
    _check_integer(settings.multiple, 1, 4096, "multiple")
    _check_integer(settings.tile, 1, 16384, "tile")
    require(settings.tile % settings.multiple == 0, f"tile must be a multiple of {settings.multiple}")
    _check_integer(settings.overlap, 0, settings.tile - 1, "overlap")


def _check_files(files: Any) -> None:
    require(isinstance(files, dict), "files must name a file for each engine")
    for engine, name in files.items():
        require(
            isinstance(engine, str) and isinstance(name, str) and name,
            "files must name a file for each engine",
        )
        parts = PurePosixPath(name).parts
        inside = not name.startswith("/") and ".." not in parts and not set(name) & set("\\:\0")
        short = len(name) < 1000 and all(len(part.encode("utf-8", "replace")) < 256 for part in parts)
        require(short, f"the name of a file is too long: {name[:50]!r}...")
        require(inside, f"the file {name!r} lies outside the folder of the model")


def _is_unique(values: Sequence[Any]) -> bool:
    return len(set(values)) == len(values)
