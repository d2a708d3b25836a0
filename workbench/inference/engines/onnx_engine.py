"""ONNX network run by ONNX Runtime on the CPU, or on the GPU if its CUDA build is installed.

With TensorRT, ONNX Runtime compiles the network for this machine's NVIDIA GPU.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from ..cpu_environment import cores
from ..io.file_access import read_regular
from ..model_settings import EngineOptions, ModelSettings
from .feature_engine import Outputs
from .registry import FEATURES

Providers = list[str | tuple[str, dict[str, str]]]  # names, or with options


class OnnxEngine:
    """Callable: float32 batch to float32 batch. device: "cpu" or "cuda"."""

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> OnnxEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path, tuning, name=name)

    def __init__(
        self, path: Path, tuning: EngineOptions, *, name: str = "onnx", compiler: Providers | None = None
    ) -> None:
        self.name = name
        found = [*(compiler or ()), *providers()]
        # Loaded from bytes, because the library cannot open all paths on Windows.
        self.session = onnxruntime.InferenceSession(read_regular(path), session_options(tuning), providers=found)
        self._input = self.session.get_inputs()[0].name
        self._output, *others = [output.name for output in self.session.get_outputs()]
        self._features = FEATURES if FEATURES in others else None
        self._maps = next((name for name in others if name != FEATURES), None)
        self.device = "cuda" if "CUDAExecutionProvider" in self.session.get_providers() else "cpu"

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the model (`metadata_props`)."""
        return dict(self.session.get_modelmeta().custom_metadata_map)

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return np.asarray(self.session.run([self._output], {self._input: batch})[0])

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        names = [self._output] if self._features is None else [self._output, self._features]
        output, *features = (np.asarray(array) for array in self.session.run(names, {self._input: batch}))
        return output, features[0] if features else None

    def maps(self, batch: np.ndarray) -> np.ndarray | None:
        """Return float32 (N,V,h,w), each location's contribution to each verdict; None without such an output."""
        return None if self._maps is None else np.asarray(self.session.run([self._maps], {self._input: batch})[0])


class TensorrtEngine(OnnxEngine):
    """Network compiled by TensorRT. Loading compiles it, which takes minutes."""

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> TensorrtEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        # TF32 has a 10-bit mantissa, and TensorRT uses it unless this variable forbids it.
        os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
        load_cuda()
        with contextlib.suppress(ImportError, OSError):  # a TensorRT that the system finds needs no package
            importlib.import_module("tensorrt")  # loads the libraries, which the package keeps where nothing searches
        compiler = ("TensorrtExecutionProvider", _tensorrt_options(settings))
        engine = cls(path, EngineOptions(), name=name, compiler=[compiler])
        if compiler[0] not in engine.session.get_providers():
            # ONNX Runtime silently omits providers that it cannot load; another engine would then run under this name.
            raise RuntimeError("TensorRT's libraries could not be loaded")
        return engine


def _tensorrt_options(settings: ModelSettings) -> dict[str, str]:
    """Return provider options with a range of shapes, so that the network is compiled once for all of them."""
    if settings.task == "classification":
        smallest = largest = settings.input_size
    else:
        smallest, largest = settings.multiple, settings.tile
    shapes = {"min": (1, smallest), "opt": (settings.batch, largest), "max": (settings.batch, largest)}
    profiles = {
        f"trt_profile_{kind}_shapes": f"picture:{batch}x{settings.channels}x{side}x{side}"
        for kind, (batch, side) in shapes.items()
    }
    return {"trt_fp16_enable": "0", "trt_int8_enable": "0", **profiles}


def providers() -> Providers:
    """Return the execution providers, best first: CUDA with its options if it is available, and the CPU."""
    found: Providers = ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        load_cuda()
        # TF32 has a 10-bit mantissa: fast, but its results differ from those shown in the application. Searching
        # the fastest convolution for every new image size costs more than it saves.
        options = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"}
        found.insert(0, ("CUDAExecutionProvider", options))
    return found


@cache
def load_cuda() -> str:
    """Load CUDA and cuDNN from packages of pip, where the system does not search; needs ONNX Runtime's CUDA build.

    Return the reason why a library cannot be loaded, which contains its name; "" if all are loaded.
    """
    load = getattr(onnxruntime, "preload_dlls", None)  # since 1.21
    output = io.StringIO()
    if load is not None:
        with contextlib.redirect_stdout(output):  # it prints missing libraries, in the middle of JSON
            load()
    failures = [line for line in output.getvalue().splitlines() if line.startswith("Failed to load ")]
    return failures[0].partition(": ")[2] if failures else ""


def session_options(tuning: EngineOptions) -> onnxruntime.SessionOptions:
    """Return ONNX Runtime session options, with logging reduced to errors and telemetry disabled."""
    onnxruntime.set_default_logger_severity(3)  # errors only
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # With 0 the library uses all cores of the machine, also those that this process must not use.
    available = cores()
    options.intra_op_num_threads = tuning.threads or (available if available < (os.cpu_count() or 1) else 0)
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = tuning.arena
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if tuning.optimise == "all" else levels.ORT_ENABLE_EXTENDED
    if not tuning.spin:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
