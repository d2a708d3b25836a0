"""Paddle Lite network (.nb), created by its converter for embedded CPUs. It runs in a Python that has paddlelite."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO

import numpy as np

from ..model_settings import EngineOptions, ModelSettings
from .feature_engine import Outputs

PYTHON_VARIABLE = "WORKBENCH_LITE_PYTHON"  # names the program


def lite_python() -> str | None:
    """Return the Python program that has paddlelite, None if none is known."""
    return os.environ.get(PYTHON_VARIABLE) or (sys.executable if find_spec("paddlelite") else None)


def lite_command(*arguments: str | Path) -> list[str]:
    """Return a command line of `paddle_lite_program`."""
    return [
        lite_python() or sys.executable,
        str(Path(__file__).with_name("paddle_lite_program.py")),
        *map(str, arguments),
    ]


def unavailable() -> str:
    """Return the reason why Paddle Lite cannot be used, as a part of a sentence; "" if it can."""
    python = lite_python()
    if python is None:
        return (
            "paddlelite, which is not installed: pip install paddlelite==2.13rc0 in Python 3.8, since there are no "
            f"packages for later versions, and name that Python with --lite-python or {PYTHON_VARIABLE}"
        )
    return "" if os.path.isfile(python) else f"a Python with paddlelite: {python} is no file"


class LiteEngine:
    """Callable: float32 batch to float32 batch. Raises RuntimeError if the process of the network ends."""

    name = "lite"
    device = "cpu"

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> LiteEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path)

    def __init__(self, path: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - for the life of the process
        self._process = subprocess.Popen(
            lite_command("run", path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        weakref.finalize(self, _end, self._process, self._errors)
        self._lock = Lock()  # one request at a time

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self.with_features(batch)[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        with self._lock:
            try:
                requests.write(" ".join(map(str, batch.shape)).encode() + b"\n" + batch.astype(np.float32).tobytes())
                requests.flush()
                output, *features = [_array(answers) for _ in range(int(answers.readline()))]
            except (OSError, ValueError) as error:
                raise RuntimeError(f"Paddle Lite ended: {self._last_words()}") from error
            return output, features[0] if features else None

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # its pipe is closed before its last line is written
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def _array(answers: IO[bytes]) -> np.ndarray:
    """Read an array. Raises ValueError at the end of the process."""
    shape = [int(side) for side in answers.readline().split()]
    if not shape:
        raise ValueError
    return np.frombuffer(answers.read(4 * math.prod(shape)), np.float32).reshape(shape).copy()


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout, errors):
        assert stream is not None
        with contextlib.suppress(OSError):  # a request that was not written
            stream.close()
    process.wait()
