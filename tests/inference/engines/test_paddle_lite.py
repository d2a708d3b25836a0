"""Engine lite with a stand-in of paddlelite, which has packages for Python 3.8 only (see tests/training/export)."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from workbench.inference.engines import EngineError, load_engine
from workbench.inference.engines.paddle_lite_engine import PYTHON_VARIABLE, LiteEngine
from workbench.inference.engines.registry import is_installed, unavailable_reason
from workbench.inference.model_settings import EngineOptions

# A network that doubles a batch of the size that it was given first, and gives zeros for any other one.
LIBRARY = """
import numpy as np
class MobileConfig:
    def set_model_from_file(self, path):
        self.path = path
class Tensor:
    def __init__(self):
        self.size, self.values = None, None
    def from_numpy(self, values):
        self.size = self.size or values.shape
        self.values = 2 * values if values.shape == self.size else np.zeros_like(values)
    def numpy(self):
        return self.values
class Predictor:
    def __init__(self):
        self.tensor = Tensor()
    def get_input(self, number):
        return self.tensor
    def get_output_names(self):
        return ["probabilities", "features"]
    get_output = get_input
    def run(self):
        print("a line of the library", flush=True)
        if self.tensor.values.max() > 100:
            raise SystemExit("out of range")
def create_paddle_predictor(config):
    return Predictor()
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    """This Python, with the library in its search path."""
    (tmp_path / "paddlelite").mkdir()
    (tmp_path / "paddlelite" / "__init__.py").touch()
    (tmp_path / "paddlelite" / "lite.py").write_text(LIBRARY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(PYTHON_VARIABLE, sys.executable)


def batch(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape, np.float32)


def test_batches_of_several_sizes_and_the_end_of_the_process(python, tmp_path):
    engine = LiteEngine(tmp_path / "network.nb")
    for shape in ((1, 3, 8, 8), (4, 3, 8, 8), (1, 3, 16, 24), (1, 3, 8, 8)):
        assert np.array_equal(engine(batch(*shape)), 2 * batch(*shape))
    with pytest.raises(RuntimeError, match="Paddle Lite ended: out of range"):
        engine(batch(1, 3, 8, 8) + 200)


def test_python_without_the_library_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv(PYTHON_VARIABLE, sys.executable)
    engine = LiteEngine.load("lite", tmp_path / "network.nb", None, EngineOptions())
    with pytest.raises(RuntimeError, match="No module named 'paddlelite'"):
        engine(batch(1, 3, 8, 8))


def test_reason_states_how_to_install_it(gray_export, monkeypatch):
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    assert not is_installed("lite") and "in Python 3.8" in unavailable_reason("lite")
    monkeypatch.setenv(PYTHON_VARIABLE, "/missing/python")
    assert unavailable_reason("lite").endswith("/missing/python is no file.")


def test_missing_python_ends_the_loading(gray_export, monkeypatch):
    from dataclasses import replace

    from workbench.inference.model_settings import load_settings

    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    settings = load_settings(gray_export / "model.json")
    with pytest.raises(EngineError, match="--lite-python"):
        load_engine("lite", gray_export, replace(settings, files={"lite": "network.onnx"}))
