"""Versions that a result may depend on."""

from __future__ import annotations

import importlib.metadata
import platform

from workbench.training.device import processor_name

_PACKAGES = (
    *("numpy", "opencv-python-headless", "onnxruntime", "openvino"),
    *("paddlepaddle", "paddlepaddle-gpu", "onnx"),
)


def environment() -> dict[str, str]:
    """Return the system, processor, Python version, and the versions of the installed packages."""
    found = {"system": platform.platform(), "processor": processor_name(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
