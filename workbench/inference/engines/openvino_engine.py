"""ONNX network run by OpenVINO on the CPU in 32-bit precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import numpy as np

from ..io.file_access import read_regular
from ..model_settings import EngineOptions, ModelSettings
from .feature_engine import Outputs
from .registry import FEATURES


class OpenVinoEngine:
    """Callable: float32 batch to float32 batch. precision: as reported by OpenVINO, "float32"."""

    name = "openvino"
    device = "cpu"

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> OpenVinoEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path, tuning)

    def __init__(self, path: Path, tuning: EngineOptions) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import openvino
        # By default OpenVINO computes with bf16 or fp16 if the CPU supports it.
        options = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        if tuning.threads:
            options["INFERENCE_NUM_THREADS"] = str(tuning.threads)
        core = openvino.Core()
        # Loaded from bytes, because the library cannot open all paths on Windows.
        compiled = core.compile_model(core.read_model(read_regular(path)), "CPU", options)
        self.precision = str(compiled.get_property("INFERENCE_PRECISION_HINT")).rpartition(" ")[2].strip("'<>")
        if "32" not in self.precision:
            raise RuntimeError(f"it computes with {self.precision}, not with 32 bits")
        names = [output.get_names() for output in compiled.outputs]
        self._features = next((number for number, found in enumerate(names) if FEATURES in found), None)
        self._request = compiled.create_infer_request()
        self._lock = Lock()  # a request handles one call at a time, and its results are shared memory

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self.with_features(batch)[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        with self._lock:
            outputs = self._request.infer({0: np.ascontiguousarray(batch, np.float32)}, share_inputs=True)
            features = None if self._features is None else np.array(outputs[self._features])
            return np.array(outputs[0]), features  # copies, because the next call overwrites this memory
