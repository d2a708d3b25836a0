"""Packed application: parts of either build of PaddlePaddle."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PACKAGING = Path(__file__).resolve().parents[1] / "packaging"


@pytest.fixture
def paddle_parts():
    spec = importlib.util.spec_from_file_location("paddle_parts", PACKAGING / "paddle_parts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.paddle_parts


def test_cpu_build_needs_no_cuda_libraries(paddle_parts):
    assert paddle_parts(["numpy", "paddlepaddle"], {"nvidia": ["x"]}) == ("paddlepaddle", [])


def test_gpu_build_has_another_name_and_cuda_libraries(paddle_parts):
    packages = {"nvidia": ["nvidia-cublas-cu12", "nvidia-cudnn-cu12"], "paddle": ["paddlepaddle-gpu"]}
    assert paddle_parts(["paddlepaddle-gpu", "nvidia-cublas-cu12"], packages) == ("paddlepaddle-gpu", ["nvidia"])


@pytest.mark.parametrize("names", [["numpy"], ["paddlepaddle", "paddlepaddle-gpu"]])
def test_anything_else_cannot_be_packed(paddle_parts, names):
    with pytest.raises(LookupError, match="exactly one"):
        paddle_parts(names, {})


def test_spec_uses_them():
    text = (PACKAGING / "workbench.spec").read_text("utf-8")
    assert "paddle_parts()" in text and 'copy_metadata("paddlepaddle")' not in text
    compile(text, "workbench.spec", "exec")
