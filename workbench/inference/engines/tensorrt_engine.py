"""ONNX network compiled by TensorRT for this machine's NVIDIA GPU, through ONNX Runtime."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..io.file_access import read_regular
from ..model_settings import EngineOptions, ModelSettings
from .feature_engine import Outputs
from .registry import FEATURES


class TensorrtEngine:
    """Callable: float32 batch to float32 batch. Loading compiles the network, which takes minutes."""

    name = "tensorrt"
    device = "cuda"

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> TensorrtEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path, settings)

    def __init__(self, path: Path, settings: ModelSettings) -> None:
        # TF32 has a 10-bit mantissa, and TensorRT uses it unless this variable forbids it.
        os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
        import onnxruntime

        from .onnx_engine import load_cuda, session_options

        load_cuda()
        with contextlib.suppress(ImportError, OSError):  # a TensorRT that the system finds needs no package
            importlib.import_module("tensorrt")  # loads the libraries, which the package keeps where nothing searches

        providers = [("TensorrtExecutionProvider", self._provider_options(settings)), "CUDAExecutionProvider"]
        self._session = onnxruntime.InferenceSession(
            read_regular(path), session_options(EngineOptions()), providers=[*providers, "CPUExecutionProvider"]
        )
        if "TensorrtExecutionProvider" not in self._session.get_providers():
            # ONNX Runtime silently omits providers that it cannot load; another engine would then run under this name.
            raise RuntimeError("TensorRT's libraries could not be loaded")
        self._input = self._session.get_inputs()[0].name
        self._outputs = [output.name for output in self._session.get_outputs()]

    @staticmethod
    def _provider_options(settings: ModelSettings) -> dict[str, str]:
        """Return provider options with a range of shapes, so that the network is compiled once for all of them."""
        if settings.task == "classification":
            smallest = largest = settings.input_size
        else:
            smallest, largest = settings.multiple, settings.tile
        shapes = {
            "min": (1, smallest),
            "opt": (settings.batch, largest),
            "max": (settings.batch, largest),
        }
        profiles = {
            f"trt_profile_{kind}_shapes": f"picture:{batch}x{settings.channels}x{side}x{side}"
            for kind, (batch, side) in shapes.items()
        }
        return {"trt_fp16_enable": "0", "trt_int8_enable": "0", **profiles}

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return np.asarray(self._session.run(self._outputs[:1], {self._input: batch})[0])

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        if FEATURES not in self._outputs:
            return self(batch), None
        output, features = self._session.run([self._outputs[0], FEATURES], {self._input: batch})
        return np.asarray(output), np.asarray(features)
