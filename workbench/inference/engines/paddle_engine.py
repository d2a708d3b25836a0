"""Paddle network (.json or .pdmodel program with .pdiparams weights), run by Paddle Inference."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from types import ModuleType

import numpy as np

from ..cpu_environment import cores, cpu_environment
from ..io.file_access import ascii_folder
from ..model_settings import EngineOptions, ModelSettings
from .feature_engine import Outputs

# TF32 has a 10-bit mantissa; a GPU would use it for convolutions unless this variable forbids it.
_ENVIRONMENT = {**cpu_environment(), "GLOG_minloglevel": "2", "NVIDIA_TF32_OVERRIDE": "0"}


class PaddleEngine:
    """Callable: float32 batch to float32 batch.

    name: "paddle", "legacy", or "bf16", which computes in 16 bits. device: "cpu" or "cuda".
    """

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> PaddleEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path, tuning, name=name)

    def __init__(self, path: Path, tuning: EngineOptions, *, name: str = "paddle") -> None:
        self.name = name
        inference = import_paddle_inference()
        weights = path.with_suffix(".pdiparams")
        if not weights.is_file():
            raise FileNotFoundError(f"{weights} is missing")
        config = inference.Config()
        config.disable_glog_info()
        self.device = "cpu"
        if name != "bf16" and has_gpu():
            config.enable_use_gpu(256, 0)
            self.device = "cuda"
        else:
            if name == "legacy" and sys.platform == "win32":
                config.disable_mkldnn()  # Paddle 3.3 for Windows cannot run the fused convolutions of these programs
            else:
                config.enable_mkldnn()
                config.set_mkldnn_cache_capacity(16)  # one entry per input size, because image sizes vary
            if name == "bf16":
                config.enable_mkldnn_bfloat16()
            config.set_cpu_math_library_num_threads(tuning.threads or cores())
        # enable_memory_optim is not used: Paddle 3.3 rejects it for programs of this kind.
        with ascii_folder(path.parent, path.name, weights.name) as place:
            config.set_model(str(place / path.name), str(place / weights.name))
            self._predictor = inference.create_predictor(config)
        self._input = self._predictor.get_input_handle(self._predictor.get_input_names()[0])
        self._outputs = [self._predictor.get_output_handle(name) for name in self._predictor.get_output_names()]
        self._lock = Lock()  # input and output handles are shared state

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self.with_features(batch)[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`."""
        with self._lock:
            self._input.reshape(batch.shape)
            self._input.copy_from_cpu(np.ascontiguousarray(batch, np.float32))
            self._predictor.run()
            output, *features = (handle.copy_to_cpu() for handle in self._outputs)
            return output, features[0] if features else None


def import_paddle_inference() -> ModuleType:
    """Import Paddle Inference with the environment variables that it reads at loading."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)  # read by Paddle and MKL at loading
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No ccache found")
        from paddle import inference
    return inference


def has_gpu() -> bool:
    """Return True if Paddle can use a GPU."""
    import paddle

    try:
        return paddle.device.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0
    except (OSError, RuntimeError):  # the driver is too old for this build
        return False
