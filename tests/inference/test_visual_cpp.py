"""Visual C++ runtime: the newest one at hand is the one that a process uses. On Windows only."""

from __future__ import annotations

import sys

import pytest

from tests.python_process import run_python

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="the Visual C++ runtime is a part of Windows")


def test_newest_runtime_is_loaded_before_onnxruntime():
    code = """
from workbench.inference import visual_cpp
folder, version = visual_cpp.brought()
used = visual_cpp.version_of(visual_cpp._loaded() or visual_cpp._installed() / "msvcp140.dll")
print(folder, version, used, visual_cpp.shortcoming())
assert version and used >= version and not visual_cpp.shortcoming()
import onnxruntime
"""
    assert run_python(code)


def test_runtime_that_is_too_old_is_named(monkeypatch):
    from workbench.inference import visual_cpp
    from workbench.inference.engines.registry import unavailable_reason

    monkeypatch.setattr(visual_cpp, "version_of", lambda library: (14, 29, 30139))
    assert "14.29.30139" in unavailable_reason("onnx") and "winget" in unavailable_reason("onnx")
