"""Inference engines. Each library is imported at first use; importing this package requires none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from ..model_settings import EngineOptions, ModelSettings
from .registry import KINDS, is_installed, unavailable_reason

Engine = Callable[[np.ndarray], np.ndarray]  # may be called from several threads concurrently
NAMES = tuple(KINDS)


class EngineError(Exception):
    """Network that cannot be loaded or run; the text is a sentence."""


class NotFiniteError(EngineError):
    """Network whose output contains infinities or NaN."""


def available() -> list[str]:
    """Return the names of engines whose library is installed, in order of preference, without importing any."""
    return [name for name in KINDS if is_installed(name)]


def load_engine(name: str, folder: Path | str, settings: ModelSettings, threads: int | None = None) -> Engine:
    """Load a model's network with the named engine.

    threads: 0 for all, None for the value in the settings. Raises EngineError with a sentence.
    """
    if name not in KINDS:
        raise EngineError(f"There is no engine {name!r}; there are {', '.join(KINDS)}.")
    if name not in settings.files:
        available_engines = ", ".join(settings.files) or "none"
        raise EngineError(f"This model has no network for the engine {name!r} (it has: {available_engines}).")
    path = Path(folder) / settings.files[name]
    if not path.is_file():
        raise EngineError(f"The network {path} is missing.")
    why = unavailable_reason(name)
    if why:
        raise EngineError(why)
    tuning = settings.engines.get(name, EngineOptions(threads=settings.threads))
    if threads is not None:
        tuning = replace(tuning, threads=threads)
    try:
        return _create(name, path, settings, tuning)
    except Exception as error:  # the libraries raise various exceptions for a damaged file
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise EngineError(f"The network {path} cannot be loaded by {KINDS[name].module}: {lines[0]}") from error


def _create(name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> Engine:
    module, _, code = KINDS[name].code.partition(":")
    return getattr(import_module(f".{module}", __package__), code).load(name, path, settings, tuning)


def choose_engine(name: str, folder: Path | str, settings: ModelSettings, threads: int | None = None) -> Engine:
    """Load the named engine, or for "auto" the first one that the model supports and that loads on this machine.

    The order is the one measured when the model was exported, then that of `KINDS`. Raises EngineError.
    """
    if name != "auto":
        return load_engine(name, folder, settings, threads)
    if not settings.files:
        raise EngineError("This model names no network.")
    installed = available()
    order = dict.fromkeys([*settings.order, *KINDS])
    candidates = [engine for engine in order if engine in settings.files and engine in installed]
    if not candidates:
        first = next((engine for engine in order if engine in settings.files), "onnx")
        raise EngineError(f"No engine for this model is installed. {unavailable_reason(first)}")
    reasons = []
    for engine in candidates:
        try:
            return load_engine(engine, folder, settings, threads)
        except EngineError as error:
            reasons.append(str(error))
    raise EngineError(" ".join(reasons))
