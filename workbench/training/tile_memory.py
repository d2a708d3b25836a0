"""Evaluation with smaller tiles if the memory is insufficient."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from workbench.inference.model_settings import ModelSettings
from workbench.training.device import Device, release_memory

_MIN_TILE = 64  # network pixels

Result = TypeVar("Result")


def within_memory(
    evaluate: Callable[[ModelSettings], Result],
    settings: ModelSettings,
    device: Device,
    reduced: Callable[[ModelSettings], None] = lambda settings: None,
) -> Result:
    """Return the result of `evaluate`, repeated with smaller tiles while the memory is insufficient. Raise MemoryError.

    reduced: called with the settings of each repetition.
    """
    while True:
        try:
            return evaluate(settings)
        except MemoryError:
            smaller = smaller_tile(settings)
            if smaller is None:
                raise
        settings = smaller
        release_memory(device)
        reduced(settings)


def smaller_tile(settings: ModelSettings) -> ModelSettings | None:
    """Return settings with half the tile, for less memory; None if the network accepts no smaller one."""
    if settings.task == "classification":
        return None
    tile = settings.tile // 2 // settings.multiple * settings.multiple
    if tile < max(_MIN_TILE, settings.multiple):
        return None
    return dataclasses.replace(settings, tile=tile, overlap=min(settings.overlap, tile // 2))
