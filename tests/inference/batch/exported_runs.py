"""Runs of an export as a program, and exports that are changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

# An export must do without these even where they are installed.
_ABSENT = ("workbench", "PIL", "tifffile", "pydantic", "psutil", "PySide6", "paddle", "onnx", "scipy")


_BARE = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({_ABSENT!r}))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(
    export: Path, *arguments: object, cwd: Path | None = None, without: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run predict.py isolated (-I: no PYTHONPATH, no current folder), without the modules of `_ABSENT`."""
    program = _BARE.replace(repr(_ABSENT), repr((*_ABSENT, *without)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", program, str(export / "predict.py"), *map(str, arguments)],
        cwd=cwd or export.parent,
        env={**environment, "PYTHONPATH": ""},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def change_weights(export: Path) -> None:
    path = next(export.rglob("*.onnx"))
    model = onnx.load(path)
    kernel = numpy_helper.to_array(model.graph.initializer[0]).copy()
    kernel.flat[0] += 0.5
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(kernel, "kernel"))
    path.write_bytes(model.SerializeToString())


class Jittery:
    """Engine with the rounding errors of another CPU, on which sums are computed in another order."""

    def __init__(self, engine, size: float) -> None:
        self._engine, self._size, self._rng = engine, size, np.random.default_rng(0)

    def __call__(self, batch):
        answer = self._engine(batch)
        return answer + self._rng.normal(0, self._size, answer.shape).astype(np.float32)
