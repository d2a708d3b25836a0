"""Paddle Lite network (.nb), created by its converter for embedded CPUs."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

import numpy as np

from ..cpu_environment import cores
from ..model_settings import EngineOptions, ModelSettings


class LiteEngine:
    """Callable: float32 batch to float32 batch."""

    name = "lite"
    device = "cpu"

    @classmethod
    def load(cls, name: str, path: Path, settings: ModelSettings, tuning: EngineOptions) -> LiteEngine:
        """Load the network file of the engine `name`, see `registry.KINDS`."""
        return cls(path, tuning)

    def __init__(self, path: Path, tuning: EngineOptions) -> None:
        from paddlelite import lite

        config = lite.MobileConfig()
        config.set_model_from_file(str(path))
        config.set_threads(tuning.threads or cores())
        self._predictor = lite.create_paddle_predictor(config)
        self._lock = Lock()  # input and output are shared state

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        with self._lock:
            self._predictor.get_input(0).from_numpy(np.ascontiguousarray(batch, np.float32))
            self._predictor.run()
            return np.array(self._predictor.get_output(0).numpy())
