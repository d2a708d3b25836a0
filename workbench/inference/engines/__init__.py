"""The libraries that can run a network. Each is imported when first used, and none is needed to import this."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ..settings import ModelSettings  # noqa: TID252  the package is copied under another name

# Name in a model's files, the library to import, what a person installs. In the order of preference.
_LIBRARIES = {
    "onnx": ("onnxruntime", "onnxruntime"),
    "paddle": ("paddle", "paddlepaddle"),
}


class EngineError(Exception):
    """A network that cannot be loaded or run; the text is a sentence."""


def available() -> list[str]:
    """Names of the engines whose library is installed here, the preferred first. Imports none of them."""
    return [name for name, (library, _) in _LIBRARIES.items() if find_spec(library) is not None]


def load_engine(
    name: str, folder: Path | str, settings: ModelSettings, threads: int
) -> Callable[[np.ndarray], np.ndarray]:
    """The network of a model, run by one engine. threads: 0 for all. Raises EngineError with a sentence."""
    if name not in _LIBRARIES:
        raise EngineError(f"There is no engine {name!r}; there are {', '.join(_LIBRARIES)}.")
    if name not in settings.files:
        offered = ", ".join(settings.files) or "none"
        raise EngineError(f"This model has no network for the engine {name!r} (it has: {offered}).")
    path = Path(folder) / settings.files[name]
    if not path.is_file():
        raise EngineError(f"The network {path} is missing.")
    library, package = _LIBRARIES[name]
    if find_spec(library) is None:
        raise EngineError(f"The engine {name!r} needs {library}, which is not installed: pip install {package}")
    try:
        if name == "onnx":
            from .onnx_runtime import OnnxEngine

            return OnnxEngine(path, threads)
        from .paddle_inference import PaddleEngine

        return PaddleEngine(path, threads)
    except Exception as error:  # the libraries raise whatever they like for a damaged file
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise EngineError(f"The network {path} cannot be loaded by {library}: {lines[0]}") from error


def choose_engine(
    name: str, folder: Path | str, settings: ModelSettings, threads: int
) -> Callable[[np.ndarray], np.ndarray]:
    """The named engine, or for "auto" the first that the model has a network for and that loads here."""
    if name != "auto":
        return load_engine(name, folder, settings, threads)
    if not settings.files:
        raise EngineError("This model names no network.")
    installed = available()
    candidates = [engine for engine in _LIBRARIES if engine in settings.files and engine in installed]
    if not candidates:
        wanted = " or ".join(_LIBRARIES[engine][1] for engine in settings.files if engine in _LIBRARIES)
        raise EngineError(f"No engine for this model is installed: pip install {wanted or 'onnxruntime'}")
    reasons = []
    for engine in candidates:
        try:
            return load_engine(engine, folder, settings, threads)
        except EngineError as error:
            reasons.append(str(error))
    raise EngineError(" ".join(reasons))
