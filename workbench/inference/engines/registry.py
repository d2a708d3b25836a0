"""Table of the engines: their requirements, and reasons why an engine is unavailable."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from .. import visual_cpp
from ..cpu_environment import processor_flags
from . import paddle_lite_engine

FEATURES = "features"  # name of a network's output beside its probabilities, see `known_features`


@dataclass(frozen=True)
class EngineSpec:
    """Properties of an engine.

    module: library, as it is imported.
    requirements: packages to install; none for Paddle Lite, which needs a Python of its own.
    file: network file in an export.
    reduced: number format of engines with reduced precision, whose results are only close to those of the trained
        network; "" for 32-bit engines, whose results must match.
    made_with: further modules required to create the file but not to run it.
    """

    code: str  # module of this package and its class, which has `load(name, path, settings, tuning)`

    module: str
    requirements: tuple[str, ...]
    file: str
    reduced: str = ""
    made_with: tuple[str, ...] = ()


_ONNXRUNTIME = "onnxruntime>=1.18,!=1.24.0"
_PADDLE = "paddlepaddle>=3.3,<3.4"
_TENSORRT = "nvinfer_10.dll" if sys.platform == "win32" else "libnvinfer.so.10"  # as ONNX Runtime links

# Order in which engines are tried if nothing was measured; reduced precision comes last.
KINDS: dict[str, EngineSpec] = {
    "onnx": EngineSpec("onnx_engine:OnnxEngine", "onnxruntime", (_ONNXRUNTIME,), "network.onnx"),
    "openvino": EngineSpec("openvino_engine:OpenVinoEngine", "openvino", ("openvino>=2024.6",), "network.onnx"),
    "paddle": EngineSpec("paddle_engine:PaddleEngine", "paddle", (_PADDLE,), "paddle/network.json"),
    "legacy": EngineSpec("paddle_engine:PaddleEngine", "paddle", (_PADDLE,), "paddle-legacy/network.pdmodel"),
    "tensorrt": EngineSpec(
        "onnx_engine:TensorrtEngine",
        "onnxruntime",
        ("onnxruntime-gpu>=1.18,!=1.24.0", "tensorrt>=10,<11"),
        "network.onnx",
    ),
    "lite": EngineSpec("paddle_lite_engine:LiteEngine", "paddlelite", (), "paddle-lite/network.nb"),
    "int8": EngineSpec(
        "onnx_engine:OnnxEngine", "onnxruntime", (_ONNXRUNTIME,), "network.int8.onnx", "int8", ("onnx", "ml_dtypes")
    ),
    "bf16": EngineSpec("paddle_engine:PaddleEngine", "paddle", (_PADDLE,), "paddle/network.json", "bf16"),
}


def _is_packed() -> bool:
    """Return True in a packed application, into which nothing can be installed."""
    return bool(getattr(sys, "frozen", False))


def install_command(name: str) -> str:
    """Return the command that installs an engine's packages; two lines on Windows, whose PowerShell has no `&&`."""
    command = "pip install " + " ".join(f'"{need}"' for need in KINDS[name].requirements)
    # ONNX Runtime's builds own one folder: beside each other, both are broken.
    uninstall = "pip uninstall -y onnxruntime" + ("\n" if sys.platform == "win32" else " && ")
    return uninstall + command if name == "tensorrt" else command


def is_installed(name: str) -> bool:
    """Return True if the library of an engine is there; Paddle Lite's may be in another Python."""
    return paddle_lite_engine.lite_python() is not None if name == "lite" else find_spec(KINDS[name].module) is not None


def unavailable_reason(name: str) -> str:
    """Return the reason why an engine is unavailable, as a sentence; "" if available. Imports ONNX Runtime at most."""
    kind = KINDS[name]
    if name == "lite" and not _is_packed():
        missing = paddle_lite_engine.unavailable()
        return f"The engine {name!r} needs {missing}." if missing else ""
    if find_spec(kind.module) is None:
        if _is_packed():
            return f"The engine {name!r} is not part of this package."
        return f"The engine {name!r} needs {kind.module}, which is not installed: {install_command(name)}"
    check = _CHECKS.get(name)
    return check() if check else ""


def cannot_make(name: str) -> str:
    """Return the reason why the file of an engine cannot be created on this machine, as a sentence; "" if it can."""
    missing = [module for module in KINDS[name].made_with if find_spec(module) is None]
    if missing and _is_packed():
        return f"The engine {name!r} is not part of this package."
    if missing:
        return f"Making {name} needs {' and '.join(missing)}: pip install {' '.join(missing)}"
    return unavailable_reason(name)


def _tensorrt() -> str:
    if too_old := visual_cpp.shortcoming():
        return too_old
    import onnxruntime

    # The CUDA build of ONNX Runtime names the provider also without TensorRT's own libraries.
    if "TensorrtExecutionProvider" not in onnxruntime.get_available_providers():
        reason = "ONNX Runtime is built without TensorRT here"
    elif find_spec("tensorrt") is None and not _loads(_TENSORRT):
        reason = "The libraries of TensorRT are not installed"
    else:
        return ""
    return f"{reason}." if _is_packed() else f"{reason}: {install_command('tensorrt')}"


def _loads(library: str) -> bool:
    """Return True if the system finds and loads a library."""
    try:
        ctypes.CDLL(library, winmode=0)  # 0: also in the folders of PATH
    except OSError:
        return False
    return True


def _bf16() -> str:
    if processor_flags() & {"avx512_bf16", "amx_bf16"}:
        return ""
    return "This CPU has no native bf16 support, so bf16 would not be faster."


_CHECKS: dict[str, Callable[[], str]] = {
    "onnx": visual_cpp.shortcoming,
    "int8": visual_cpp.shortcoming,
    "tensorrt": _tensorrt,
    "bf16": _bf16,
}
