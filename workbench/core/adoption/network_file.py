"""Reading of a foreign ONNX network: its only input, its outputs, and runs on random images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.messages import first_line
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp, open_session, unreadable

if TYPE_CHECKING:
    import onnx

OLDEST_OPSET = 13  # since then, the operators that are added have the same inputs
_CONVERTED_OPSET = 17
_RANK = 4


@dataclass(frozen=True)
class NetworkInput:
    """Input of a network. shape: None for a free size. type: number type of ONNX."""

    name: str
    shape: tuple[int | None, ...]
    type: int


def load_network(path: Path) -> onnx.ModelProto:
    """Read a network with its weights, and check it. Raises NetworkRefused."""
    try:
        import onnx
    except ImportError as error:
        raise NetworkRefused("adopt.package", name="onnx") from error
    network_stamp(path)
    try:
        model = onnx.load(str(path))
        if not model.graph.node:
            raise NetworkRefused("adopt.no_onnx")
        onnx.checker.check_model(model)
    except NetworkRefused:
        raise
    except OSError as error:
        raise unreadable(error) from error
    except onnx.checker.ValidationError as error:
        raise NetworkRefused("adopt.damaged", why=first_line(error)) from error
    except Exception as error:  # of the decoder of the file format, whose package is not imported here
        raise NetworkRefused("adopt.no_onnx") from error
    return _recent(model)


def _recent(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the network with operators of version `OLDEST_OPSET` or later."""
    import onnx

    version = opset(model)
    if version >= OLDEST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, _CONVERTED_OPSET)
    except Exception as error:  # the converter has no exceptions of its own
        raise NetworkRefused("adopt.old_opset", n=version, m=OLDEST_OPSET) from error


def opset(model: onnx.ModelProto) -> int:
    """Return the version of the standard operators."""
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def only_input(model: onnx.ModelProto) -> NetworkInput:
    """Return the input for the image. Raises NetworkRefused if there are others, or if it is no batch of images."""
    stored = {entry.name for entry in model.graph.initializer}
    inputs = [entry for entry in model.graph.input if entry.name not in stored]
    if len(inputs) != 1:
        names = ", ".join(entry.name for entry in inputs) or "-"
        raise NetworkRefused("adopt.several_inputs", n=len(inputs), names=names)
    tensor = inputs[0].type.tensor_type
    sizes: tuple[int | None, ...] = (None,) * _RANK
    if tensor.HasField("shape"):
        sizes = tuple(entry.dim_value if entry.dim_value > 0 else None for entry in tensor.shape.dim)
    if len(sizes) != _RANK:
        raise NetworkRefused("adopt.rank", n=len(sizes))
    return NetworkInput(inputs[0].name, sizes, tensor.elem_type)


class NetworkRunner:
    """Network in ONNX Runtime on the CPU. Raises NetworkRefused if it cannot be loaded."""

    def __init__(self, content: bytes) -> None:
        self._session = open_session(content)
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        """Return the first output as float32. Raises NetworkRefused if the network does not accept the batch."""
        size = f"{batch.shape[3]}x{batch.shape[2]}"
        try:
            return np.asarray(self._session.run(None, {self._input: batch})[0]).astype(np.float32)
        except Exception as error:
            raise NetworkRefused("adopt.not_run", size=size, n=batch.shape[1], why=first_line(error)) from error
