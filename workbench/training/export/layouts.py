"""Common parts of the writers of layouts: their source, and the description of the preprocessing.

A writer is a function (folder, settings, source) -> Parity. It returns the comparison with the run; a reason in it
means that no files were written.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.core.runs.export_options import LAYOUTS
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import MAX_VALUE, MIN_VALUE
from workbench.training.export.export_metadata import metadata
from workbench.training.export.line_export import Images
from workbench.training.export.parity import Parity


@dataclass(frozen=True)
class LayoutSource:
    """Source of a layout.

    net: the trained network. images: name, and a function that returns the pixels. parity: of the engines. check:
    called between images; may raise to stop.
    """

    net: Any
    images: Images
    parity: Mapping[str, Parity]
    check: Callable[[], None]

    def copied(self, engine: str) -> Parity:
        """Return the comparison of a layout that contains the network file of an engine."""
        return replace(self.parity[engine], rows=[])


def write_layout(name: str, folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write a layout of `LAYOUTS` with its writer, unless the engine that it contains was left out."""
    layout = LAYOUTS[name]
    if layout.engine and layout.engine not in settings.files:
        return source.copied(layout.engine)
    module, _, function = layout.code.partition(":")
    own = "." not in module  # others are those of plug-ins
    write = getattr(importlib.import_module(f"workbench.training.export.{module}" if own else module), function)
    return write(folder, settings, source)


def facts(settings: ModelSettings) -> dict[str, str]:
    """Return the metadata of the model, without the content of model.json, and the preprocessing, as texts by name."""
    values = metadata(settings)
    del values["settings"]
    return {**values, **preprocessing(settings)}


def preprocessing(settings: ModelSettings) -> dict[str, str]:
    """Return the steps from pixels to the input of the network, as texts by name."""
    values = {
        "color": "gray" if settings.channels == 1 else "RGB",
        "full_scale": str(settings.full_scale),
        "low": str(settings.low),
        "high": str(settings.high),
        "clip": f"{MIN_VALUE} {MAX_VALUE}",
        "mean": " ".join(map(str, settings.mean)),
        "std": " ".join(map(str, settings.std)),
        "mirrored": " ".join(settings.mirrored),
        "preprocessing": "input = (clip((pixel - low) / (high - low)) - mean) / std, with pixels of 0 to full_scale",
    }
    if settings.task == "classification":
        return {
            **values,
            "resize": f"{settings.input_size}x{settings.input_size}, area",
            "temperature": str(settings.temperature),
        }
    return {**values, "scale": str(settings.scale), "multiple": str(settings.multiple), "tile": str(settings.tile)}


def safe_name(settings: ModelSettings) -> str:
    """Return a name of the model of ASCII letters, digits, "-" and "_"."""
    name = re.sub(r"[^a-z0-9_-]+", "-", settings.name.lower(), flags=re.ASCII).strip("-")[:60]
    return name or ("defects" if settings.task == "segmentation" else "verdicts")
