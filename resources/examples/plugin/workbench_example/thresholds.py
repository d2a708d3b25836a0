"""Layout of an export: the thresholds of the model as a text file."""

from __future__ import annotations

from pathlib import Path

from workbench.core.runs.export_options import Layout
from workbench.inference.model_settings import ModelSettings

LAYOUT = Layout("workbench_example.thresholds:write", "thresholds.txt", "programs that read thresholds", "onnx")


def write(folder: Path, settings: ModelSettings, source):  # source: a `LayoutSource`
    lines = [f"{info.name} {value:g}" for info, value in zip(settings.classes, settings.thresholds)]
    (folder / LAYOUT.file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source.copied("onnx")
