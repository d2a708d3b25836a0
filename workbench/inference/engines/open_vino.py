"""A network in ONNX, run by OpenVINO on the processor with all 32 bits of its numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from threading import Lock

import numpy as np

from ..tuning import Tuning  # noqa: TID252  the package is copied under another name


class OpenvinoEngine:
    """A callable float32 batch in, float32 batch out. precision: what OpenVINO says it computes with, "float32"."""

    name = "openvino"
    device = "cpu"

    def __init__(self, path: Path, tuning: Tuning) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import openvino
        # Left to itself it computes with bf16 or fp16 where the processor can, without a word.
        choices = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        if tuning.threads:
            choices["INFERENCE_NUM_THREADS"] = str(tuning.threads)
        core = openvino.Core()
        # From bytes, because a path may hold characters that the library cannot open on Windows.
        compiled = core.compile_model(core.read_model(path.read_bytes()), "CPU", choices)
        self.precision = str(compiled.get_property("INFERENCE_PRECISION_HINT")).rpartition(" ")[2].strip("'<>")
        if "32" not in self.precision:
            raise RuntimeError(f"it computes with {self.precision}, not with 32 bits")
        self._request = compiled.create_infer_request()
        self._lock = Lock()  # a request serves one call at a time, and its answers are shared memory

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        with self._lock:
            answers = self._request.infer({0: np.ascontiguousarray(batch, np.float32)}, share_inputs=True)
            return np.array(answers[0])  # a copy: the next call writes into the same memory
