"""Device that a training will use, as selected by the training program, which alone imports Paddle."""

from __future__ import annotations

import importlib.metadata
import json
import os
from functools import cache

from workbench.core.runs.child_process import run_captured
from workbench.core.runs.launch import worker_command, worker_environment

_SECONDS = 90.0  # a first start compiles nothing, but reads a gigabyte of libraries


def uses_gpu(device: str) -> bool:
    """Return True if a training with this setting of the device will use a GPU.

    For "auto" the training program is started, if there is a GPU at all, and selects its device; once per process.
    """
    device = device.strip().lower() or "auto"
    return device.startswith("gpu") if device != "auto" else _probe(os.environ.get("CUDA_VISIBLE_DEVICES"))


@cache
def _probe(visible: str | None) -> bool:
    if visible is not None and visible.split(",")[0].strip() in ("", "-1", "NoDevFiles"):
        return False
    if not _has_gpu():
        return False
    try:
        output = run_captured(worker_command("probe"), seconds=_SECONDS, environment=worker_environment())
        return str(json.loads(output.stdout.splitlines()[-1])["device"]).startswith("gpu")
    except (OSError, ValueError, LookupError, TypeError):
        return False  # a program that fails to select a device will not train on a GPU either


def _has_gpu() -> bool:
    """Return True if there are a GPU build of Paddle and a GPU, without importing Paddle, which takes seconds."""
    try:
        importlib.metadata.version("paddlepaddle-gpu")
        import pynvml

        pynvml.nvmlInit()
        try:
            return pynvml.nvmlDeviceGetCount() > 0
        finally:
            pynvml.nvmlShutdown()
    except Exception:  # no package, no driver or no GPU
        return False
