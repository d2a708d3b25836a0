"""Which engines there are, what each needs, and why one cannot be used here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from ..cpu import processor_flags  # noqa: TID252  the package is copied under another name


@dataclass(frozen=True)
class Kind:
    """module: what is imported. needs: what a person installs. file: the network in an export. made_with: further
    modules that make it, which running it does not take.

    reduced: "" for networks that compute with 32 bits and must give what the trained one gives; else the kind of
    number, and the network is close to it, not equal.
    """

    module: str
    needs: tuple[str, ...]
    file: str
    reduced: str = ""
    made_with: tuple[str, ...] = ()


_ONNXRUNTIME = "onnxruntime>=1.18,!=1.24.0"
_PADDLE = "paddlepaddle>=3.3,<3.4"

# In the order in which they are tried where nothing was measured; those with fewer bits come last.
KINDS: dict[str, Kind] = {
    "onnx": Kind("onnxruntime", (_ONNXRUNTIME,), "network.onnx"),
    "openvino": Kind("openvino", ("openvino>=2024.6",), "network.onnx"),
    "paddle": Kind("paddle", (_PADDLE,), "paddle/network.json"),
    "legacy": Kind("paddle", (_PADDLE,), "paddle-legacy/network.pdmodel"),
    "tensorrt": Kind("onnxruntime", ("onnxruntime-gpu>=1.18,!=1.24.0", "tensorrt>=10"), "network.onnx"),
    "lite": Kind("paddlelite", ("paddlelite>=2.13",), "paddle-lite/network.nb"),
    "int8": Kind("onnxruntime", (_ONNXRUNTIME,), "network.int8.onnx", "int8", ("onnx", "ml_dtypes")),
    "bf16": Kind("paddle", (_PADDLE,), "paddle/network.json", "bf16"),
}


def pip(name: str) -> str:
    """The command that installs what an engine needs."""
    return "pip install " + " ".join(f'"{need}"' for need in KINDS[name].needs)


def obstacle(name: str) -> str:
    """Why an engine cannot be used here, as a sentence; empty if it can. Imports ONNX Runtime at most."""
    kind = KINDS[name]
    if find_spec(kind.module) is None:
        return f"The engine {name!r} needs {kind.module}, which is not installed: {pip(name)}"
    special = _OBSTACLES.get(name)
    return special() if special else ""


def cannot_make(name: str) -> str:
    """Why an export cannot hold a format when it is made here, as a sentence; empty if it can."""
    missing = [module for module in KINDS[name].made_with if find_spec(module) is None]
    if missing:
        return f"Making {name} needs {' and '.join(missing)}: pip install {' '.join(missing)}"
    return obstacle(name)


def _tensorrt() -> str:
    import onnxruntime

    if "TensorrtExecutionProvider" in onnxruntime.get_available_providers():
        return ""
    return f"ONNX Runtime is built without TensorRT here: {pip('tensorrt')}"


def _bf16() -> str:
    if processor_flags() & {"avx512_bf16", "amx_bf16"}:
        return ""
    return "This processor has no arithmetic in bf16, so nothing would be won."


_OBSTACLES: dict[str, Callable[[], str]] = {"tensorrt": _tensorrt, "bf16": _bf16}
